"""ember::cadence_packed_conv2d.out; running this file with tests/shared and tools on
the path writes the cases again.

No exporter writes this operator: the SDK packs weights for cores with DSP instructions.
What is expected comes from the dialect's operator, in portable C.
"""

from pathlib import Path

import numpy_images
from cadence_packed_programs import LAYERS, packed

for name, layer in LAYERS.items():
    after = packed(layer)
    assert after is not None
    folder = Path() / name
    numpy_images.write(folder, after, layer.model, order=(0, 1, 2, 3))
