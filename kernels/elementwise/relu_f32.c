// SPDX-License-Identifier: Apache-2.0
// y = a where it is positive, else 0; NaN stays, float32 in one layout.
#include "kernels/engine/map_f32.h"
#include "kernels/engine/mathf.h"

EMBER_MAP_F32_1(relu_f32, a <= 0.0f ? 0.0f : a);
