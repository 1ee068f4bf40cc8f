"""PyTorch models become ExecuTorch programs by the official exporter's flows.

    source     MODULE.py or FILE.pt2  -> Source: model, example inputs, calibration
    samples    --calibrate DATA       -> tuples of tensors
    flows      Source x backend       -> Lowered: program, and how to compute outputs
    tests      Lowered                -> bundled program with inputs and outputs
    blame      what went wrong        -> a sentence with operator and source line

PyTorch and ExecuTorch are imported only when something is exported: packages.need().
"""
