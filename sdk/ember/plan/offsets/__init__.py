"""Buffers with lifetimes become offsets in one memory, with a lower bound."""

from ember.plan.offsets.buffers import Buffer, lower_bound, overlap
from ember.plan.offsets.moments import Moments
from ember.plan.offsets.placement import Placement, place

__all__ = ["Buffer", "Moments", "Placement", "lower_bound", "overlap", "place"]
