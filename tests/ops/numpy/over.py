"""cortex_m::quantized_conv2d.out and quantized_depthwise_conv2d.out over their inputs;
running this file with tests/shared on the path writes the case again.

No exporter writes such a plan: the SDK makes it for `--rows`. What is expected comes
from the same network with every tensor at a place of its own, in portable C.
"""

from dataclasses import replace
from pathlib import Path

import numpy_images
from row_programs import over_network
from small_programs import KNOWN, here

from ember.plan.passes import rows
from ember.plan.replan import replan
from ember.program import edit

model = over_network()
proposed = rows.apply(edit.draft(model.program), here(), frozenset())[0]
methods = tuple(
    replan(method, KNOWN, check=False).method for method in proposed.program.methods
)
packed = replace(proposed.program, methods=methods)
numpy_images.write(Path(), packed, model)
