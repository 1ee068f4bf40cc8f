"""A lowered program becomes its ETRecord: what ExecuTorch's Inspector wants to know of
an export, to say which operators and lines of the model an instruction came from."""

from __future__ import annotations

import io
from typing import Any

from ember.errors import SdkError
from ember.export.source import Sample


def of_program(manager: Any, inputs: Sample) -> bytes | None:
    """The file; None, where the flow was not asked to keep what it needs.

    inputs -- of the program, on which the Inspector computes what it expects
    """
    try:
        record = manager.get_etrecord()
    except RuntimeError:  # nobody asked for one
        return None
    file = io.BytesIO()
    try:
        record.update_representative_inputs(inputs)
        record.save(file)
    except Exception as error:
        said = str(error).partition("\n")[0]
        raise SdkError(
            f"ExecuTorch cannot write an ETRecord of this model: {said}",
            hint="leave out --etrecord",
        ) from error
    return file.getvalue()
