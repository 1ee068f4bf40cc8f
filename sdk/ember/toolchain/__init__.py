"""External programs: compilers, linkers, emulators, and the files that they write."""
