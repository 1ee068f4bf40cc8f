// SPDX-License-Identifier: Apache-2.0
// y = log1p(a), float32 in one layout.
#include "kernels/engine/map_f32.h"
#include "kernels/engine/mathf.h"

EMBER_MAP_F32_1(log1p_f32, ember_log1pf(a));
