// SPDX-License-Identifier: Apache-2.0
// y = asin(a), float32 in one layout.
#include "kernels/engine/map_f32.h"
#include "kernels/engine/mathf.h"

EMBER_MAP_F32_1(asin_f32, ember_asinf(a));
