import pulumi
import pulumi_kubernetes as k8s

rendered = k8s.Provider("rendered", render_yaml_to_directory="manifests")
k8s.yaml.ConfigGroup(
    "metrics",
    yaml=[
        """
apiVersion: apps/v1
kind: Deployment
metadata: {name: metrics, namespace: kube-system}
spec:
  selector: {matchLabels: {app: metrics}}
  template:
    metadata: {labels: {app: metrics}}
    spec:
      containers: [{name: main, image: metrics, env: [{name: TOKEN, value: not-for-messages}]}]
      tolerations:
        - {key: components.gke.io/gke-managed-components, operator: Exists}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: kube-system}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      containers: [{name: main, image: agent}]
      tolerations:
        - operator: Exists
"""
    ],
    opts=pulumi.ResourceOptions(providers=[rendered]),
)
