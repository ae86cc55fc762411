"""What is missing on this machine, in this project and in this stack's state."""
