"""The project in a folder: its file, its virtualenv, its stack's settings."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from spotproof_gke.audit.evidence import printable
from spotproof_gke.doctor.place import Place, read_mapping
from spotproof_gke.doctor.row import Area, Row, missing, ok, unknown
from spotproof_gke.problems import did_you_mean
from spotproof_gke.rules.reading import mapping, text

CHECK_SECONDS = 120
"""How long a program of ours may take to judge a stack file."""

_P = Area.PROJECT
_NAME = re.compile(r"[A-Za-z][\w-]*")
_NUMBER = re.compile(r"\d+\.\d+\.\d+[\w.+-]*")


def project_rows(place: Place) -> Iterator[Row]:
    """What of the project is there."""
    why = "it says which program the engine runs"
    if place.project_file is None:
        where = "this folder" if place.folder == Path() else printable(str(place.folder))
        words = f"no Pulumi.yaml in {where} or above"
        yield unknown(_P, "project", words, why, "name a project with --project DIR")
        return
    if place.project is None:
        words = f"{printable(str(place.project_file))} is no YAML mapping"
        yield missing(_P, "project", words, why, f"mend {place.project_file.name}")
        return
    name = place.project_name
    if not name or not place.runtime:
        words = f"{place.project_file.name} lacks {'a name' if not name else 'a runtime'}"
        yield missing(_P, "project", words, why, f"add it to {place.project_file.name}")
    else:
        yield ok(_P, "project", printable(f"{name} ({place.project_file})"), why)
    yield from _virtualenv(place)
    yield from _stack_file(place)


def needed_plugins(place: Place) -> dict[str, str]:
    """The provider plugins that the packages of the program's virtualenv ask for, by name."""
    found: dict[str, str] = {}
    for folder in _site_packages(place.virtualenv):
        for file in folder.glob("pulumi_*/pulumi-plugin.json"):
            stated = read_mapping(file) or {}
            name, number = text(stated.get("name")), text(stated.get("version")).removeprefix("v")
            if (
                stated.get("resource") is True
                and _NAME.fullmatch(name)
                and _NUMBER.fullmatch(number)
            ):
                found[name] = number
    return found


def _site_packages(virtualenv: Path | None) -> list[Path]:
    if virtualenv is None:
        return []
    places = ("lib/python*/site-packages", "Lib/site-packages")
    folders = [folder for each in places for folder in virtualenv.glob(each)]
    # A virtualenv may take in further folders by lines of .pth files.
    for file in [each for folder in folders for each in sorted(folder.glob("*.pth"))]:
        try:
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        folders += [Path(line) for line in lines if line.startswith("/") and Path(line).is_dir()]
    return folders


def _virtualenv(place: Place) -> Iterator[Row]:
    if place.runtime != "python":
        return
    why = "the program and its packages run in it"
    fix = "make setup" if place.has_make else "pulumi install"
    if place.virtualenv is None:
        words = "the project names none, so the program runs on the python of PATH"
        yield unknown(_P, "virtualenv", words, why, "set runtime.options.virtualenv in Pulumi.yaml")
        return
    name = printable(str(place.virtualenv))
    if _python(place.virtualenv) is None:
        yield missing(_P, "virtualenv", f"{name} is not there", why, fix)
        return
    holding = [
        folder for folder in _site_packages(place.virtualenv) if (folder / "pulumi").is_dir()
    ]
    if holding:
        yield ok(_P, "virtualenv", name, why)
    else:
        yield missing(_P, "virtualenv", f"{name} lacks the package pulumi", why, fix)


def _python(virtualenv: Path) -> Path | None:
    places = (virtualenv / "bin" / "python", virtualenv / "Scripts" / "python.exe")
    return next((each for each in places if each.exists()), None)


def _stack_file(place: Place) -> Iterator[Row]:
    file, name, why = place.stack_file, "stack file", "it holds the stack's settings"
    if file is None:
        words = "no stack was named"
        yield unknown(_P, name, words, why, "name one with --stack NAME")
        return
    inside = file.is_relative_to(place.root)
    shown = printable(str(file.relative_to(place.root) if inside else file))
    if not file.is_file():
        there = sorted(each.stem.partition(".")[2] for each in file.parent.glob("Pulumi.*.yaml"))
        hint = f"; {did_you_mean(place.stack, there)}" if there else ""
        words = printable(f"{shown} is not there{hint}")
        yield missing(_P, name, words, why, f"pulumi stack init {place.stack_word}")
        return
    content = read_mapping(file)
    if content is None and file.stat().st_size:
        yield missing(_P, name, f"{shown} is no YAML mapping", why, f"mend {shown}")
        return
    yield _judged(place, file, shown)
    yield from _passphrase(place, mapping(content))


def _judged(place: Place, file: Path, shown: str) -> Row:
    """What our own program says of a stack file; another program's is only looked at."""
    name, why = "stack file", "it holds the stack's settings"
    program = place.root / "infra" / "settings.py"
    python = _python(place.virtualenv) if place.virtualenv else None
    if python is None or not program.is_file() or not program.with_name("stack_file.py").is_file():
        return ok(_P, name, shown, why)
    try:
        ended = subprocess.run(
            [python, program, file],
            cwd=place.root,
            env={**place.environment, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=CHECK_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return unknown(_P, name, f"{shown}: could not be judged", why, "make check")
    said = ended.stderr.strip().splitlines()
    if ended.returncode == 0:
        return ok(_P, name, f"{shown}, judged by the program", why)
    words = said[-1] if said and "Traceback" in said[0] else "; ".join(said[:4])
    fix = f"make check STACK={place.stack_word}"
    return missing(_P, name, printable(f"{shown}: {words}"), why, fix)


def _passphrase(place: Place, content: object) -> Iterator[Row]:
    """For a stack whose secrets are encrypted by a passphrase."""
    if not text(mapping(content).get("encryptionsalt")):
        return
    name, why = "passphrase", "the secrets of the stack are encrypted with it"
    named = place.environment.get("PULUMI_CONFIG_PASSPHRASE_FILE", "")
    if "PULUMI_CONFIG_PASSPHRASE" in place.environment:
        yield ok(_P, name, "by PULUMI_CONFIG_PASSPHRASE", why)
    elif named and Path(named).is_file():
        yield ok(_P, name, "by PULUMI_CONFIG_PASSPHRASE_FILE", why)
    else:
        words = "neither PULUMI_CONFIG_PASSPHRASE nor a file that ..._FILE names"
        yield missing(_P, name, words, why, "export PULUMI_CONFIG_PASSPHRASE_FILE=FILE")
