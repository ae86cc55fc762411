"""What the tests of the pages rest on: blocks are found, and outputs compared."""

import pytest

from tests.docs.pages import Block, Command, came


@pytest.mark.parametrize(
    ("shown", "output"),
    [
        ("one\n", "one\n"),
        ("up  ok  7.6  2 created\n", "up  ok  14.8  2 created\n"),
        ("…\nlast\n", "first\nsecond\nlast\n"),
        ("first\n…\n", "first\nsecond\nlast\n"),
        ("passed (…)\n", "passed (/tmp/x)\n"),
        ("a\n\nb", "a\n\nb\n\n"),
    ],
)
def test_an_output_that_a_page_shows_is_recognized(shown: str, output: str) -> None:
    assert came(shown, output)


@pytest.mark.parametrize(
    ("shown", "output"),
    [
        ("one\n", "two\n"),
        ("one\n", "one\ntwo\n"),
        ("…\nlast\n", "first\nlast, or nearly\n"),
        ("up ok 7.6 2 created\n", "up ok 7.6 3 created\n"),
        ("a.b\n", "acb\n"),
    ],
)
def test_an_output_that_has_changed_is_not(shown: str, output: str) -> None:
    assert not came(shown, output)


def test_commands_of_a_block_stand_with_their_output() -> None:
    text = "$ cat > f <<'END'\n> a\n> b\n> END\n$ cat f\na\nb\n$ x \\\n    -y\n"

    assert Block("page", 0, "console", text).commands() == [
        Command("cat > f <<'END'\na\nb\nEND", ""),
        Command("cat f", "a\nb\n"),
        Command("x \\\n    -y", ""),
    ]
    assert Block("page", 0, "sh", "a \\\n  b\nc\n").commands() == [
        Command("a   b", ""),
        Command("c", ""),
    ]
