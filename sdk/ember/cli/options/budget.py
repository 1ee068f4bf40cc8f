"""A YAML file becomes ceilings for a firmware: of its size, in bytes, and its work.

work: 12M                     # steps of one execution; M stands for 1,048,576
total: 20K                    # code, constants and initial values
ram: 64K                      # data, bss, arena and stack
libraries: {core: 9K, kernels: 6000}
operators: {"aten::add.out": 300}
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from ember.boards.strict import Size, Strict
from ember.errors import SdkError, problem_list
from ember.files import documents

Ceilings = Annotated[dict[str, Size], Field(default_factory=dict)]


class Budget(Strict):
    """Ceilings; what is not named is free."""

    total: Size | None = None
    ram: Size | None = None
    work: Size | None = None
    libraries: Ceilings
    operators: Ceilings


def read(path: Path) -> Budget:
    data = documents.read_yaml(path, "the budget")
    try:
        return Budget.model_validate(data or {})
    except ValidationError as error:
        problems = [
            f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"
            for problem in error.errors()
        ]
        raise SdkError(problem_list(f"{path} is wrong", problems)) from None
