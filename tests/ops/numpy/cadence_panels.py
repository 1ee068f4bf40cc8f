"""ember::cadence_conv2d_panels.out and its like of one filter per channel; running this
file with tests/shared and tools on the path writes the cases again.

No exporter writes these operators: the SDK packs weights for Hexagon's vectors. What is
expected comes from the dialect's operator, in portable C.
"""

from pathlib import Path

import numpy_images
from cadence_panel_programs import LAYERS, packed

for name, layer in LAYERS.items():
    after = packed(layer)
    assert after is not None
    folder = Path() / name
    numpy_images.write(folder, after, layer.model, order=(0, 1, 2, 3))
