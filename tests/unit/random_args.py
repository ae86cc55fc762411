"""Arguments of any component, made up from its annotations: mostly right, some with mistakes."""

import typing
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pulumi
from hypothesis import strategies as st
from typing_extensions import NotRequired, is_typeddict

from spotproof_gke.accelerators import ACCELERATORS, MACHINE_TYPES
from spotproof_gke.gpu_nodes import ATTACHABLE
from spotproof_gke.locations import zones_of
from tests.unit.change_examples import EXAMPLES, REGION
from tests.unit.workload_examples import KUEUE_QUEUES

NUMBERS = (0, 1, 2, 3, 4, 8, 15, 30, 64, 120, 600, 3000, 86_400, 604_800, 2_678_400, 10**9, 4.0)
HERE = sorted(m.name for m in MACHINE_TYPES.values() if m.zones_in(REGION))
TEXTS = ("a", "research", "Train_1", "a.b/c", "x" * 64, "é", "a b", "a\nb", "-", "1", "0.0.0.0/0")
BY_NAME: dict[str, st.SearchStrategy[Any]] = {
    "machine_type": st.sampled_from(
        [*HERE, *MACHINE_TYPES, "n1-standard-4", "n1-highcpu-96", "n2-standard-8", "e2-medium"]
    ),
    "accelerator": st.sampled_from([*ACCELERATORS, *ATTACHABLE, "l4", "nvidia-tesla-t44"]),
    "accelerators": st.dictionaries(
        st.sampled_from([*ACCELERATORS, "l4"]), st.sampled_from((1, 8, 16, 64)), max_size=3
    ),
    "zones": st.lists(st.sampled_from([*zones_of(REGION), "us-east1-b"]), max_size=4),
    "days": st.lists(st.sampled_from(("MO", "TU", "WE", "SA", "SU", "Sa")), max_size=4),
    "start_time": st.sampled_from(("02:00", "23:59", "24:00", "2:00")),
    "disk_type": st.sampled_from(("pd-balanced", "pd-ssd", "hyperdisk-balanced", "floppy")),
    "reservation": st.sampled_from(("ours", "projects/acme-other/reservations/ours", "a/b/c")),
    "publishers": st.lists(st.sampled_from(("a/b", "a/b-c", "x", "a/b.c")), max_size=3),
    "services": st.lists(
        st.sampled_from(("compute.googleapis.com", "pubsub.googleapis.com", "compute")), max_size=3
    ),
}
(_FLAVOR,) = KUEUE_QUEUES["flavors"]
BY_NAME["flavors"] = st.lists(
    st.sampled_from(
        [_FLAVOR, {**_FLAVOR, "name": "spot", "capacity": "spot"}, {**_FLAVOR, "gpus": 0}, {}]
    ),
    max_size=2,
)
BY_NAME["local_queues"] = BY_NAME["publishers"]
BY_NAME["workers"] = BY_NAME["workloads"] = BY_NAME["publishers"]
REFERENCES = frozenset(
    {"cluster", "node_service_account", "network_id", "subnetwork_id", "pods_range_name"}
    | {"services_range_name", "buckets", "publishes_to", "works_on"}
)
"""Arguments that name what exists: any text is right in form, so only the examples' are drawn."""

WRONG: tuple[Any, ...] = (
    *(None, "", 0, -1, 1.5, 10**30, 10**5000, float("nan"), float("inf"), True, b"bytes", object),
    *([], {}, ["a", "a"], [None], [[]], [{}], {"a": 1}, {"": ""}, {1: 2}, {"a\nb": "c"}, ("a",)),
    *({"a": None}, [{"key": None}], [{"key": "a", "effekt": 1}], set(), "zones", "a" * 5000),
)
"""Values that are wrong nearly everywhere."""


@dataclass(frozen=True)
class AsOutput:
    """A value that the program has as an output of another resource."""

    value: Any


def real(args: Any) -> Any:
    """The arguments with true outputs; only inside a program are there any."""
    if isinstance(args, AsOutput):
        return pulumi.Output.from_input(args.value)
    if isinstance(args, dict):
        return {key: real(value) for key, value in args.items()}
    return [real(value) for value in args] if isinstance(args, list) else args


def arguments(component: type[pulumi.ComponentResource]) -> st.SearchStrategy[dict[Any, Any]]:
    """Arguments of this component."""
    base, changes = EXAMPLES[component.__name__]
    right = [
        {**base, **change[0], **change[1]} if isinstance(change, tuple) else {**base, **change}
        for change in changes.values()
    ]
    owner = component.__init__.__annotations__["args"]
    return st.one_of(st.just(base), st.sampled_from(right)).flatmap(
        lambda start: _varied(start, owner.__annotations__)
    )


@st.composite
def _varied(draw: st.DrawFn, start: dict[str, Any], annotations: dict[str, Any]) -> Any:
    args: dict[Any, Any] = dict(start)
    for name in draw(st.lists(st.sampled_from(list(annotations)), max_size=3, unique=True)):
        if name not in REFERENCES and name not in ("project", "region", "cluster_location"):
            args[name] = draw(_by_annotation(name, annotations[name]))
    for kind in draw(
        st.lists(st.sampled_from(("wrong", "lost", "misspelt", "output")), max_size=1)
    ):
        name = draw(st.sampled_from(list(args)))
        value = args.pop(name)
        if kind == "wrong":
            args[name] = draw(st.sampled_from(WRONG))
            if name in REFERENCES and args[name] in ("zones", "a" * 5000):
                args[name] = None
        elif kind == "misspelt":
            args[draw(st.sampled_from((f"{name}s", name.upper(), "", 7, None)))] = value
        elif kind == "output":
            args[name] = AsOutput(value)
    return args


def _by_annotation(name: str, annotation: Any) -> st.SearchStrategy[Any]:
    if name in BY_NAME:
        return BY_NAME[name]
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (NotRequired, typing.Union):
        return _by_annotation(name, inner[0])
    if is_typeddict(annotation):
        fields = annotation.__annotations__.items()
        return st.fixed_dictionaries(
            {}, optional={key: _by_annotation(key, kind) for key, kind in fields}
        )
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return st.sampled_from([*annotation, *(member.value for member in annotation), "spott"])
    if origin is list:
        return st.lists(_by_annotation("", inner[0]), max_size=2)
    if origin is dict:
        return st.dictionaries(st.sampled_from(TEXTS), _by_annotation("", inner[1]), max_size=2)
    if annotation is bool:
        return st.sampled_from((True, False, "off", 1))
    return st.sampled_from(NUMBERS if annotation is int else TEXTS)
