// SPDX-License-Identifier: Apache-2.0
// permute_copy_mve: permutes the dimensions, for elements of four bytes or one. Helium
// gathers them four or eight at a time; matrices of bytes are turned as layers do it.
// Works on bits, for any dtype.
#include <arm_mve.h>

#include "kernels/movement/permute_copy.h"

enum { SIZE = (int32_t)sizeof(float), LANES = 4 };
enum { BYTE_LANES = 8, BYTE_STEP = 8191 }; // offsets are 16 bits

static void bytes(const ember_copy_t *copy, uint8_t *to, const uint8_t *from) {
    const ember_copy_dim_t dim = copy->dims[copy->rank - 1];
    const uint16x8_t offsets = vmulq_n_u16(vidupq_n_u16(0, 1), (uint16_t)dim.src);

    for (int32_t left = dim.count; left > 0; left -= BYTE_LANES) {
        const mve_pred16_t lanes = vctp16q((uint32_t)left);
        vstrbq_p_u16(to, vldrbq_gather_offset_z_u16(from, offsets, lanes), lanes);
        from += (size_t)dim.src * BYTE_LANES;
        to += BYTE_LANES;
    }
}

static void words(const ember_copy_t *copy, uint8_t *to, const uint8_t *from) {
    const ember_copy_dim_t dim = copy->dims[copy->rank - 1];
    const uint32_t step = (uint32_t)(dim.src / SIZE);
    const uint32x4_t offsets = vmulq_n_u32(vidupq_n_u32(0, 1), step);
    const float *src = (const float *)(const void *)from;
    float *dst = (float *)(void *)to;

    for (int32_t left = dim.count; left > 0; left -= LANES) {
        const mve_pred16_t lanes = vctp32q((uint32_t)left);
        vstrwq_p_f32(dst, vldrwq_gather_shifted_offset_z_f32(src, offsets, lanes),
                     lanes);
        src += (size_t)step * LANES;
        dst += LANES;
    }
}

static void turn(const ember_copy_t *copy, uint8_t *to, const uint8_t *from) {
    ember_permute_copy_turn(copy, to, from, ember_turn_mve);
}

static int32_t run(void *state) {
    const ember_copy_t *s = state;

    if (ember_permute_copy_is_turn(s)) {
        ember_permute_copy_matrices(s, turn);
    } else {
        ember_copy_walk(s, s->dst, s->src, s->run == 1 ? bytes : words);
    }
    return EMBER_OK;
}

// Whether the innermost dimension is dense in the output and strided in the input.
static bool is_gather(const ember_copy_t *s) {
    if (s->rank == 0 || s->run != s->element_size) {
        return false;
    }
    const ember_copy_dim_t dim = s->dims[s->rank - 1];
    const bool byte = s->run == 1 && dim.src >= 0 && dim.src <= BYTE_STEP;
    return dim.dst == (int32_t)s->run && (s->run == SIZE || byte);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_copy_t *s = state;
    const ember_status_t status = ember_permute_copy_prepare(node, state);

    if (status != EMBER_OK) {
        return status;
    }
    if (!is_gather(s) && !ember_permute_copy_is_turn(s)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "permute_copy_mve: layout");
    }
    return EMBER_OK;
}

EMBER_KERNEL(permute_copy_mve, ember_copy_t);
