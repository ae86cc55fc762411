"""Places of values in a program's inputs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sandbox.cloud.schema import Field


@dataclass(frozen=True)
class Place:
    """Where a value is: `path` without indices, `at` with them, `tf` as Terraform writes it."""

    path: str = ""
    at: str = ""
    tf: str = ""

    def of(self, field: Field) -> "Place":
        """The property `field` of the object at this place."""
        return self.child(field.name, field.tf)

    def child(self, name: str, tf: str) -> "Place":
        """The property of this name."""
        return Place(dot(self.path, name), dot(self.at, name), dot(self.tf, tf))

    def only(self) -> "Place":
        """The one object of a block."""
        return Place(self.path, self.at, f"{self.tf}.0")

    def item(self, index: int) -> "Place":
        """The object of this index."""
        return Place(self.path, f"{self.at}[{index}]", f"{self.tf}.{index}")


def dot(prefix: str, name: str) -> str:
    """The path of the property `name` under `prefix`."""
    return f"{prefix}.{name}" if prefix else name


def walk(
    fields: dict[str, Field], values: dict[str, Any], place: Place | None = None
) -> Iterator[tuple[Place, Field, Any]]:
    """Every property that is set, blocks before what is in them."""
    place = place or Place()
    for name, value in values.items():
        field = fields.get(name)
        if field is None or value is None:
            continue
        here = place.of(field)
        yield here, field, value
        if field.kind == "block" and isinstance(value, dict):
            yield from walk(field.fields, value, here.only())
        elif field.kind == "blocks" and isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, dict):
                    yield from walk(field.fields, item, here.item(index))
