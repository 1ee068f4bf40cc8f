"""A prepared method becomes C constants: steps, their states, inputs and outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ember.build.prepared import FILES, GRAPH, Prepared, Word
from ember.program import Tensor


@dataclass(frozen=True)
class Names:
    """The C names of regions of memory."""

    image: str
    data: Sequence[str]  # images of data files
    skipped: int  # bytes of the program that the firmware leaves out
    temp: str | None
    planned: Sequence[str | None]

    def text(self, word: Word, number: int) -> str:
        """The C expression of a word of method `number`."""
        if word.place is None:
            return f"{word.value:#x}" if word.value > 9 else str(word.value)
        what, which = word.place
        name, offset = f"state_{number}_{which}", word.value
        if what == "program":
            name, offset = self.image, offset - self.skipped
        elif what == "data":
            name = self.data[int(which)]
        elif what == "temp":
            name = self.temp or "0"  # nothing of it is used
        elif what == "planned":
            name = self.planned[int(which)] or ""
        elif what in ("function", "symbol"):
            name = str(which)
        elif what == "step":
            name = f"&ember_steps_{number}[{which}]"
        return f"(uintptr_t){name}{f' {offset:+d}' if offset else ''}"


def tables(number: int, prepared: Prepared, names: Names) -> list[str]:
    """C text of `prepared_<number>`."""
    lines = [*_declarations(prepared), ""]
    states = [f"state_{number}_{index}" for index in range(len(prepared.steps))]
    for name, step in zip(states, prepared.steps, strict=True):
        if step.state:
            lines.append(f"static const uintptr_t {name}[{len(step.state)}];")
    count = len(prepared.steps) + 1
    lines.append(f"static const ember_step_t ember_steps_{number}[{count}];")
    for name, step in zip(states, prepared.steps, strict=True):
        if step.state:
            words = ", ".join(names.text(word, number) for word in step.state)
            align = 16 if step.kernel == GRAPH else 8  # it may hold packed weights
            lines.append(f"__attribute__((aligned({align}))) // {step.kernel}")
            lines.append(
                f"static const uintptr_t {name}[{len(step.state)}] = {{{words}}};"
            )
    lines.append(f"static const ember_step_t ember_steps_{number}[{count}] = {{")
    for name, step in zip(states, prepared.steps, strict=True):
        state = f"(void *)(uintptr_t){name}" if step.state else "0"
        lines.append(f"    {{ember_run_{step.kernel}, {state}}},")
    lines += ["    {0, 0}};", ""]
    for key in ("inputs", "outputs"):
        lines += _tensors(number, key, prepared, names)
    lines += [
        f"static const ember_prepared_t prepared_{number} = {{",
        f"    ember_steps_{number}, tensors_inputs_{number}, tensors_outputs_{number},",
        f"    {len(prepared.steps)}, {len(prepared.inputs)},"
        f" {len(prepared.outputs)}, {prepared.work}u}};",
        "",
    ]
    return lines


def _declarations(prepared: Prepared) -> Iterator[str]:
    declarations = {
        f"int32_t ember_run_{step.kernel}(void *state);" for step in prepared.steps
    }
    for word in prepared.words:
        if word.place and word.place[0] == "function":
            declarations.add(f"extern void {word.place[1]}(void);")
        elif word.place and word.place[0] == "symbol":
            declarations.add(f"extern const uint8_t {word.place[1]}[];")
    yield from sorted(declarations)


def _tensors(number: int, key: str, prepared: Prepared, names: Names) -> Iterator[str]:
    indices = getattr(prepared.method, key)
    entries = []
    for place, (index, word) in enumerate(
        zip(indices, getattr(prepared, key), strict=True)
    ):
        tensor = prepared.method.values[index]
        assert isinstance(tensor, Tensor)
        name = f"{key}_{number}_{place}"
        yield _array("int32_t", f"sizes_{name}", tensor.sizes)
        yield _array("uint8_t", f"order_{name}", tensor.dim_order)
        constant = int(word.place is not None and word.place[0] in FILES)
        entries.append(
            f"    {{(void *)({names.text(word, number)}), sizes_{name}, order_{name},"
            f" {tensor.numel}, {tensor.dtype.value}, {len(tensor.sizes)},"
            f" {tensor.dtype.itemsize}, {constant}}},"
        )
    yield f"static const ember_tensor_t tensors_{key}_{number}[] = {{"
    yield from entries
    yield "    {0}};"


def _array(kind: str, name: str, items: Sequence[int]) -> str:
    text = ", ".join(map(str, items)) or "0"
    return f"static const {kind} {name}[] = {{{text}}};"
