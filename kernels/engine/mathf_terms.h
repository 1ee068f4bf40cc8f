// SPDX-License-Identifier: Apache-2.0
// Constants of mathf.h's functions that vector variants also need. The terms of
// polynomials start with the highest power.
#ifndef EMBER_KERNELS_ENGINE_MATHF_TERMS_H
#define EMBER_KERNELS_ENGINE_MATHF_TERMS_H

// exp(x) = 2^k (1 + r + r^2 p(r)), x = k ln 2 + r
#define EMBER_LOG2E      1.44269504f
#define EMBER_LN2_HIGH   0.693359375f // k times this is exact
#define EMBER_LN2_LOW    (-2.12194440e-4f)
#define EMBER_EXP_TERM_1 1.99142640e-4f
#define EMBER_EXP_TERM_2 1.39411015e-3f
#define EMBER_EXP_TERM_3 8.33327323e-3f
#define EMBER_EXP_TERM_4 0.041666355f
#define EMBER_EXP_TERM_5 0.166666672f
#define EMBER_EXP_TERM_6 0.5f
#define EMBER_EXP_MOST   88.7228394f // from here on, infinity
#define EMBER_EXP_LEAST  (-103.98f)  // below, 0

// tanh(x) = x + x z p(z), z = x^2, near zero
#define EMBER_TANH_NEAR   0.625f
#define EMBER_TANH_ONE    9.1f // above, 1
#define EMBER_TANH_TERM_1 (-5.71704702e-3f)
#define EMBER_TANH_TERM_2 0.0206505898f
#define EMBER_TANH_TERM_3 (-0.0537435003f)
#define EMBER_TANH_TERM_4 0.133314908f
#define EMBER_TANH_TERM_5 (-0.333332837f)

// erf(x) = x + x p(z), z = x^2, near zero; then 1 - exp(p(x)), then 1
#define EMBER_ERF_NEAR        0.875f
#define EMBER_ERF_ONE         3.93f
#define EMBER_ERF_NEAR_TERM_1 (-6.20324863e-4f)
#define EMBER_ERF_NEAR_TERM_2 5.03217988e-3f
#define EMBER_ERF_NEAR_TERM_3 (-0.0267914627f)
#define EMBER_ERF_NEAR_TERM_4 0.112824552f
#define EMBER_ERF_NEAR_TERM_5 (-0.376125515f)
#define EMBER_ERF_NEAR_TERM_6 0.128379107f // 1.12837911 - 1
#define EMBER_ERF_FAR_TERM_1  (-2.05564229e-5f)
#define EMBER_ERF_FAR_TERM_2  4.28252475e-4f
#define EMBER_ERF_FAR_TERM_3  (-4.14108066e-3f)
#define EMBER_ERF_FAR_TERM_4  0.025040824f
#define EMBER_ERF_FAR_TERM_5  (-0.108159184f)
#define EMBER_ERF_FAR_TERM_6  (-0.633456111f)
#define EMBER_ERF_FAR_TERM_7  (-1.12946129f)
#define EMBER_ERF_FAR_TERM_8  1.63621793e-4f
#define EMBER_ROOT_HALF       0.707106781f

#endif // EMBER_KERNELS_ENGINE_MATHF_TERMS_H
