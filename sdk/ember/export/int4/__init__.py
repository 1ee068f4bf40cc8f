"""int8 activations with int4 weights: the quantizer's settings, operators, lowering.

Weights of int4 stand for some of int8: sums, scales and their rounding are
those of int8, and half of the bytes are in the program.
"""
