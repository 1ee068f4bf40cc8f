"""A matrix of programs, boards and options, run by a cluster of Dask's workers."""
