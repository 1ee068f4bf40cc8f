// SPDX-License-Identifier: Apache-2.0
// y = -1, 0 or 1, float32 in one layout; NaN gives 0, as in PyTorch.
#include "kernels/engine/map_f32.h"

EMBER_MAP_F32_1(sign_f32, (float)((a > 0.0f) - (a < 0.0f)));
