"""Layers of a method become a region that runs row by row over line buffers.

Every row is computed once. Between two nodes there is a window: as many rows of a
tensor as its readers need. kernels/rows/rows.h describes a region in a program.

row_regions  the regions of a method, as a program states them
reads        which rows of its inputs a call reads for a row of its output
forms        the calls that can run by rows, by operator
lives        those of a method, and the bytes alive at each
wanted       what the readers of a tensor want of its rows, and when; who runs ahead
cascade      the windows of a range of calls: their rows, their bytes
ranges       every range of calls that may be a region, with the bytes that it takes
choose       the ranges of a method that need the least memory at its peak
schedule     the order in which rows are computed, and its table for the runtime
sharing      where windows are, so that they share what they never need at once
rewrite      the method with these regions; with a row of its input at a time
placing      offsets of storages where outputs overlap rows of inputs
"""
