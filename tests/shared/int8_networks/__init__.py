# SPDX-License-Identifier: Apache-2.0
"""Small networks of the kinds that people deploy: NETWORKS, by name."""

from int8_networks import attention, images, series
from int8_networks.base import KINDS, NETWORKS, SAMPLES

__all__ = ["KINDS", "NETWORKS", "SAMPLES", "attention", "images", "series"]
