"""PyTorch models become ExecuTorch programs by the official exporter's flows.

source     MODULE.py or FILE.pt2  -> Source: model, example inputs, calibration
flows      Source x backend       -> Lowered: program, and how to compute outputs
cases      Lowered                -> bundled program with inputs and outputs
blame      what went wrong        -> a sentence with operator and source line

graph/ changes graphs before a flow lowers them, operators/ has what PyTorch computes
for ember::*, cortex_m/ extends ExecuTorch's flow for Cortex-M. PyTorch and ExecuTorch
are imported only when something is exported: packages.need().
"""
