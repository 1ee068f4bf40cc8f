"""FlatBuffer bytes -> plain records and back, driven by a description of the tables.

A record is a dict from field name to value: numbers, str, bytes (byte vectors), tuples
(other vectors), records (tables), `(table name, record)` (unions), None (absent).

Bytes are untrusted: every offset, length, tag and enum value is checked before use,
and what is read is bounded by the size of the input, so that nothing crashes, hangs
or fills the memory. A failure names its field: `Program.execution_plan[0].values[3]`.
"""

from ember.files.flat.reader import read
from ember.files.flat.tables import Record
from ember.files.flat.writer import Written, write

__all__ = ["Record", "Written", "read", "write"]
