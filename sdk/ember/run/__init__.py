"""Firmware becomes what it does: a run log, a profile, verdicts of test cases."""
