"""Small changes of a module, one at a time, that some test ought to notice."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_COMPARE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
}
_NAMES = {
    "any": "all",
    "all": "any",
    "min": "max",
    "max": "min",
    "startswith": "endswith",
    "endswith": "startswith",
}
_PLAIN_CALLS = ("lower", "upper", "strip", "lstrip", "rstrip")
# What only a reader of the source sees.
_SKIPPED_FIELDS = ("annotation", "returns", "decorator_list", "bases", "ctx", "format_spec")


@dataclass(frozen=True)
class Mutation:
    """One change of a tree: `new` in the place of `old`.

    Attributes:
        line: Line of the source.
        before: The old code.
        after: The new code.
        function: Names that lead to the function whose body holds it, or none.
        owner: The node, or the list of a node, that holds `old`.
        slot: Name of the field, or index in the list.
        new: What to put there.
    """

    line: int
    before: str
    after: str
    function: tuple[str, ...]
    owner: Any
    slot: Any
    new: ast.AST

    def apply(self) -> None:
        """Change the tree that the mutation was found in."""
        if isinstance(self.owner, list):
            self.owner[self.slot] = self.new
        else:
            setattr(self.owner, self.slot, self.new)


def mutations_of(tree: ast.Module) -> list[Mutation]:
    """Every mutation of a module, in the order of its source.

    Left alone are docstrings, imports, annotations, `__all__`, and prose: strings with a blank and
    the fixed parts of f-strings, which people read and no rule does.
    """
    found = []
    for node, owner, slot, function in _slots(tree, (), False):
        for new in _changes(node):
            at = node.target if isinstance(node, ast.comprehension) else node
            ast.copy_location(new, at)
            ast.fix_missing_locations(new)
            line = getattr(at, "lineno", 0)
            changed = (_shown(node), _shown(new))
            found.append(Mutation(line, *changed, function, owner, slot, new))
    return sorted(found, key=lambda each: each.line)


def _shown(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())[:90]


_Place = tuple[ast.AST, Any, Any, tuple[str, ...]]


def _slots(node: ast.AST, names: tuple[str, ...], inside: bool) -> Iterator[_Place]:
    """Each node below `node` with the place that holds it, and the names of its function.

    Args:
        node: Where to begin.
        names: Of the classes, and the outermost function, that `node` is or stands in.
        inside: Whether `node` stands in the body of a function.
    """
    for name, value in ast.iter_fields(node):
        if name in _SKIPPED_FIELDS:
            continue
        places = enumerate(value) if isinstance(value, list) else [(name, value)]
        holder = value if isinstance(value, list) else node
        body = inside or (isinstance(node, ast.FunctionDef) and name == "body")
        for slot, child in places:
            if isinstance(child, ast.AST) and not _is_for_readers(child, node):
                yield child, holder, slot, names if body else ()
                below = names
                if isinstance(child, (ast.FunctionDef, ast.ClassDef)) and not body:
                    below = (*names, child.name)
                yield from _slots(child, below, body)


def _is_for_readers(node: ast.AST, parent: ast.AST) -> bool:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return True
    if isinstance(node, ast.Constant) and isinstance(parent, ast.JoinedStr):
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    targets = node.targets if isinstance(node, ast.Assign) else []
    return any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets)


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Constant):
        yield from _constants(node.value)
    elif isinstance(node, ast.Compare):
        for number, op in enumerate(node.ops):
            if type(op) in _COMPARE:
                ops = [*node.ops[:number], _COMPARE[type(op)](), *node.ops[number + 1 :]]
                yield ast.Compare(node.left, ops, node.comparators)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        for number in range(len(node.values)):
            rest = [*node.values[:number], *node.values[number + 1 :]]
            yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        yield ast.BinOp(node.left, _ARITHMETIC[type(node.op)](), node.right)
    elif isinstance(node, ast.IfExp):
        yield node.body
        yield node.orelse
    elif isinstance(node, ast.comprehension) and node.ifs:
        yield ast.comprehension(node.target, node.iter, [], node.is_async)
    elif isinstance(node, ast.Call):
        yield from _calls(node)
    else:
        yield from _statements(node)


def _constants(value: object) -> Iterator[ast.AST]:
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, (int, float)):
        yield ast.Constant(value + 1)
    elif isinstance(value, str) and " " not in value:
        yield ast.Constant(f"{value}~")


def _calls(node: ast.Call) -> Iterator[ast.AST]:
    name = node.func
    if isinstance(name, ast.Name) and name.id in _NAMES:
        yield ast.Call(ast.Name(_NAMES[name.id], ast.Load()), node.args, node.keywords)
    elif isinstance(name, ast.Attribute) and name.attr in _NAMES:
        other = ast.Attribute(name.value, _NAMES[name.attr], ast.Load())
        yield ast.Call(other, node.args, node.keywords)
    elif isinstance(name, ast.Attribute) and name.attr in _PLAIN_CALLS and not node.args:
        yield name.value


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Return) and node.value and not _is_none(node.value):
        yield ast.Return(ast.Constant(None))
    elif isinstance(
        node, (ast.Return, ast.Continue, ast.Break, ast.Raise, ast.AugAssign, ast.Expr)
    ):
        yield ast.Pass()
    elif isinstance(node, ast.If):
        yield ast.If(ast.Constant(False), node.body, node.orelse)
        yield ast.If(ast.Constant(True), node.body, node.orelse)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
