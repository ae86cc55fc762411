"""Edits of a YAML text by position: whatever is not edited stays byte for byte.

Reading and writing values instead would judge them by PyYAML's rules, which are not the engine's.
"""

import bisect
import re
from dataclasses import dataclass

import yaml

# Between items, so never the end of a value.
_SEPARATORS = (yaml.KeyToken, yaml.FlowEntryToken)
_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)*")
_ANCHOR = re.compile(r"&\S+")


@dataclass(frozen=True)
class Item:
    """A key of a mapping with its value, from `start` up to `end` in the text."""

    key: str
    value: yaml.Node
    start: int
    end: int


class YamlText:
    """A text, its node tree and the edits asked for.

    Raises:
        yaml.YAMLError: the text is no YAML document.
    """

    def __init__(self, text: str) -> None:
        self.root: yaml.Node | None = yaml.compose(text, yaml.SafeLoader)
        self._text = text
        self._edits: set[tuple[int, int, str]] = set()
        self._token_ends = [
            token.end_mark.index
            for token in yaml.scan(text, yaml.SafeLoader)
            if token.end_mark.index > token.start_mark.index and not isinstance(token, _SEPARATORS)
        ]

    def items(self, mapping: yaml.MappingNode) -> list[Item]:
        """The items of a mapping in block style or in braces, in order."""
        starts = [key.start_mark.index for key, _ in mapping.value]
        last = mapping.end_mark.index - (1 if mapping.flow_style else 0)
        return [
            Item(str(key.value), value, start, self._end_before(limit))
            for (key, value), start, limit in zip(
                mapping.value, starts, [*starts[1:], last], strict=False
            )
        ]

    def remove(self, mapping: yaml.MappingNode, item: Item) -> None:
        """Removes an item: in block style with its lines, in braces with the comma after it."""
        if mapping.flow_style:
            later = [one.start for one in self.items(mapping) if one.start > item.start]
            self._edits.add((item.start, min(later, default=item.end), ""))
            return
        line_end = self._text.find("\n", item.end)
        end = len(self._text) if line_end < 0 else line_end + 1
        self._edits.add((self._line_start(item.start), end, ""))

    def insert(self, mapping: yaml.MappingNode, entry: str) -> None:
        """Inserts `key: value` as the first item."""
        if mapping.flow_style:
            after_brace = self._text.index("{", mapping.start_mark.index) + 1
            self._edits.add((after_brace, after_brace, f"{entry}, "))
            return
        first = mapping.value[0][0].start_mark.index
        start = self._line_start(first)
        indent = re.match(r"\ufeff? *", self._text[start:first])
        self._edits.add((start, start, f"{indent[0] if indent else ''}{entry}\n"))

    def replace_item(self, item: Item, entry: str) -> None:
        self._edits.add((item.start, item.end, entry))

    def replace(self, node: yaml.Node, scalar: str) -> None:
        """Puts a scalar in the place of a node; its anchor stays, for the aliases there are."""
        start, end = node.start_mark.index, self._end_before(node.end_mark.index)
        properties = _PROPERTIES.match(self._text, start)
        anchors = _ANCHOR.findall(properties[0]) if properties else []
        apart = [""] if self._text[:start].endswith(":") else []
        self._edits.add((start, max(start, end), " ".join([*apart, *anchors, scalar])))

    def edited(self) -> str:
        """The text with all edits."""
        parts: list[str] = []
        done = 0
        for start, end, new in sorted(self._edits):
            parts += [self._text[done:start], new]
            done = end
        return "".join([*parts, self._text[done:]])

    def _end_before(self, limit: int) -> int:
        """Where the last token before a position ends; the marks of block nodes come later."""
        end = self._token_ends[bisect.bisect_right(self._token_ends, limit) - 1]
        return len(self._text[:end].rstrip())

    def _line_start(self, index: int) -> int:
        return self._text.rfind("\n", 0, index) + 1
