"""ember::quantized_conv2d_panels.out; running this file with tests/shared on the path
writes the cases again.

No exporter writes this operator: the SDK packs weights for Hexagon's vectors. What is
expected comes from the dialect's operator, in portable C.
"""

from pathlib import Path

import numpy_images
from panel_programs import LAYERS, packed

for name, layer in LAYERS.items():
    folder = Path() / name
    numpy_images.write(folder, packed(layer.model.program), layer.model)
