"""What is known about GKE capacity that can be taken away, as data and pure functions.

Facts stand in `data/*.yaml`, each table with its source and date. Nothing here imports Pulumi, so
that a policy pack, a container image and a command line tool can all depend on it cheaply.
"""

__version__ = "0.1.0"
