"""`python -m tools.publish_policies`: writes each policy pack as a folder that needs no other.

A pack in this repository shares `spotproof_gke` with everything else, so a copy of its folder alone
cannot be installed. The folders written here hold that package as source, and ask the registry for
the engine's SDK and a YAML reader only: `pulumi policy publish`, `pulumi install` and plain pip all
work on them, on any machine.
"""

import argparse
import ast
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
POLICIES = ROOT / "policies"
PACKAGE = ROOT / "gke" / "spotproof_gke"
INTO = ROOT / "dist" / "policies"
COPIED = ("__main__.py", "policy.py", "*.example.json")
VIRTUALENV = "venv"
MARK = "PulumiPolicy.yaml"


class PublishError(Exception):
    """The folders cannot be written; the text says why and what to do."""


def packs() -> list[str]:
    """The packs of this repository, by the names of their folders."""
    return sorted(file.parent.name for file in POLICIES.glob(f"*/{MARK}"))


def publish(into: Path) -> list[Path]:
    """Writes every pack into `into`, and the levels beside them. What was written before is gone.

    Raises:
        PublishError: a folder there is none of ours, or cannot be written.
    """
    folders = [into / name for name in packs()]
    for folder in folders:
        if folder.exists() and any(folder.iterdir()) and not (folder / MARK).is_file():
            raise PublishError(f"{folder} is there and is no policy pack; choose another --into")
    try:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
            _write(folder)
        shutil.copytree(POLICIES / "levels", into / "levels", dirs_exist_ok=True)
    except OSError as error:
        raise PublishError(f"{error.filename}: {error.strerror}") from None
    return folders


def _write(folder: Path) -> None:
    source = POLICIES / folder.name
    folder.mkdir(parents=True)
    for pattern in COPIED:
        for file in source.glob(pattern):
            shutil.copyfile(file, folder / file.name)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, folder / PACKAGE.name, ignore=ignored)
    shutil.copyfile(ROOT / "LICENSE", folder / "LICENSE")
    project = yaml.safe_load((source / MARK).read_text(encoding="utf-8"))
    project["runtime"]["options"]["virtualenv"] = VIRTUALENV
    (folder / MARK).write_text(yaml.safe_dump(project, sort_keys=False), encoding="utf-8")
    (folder / "requirements.txt").write_text("\n".join([*requirements(), ""]), encoding="utf-8")
    # What `pulumi policy publish` leaves out of its archive.
    (folder / ".gitignore").write_text(f"/{VIRTUALENV}/\n__pycache__/\n", encoding="utf-8")
    (folder / "README.md").write_text(_readme(project), encoding="utf-8")


def requirements() -> list[str]:
    """What a pack needs from the registry: the requirements of `spotproof-gke[policy]`."""
    text = (ROOT / "gke" / "pyproject.toml").read_text(encoding="utf-8")
    found: list[str] = []
    for key in ("dependencies", "policy"):
        match = re.search(rf"^{key} = (\[.*?\])$", text, flags=re.M | re.S)
        if match is None:
            raise PublishError(f"gke/pyproject.toml has no list {key}")
        found += ast.literal_eval(match[1])
    return found


def _readme(project: dict[str, str]) -> str:
    return (
        f"# {project['description']}\n\n"
        f"A Pulumi policy pack, version {project['version']}, from {project['website']}.\n\n"
        "`pulumi install` in this folder, or these two lines, make the virtualenv that it runs "
        "in:\n\n"
        "```console\n"
        f"$ python3 -m venv {VIRTUALENV}\n"
        f"$ {VIRTUALENV}/bin/pip install -r requirements.txt\n"
        "```\n\n"
        "Then `pulumi preview --policy-pack FOLDER` runs it on a program,\n"
        "`pulumi policy analyze --policy-pack FOLDER --file state.json` on a state, and\n"
        "`pulumi policy publish ORGANIZATION` puts it into Pulumi Cloud.\n"
        "`config.example.json` shows what can be configured.\n"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the folders and says where they are; 1 with one error when it cannot."""
    parser = argparse.ArgumentParser(prog="python -m tools.publish_policies", description=__doc__)
    parser.add_argument("--into", type=Path, default=INTO, help="a folder (default: dist/policies)")
    try:
        for folder in publish(parser.parse_args(arguments).into):
            print(folder)
    except PublishError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
