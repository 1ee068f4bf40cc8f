"""Objects of a firmware become the most stack that it can use, before it is linked.

thumb     instructions become steps; also a64 and hexagon
walk      a function's instructions become its frame
code      objects become the sections that a linker takes, as code to walk
calls     which functions a call by pointer may reach
bound     the deepest path
ports     what starts a firmware, and what exceptions and handlers add
image     frames of the linked file, to compare
"""
