"""A program and a board become a selection: a kernel for each call, or every gap."""
