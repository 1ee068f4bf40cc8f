"""A folder -> the programs that the C tests load, made of the toys of toys.h.

python tests/unit/c/programs.py FOLDER
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from crafting import PLAN, of
from maker import floats
from programs_asks import ASKS
from programs_bundles import add, suites, sums, unbound, values
from programs_control import (
    bool_input,
    cond,
    costly_loop,
    dynamic_move,
    endless,
    loop,
    move_input,
    moves,
    shared_branches,
    swap_loop,
)
from programs_data import (
    attribute,
    constants,
    counter,
    external,
    external_data,
    external_square,
    methods,
    more_data,
    named,
    named_three,
    named_twice,
    named_unsorted,
)
from programs_delegates import (
    BAD_EXAMPLES,
    EXAMPLE,
    blob,
    delegates,
    example,
    missing_backend,
    numbered_delegate,
    unbound_delegate,
)
from programs_io import IO
from programs_moves import MOVES
from programs_rare import RARE
from programs_schemas import SCHEMA_FILES, SCHEMAS
from programs_shapes import (
    bound_by_caller,
    bound_dynamic,
    bounded_scratch,
    copy_index,
    dynamic,
    pad,
    positive,
    too_dynamic,
    view_constant,
    views,
)
from programs_values import (
    ambiguous,
    arguments,
    empty,
    empty_tensors,
    failing,
    fixed_chain,
    kinds,
    layouts,
    memories,
    scalars,
    stale_error,
    unknown_operator,
)
from programs_volatile import FILES, VOLATILE

from ember import program
from ember.program import Program

PROGRAMS: dict[str, Callable[[], Program]] = {
    "attribute": attribute,
    "add": add,
    "ambiguous": ambiguous,
    "arguments": arguments,
    "bool_input": bool_input,
    "bound_by_caller": bound_by_caller,
    "bound_dynamic": bound_dynamic,
    "bounded_scratch": bounded_scratch,
    "cond": cond,
    "cond_of_three": lambda: cond(conditions=3),
    "cond_planned": lambda: cond(1),
    "constants": constants,
    "copy_index": copy_index,
    "counter": counter,
    "delegates": delegates,
    "dynamic": dynamic,
    "dynamic_move": dynamic_move,
    "empty": empty,
    "empty_tensors": empty_tensors,
    "endless": endless,
    "example": EXAMPLE,
    "example_other_size": example(blob(0, 1, 4, 1, floats(2))),
    **{f"example_bad_{n}": example(bad) for n, bad in enumerate(BAD_EXAMPLES)},
    "external": external,
    "external_square": external_square,
    "fail_prepare": failing("fail.prepare"),
    "fail_run": failing("fail.run"),
    "fail_silent": failing("fail.silent"),
    "fixed_chain": fixed_chain,
    "kinds": kinds,
    "layouts": layouts,
    "costly_loop": costly_loop,
    "loop": loop,
    "memories": memories,
    "methods": methods,
    "missing_backend": missing_backend,
    "move_input": move_input,
    "moves": moves,
    "named": named,
    "named_three": named_three,
    "named_twice": named_twice,
    "named_unsorted": named_unsorted,
    "numbered_delegate": numbered_delegate,
    "pad": pad,
    "positive": positive,
    "refuse": failing("refuse.out"),
    "scalars": scalars,
    "stale_error": stale_error,
    "shared_branches": shared_branches,
    "swap_handles": swap_loop,
    "swap_loop": lambda: swap_loop(1),
    "too_dynamic": too_dynamic,
    "unbound_delegate": unbound_delegate,
    "unknown_operator": unknown_operator,
    "view_constant": view_constant,
    "views": views,
    **ASKS,
    **IO,
    **MOVES,
    **RARE,
    **SCHEMAS,
    **VOLATILE,
}


def write_all(folder: Path) -> None:
    for name, build in PROGRAMS.items():
        (folder / f"{name}.pte").write_bytes(program.write(build()))
    inline = program.write(constants(), inline_constants=True)
    (folder / "constants_inline.pte").write_bytes(inline)
    (folder / "empty.bin").write_bytes(b"")
    (folder / "toys.bpte").write_bytes(sums())
    (folder / "suites.bpte").write_bytes(suites())
    (folder / "unbound.bpte").write_bytes(unbound())
    (folder / "values.bpte").write_bytes(values())
    (folder / "external.ptd").write_bytes(external_data())
    (folder / "more.ptd").write_bytes(more_data())
    turned = external_data((2, 2), (1, 0))
    (folder / "external_turned.ptd").write_bytes(turned)
    (folder / "external_other.ptd").write_bytes(external_data((1, 2)))
    outside = of(delegates, (f"{PLAN}.delegates[1].processed.index", 9))
    (folder / "delegate_outside.pte").write_bytes(outside)
    plain = of(delegates, ("@5", 0))  # no table of constants
    (folder / "delegates_plain.pte").write_bytes(plain)
    blank = of(delegates, (f"{PLAN}.delegates[0]@1", 0))  # and others of its vtable
    (folder / "delegate_blank.pte").write_bytes(blank)
    for name, make in (FILES | SCHEMA_FILES).items():
        (folder / f"{name}.pte").write_bytes(make())


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))
