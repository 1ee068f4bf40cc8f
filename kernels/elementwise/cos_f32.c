// SPDX-License-Identifier: Apache-2.0
// y = cos(a), float32 in one layout.
#include "kernels/engine/map_f32.h"
#include "kernels/engine/mathf.h"

EMBER_MAP_F32_1(cos_f32, ember_cosf(a));
