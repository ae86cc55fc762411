"""Faults at work: the provider asks here before and after each request to the cloud."""

import os
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandbox.cloud import fault_texts
from sandbox.cloud.faults import (
    FILE,
    Faults,
    FaultsError,
    Rule,
    numbered,
    read_faults,
    read_used,
    write_used,
)
from sandbox.cloud.problems import ProviderError
from sandbox.cloud.store import Store
from sandbox.cloud.types.base import SHORT_OF_MACHINES, Cloud, Kind
from sandbox.cloud.types.project_services import SERVICE
from sandbox.cloud.types.values import Properties

RETRY_SECONDS = 0.05
RETRIES = 20
"""After so many refusals as unavailable the provider gives up, as the real one does in the end."""

CRASHED = 70


@dataclass
class Request:
    """One request to the cloud, and what is to become of it after it was done."""

    operation: str
    kind: Kind
    logical: str
    identifier: str
    properties: Properties
    crash: bool = False
    error: Exception | None = None

    @property
    def names(self) -> set[str]:
        """What a rule may call the resource."""
        own = self.properties.get(self.kind.named_by) if self.kind.named_by else None
        last = self.identifier.rpartition("/")[2]
        return {name for name in (self.logical, last, own) if isinstance(name, str)}


@dataclass
class Injector:
    """The faults of one emulated cloud."""

    store: Store
    _stamp: tuple[int, int] | None = None
    _faults: Faults = field(default_factory=Faults)

    @property
    def directory(self) -> Path:
        return self.store.path.parent

    def faults(self) -> Faults:
        """What the file says now; raises ProviderError when it is wrong."""
        path = self.directory / FILE
        try:
            stat = path.stat()
        except FileNotFoundError:
            self._stamp = None
            return Faults()
        stamp = (stat.st_ino, stat.st_mtime_ns)
        if stamp != self._stamp:
            try:
                self._faults = read_faults(path)
            except FaultsError as error:
                raise ProviderError(str(error)) from None
            self._stamp = stamp
        return self._faults

    def before(self, request: Request, cloud: Cloud) -> None:
        """What happens before the cloud changes: it may wait, raise, or end the process."""
        faults = self.faults()
        if faults.apis_start_disabled:
            self.need_api(request.kind.token, self._project(request, cloud), cloud)
        for key, rule in numbered(faults.rules):
            if rule.meets(request.operation, request.kind.token, request.names):
                self._happen(key, rule, request)

    def after(self, request: Request) -> None:
        """What happens when the cloud has changed and the engine does not know yet."""
        if request.crash:
            self._log(request, "crash-after", "the provider's process ends: the cloud has changed")
            os._exit(CRASHED)

    def need_api(self, token: str, project: str, cloud: Cloud) -> None:
        """Refuse when the API of a type or a function has to be enabled first."""
        if not self.faults().apis_start_disabled:
            return
        api = fault_texts.service_of(token)[0]
        with self.store.locked():
            enabled = cloud.find(SERVICE, f"{project}/{api}.googleapis.com")
        if api not in fault_texts.STARTS_ENABLED and enabled is None:
            raise fault_texts.service_disabled(token, project)

    def _happen(self, key: str, rule: Rule, request: Request) -> None:
        if rule.kind == "unavailable":
            self._retry(key, rule, request)
            return
        if not self._use(key, rule):
            return
        if rule.kind == "slow":
            self._log(request, rule.kind, f"waits {rule.seconds} s")
            time.sleep(rule.seconds)
        elif rule.kind == "crash-before":
            self._log(request, rule.kind, "the provider's process ends: the cloud is as it was")
            os._exit(CRASHED)
        elif rule.kind == "crash-after":
            request.crash = True
        elif rule.kind == "kill-engine":
            self._log(request, rule.kind, "the engine is killed; the provider goes on")
            kill_engine()
        else:
            self._refuse(rule, request)

    def _refuse(self, rule: Rule, request: Request) -> None:
        error = fault_texts.outcome(
            request.kind, rule.kind, request.operation, request.identifier, request.properties
        )
        self._log(request, rule.kind, str(error))
        if rule.kind == "stock-out" and request.operation == "create":
            request.error = error  # Google makes the resource and waits for machines
            return
        raise error

    def _retry(self, key: str, rule: Rule, request: Request) -> None:
        """The provider asks again until the server is there: a fault that goes away."""
        for _ in range(RETRIES):
            if not self._use(key, rule):
                return
            error = fault_texts.unavailable()
            self._log(request, rule.kind, f"{error}; asked again")
            time.sleep(RETRY_SECONDS)
        if rule.times is None or self._left(key, rule):
            raise fault_texts.unavailable()

    def _use(self, key: str, rule: Rule) -> bool:
        """Whether the rule still holds; it is used once more then."""
        with self.store.locked():
            used = read_used(self.directory)
            if rule.times is not None and used.get(key, 0) >= rule.times:
                return False
            write_used(self.directory, {**used, key: used.get(key, 0) + 1})
            return True

    def _left(self, key: str, rule: Rule) -> bool:
        return rule.times is not None and read_used(self.directory).get(key, 0) < rule.times

    def _project(self, request: Request, cloud: Cloud) -> str:
        return str(request.properties.get("project") or cloud.config.project)

    def _log(self, request: Request, fault: str, text: str) -> None:
        self.store.log(
            {
                "time": time.time(),
                "method": request.operation,
                "type": request.kind.token,
                "name": request.logical,
                "id": request.identifier,
                "fault": fault,
                "error": text,
            }
        )


def expected_id(kind: Kind, logical: str, inputs: Properties) -> str:
    """The id that a create is going to give; the logical name where the server makes one up."""
    try:
        return kind.identify(inputs)
    except KeyError:
        return logical


class PartialError(ProviderError):
    """The resource was made, but not wholly: the engine records it, with the error."""

    def __init__(self, text: str, identifier: str, state: Any, inputs: Any) -> None:
        self.identifier, self.state, self.inputs = identifier, state, inputs
        super().__init__(text)


def settle(store: Store, token: str, identifier: str) -> None:
    """Google has found the machines that a resource was short of."""
    thing = store.get(token, identifier)
    if thing and SHORT_OF_MACHINES in thing["properties"]:
        rest = {k: v for k, v in thing["properties"].items() if k != SHORT_OF_MACHINES}
        store.put(token, identifier, rest)


def kill_engine() -> None:
    """Kill the engine that started this process; raises ProviderError when none did."""
    engine = os.getppid()
    try:
        name = Path(f"/proc/{engine}/comm").read_text().strip()
    except OSError:  # a system without /proc
        shown = subprocess.run(
            ["ps", "-o", "comm=", "-p", str(engine)], capture_output=True, text=True, check=False
        )
        name = os.path.basename(shown.stdout.strip())
    if name != "pulumi":
        raise ProviderError(f"kill-engine: process {engine} ({name}) is no engine; none is killed")
    os.kill(engine, signal.SIGKILL)
