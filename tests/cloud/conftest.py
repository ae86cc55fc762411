"""An emulated cloud with a network, and the resources that most tests declare on it."""

from pathlib import Path

import pytest

from tests.cloud.harness import Emulated


@pytest.fixture
def cloud(tmp_path: Path) -> Emulated:
    """A new cloud with the network `net` and its subnetwork `sub`."""
    emulated = Emulated(tmp_path)
    network = {"name": "net", "autoCreateSubnetworks": False}
    emulated.create("gcp:compute/network:Network", "net", network)
    ranges = [
        {"rangeName": "pods", "ipCidrRange": "10.4.0.0/14"},
        {"rangeName": "svc", "ipCidrRange": "10.8.0.0/20"},
    ]
    subnetwork = {
        "name": "sub",
        "network": "net",
        "ipCidrRange": "10.0.0.0/20",
        "secondaryIpRanges": ranges,
    }
    emulated.create("gcp:compute/subnetwork:Subnetwork", "sub", subnetwork)
    return emulated
