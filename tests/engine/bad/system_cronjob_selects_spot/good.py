import pulumi
import pulumi_kubernetes as k8s

rendered = k8s.Provider("rendered", render_yaml_to_directory="manifests")
k8s.batch.v1.CronJob(
    "cleanup",
    metadata={"namespace": "housekeeping"},
    spec={
        "schedule": "0 3 * * *",
        "job_template": {
            "spec": {
                "template": {
                    "spec": {
                        "restart_policy": "OnFailure",
                        "containers": [{"name": "main", "image": "cleanup"}],
                        "node_selector": {"cloud.google.com/gke-provisioning": "spot"},
                    }
                }
            }
        },
    },
    opts=pulumi.ResourceOptions(provider=rendered),
)
