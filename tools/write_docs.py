"""Writes what is generated in the documentation: `make docs`.

The pages of policies come from the packs' own metadata, the pages and tables of components and
settings from the components' schema, and the picture from the program of a stack, so none can say
something that the code does not.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from tools.changes_docs import changes_page
from tools.command_docs import commands_table
from tools.component_docs import components_page, components_table
from tools.gke_docs import capacities_page, index_page, machine_types_page, versions_page
from tools.pictures import MARKUP, pictures
from tools.policy_docs import packs_list, policies_page, policy_page, rules
from tools.price_docs import prices_page, quotas_page
from tools.settings_docs import sections_table, stack_file_page
from tools.strategy_docs import MARKER, strategies_page, strategies_table

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Write every generated page and table, and remove generated pages that are no more."""
    wanted = pages()
    for folder in ("policies", "reference"):
        for stale in set((ROOT / "docs" / folder).glob("*.md")) - set(wanted):
            stale.unlink()
    for path, text in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def pages() -> dict[Path, str]:
    """Every file with something generated in it, as it should be."""
    result = {
        ROOT / "docs" / "policies" / f"{rule.name}.md": policy_page(pack, rule)
        for pack, rule in rules()
    }
    result[ROOT / "docs" / "policies" / "README.md"] = policies_page()
    reference = {
        "README": index_page(),
        "components": components_page(),
        "stack-file": stack_file_page(),
        "capacities": capacities_page(),
        "changes": changes_page(),
        "machine-types": machine_types_page(),
        "strategies": strategies_page(),
        "versions": versions_page(),
        "prices": prices_page(),
        "quotas": quotas_page(),
    }
    result |= {ROOT / "docs" / "reference" / f"{name}.md": text for name, text in reference.items()}
    result |= {ROOT / "docs" / "pictures" / name: text for name, text in pictures().items()}
    readme = ROOT / "README.md"
    tables = {
        "sections": sections_table(),
        "components": components_table(),
        "policies": packs_list(),
        "commands": commands_table(),
        MARKER: strategies_table(),
        "picture": MARKUP,
    }
    result[readme] = with_tables(readme.read_text(encoding="utf-8"), tables)
    return result


def with_tables(text: str, tables: Mapping[str, str]) -> str:
    """`text` with each table between its markers.

    Raises:
        ValueError: The markers of a table are not there exactly once.
    """
    for name, table in tables.items():
        between = rf"(<!-- generated: {name} -->\n).*?(<!-- end -->)"
        text, count = re.subn(
            between, lambda m, table=table: f"{m[1]}{table}\n{m[2]}", text, flags=re.DOTALL
        )
        if count != 1:
            raise ValueError(f"README.md holds the markers of {name!r} {count} times, not once")
    return text


if __name__ == "__main__":
    main()
