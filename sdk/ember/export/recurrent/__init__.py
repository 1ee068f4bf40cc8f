"""Recurrent layers become one operator of int8 each: their settings, what they compute,
how they are calibrated and lowered."""
