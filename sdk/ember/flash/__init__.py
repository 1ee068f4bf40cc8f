"""Firmware and a board become a plan of files and command lines, which is then run.

plans.py checks the image and describes plans; debuggers.py, dfu.py and uf2.py make
those of the tools; perform.py runs a plan and compares what it reads back.
"""
