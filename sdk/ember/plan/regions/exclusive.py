"""Methods that never run together share the memory of their activations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ember.plan.improved import Chosen, Improved
from ember.plan.regions import wanted
from ember.plan.regions.room import Home, Homes, Placer
from ember.select.selection import Selection


def place(pairs: Sequence[Chosen], placer: Placer) -> None:
    """One region for the methods of a group in each memory, as large as the largest.

    A method has one region of activations in each memory: memories.py sees to that.
    """
    homes = placer.homes
    number = 0
    for group in homes.exclusive:
        spots: dict[str, dict[tuple[int, str], int]] = {}  # sizes by memory and region
        for index, (model, chosen) in enumerate(pairs):
            for name, key, size in _activation_regions(model, chosen, index):
                if (index, name) in group and key in homes.of:
                    spots.setdefault(homes.of[key].memory, {})[key] = size
        for memory, sizes in spots.items():
            if len(sizes) < 2:
                continue
            key = (placer.model, f"ember_activations_{number}")
            align = max(homes.of[method_key].align for method_key in sizes)
            placer.homes = replace(homes, of={**homes.of, key: Home(memory, align)})
            purpose = "activations of methods that never run together"
            region = placer.region(key[1], "planned", max(sizes.values()), purpose)
            placer.common |= dict.fromkeys(sizes, replace(region, shared=True))
            number += 1
    placer.homes = homes


def _activation_regions(
    model: Improved, chosen: Selection, index: int
) -> Iterator[tuple[str, tuple[int, str], int]]:
    """Method, region and bytes of memory that keeps nothing between runs."""
    for prefix, method in zip(
        wanted.prefixes(chosen.methods), chosen.methods, strict=True
    ):
        replanned = model.replanned.get(method.name)
        for number in replanned.packed if replanned and not replanned.has_state else ():
            size = method.planned_sizes[number]
            if size > 0:
                yield method.name, (index, f"{prefix}_planned_{number}"), size


def kept_apart(pairs: Sequence[Chosen], homes: Homes) -> Iterator[str]:
    """A sentence on each exclusive method that shares nothing."""
    for index, name in sorted(frozenset[tuple[int, str]]().union(*homes.exclusive)):
        model, chosen = pairs[index]
        replanned = model.replanned.get(name)
        built = name in [method.name for method in chosen.methods]
        if built and replanned and replanned.has_state:
            yield (
                f"{model.name}/{name} keeps state from run to run:"
                " its activations do not share memory with other methods"
            )
