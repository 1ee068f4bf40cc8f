// SPDX-License-Identifier: Apache-2.0
// rfft of rows of even length with Helium; exact, but denormals are flushed to zero.
#include "kernels/signal/pairs_mve.h"

#include "kernels/signal/rfft.h"

// The signs of imaginary parts.
static uint32x4_t signs(void) {
    const uint32x4_t odd = vandq_u32(vidupq_n_u32(0, 1), vdupq_n_u32(1));
    return vshlq_n_u32(odd, 31);
}

static float32x4_t mirrored(float32x4_t pairs, uint32x4_t sign) {
    return vreinterpretq_f32_u32(veorq_u32(vreinterpretq_u32_f32(pairs), sign));
}

// As ember_rfft_split(), of k and k + 1. -i times the root takes the turn.
static void split_two(ember_complex_t *y, uint32_t h, uint32_t k,
                      const ember_complex_t *roots) {
    const uint32x4_t sign = signs();
    const uint32x4_t falling = ember_pairs_offsets((uint32_t)-1);
    const float32x4_t half = vdupq_n_f32(0.5f);
    const float32x4_t root = mirrored(vrev64q_f32(ember_pairs_load(roots)), sign);
    const float32x4_t a = ember_pairs_load(y + k);
    const float32x4_t b = mirrored(ember_pairs_gather(y + h - k, falling), sign);
    const float32x4_t even = vaddq_f32(a, b);
    const float32x4_t twisted = ember_pairs_mul(vsubq_f32(a, b), root);
    ember_pairs_store(y + k, vmulq_f32(half, vaddq_f32(even, twisted)));
    const float32x4_t rest = vsubq_f32(mirrored(even, sign), mirrored(twisted, sign));
    ember_pairs_scatter(y + h - k, falling, vmulq_f32(half, rest));
}

static void row(const ember_transform_t *s, const float *x, float *out) {
    ember_complex_t *y = ember_complex_out(out);
    const uint32_t h = s->fft;
    const ember_complex_t *roots =
        ember_fft_mve(ember_complex_in(x), y, s->scratch, h, s->roots);
    const ember_complex_t first = y[0];
    uint32_t k = 1;
    for (; 2 * k + 2 < h; k += 2, roots += 2) {
        split_two(y, h, k, roots);
    }
    for (; k <= h / 2; k++, roots++) {
        ember_rfft_split(y, h, k, *roots);
    }
    ember_rfft_ends(y, h, first);
}

static int32_t run(void *state) {
    ember_transform_run(state, row);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_transform_t *s = state;
    const ember_status_t status = ember_rfft_prepare(node, s);
    return status == EMBER_OK && s->n % 2 != 0
               ? ember_node_fail(node, EMBER_UNSUPPORTED, "rfft: an odd length")
               : status;
}

EMBER_KERNEL(rfft_mve, ember_transform_t);
