import pulumi
import pulumi_kubernetes as k8s

rendered = k8s.Provider("rendered", render_yaml_to_directory="manifests")
k8s.apps.v1.Deployment(
    "collector",
    metadata={"namespace": "gmp-system"},
    spec={
        "selector": {"match_labels": {"app": "collector"}},
        "template": {
            "metadata": {"labels": {"app": "collector"}},
            "spec": {
                "containers": [{"name": "main", "image": "collector"}],
                "affinity": {
                    "node_affinity": {
                        "preferred_during_scheduling_ignored_during_execution": [
                            {
                                "weight": 100,
                                "preference": {
                                    "match_expressions": [
                                        {
                                            "key": "cloud.google.com/gke-spot",
                                            "operator": "Exists",
                                        }
                                    ]
                                },
                            }
                        ]
                    }
                },
            },
        },
    },
    opts=pulumi.ResourceOptions(provider=rendered),
)
