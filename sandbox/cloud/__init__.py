"""The emulated Google Cloud: a provider plugin for the sandbox's engine, and nothing else."""
