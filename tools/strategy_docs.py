"""The table and the page of strategies, out of `spotproof_gke/data/strategies.yaml`."""

from collections.abc import Iterator

from spotproof_gke.strategy import Strategy
from spotproof_gke.strategy.ends import DAY_HOURS, LONGEST_HOURS
from spotproof_gke.strategy.odds import LEAST_GOODPUT, MOST_REPEATS, SCENARIO
from spotproof_gke.strategy.texts import facts
from tools.markdown import GENERATED, table

MARKER = "strategies"
"""Name of the table between markers of a page that is written by hand, such as the README."""


def strategies_table() -> str:
    """Which work takes which capacity, for the README: as much as a phone has room for."""
    return table(
        ("strategy", "when", "watch"),
        [(row["title"], row["when"], row["watch"]) for row in _rows()],
    )


def _whole_table() -> str:
    header = ("strategy", "when", "declared by", "watch")
    return table(header, [(row["title"], row["when"], row["how"], row["watch"]) for row in _rows()])


def strategies_page() -> str:
    """The page about all strategies and the guidance that they follow."""
    guidance = facts("guidance")
    order = {name: number for number, name in enumerate(guidance, 1)}
    follows = [
        (row["title"], " ".join(f"[{order[name]}](#guidance)" for name in row["guidance"]))
        for row in _rows()
    ]
    return "\n\n".join([
        GENERATED,
        "# Strategies",
        "What `spotproof advise` can answer, and what it follows. "
        "[How to ask it](../how-to/choose-capacity.md).",
        _whole_table(),
        "Each follows guidance:",
        table(("strategy", "guidance"), follows),
        "## Where guidance is silent",
        "On these points Google's pages say nothing, as far as we have read them. "
        "The answer is then an opinion, and says so and why; the name is the one in its JSON.",
        "\n".join(_opinions()),
        "Three numbers are ours as well:",
        f"- Spot is left when less than {100 * LEAST_GOODPUT:.0f} % of the time on it stays work "
        f"in the scenario `{SCENARIO}`, if flex-start can take it.\n"
        f"- Work that begins again each time is kept off Spot when it would take more than "
        f"{MOST_REPEATS:g} times as long.\n"
        f"- What must start now and must not be interrupted takes plain on-demand nodes up to "
        f"{DAY_HOURS:g} hours, which lie between two maintenance windows. "
        f"The longest life of a flex-start node, {LONGEST_HOURS:g} hours, is Google's.",
        "## Guidance",
        "What an answer leans on, in our words, and the day on which we read it.",
        table(
            ("", "address", "read on", "it says"),
            [
                (str(order[name]), f"<{row['address']}>", str(row["read_on"]), row["says"])
                for name, row in guidance.items()
            ],
        ),
    ]) + "\n"  # fmt: skip


def _rows() -> list[dict]:
    return [facts("strategies")[strategy.value] for strategy in Strategy]


def _opinions() -> Iterator[str]:
    for name, row in facts("reasons").items():
        if "opinion" in row:
            yield f"- `{name}`: {_plain(row['text'])} Because {_plain(row['opinion'])}."


def _plain(text: str) -> str:
    """A text whose braces, which an answer fills in, are emphasised."""
    return text.replace("{", "*").replace("}", "*")
