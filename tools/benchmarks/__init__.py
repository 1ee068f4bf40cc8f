# SPDX-License-Identifier: Apache-2.0
"""What firmware that `ember build` ships costs: the parts of tools/bench."""
