"""What the state of a Pulumi stack and its backend say of updates that run, or were killed."""
