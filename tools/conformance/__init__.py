# SPDX-License-Identifier: Apache-2.0
"""Many programs of one operator each: PyTorch's own samples and our edge cases."""
