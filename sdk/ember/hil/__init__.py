"""Hardware in the loop: boards on a serial line, for `ember test` and for pytest."""
