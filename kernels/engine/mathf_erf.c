// SPDX-License-Identifier: Apache-2.0
// erf, and gelu in both forms. Minimax fits of erf(x) / x near zero and of
// log(erfc(x)) above.
#include "kernels/engine/mathf.h"
#include "kernels/engine/mathf_terms.h"

static float erf_near(float x) {
    const float z = x * x;
    float p = EMBER_ERF_NEAR_TERM_1;
    p = p * z + EMBER_ERF_NEAR_TERM_2;
    p = p * z + EMBER_ERF_NEAR_TERM_3;
    p = p * z + EMBER_ERF_NEAR_TERM_4;
    p = p * z + EMBER_ERF_NEAR_TERM_5;
    p = p * z + EMBER_ERF_NEAR_TERM_6;
    return x + x * p;
}

static float erf_far(float a) {
    float p = EMBER_ERF_FAR_TERM_1;
    p = p * a + EMBER_ERF_FAR_TERM_2;
    p = p * a + EMBER_ERF_FAR_TERM_3;
    p = p * a + EMBER_ERF_FAR_TERM_4;
    p = p * a + EMBER_ERF_FAR_TERM_5;
    p = p * a + EMBER_ERF_FAR_TERM_6;
    p = p * a + EMBER_ERF_FAR_TERM_7;
    p = p * a + EMBER_ERF_FAR_TERM_8;
    return 1.0f - ember_expf(p);
}

float ember_erff(float x) {
    const float a = ember_fabsf(x);
    if (!(a >= EMBER_ERF_NEAR)) {
        return erf_near(x); // NaN too
    }
    return ember_copysignf(a < EMBER_ERF_ONE ? erf_far(a) : 1.0f, x);
}

float ember_geluf(float x) {
    return 0.5f * x * (1.0f + ember_erff(x * EMBER_ROOT_HALF));
}

float ember_gelu_tanhf(float x) {
    const float inner = 0.797884561f * (x + 0.044715f * x * x * x);
    return 0.5f * x * (1.0f + ember_tanhf(inner));
}
