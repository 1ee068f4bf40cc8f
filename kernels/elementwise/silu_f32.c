// SPDX-License-Identifier: Apache-2.0
// y = a / (1 + exp(-a)), float32 in one layout.
#include "kernels/engine/map_f32.h"
#include "kernels/engine/mathf.h"

EMBER_MAP_F32_1(silu_f32, a / (1.0f + ember_expf(-a)));
