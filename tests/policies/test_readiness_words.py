"""The words and operators that a shell script is read as."""

import pytest

from spotproof_gke.rules.shell_words import OPERATOR, REDIRECTION, WORD, tokens


def _words(script: str) -> list[str]:
    return [token for kind, token in tokens(script) if kind == WORD]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("a b", ["a", "b"]),
        ("a\tb\r c", ["a", "b", "c"]),
        (r"a\ b c", ["a b", "c"]),
        ("a\\\nb", ["ab"]),
        ("a \\\n b", ["a", "b"]),
        ("'a b' c", ["a b", "c"]),
        ('"a b" c', ["a b", "c"]),
        ("x'a b'y c", ["xa by", "c"]),
        ("`a b` c", ["a b", "c"]),
        (r"'a\' b", ["a\\", "b"]),
        (r'"a\" b" c', [r"a\" b", "c"]),
        ("'a\"' b\"'\" c", ['a"', "b'", "c"]),
        ("$(a b) c", ["$(a b)", "c"]),
        ("${a:-b c} d", ["${a:-b c}", "d"]),
        ("x$(a)y z", ["x$(a)y", "z"]),
        ("$(a $(b c) d) e", ["$(a $(b c) d)", "e"]),
        ("$(a ${b:-)} c) d", ["$(a ${b:-)} c)", "d"]),
        ("$(a ')' b) c", ["$(a ')' b)", "c"]),
        ('$(a ")" b) c', ['$(a ")" b)', "c"]),
        ("$(a `echo )` b) c", ["$(a `echo )` b)", "c"]),
        (r"$(a \) b) c", [r"$(a \) b)", "c"]),
        ("${a:-'}'} b", ["${a:-'}'}", "b"]),
        ('"$(a "b c") d" e', ['$(a "b c") d', "e"]),
        ('"${a:-"b c"}" d', ['${a:-"b c"}', "d"]),
        ('"it\'s" b', ["it's", "b"]),
        ("'$(a' b", ["$(a", "b"]),
        ('"$a b" c', ["$a b", "c"]),
        ("$a$b c", ["$a$b", "c"]),
        ("a{b c", ["a{b", "c"]),
        ("a#b c", ["a#b", "c"]),
        ("a #b c", ["a"]),
        ("#a\nb", ["b"]),
        ("diff <(a b) >(c d) e", ["diff", "<(a b)", ">(c d)", "e"]),
        ("a;b&c|d", ["a", "b", "c", "d"]),
        ("'a b", ["a b"]),
        ("a\\\n\\\nb c", ["ab", "c"]),
        ("a<b c", ["a", "c"]),
        ("'$(a b)' c", ["$(a b)", "c"]),
        ("\"'$(a b)'\" c", ["'$(a b)'", "c"]),
        ("$(a '$(b' c) d", ["$(a '$(b' c)", "d"]),
        ("$(a {b c) d", ["$(a {b c)", "d"]),
        ("$(a $b c) d", ["$(a $b c)", "d"]),
        (r"'a\b' c", [r"a\b", "c"]),
        ("${a:-$(b })} c", ["${a:-$(b })}", "c"]),
        ("$(a b", ["$(a b"]),
        ("a\\", ["a"]),
        ("", []),
        (" \n", []),
    ],
    ids=repr,
)
def test_quotes_and_expansions_keep_a_word_together(script: str, words: list[str]) -> None:
    assert _words(script) == words


@pytest.mark.parametrize(
    ("script", "words", "redirections"),
    [
        ("a >b c", ["a", "c"], [">"]),
        ("a > b c", ["a", "c"], [">"]),
        ("a 2>&1 c", ["a", "c"], ["2>&"]),
        ("a &>b c", ["a", "c"], ["&>"]),
        ("a &>>b c", ["a", "c"], ["&>>"]),
        ("a <b >>'c d' e", ["a", "e"], ["<", ">>"]),
        ("a >|b <>c d", ["a", "d"], [">|", "<>"]),
        ("a <<<b c", ["a", "c"], ["<<<"]),
        ("a <<E c\nx y\nE\nd", ["a", "c", "d"], ["<<"]),
        ("a <<-E c\n\tx y\n\tE\nd", ["a", "c", "d"], ["<<-"]),
        ("a << 'E F' c\nx\nE F\nd", ["a", "c", "d"], ["<<"]),
        ("a <<E <<F\nx\nE\ny\nF\nd", ["a", "d"], ["<<", "<<"]),
        ("a <<E\nx.E\nEE\nE\nd", ["a", "d"], ["<<"]),
        ("a <<E.F\nExF\nE.F\nd", ["a", "d"], ["<<"]),
        ("a <<E\nnever ended", ["a"], ["<<"]),
    ],
    ids=repr,
)
def test_what_redirections_name_is_no_word_of_the_command(
    script: str, words: list[str], redirections: list[str]
) -> None:
    assert _words(script) == words
    assert [token for kind, token in tokens(script) if kind == REDIRECTION] == redirections


@pytest.mark.parametrize(
    "operator", ["&", ";", "|", "||", "&&", ";;", ";&", ";;&", "|&", "\n", "(", ")"]
)
def test_operator_stands_between_words(operator: str) -> None:
    expected = [(WORD, "a"), (OPERATOR, operator), (WORD, "b")]

    assert list(tokens(f"a{operator}b")) == expected
    assert list(tokens(f"a {operator} b")) == expected
