"""Evidence for the C core: coverage of its decisions, and mutants that tests kill."""
