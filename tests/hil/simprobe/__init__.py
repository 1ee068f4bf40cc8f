"""A debug probe without hardware: real tools on one side, QEMU's CPU on the other.

python -m simprobe --kind pyocd|openocd --qemu HOST:PORT [...]
"""
