"""Serves the components to programs in any Pulumi language."""

import sys

from pulumi.provider import main

from spotproof.package import Components

if __name__ == "__main__":
    main(Components(), sys.argv[1:])
