// SPDX-License-Identifier: Apache-2.0
// erf, and gelu in both forms. Minimax fits of erf(x) / x near zero and of
// log(erfc(x)) above.
#include "kernels/engine/mathf.h"

static float erf_near(float x) {
    const float z = x * x;
    float p = -6.20324863e-4f;
    p = p * z + 5.03217988e-3f;
    p = p * z - 0.0267914627f;
    p = p * z + 0.112824552f;
    p = p * z - 0.376125515f;
    p = p * z + 0.128379107f; // 1.12837911 - 1
    return x + x * p;
}

static float erf_far(float a) {
    float p = -2.05564229e-5f;
    p = p * a + 4.28252475e-4f;
    p = p * a - 4.14108066e-3f;
    p = p * a + 0.025040824f;
    p = p * a - 0.108159184f;
    p = p * a - 0.633456111f;
    p = p * a - 1.12946129f;
    p = p * a + 1.63621793e-4f;
    return 1.0f - ember_expf(p);
}

float ember_erff(float x) {
    const float a = ember_fabsf(x);
    if (!(a >= 0.875f)) {
        return erf_near(x); // NaN too
    }
    return ember_copysignf(a < 3.93f ? erf_far(a) : 1.0f, x);
}

float ember_geluf(float x) {
    return 0.5f * x * (1.0f + ember_erff(x * 0.707106781f));
}

float ember_gelu_tanhf(float x) {
    const float inner = 0.797884561f * (x + 0.044715f * x * x * x);
    return 0.5f * x * (1.0f + ember_tanhf(inner));
}
