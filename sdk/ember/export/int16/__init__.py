"""int16 activations with int8 weights: the quantizer's settings, operators, lowering.

Activations have a zero point of 0. Sums of products are int32, which the export makes
sure they fit; they are scaled as those of int8 are.
"""
