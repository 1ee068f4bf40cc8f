// SPDX-License-Identifier: Apache-2.0
// y = 1 / sqrt(a), float32 in one layout.
#include "kernels/engine/map_f32.h"
#include "kernels/engine/mathf.h"

EMBER_MAP_F32_1(rsqrt_f32, 1.0f / __builtin_sqrtf(a));
