"""SDKs for other languages, written from the schema by the generators that the Pulumi CLI uses.

The generators are built with Go, so that no language host is needed: an engine built with Go brings
the one for Node.js no more than the one for Python.
"""

from pathlib import Path

from sandbox.go_build import Binary, Programs
from sandbox.paths import ROOT
from sandbox.progress import run_step

LANGUAGES = ("nodejs", "python")
SCHEMA = ROOT / "components" / "schema.json"
_TIMEOUT_SECONDS = 120

_PROGRAMS = Programs(
    Path(__file__).parent / "build",
    (
        Binary(
            name="generate",
            module="generate",
            package=".",
            version="v3.274.1",
            version_variable="main.version",
            minutes=1,
        ),
    ),
)


def generate(language: str, folder: Path, schema: Path = SCHEMA) -> None:
    """Writes the SDK for `nodejs` or `python` into a folder, as `pulumi package add` would.

    Raises:
        BuildError: the generators are not built yet and cannot be.
        StepError: the schema is none.
    """
    generator = (_PROGRAMS.built() or _PROGRAMS.build()) / "generate"
    folder.mkdir(parents=True, exist_ok=True)
    run_step([generator, language, schema, folder], folder, {}, _TIMEOUT_SECONDS)
