# SPDX-License-Identifier: Apache-2.0
"""Real ExecuTorch programs, exported with the outputs that PyTorch gives."""
