"""Functions of the SDK that look a resource up: its state, in the shape of the answer."""

from typing import Any

from sandbox.cloud.problems import ApiError, ProviderError
from sandbox.cloud.schema import sdk_shape
from sandbox.cloud.types import kind_of
from sandbox.cloud.types.base import Cloud
from sandbox.cloud.types.bucket import BUCKET
from sandbox.cloud.types.network import NETWORK, SUBNETWORK, network_path, subnetwork_path
from sandbox.cloud.types.values import path_of

Answer = dict[str, Any]
Shape = dict[str, Any]
CLUSTER = "gcp:container/cluster:Cluster"
_NUMBERS = {"int": int, "float": float}
_EMPTY = {"string": "", "bool": False, "int": 0, "float": 0.0, "map": {}, "list": [], "blocks": []}


def get_cluster(args: Answer, cloud: Cloud) -> Answer:
    """The GKE cluster of a name, in a location or in the provider's zone or region."""
    location = args.get("location") or cloud.config.zone or cloud.config.region
    if not location:
        raise ProviderError("Cannot determine location: set in this data source or the provider")
    place = f"projects/{_project(args, cloud)}/locations/{location}"
    identifier = f"{place}/clusters/{args['name']}"
    return _look_up("gcp:container/getCluster:getCluster", CLUSTER, identifier, cloud)


def get_network(args: Answer, cloud: Cloud) -> Answer:
    """The network of a name or self link, with its subnetworks."""
    identifier = network_path(_name_or_link(args), _project(args, cloud))
    answer = _look_up("gcp:compute/getNetwork:getNetwork", NETWORK, identifier, cloud)
    answer["subnetworksSelfLinks"] = sorted(
        properties["selfLink"]
        for _, properties in cloud.all(SUBNETWORK)
        if path_of(properties["network"]) == identifier
    )
    return answer


def get_subnetwork(args: Answer, cloud: Cloud) -> Answer:
    """The subnetwork of a name or self link, in a region or in the provider's."""
    region = args.get("region") or cloud.config.region
    if not region and not args.get("selfLink"):
        raise ProviderError(
            "Cannot determine region: set in this resource, or set provider-level 'region' or "
            "'zone'."
        )
    identifier = subnetwork_path(_name_or_link(args), _project(args, cloud), region)
    return _look_up("gcp:compute/getSubnetwork:getSubnetwork", SUBNETWORK, identifier, cloud)


def get_bucket(args: Answer, cloud: Cloud) -> Answer:
    """The bucket of a name."""
    return _look_up("gcp:storage/getBucket:getBucket", BUCKET, args["name"], cloud)


def _project(args: Answer, cloud: Cloud) -> str:
    return args.get("project") or cloud.config.project


def _name_or_link(args: Answer) -> str:
    found = args.get("selfLink") or args.get("name")
    if not found:
        raise ProviderError("one of name or self_link must be set")
    return found


def _look_up(function: str, token: str, identifier: str, cloud: Cloud) -> Answer:
    kind = kind_of(token)
    properties = cloud.find(token, identifier)
    if properties is None:
        raise ApiError(404, f"Not found: {identifier}")
    state = kind.read(properties, {}, cloud.config)
    if kind.labels:
        state[kind.labels] = state["effectiveLabels"]
    return shaped(sdk_shape(function)["outputs"], {**state, "id": identifier})


def shaped(shape: Shape, state: Answer) -> Answer:
    """The state with every property of the shape: single blocks as lists, what is not set empty."""
    return {name: _value(name, spec, state) for name, spec in shape.items()}


def _value(name: str, spec: Shape, state: Answer) -> Any:
    value = next((state[key] for key in _singulars(name) if state.get(key) is not None), None)
    if value is None:
        return _EMPTY[spec["kind"]]
    if spec["kind"] in _NUMBERS:
        return _NUMBERS[spec["kind"]](value)  # networkId is text in the resource, a number here
    if spec["kind"] != "blocks":
        return value
    items = value if isinstance(value, list) else [value]
    return [shaped(spec["fields"], item) for item in items]


def _singulars(name: str) -> tuple[str, ...]:
    """The names that the SDK may have for the one object of a list: addonsConfigs, policies."""
    return name, name[:-1], name[:-2], f"{name[:-3]}y"
