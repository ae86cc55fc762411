"""Tools, plugins and logins of this machine."""

import json
import os
import platform
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from spotproof_gke.audit.evidence import printable
from spotproof_gke.doctor.place import Place, shell_word, shown_address
from spotproof_gke.doctor.row import Area, Row, missing, ok, unknown
from spotproof_gke.rules.reading import mapping, text
from spotproof_gke.stack_state import engine_version

NEEDED_ENGINE = ">=3.272.0"
"""The engine that our components need, where a project does not say."""

_M = Area.MACHINE
_INSTALL_ENGINE = "install the Pulumi CLI: https://www.pulumi.com/docs/install/"
_TOKENS = ("GOOGLE_OAUTH_ACCESS_TOKEN", "GOOGLE_CREDENTIALS")
_TOOLS = {
    "kubectl": (
        "`spotproof audit` reads a live cluster with it",
        "gcloud components install kubectl",
    ),
    "gcloud": (
        "it logs you in to Google Cloud, and to the clusters",
        "install the Google Cloud CLI: https://docs.cloud.google.com/sdk/docs/install",
    ),
    "gke-gcloud-auth-plugin": (
        "kubectl and the Kubernetes provider get into a cluster of GKE with it",
        "gcloud components install gke-gcloud-auth-plugin",
    ),
}


def machine_rows(place: Place, plugins: Mapping[str, str]) -> Iterator[Row]:
    """What of the machine is there.

    Args:
        place: What is looked at.
        plugins: The provider plugins that the program needs, with their versions.
    """
    version = platform.python_version()
    yield ok(_M, "python", f"{version} ({sys.executable})", "this command runs on it")
    path = place.environment.get("PATH", os.defpath)
    engine = shutil.which("pulumi", path=path)
    yield _engine(place, engine)
    yield _language_host(place, engine, path)
    for name, number in sorted(plugins.items()):
        yield _plugin(place, name, number, path)
    for name, (why, fix) in _TOOLS.items():
        found = shutil.which(name, path=path)
        if found:
            yield ok(_M, name, found, why)
        else:
            yield missing(_M, name, "not on PATH", why, fix)
    yield _backend(place)
    yield _google_login(place)


def _engine(place: Place, engine: str | None) -> Row:
    why = "it runs the program"
    stated = mapping(place.project).get("requiredPulumiVersion")
    wanted = text(stated) or NEEDED_ENGINE
    if engine is None:
        fix = _INSTALL_ENGINE
        if place.has_make:
            fix = f"{_INSTALL_ENGINE} (for rehearsals alone: make engine)"
        return missing(_M, "pulumi", "not on PATH", why, fix)
    try:
        version = engine_version.of(Path(engine))
        fits = engine_version.satisfies(version, wanted)
    except OSError as error:
        words = f"{engine} cannot be run: {error.strerror}"
        return missing(_M, "pulumi", printable(words), why, _INSTALL_ENGINE)
    except ValueError as error:
        return missing(_M, "pulumi", printable(str(error)), why, _INSTALL_ENGINE)
    if fits:
        return ok(_M, "pulumi", f"{version} ({engine})", why)
    words = f"{version}, and the project needs {wanted}"
    return missing(_M, "pulumi", printable(words), why, _INSTALL_ENGINE)


def _language_host(place: Place, engine: str | None, path: str) -> Row:
    language = printable(place.runtime) if place.runtime.isalnum() else "python"
    name, why = f"pulumi-language-{language}", "the engine starts the program with it"
    beside = [str(Path(engine).resolve().parent)] if engine else []
    found = shutil.which(name, path=os.pathsep.join([*beside, path]))
    if found:
        return ok(_M, name, found, why)
    words = "neither on PATH nor beside pulumi"
    return missing(_M, name, words, why, f"{_INSTALL_ENGINE}, which brings it")


def _plugin(place: Place, name: str, number: str, path: str) -> Row:
    why = f"the engine makes {name} resources with it"
    binary, title = f"pulumi-resource-{name}", f"plugin {name}"
    on_path = shutil.which(binary, path=path)
    folder = place.pulumi_home / "plugins" / f"resource-{name}-v{number}"
    if (folder / binary).is_file() or (folder / f"{binary}.exe").is_file():
        return ok(_M, title, number, why)
    if on_path:
        return ok(_M, title, f"{on_path}, in the place of {number}", why)
    there = place.pulumi_home.glob(f"plugins/resource-{name}-v*")
    others = sorted(each.name.rpartition("-v")[2] for each in there if each.is_dir())
    words = f"{number} is not installed" + (f", only {', '.join(others)}" if others else "")
    return missing(
        _M, title, printable(words), why, f"pulumi plugin install resource {name} {number}"
    )


def _backend(place: Place) -> Row:
    why = "the state of every stack is kept there"
    address = place.backend
    shown = shown_address(address)
    if not address:
        return missing(_M, "login", "nobody is logged in to a backend", why, "pulumi login")
    if folder := place.backend_folder:
        if os.access(folder, os.W_OK):
            return ok(_M, "login", shown, why)
        words = f"{shown}: no folder that can be written"
        return missing(_M, "login", words, why, f"mkdir -p {shell_word(str(folder))}")
    if not address.startswith(("https://", "http://")):
        words = f"{shown}: whether the bucket is there was not asked"
        return unknown(_M, "login", words, why, "pulumi whoami --verbose")
    accounts = mapping(place.logins.get("accounts"))
    tokens = mapping(place.logins.get("accessTokens"))
    if place.environment.get("PULUMI_ACCESS_TOKEN") or address in {**accounts, **tokens}:
        return ok(_M, "login", f"{shown}, with a token", why)
    return missing(_M, "login", f"{shown}, without a token", why, f"pulumi login {shown}")


def _google_login(place: Place) -> Row:
    """Whether application-default credentials are there; what they hold is not looked at further.

    Source of the places: docs.cloud.google.com/docs/authentication/application-default-credentials
    and the documentation of pulumi-gcp, read on 2026-11-30.
    """
    name, why = "google credentials", "the provider reaches Google Cloud with them"
    fix = "gcloud auth application-default login"
    for variable in _TOKENS:
        if place.environment.get(variable):
            return ok(_M, name, f"by {variable}", why)
    variable = "GOOGLE_APPLICATION_CREDENTIALS"
    given = place.environment.get(variable)
    if given:
        file, source = Path(given), f"{variable}={printable(given)}"
        fix = f"unset {variable}, then {fix}"
    else:
        stated = place.environment.get("CLOUDSDK_CONFIG")
        home = Path(stated) if stated else place.user_home / ".config" / "gcloud"
        file = home / "application_default_credentials.json"
        source = str(file)
        if not file.exists():
            return missing(_M, name, "none of the application's own", why, fix)
    if text(mapping(_as_json(file)).get("type")):
        return ok(_M, name, source, why)
    return missing(_M, name, f"{source}: no file of credentials", why, fix)


def _as_json(file: Path) -> object:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
