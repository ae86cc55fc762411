"""Tables for a terminal: columns without lines, and without blanks at the ends of rows."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text


def print_table(
    console: Console,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: Sequence[str] = (),
) -> None:
    """Print rows under their columns; cells are text as it is, and long ones are folded.

    Args:
        console: Where to.
        columns: Their names.
        rows: A text for each column.
        numbers: Columns of numbers: to the right, and never folded.
    """
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in columns:
        if name in numbers:
            table.add_column(name, justify="right", no_wrap=True)
        else:
            table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    with console.capture() as printed:
        console.print(table)
    for line in printed.get().splitlines():
        console.out(line.rstrip(), highlight=False)
