"""The most of the stack that a firmware can use, from its objects before it is linked.

objects   files to sections, symbols and relocations
members   what a linker takes of them
thumb     instructions to what they do to the stack; a64 and hexagon, too
walk      a function's instructions to its frame
code      sections as code to walk
calls     which functions a call by pointer may reach
bound     the deepest path
ports     what starts a firmware, and what exceptions add
image     frames of the linked file, to compare
"""
