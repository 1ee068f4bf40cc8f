"""The pytest plugin, installed with Ember. It does nothing until a test wants `dut`.

Options of the same name win over ours, so ours come last, behind those of conftest.py.
pytest-embedded has `dut`, too: beside it nothing of ours is there.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Generator

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser
) -> Generator[None, object, object]:
    result = yield
    if importlib.util.find_spec("pytest_embedded") is None:
        from ember.hil import fixtures

        fixtures.add_options(parser)
        early_config.pluginmanager.register(fixtures, "ember.hil.fixtures")
    return result
