"""A part becomes its image, as C or as assembly that includes the files."""

from __future__ import annotations

from ember.build.pack.part import HEAD, Part, image_align, rest_of
from ember.plan.regions import Region
from ember.program.types import ALIGN


def array(part: Part) -> str:
    """The image as C, which every project can compile."""
    align = image_align(part.model)
    lines = [HEAD, "#include <stdint.h>", ""]
    for index, content in enumerate(part.files.values()):
        name = f"{part.image}{index}"
        lines.append(f"extern const uint8_t {name}[];")
        lines.append(f"__attribute__((aligned({align}))) const uint8_t {name}[] = {{")
        lines += [
            "".join(f"{byte}," for byte in content[at : at + 24])
            for at in range(0, len(content), 24)
        ]
        lines += ["};", ""]
    return "\n".join(lines)


def assembly(part: Part) -> str:
    """The image, in the section that the linker script places."""
    plan = part.plan
    host = plan.board.port == "host"
    section = ".rodata.ember_model" if host else f".ember_model.{plan.weights}"
    align = image_align(part.model)
    lent = plan.temp if plan.temp and plan.temp.lent else None
    access = "aw" if lent else "a"
    lines = [HEAD + f'    .section {section},"{access}",%progbits']
    skipped = {0: part.skipped}  # bytes at the start of a file
    files = list(enumerate(part.files))
    for index, name in files[1:] + files[:1] if lent else files:
        lines += [
            f"    .balign {max(align, lent.align) if lent else align}",
            f"    .globl {part.image}{index}",
            f"{part.image}{index}:",
        ]
        if skipped.get(index) != len(part.files[name]):
            lines.append(f'    .incbin "{name}", {skipped.get(index, 0)}')
    if lent:
        lines += _lent_assembly(lent, f"{part.image}0", len(part.model.content))
    if host:
        lines.append('    .section .note.GNU-stack,"",%progbits')
    return "\n".join(lines) + "\n"


def _lent_assembly(region: Region, image: str, size: int) -> list[str]:
    """A region that begins in the last bytes of the image written above."""
    end = -(-size // ALIGN) * ALIGN
    start = (end - region.lent) // region.align * region.align
    lines = [
        f"    .balign {ALIGN}",
        f"    .globl {region.name}",
        f"    .type {region.name}, %object",
        f"    .size {region.name}, {region.lent}",
        f"    .set {region.name}, {image} + {start}",
    ]
    if not region.added:
        return lines
    rest, arena = rest_of(region.name), f".ember_arena.{region.memory}"
    return [
        *lines,
        f"    .reloc ., BFD_RELOC_NONE, {rest}",  # linked with the image
        f'    .section {arena}.rest,"aw",%nobits',
        f"    .balign {ALIGN}",
        f"    .globl {rest}",
        f"    .type {rest}, %object",
        f"    .size {rest}, {region.added}",
        f"{rest}:",
        f"    .skip {region.added}",
    ]
