"""What the resources of a plan or a state cost in a month, and which quotas they need."""
