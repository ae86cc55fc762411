"""Writes components/schema.json, the package as other languages see it: `make schema`."""

import json
from pathlib import Path

from spotproof.package import Components

COMPONENTS = Path(__file__).parents[1] / "components"


def main() -> None:
    """Write the schema of the components as they are now."""
    text = json.dumps(json.loads(Components().schema or ""), indent=2, sort_keys=True) + "\n"
    (COMPONENTS / "schema.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
