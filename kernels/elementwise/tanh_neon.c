// SPDX-License-Identifier: Apache-2.0
// y = tanh(a), float32 or float16 in one layout. Advanced SIMD.
#include "kernels/engine/neon/map_neon.h"

EMBER_NEON_MAP_KERNEL(tanh_neon, neon_tanh);
