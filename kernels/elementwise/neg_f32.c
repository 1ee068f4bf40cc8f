// SPDX-License-Identifier: Apache-2.0
// y = -a, float32 in one layout.
#include "kernels/engine/map_f32.h"
#include "kernels/engine/mathf.h"

EMBER_MAP_F32_1(neg_f32, -a);
