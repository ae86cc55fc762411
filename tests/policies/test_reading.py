"""Small parts of the rules, on all the values that they must tell apart."""

import pytest

from spotproof_gke.rules.finding import STACK_TYPE, Finding, Resource, Stack, shown
from spotproof_gke.rules.pools import has_gpu, least_nodes, taints_of
from spotproof_gke.rules.reading import (
    UNKNOWN,
    dig,
    has_unknown,
    is_true,
    items,
    mapping,
    number,
    text,
    without_unknowns,
)
from spotproof_gke.rules.spot_scheduling import spot_scheduling
from spotproof_gke.rules.workloads import containers, kind_of, namespace_of, pod_specs


@pytest.mark.parametrize("value", [None, 1, "a", UNKNOWN, [1], [{"a": 1}, {"b": 2}], []])
def test_what_is_no_mapping_reads_as_an_empty_one(value: object) -> None:
    assert mapping(value) == {}


def test_single_block_written_as_a_list_reads_as_the_block() -> None:
    assert mapping([{"a": 1}]) == {"a": 1}


@pytest.mark.parametrize("value", [None, 1, "abc", UNKNOWN, {"a": 1}])
def test_what_is_no_list_reads_as_an_empty_one(value: object) -> None:
    assert len(items(value)) == 0


def test_scalars() -> None:
    assert (text(" a "), text(1), text(None), text(UNKNOWN)) == ("a", "", "", "")
    assert (number("2"), number(2.0), number("x"), number(True), number(None)) == (
        2,
        2,
        None,
        None,
        None,
    )
    assert [is_true(value) for value in (True, "True", 1, None, "yes", UNKNOWN)] == [
        True,
        True,
        False,
        False,
        False,
        False,
    ]


def test_path_through_an_unknown_value_is_unknown() -> None:
    assert dig({"a": UNKNOWN}, "a", "b") is UNKNOWN
    assert dig({"a": {"b": 1}}, "a", "b") == 1
    assert dig({"a": 3}, "a", "b") is None


def test_unknown_parts_are_found_and_taken_out_at_any_depth() -> None:
    value = {"a": [{"b": UNKNOWN, "c": 1}, UNKNOWN], "d": UNKNOWN, "e": 2}

    assert has_unknown(value)
    assert has_unknown([{"a": [UNKNOWN]}])
    assert not has_unknown({"a": [{"b": 1}]})
    assert without_unknowns(value) == {"a": [{"c": 1}], "e": 2}
    assert without_unknowns(UNKNOWN) is None


def test_output_that_the_provider_computes_counts_as_absent() -> None:
    pool = Resource(
        "t",
        "pool",
        props={"a": UNKNOWN, "b": UNKNOWN, "c": {"x": UNKNOWN}, "d": {"x": UNKNOWN}},
        dependencies={"a": (), "c": (), "d": ("urn",)},
    )

    assert pool.get("a") is UNKNOWN
    assert pool.get("b") is None
    assert pool.get("c") == {}
    assert pool.get("d") == {"x": UNKNOWN}


def test_message_names_resource_value_rule_and_fix() -> None:
    finding = Finding("pool", "is wrong", "be right", "mend it")

    assert str(finding) == "pool: is wrong. Fix: mend it. Rule: be right."
    assert str(Finding("p", "v", "r", "f", certain=False)).startswith("cannot be known before the")


def test_resource_has_nothing_that_it_was_not_given() -> None:
    bare = Resource("t", "a")

    assert (bare.urn, bare.parent, bare.provider_urn) == ("", "", "")
    assert bare.depends_on("x") == ()
    assert bare.finding("v", "r", "f") == Finding("a", "v", "r", "f", certain=True, urn="")


def test_known_part_of_what_only_the_provider_computes_counts() -> None:
    pool = Resource("t", "pool", props={"a": {"x": UNKNOWN, "y": 1}, "b": 2}, dependencies={})

    assert pool.get("a") == {"y": 1}
    assert pool.get("b") == 2


def test_resource_says_what_each_property_depends_on() -> None:
    pool = Resource("t", "pool", dependencies={"a": ["u1", "u2"], "b": []})

    assert [pool.depends_on(key) for key in ("a", "b", "c")] == [("u1", "u2"), (), ()]


STACK = f"urn:pulumi:s::p::{STACK_TYPE}::p-s"


def _tree(parents: dict[str, str], **types: str) -> Stack:
    return Stack(
        [Resource(types.get(name, "t"), name, name, parent=up) for name, up in parents.items()]
    )


@pytest.mark.parametrize(
    ("parents", "above"),
    [
        ({"a": "b", "b": "c", "c": STACK}, ["b", "c"]),
        ({"a": STACK}, []),
        ({"a": ""}, []),
        ({"a": "b", "b": "root", "root": ""}, ["b"]),
        ({"a": "gone"}, ["gone"]),
        ({"a": "b", "b": "a"}, ["b"]),
        ({"a": "b", "b": "c", "c": "b"}, ["b", "c"]),
        ({"a": "a"}, []),
    ],
)
def test_ancestors_end_below_the_stack_and_never_go_round(parents, above) -> None:
    stack = _tree(parents, root=STACK_TYPE)

    assert list(stack.ancestors(stack.by_urn["a"])) == above


def test_stack_finds_resources_by_urn_and_by_type() -> None:
    stack = Stack([Resource("t", "a", "u"), Resource("t", "b"), Resource("v", "c")])

    assert list(stack.by_urn) == ["u"]
    assert [each.name for each in stack.of_type("t")] == ["a", "b"]
    assert [each.name for each in stack.of_type("v", "t")] == ["a", "b", "c"]


def test_message_shows_names_and_numbers_only() -> None:
    assert shown(2.5) == "2.5"
    assert shown("a\n") == "(not shown)"
    assert [shown(value) for value in ("us-central1", 3.0, UNKNOWN, "a b", None, {"a": 1})] == [
        "us-central1",
        "3",
        "(unknown)",
        "(not shown)",
        "(not shown)",
        "(not shown)",
    ]


@pytest.mark.parametrize("family", ["a2", "a3", "a4", "a4x", "g2", "g4"])
def test_machine_family_with_gpus_is_known_by_its_name(family: str) -> None:
    assert has_gpu({"machineType": f"{family}-standard-8"})


@pytest.mark.parametrize(
    "config", [None, {}, {"machineType": "a1-x"}, {"guestAccelerators": [UNKNOWN]}]
)
def test_gpu_is_not_guessed(config: object) -> None:
    assert has_gpu(config) is (config == {"guestAccelerators": [UNKNOWN]})


@pytest.mark.parametrize(
    ("pool", "least"),
    [
        ({"nodeCount": 2}, 2),
        ({"initialNodeCount": 1, "nodeCount": None}, 1),
        ({"nodeCount": 0, "initialNodeCount": 3}, 0),
        ({"nodeCount": UNKNOWN, "initialNodeCount": 3}, None),
        ({"initialNodeCount": 3}, 3),
        ({"autoscaling": {"maxNodeCount": 3}, "nodeCount": 2}, 0),
        ({"autoscaling": {"minNodeCount": 0, "totalMinNodeCount": 2}}, 2),
        ({"autoscaling": {"minNodeCount": UNKNOWN, "totalMinNodeCount": 1}}, 1),
        ({"autoscaling": {"minNodeCount": UNKNOWN}}, None),
        ({"autoscaling": UNKNOWN, "nodeCount": 1}, None),
        ({"autoscaling": {}, "nodeCount": 1}, 1),
        ({"nodeCount": UNKNOWN}, None),
        ({}, None),
    ],
)
def test_least_number_of_nodes(pool: dict, least: float | None) -> None:
    assert least_nodes(pool) == least


def test_taints_that_gke_added_count_when_they_are_known() -> None:
    added = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}

    assert [taint.key for taint in taints_of({"effectiveTaints": [added]})] == ["nvidia.com/gpu"]
    assert taints_of({"effectiveTaints": UNKNOWN}) == []
    assert len(taints_of({"taints": [added], "effectiveTaints": [added]})) == 1


POD = {"nodeName": "a"}
TEMPLATE = {"spec": {"template": {"spec": POD}}}


@pytest.mark.parametrize(
    ("kind", "props"),
    [
        ("core/v1:Pod", {"spec": POD}),
        ("core/v1:PodTemplate", {"template": {"spec": POD}}),
        ("core/v1:ReplicationController", TEMPLATE),
        ("apps/v1:Deployment", TEMPLATE),
        ("apps/v1:DeploymentPatch", TEMPLATE),
        ("apps/v1:StatefulSet", TEMPLATE),
        ("apps/v1:DaemonSet", TEMPLATE),
        ("apps/v1:ReplicaSet", TEMPLATE),
        ("batch/v1:Job", TEMPLATE),
        ("batch/v1:CronJob", {"spec": {"jobTemplate": TEMPLATE}}),
        (
            "jobset.x-k8s.io/v1alpha2:JobSet",
            {"spec": {"replicatedJobs": [{"template": TEMPLATE}, {}]}},
        ),
    ],
)
def test_pod_specification_is_found_in_every_kind(kind: str, props: dict) -> None:
    resource = Resource(f"kubernetes:{kind}", "a", props=props)

    assert [pod.spec for pod in pod_specs(resource)] == [POD]
    assert pod_specs(resource)[0].kind == kind_of(resource)


POD_PARTS = [
    {"containers": [{"name": "a"}]},
    {"tolerations": [{"operator": "Exists"}]},
    {"nodeSelector": {"a": "b"}},
    {"affinity": {"nodeAffinity": {}}},
]


@pytest.mark.parametrize("pod", POD_PARTS, ids=lambda pod: next(iter(pod)))
@pytest.mark.parametrize(
    ("kind", "above"),
    [
        ("serving.knative.dev/v1:Service", ["template"]),
        ("ray.io/v1:RayCluster", ["headGroupSpec", "template"]),
        ("ray.io/v1:RayCluster", ["workerGroupSpecs", 0, "template"]),
        ("kubeflow.org/v1:PyTorchJob", ["pytorchReplicaSpecs", "Worker", "template"]),
        ("leaderworkerset.x-k8s.io/v1:LeaderWorkerSet", ["leaderWorkerTemplate", "workerTemplate"]),
        ("elasticsearch.k8s.elastic.co/v1:Elasticsearch", ["nodeSets", 0, "podTemplate"]),
    ],
)
def test_pod_template_of_a_custom_kind_is_found_where_it_stands(kind, above, pod) -> None:
    spec: object = {"spec": pod}
    for key in reversed(above):
        spec = {key: spec, "replicas": 1} if isinstance(key, str) else [spec]

    assert [
        each.spec for each in pod_specs(Resource(f"kubernetes:{kind}", "a", props={"spec": spec}))
    ] == [pod]


@pytest.mark.parametrize(
    ("type_", "spec"),
    [
        ("kubernetes:acme.io/v1:Worker", {"template": {"spec": {"image": "a"}}}),
        ("kubernetes:acme.io/v1:Worker", {"scheme": {"spec": POD_PARTS[0]}}),
        ("kubernetes:acme.io/v1:Worker", {"template": POD_PARTS[0]}),
        ("kubernetes:apps/v1:Deployment", {"other": {"template": {"spec": POD_PARTS[0]}}}),
        (
            "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition",
            {"template": {"spec": POD_PARTS[0]}},
        ),
        ("gcp:storage/bucket:Bucket", {"template": {"spec": POD_PARTS[0]}}),
    ],
)
def test_what_is_no_pod_template_is_none(type_: str, spec: dict) -> None:
    assert pod_specs(Resource(type_, "a", props={"spec": spec})) == []


def test_pod_template_is_looked_for_as_deep_as_any_real_one_stands() -> None:
    def nested(levels: int) -> Resource:
        value: dict = {"template": {"spec": POD_PARTS[0]}}
        for _ in range(levels):
            value = {"a": value}
        return Resource("kubernetes:acme.io/v1:Worker", "a", props={"spec": value})

    def listed(levels: int) -> Resource:
        value: object = {"template": {"spec": POD_PARTS[0]}}
        for _ in range(levels):
            value = [value]
        return Resource("kubernetes:acme.io/v1:Worker", "a", props={"spec": {"a": value}})

    for program in (nested, listed):
        assert len(pod_specs(program(10))) == 1
        assert pod_specs(program(5000)) == []


def test_what_stands_inside_a_pod_template_is_no_further_pod() -> None:
    inner = {"template": {"spec": POD_PARTS[0]}}
    spec = {"template": {"spec": {**POD_PARTS[0], "volumes": [inner]}}}
    found = pod_specs(Resource("kubernetes:acme.io/v1:Worker", "a", props={"spec": spec}))

    assert [each.spec for each in found] == [spec["template"]["spec"]]


@pytest.mark.parametrize(
    ("kind", "props"),
    [
        ("core/v1:Pod", {"spec": UNKNOWN}),
        ("core/v1:PodTemplate", {"template": UNKNOWN}),
        ("core/v1:ReplicationController", {"spec": {"template": UNKNOWN}}),
        ("apps/v1:Deployment", {"spec": UNKNOWN}),
        ("apps/v1:StatefulSet", {"spec": {"template": UNKNOWN}}),
        ("apps/v1:DaemonSet", {"spec": {"template": {"spec": UNKNOWN}}}),
        ("apps/v1:ReplicaSet", {"spec": UNKNOWN}),
        ("batch/v1:Job", {"spec": {"template": {"spec": UNKNOWN}}}),
        ("batch/v1:CronJob", {"spec": {"jobTemplate": UNKNOWN}}),
        ("jobset.x-k8s.io/v1alpha2:JobSet", {"spec": {"replicatedJobs": UNKNOWN}}),
    ],
)
def test_kind_that_has_pods_has_an_unknown_one_where_its_template_is_unknown(kind, props) -> None:
    found = pod_specs(Resource(f"kubernetes:{kind}", "a", props=props))

    assert [each.spec for each in found] == [UNKNOWN]


def test_custom_kind_that_is_not_known_has_no_pods() -> None:
    for spec in (UNKNOWN, {"template": UNKNOWN}, {"replicatedJobs": UNKNOWN}):
        assert pod_specs(Resource("kubernetes:acme.io/v1:Worker", "a", props={"spec": spec})) == []


@pytest.mark.parametrize(
    ("own", "provider", "namespace"),
    [
        ({"namespace": "a"}, {"namespace": "b"}, "a"),
        ({}, {"namespace": "b"}, "b"),
        ({"namespace": ""}, {}, "default"),
        ({"namespace": UNKNOWN}, {"namespace": "b"}, UNKNOWN),
        (None, {"namespace": UNKNOWN}, UNKNOWN),
    ],
)
def test_namespace_is_the_own_one_then_the_providers(own, provider, namespace) -> None:
    resource = Resource("kubernetes:core/v1:Pod", "a", props={"metadata": own}, provider=provider)

    assert namespace_of(resource) == namespace


@pytest.mark.parametrize(
    "toleration",
    [
        {"operator": "Exists"},
        {"operator": "Exists", "key": "", "effect": "NoSchedule"},
        {"key": "cloud.google.com/gke-spot", "value": "true"},
        {"key": "cloud.google.com/gke-spot", "operator": "Exists", "effect": "NoExecute"},
        {"key": "cloud.google.com/gke-provisioning", "value": "preemptible"},
        {"key": "cloud.google.com/gke-preemptible", "operator": "Exists"},
    ],
)
def test_toleration_that_lets_a_pod_on_spot_nodes(toleration: dict) -> None:
    found = list(spot_scheduling({"tolerations": [toleration]}))

    assert [certain for _, certain in found] == [True]


@pytest.mark.parametrize(
    "toleration",
    [
        {},
        None,
        {"operator": "Equal"},
        {"key": 5, "operator": "Exists"},
        {"operator": "Exists", "effect": "NoExecute"},
        {"operator": "Exists", "effect": "PreferNoSchedule"},
        {"key": "cloud.google.com/gke-spot", "value": "false"},
        {"key": "cloud.google.com/gke-provisioning", "value": "standard"},
        {"key": "nvidia.com/gpu", "operator": "Exists"},
    ],
)
def test_toleration_that_does_not(toleration: object) -> None:
    assert list(spot_scheduling({"tolerations": [toleration]})) == []


def test_containers_of_every_sort_count() -> None:
    spec = {
        "containers": [{"name": "a"}],
        "initContainers": [{"name": "b"}],
        "ephemeralContainers": [{"name": "c"}],
        "volumes": [{"name": "d"}],
    }

    assert sorted(each["name"] for each in containers(spec)) == ["a", "b", "c"]
    assert list(containers({"containers": ["odd"]})) == [{}]
    assert list(containers(UNKNOWN)) == []


def test_kind_is_that_of_a_kubernetes_resource_only() -> None:
    tokens = ("kubernetes:apps/v1:DeploymentPatch", "kubernetes:core/v1:Pod", "gcp:a/b:C", "odd")

    assert [kind_of(Resource(token, "a")) for token in tokens] == ["Deployment", "Pod", "", ""]


@pytest.mark.parametrize(
    ("stated", "kind"),
    [("Pod", "Pod"), (None, "Pod"), ("", "Pod"), ("not a kind", "Pod"), (7, "Pod")],
)
def test_item_of_a_list_is_of_the_kind_that_it_states_or_the_list_does(stated, kind) -> None:
    item = {"kind": stated, "spec": POD}
    listed = Resource("kubernetes:core/v1:PodList", "a", props={"items": [item]})

    assert [(each.kind, each.spec) for each in pod_specs(listed)] == [(kind, POD)]
