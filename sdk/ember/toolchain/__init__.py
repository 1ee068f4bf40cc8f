"""Programs of others: compilers, linkers, emulators, and the files that they write."""
