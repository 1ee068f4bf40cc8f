"""Models and a board become firmware, through numbered artefacts in a build folder.

1-program.json    what the program contains; a list where there are several
2-selection.json  the kernel of each call
3-plan.json       the memory of each region
4-package/        image and generated C (pack/)
5-firmware/       firmware.elf, .bin, .hex, firmware.map, size.json, certificate.json
"""

from ember.build.built import Built
from ember.build.jobs import Options
from ember.build.make import build, check
from ember.build.package import Package, package
from ember.build.traced import trace

__all__ = ["Built", "Options", "Package", "build", "check", "package", "trace"]
