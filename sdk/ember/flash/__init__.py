"""Firmware and a board become a plan of files and command lines, which is then run.

blocks.py checks what is to be written, one file a tool makes its plan, perform.py runs
it and compares what it reads back.
"""
