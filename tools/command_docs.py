"""The table of what the command `spotproof` can do, out of the command itself."""

from pathlib import Path
from typing import Any

import typer

from spotproof_gke.commands.line import application
from tools.markdown import table

HOW_TO = Path(__file__).resolve().parents[1] / "docs" / "how-to"
PAGES = {
    "advise": "choose-capacity",
    "audit": "audit",
    "cost": "estimate-cost",
    "doctor": "check-this-machine",
    "gpus": "estimate-cost",
    "graph": "draw-a-stack",
    "interval": "estimate-cost",
}
"""Where each command is shown at work."""


def commands_table() -> str:
    """Each command with the first sentence of its help, linked to its page where it has one."""
    group: Any = typer.main.get_command(application())
    rows = []
    for name, command in group.commands.items():
        shown = f"`spotproof {name}`"
        page = PAGES.get(name, name)
        if (HOW_TO / f"{page}.md").is_file():
            shown = f"[{shown}](docs/how-to/{page}.md)"
        rows.append((shown, command.help.strip().partition("\n\n")[0].replace("\n", " ")))
    return table(("command", "what it does"), rows)
