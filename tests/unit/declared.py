"""Declares resources in process, with the SDK's mocks in the place of the engine."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi.runtime import mocks
from pulumi.runtime.settings import SETTINGS
from pulumi.runtime.stack import wait_for_rpcs


@dataclass(frozen=True)
class Declared:
    """One resource as the program declared it; `props` in camelCase."""

    type: str
    name: str
    props: dict[str, Any]


PROJECT_LOOKUP = "gcp:organizations/getProject:getProject"

Answer = Callable[[str, str, dict[str, Any]], tuple[str, dict[str, Any]]]
"""Makes a resource of a type, name and inputs; returns its id and outputs."""


class _Recorder(mocks.Mocks):
    def __init__(
        self, preview: bool, answer: Answer | None, asked: list[str] | None = None
    ) -> None:
        self.asked = asked
        self.preview = preview
        self.answer = answer
        self.declared: list[Declared] = []

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, dict[Any, Any]]:
        self.declared.append(Declared(args.typ, args.name, dict(args.inputs)))
        if self.answer is not None and args.typ.startswith(("gcp:", "kubernetes:")):
            return self.answer(args.typ, args.name, dict(args.inputs))
        known = {"name": args.name, **args.inputs}
        computed = {
            "email": f"{args.name}@example.iam.gserviceaccount.com",
            "member": f"serviceAccount:{args.name}@example.iam.gserviceaccount.com",
            "etag": "etag",
            "url": f"gs://{known['name']}",
            "projectNumber": 123456789012,
        }
        return f"{args.name}-id", known if self.preview else {**computed, **known}

    def call(self, args: mocks.MockCallArgs) -> dict[Any, Any]:
        if args.token == PROJECT_LOOKUP and self.asked is not None:
            self.asked.append(args.args["projectId"])
            return {**args.args, "number": "123456789012"}
        raise AssertionError(f"a program asks the cloud nothing, yet it calls {args.token}")


def declare(
    program: Callable[[], object],
    *,
    preview: bool = False,
    answer: Answer | None = None,
    asked: list[str] | None = None,
) -> list[Declared]:
    """All resources that `program` declares, components included.

    With `preview` the mocks answer no computed output, as a first preview does. With `answer`
    that function makes the resources of Google Cloud and Kubernetes; what it refuses fails it. With
    `asked` a program may look up the numbers of projects, whose ids go to that list.
    """
    recorder = _Recorder(preview, answer, asked)

    async def run() -> None:
        pulumi.runtime.set_mocks(recorder, project="spotproof", stack="test", preview=preview)
        program()
        pending: list[Any] = [None]
        while pending:
            await wait_for_rpcs(await_all_outstanding_tasks=False)
            # The mocks make outputs on threads of their own, whose loops never run.
            loop = asyncio.get_running_loop()
            pending = [o for o in SETTINGS.outputs if o.get_loop() is loop and not o.done()]
            await asyncio.gather(*pending)

    # A thread of its own has a context of its own, and the SDK keeps all its state in the context:
    # what a failed program leaves behind can't reach the next.
    with ThreadPoolExecutor(max_workers=1) as pool:
        pool.submit(asyncio.run, run()).result()
    return recorder.declared


def only(declared: list[Declared], type_: str) -> Declared:
    """The one declared resource of this type."""
    found = [resource for resource in declared if resource.type == type_]
    assert len(found) == 1, f"{len(found)} resources of type {type_}"
    return found[0]
