# SPDX-License-Identifier: Apache-2.0
"""Programs of one call: others drawn from them, and what PyTorch computes of them."""
