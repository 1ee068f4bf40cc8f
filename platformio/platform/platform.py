# SPDX-License-Identifier: Apache-2.0
"""PlatformIO's view of the platform: platform.json says all."""

from platformio.public import PlatformBase


class EmberPlatform(PlatformBase):
    pass
