"""The operators of ATen whose results depend on one number of each input."""

_NAMES = """
    abs add asinh atan ceil celu clamp clamp_max clamp_min cos cosh div elu eq erf exp
    exp2 expm1 floor full_like ge gelu gt hardshrink hardsigmoid hardswish hardtanh le
    leaky_relu log log10 log1p log2 log_sigmoid logical_and logical_not logical_or
    logsigmoid lt masked_fill maximum minimum mish mul ne neg ones_like pow prelu
    reciprocal relu relu6 round rsqrt rsub scalar_tensor selu sigmoid sign silu sin
    sinh softplus softshrink softsign sqrt square sub tanh threshold trunc where
    zeros_like
"""
POINTWISE = frozenset(_NAMES.split())
