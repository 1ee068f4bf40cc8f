"""Fourier transforms and complex numbers of a model become operators of programs."""
