"""A real Kubernetes control plane on this machine, with simulated nodes."""
