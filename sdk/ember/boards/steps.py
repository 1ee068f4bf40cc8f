"""What a board does to registers before the program starts: `start:` of its YAML."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from ember.boards.strict import Strict

Word = Annotated[int, Field(ge=0, lt=1 << 32)]


class RegisterStep(Strict):
    """One access to a 32-bit register.

    Of these keys one, or `clear` and `set` together.
    """

    at: int = Field(ge=0, lt=1 << 32, multiple_of=4)
    write: Word | None = None  # the whole register
    clear: Word | None = None  # these bits, then
    set: Word | None = None  # those
    until_set: Word | None = None  # waits for all of these bits
    until_clear: Word | None = None

    @model_validator(mode="after")
    def _one_thing_is_done(self) -> RegisterStep:
        keys = self.model_fields_set - {"at"}
        if keys != {"clear", "set"} and len(keys) != 1:
            raise ValueError(
                "a step needs one of write, set, clear, until_set, until_clear, or"
                " clear with set"
            )
        return self

    @property
    def words(self) -> tuple[int, int, int]:
        """What the port reads: address (odd: wait), mask and value of these bits."""
        if self.write is not None:
            return self.at, 0xFFFF_FFFF, self.write
        if self.until_set is not None:
            return self.at | 1, self.until_set, self.until_set
        if self.until_clear is not None:
            return self.at | 1, self.until_clear, 0
        bits = self.set or 0
        return self.at, (self.clear or 0) | bits, bits
