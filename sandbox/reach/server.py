"""Asks an API server, and says in plain words why it does not answer."""

import json
import socket
import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, HTTPSHandler, Request, build_opener

TIMEOUT_SECONDS = 15.0
_MOST_BYTES = 8 * 1024 * 1024


class NoAnswerError(Exception):
    """An API server can't be used; the text says which of the usual reasons it is.

    Attributes:
        code: What it answered, 0 when it did not.
    """

    def __init__(self, text: str, code: int = 0) -> None:
        super().__init__(text)
        self.code = code


class _NoRedirect(HTTPRedirectHandler):
    """An API server sends nobody elsewhere; a page for logins does."""

    def redirect_request(
        self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: Any
    ) -> None:
        return None


@dataclass(frozen=True)
class Server:
    """An API server.

    Attributes:
        url: Its address, `https://HOST` or with a port.
        token: What to say who asks; "" for nobody. Never shown.
        authority: Certificates to trust, in PEM; "" for those that the machine trusts.
    """

    url: str
    token: str = ""
    authority: str = ""

    @property
    def name(self) -> str:
        return urlsplit(self.url).netloc

    def check_ready(self) -> None:
        """Ask whether it is ready to work.

        Raises:
            NoAnswerError: It is not, or does not answer.
        """
        self._get("/readyz")

    def version(self) -> str:
        """Its version, such as `1.33.5-gke.1162000`.

        Raises:
            NoAnswerError: It does not say.
        """
        return str(self._json("/version").get("gitVersion", "")).removeprefix("v")

    def served(self, wanted: Iterable[str]) -> dict[str, set[str]]:
        """The groups and versions that it serves; with their kinds those that are wanted.

        Raises:
            NoAnswerError: It does not say.
        """
        found: dict[str, set[str]] = {}
        for group in self._json("/apis").get("groups") or ():
            for version in group.get("versions") or ():
                found[version["groupVersion"]] = set()
        for version in wanted:
            if version in found:
                found[version] = self._kinds(version)
        return found

    def _kinds(self, version: str) -> set[str]:
        try:
            listed = self._json(f"/apis/{version}").get("resources") or ()
        except NoAnswerError as error:
            if error.code == 404:
                return set()  # Listed for a while after its last kind has gone.
            if error.code >= 500:
                raise NoAnswerError(
                    f"{self.name} knows {version}, but what serves it does not answer "
                    f"({error.code}): look at the pods of its controller, or remove it: kubectl "
                    f"get apiservice {'.'.join(reversed(version.split('/')))}",
                    error.code,
                ) from None
            raise
        return {one["kind"] for one in listed if "/" not in one["name"]}

    def _json(self, path: str) -> dict[str, Any]:
        text = self._get(path)
        try:
            value = json.loads(text)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise NoAnswerError(
                f"{self.name} answers {path} with something that is no JSON: {_NONE}"
            )
        return value

    def _get(self, path: str) -> bytes:
        headers = {"Accept": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        context = ssl.create_default_context(cadata=self.authority or None)
        opener = build_opener(_NoRedirect, HTTPSHandler(context=context))
        try:
            with opener.open(
                Request(self.url + path, headers=headers), timeout=TIMEOUT_SECONDS
            ) as it:
                return it.read(_MOST_BYTES)
        except HTTPError as error:
            raise NoAnswerError(self._refusal(path, error), error.code) from None
        except (URLError, OSError, HTTPException) as error:
            reason = error.reason if isinstance(error, URLError) else error
            raise NoAnswerError(self._no_answer(reason)) from None

    def _refusal(self, path: str, error: HTTPError) -> str:
        with error:
            said = _message(error)
        if error.code == 401:
            return (
                f"{self.name} does not know who asks (401): the login has ended, or is for another "
                f"account. Log in again: gcloud auth login{said}"
            )
        if error.code == 403:
            return (
                f"{self.name} knows who asks, but does not let them (403, {path}). Ask for a role "
                "with the permission container.clusters.connect, such as roles/container.developer"
                f"{said}"
            )
        if 300 <= error.code < 400 or error.code == 404:
            return f"{self.name} answers {path} with {error.code}: {_NONE}"
        if error.code == 429 or error.code >= 500:
            return (
                f"{self.name} is not ready ({error.code}, {path}): the control plane starts, is "
                f"upgraded or has too much to do. Wait some minutes and try again{said}"
            )
        return f"{self.name} answers {path} with {error.code}{said}"

    def _no_answer(self, reason: object) -> str:
        host = urlsplit(self.url).hostname
        if isinstance(reason, socket.gaierror):
            return (
                f"the name {host} is not known ({reason.strerror}): this machine has no network or "
                "no DNS, or the cluster is no more"
            )
        if isinstance(reason, ConnectionRefusedError):
            return (
                f"{self.name} refuses connections: the control plane is down, or a firewall or a "
                "proxy stands in between"
            )
        if isinstance(reason, TimeoutError):
            return (
                f"{self.name} does not answer within {TIMEOUT_SECONDS:.0f} s: a firewall stands in "
                "between, or the network needs a VPN or a proxy (HTTPS_PROXY)"
            )
        if isinstance(reason, ssl.SSLCertVerificationError):
            return (
                f"{self.name} has a certificate that this machine does not trust "
                f"({reason.verify_message}): something in between opens the connection, such as a "
                "proxy whose authority this machine does not know, or it is another server"
            )
        if isinstance(reason, ssl.SSLError):
            return f"{self.name} does not speak TLS ({reason.reason}): {_NONE}"
        return f"the connection to {self.name} broke: {reason}"


_NONE = "this is no API server of Kubernetes, or a proxy answers in its place"


def _message(error: HTTPError) -> str:
    """What an API server says itself, in one line."""
    text = error.read(4000).decode("utf-8", "replace").strip()
    try:
        text = str(json.loads(text)["message"])
    except (ValueError, LookupError, TypeError):
        failed = [line for line in text.splitlines() if line.startswith("[-]")]
        text = "; ".join(failed) or text.partition("\n")[0]
    return f". It says: {text[:300]}" if text.isprintable() and text else ""
