"""Small pieces of Markdown."""

import json
from collections.abc import Sequence

GENERATED = "<!-- This page is generated: `make docs`. -->"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell(each) for each in line) + " |" for line in lines)


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def json_block(value: object) -> str:
    """A fenced block of JSON."""
    return f"```json\n{json.dumps(value, indent=2)}\n```"
