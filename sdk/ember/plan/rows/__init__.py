"""Layers of a method become a region that runs row by row over line buffers.

Every row is computed once. What lies between two nodes is a window: as many rows of a
tensor as its readers need. kernels/rows/rows.h says how a region looks in a program.

reads     which rows of its inputs a call reads for a row of its output
pace      which row of a tensor is the newest one, by the rows of the last
wanted    what the readers of a tensor want of its rows, and when; who runs ahead
cascade   the windows of a range of calls: their rows, their bytes
schedule  the order in which rows are computed
needs     the moments at which each row of a window is needed
sharing   where windows lie, so that they share what they never need at once
table     that order as the bytes that the runtime walks
lives     the calls that can run by rows, and the bytes alive at each
sums      a pool of large windows as two calls, so that no window is whole
pieces    a call of elements by itself, with parts of rows
growing   a range of calls that grows from its last one up
ranges    every range of calls that may be a region, with the bytes that it takes
choose    the ranges of a method that need the least memory at its peak
rewrite   the method with these regions
fed       the method with a row of its input at a time
"""
