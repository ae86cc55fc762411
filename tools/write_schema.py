"""Writes components/schema.json, the package as other languages see it: `make schema`."""

import json
import runpy
from pathlib import Path

from pulumi.provider.experimental.component import ComponentProvider

import spotproof

COMPONENTS = Path(__file__).parents[1] / "components"


def main() -> None:
    """Write the schema of the components as they are now."""
    served = runpy.run_path(str(COMPONENTS / "__main__.py"))["COMPONENTS"]
    provider = ComponentProvider(list(served), "spotproof", version=spotproof.__version__)
    text = json.dumps(json.loads(provider.schema), indent=2, sort_keys=True) + "\n"
    (COMPONENTS / "schema.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
