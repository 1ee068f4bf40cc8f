# SPDX-License-Identifier: Apache-2.0
"""Reads the lines that Unity prints, without downloading Unity."""

from platformio.test.runners.unity import UnityTestRunner


class CustomTestRunner(UnityTestRunner):
    EXTRA_LIB_DEPS = None
