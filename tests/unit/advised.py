"""What is pasted is judged as `make check` judges a stack file."""

from pathlib import Path

import settings
import stack_file


def judged(text: str, folder: Path) -> settings.Settings:
    """The settings in a stack file of this text.

    Raises:
        ProblemsError: Something is wrong with them.
    """
    path = folder / "Pulumi.pasted.yaml"
    path.write_text(text, encoding="utf-8")
    values, secrets = stack_file.read(path)
    return settings.load(values, str(path), secrets)
