// SPDX-License-Identifier: Apache-2.0
#include "kernels/signal/log_bands_s16.h"

#include <string.h>

enum { Z, EXPONENTS, BANDS, WEIGHTS, FLOOR, OUT };
enum { FLOOR_BITS = 45, LOG_BITS = 15, RESULT_BITS = 10, MOST_EXPONENT = 31 };

// 2^15 log2(1 + i / 32)
static const uint16_t table[33] = {
    0,     1455,  2866,  4236,  5568,  6863,  8124,  9352,  10549, 11716, 12855,
    13968, 15055, 16117, 17156, 18173, 19168, 20143, 21098, 22034, 22952, 23852,
    24736, 25604, 26455, 27292, 28114, 28922, 29717, 30498, 31267, 32024, 32768};

// log2 of a number above 0, with 15 fraction bits.
static int32_t log2_of(uint64_t number) {
    const int32_t zeros = __builtin_clzll(number);
    const uint32_t rest = (uint32_t)(number << zeros << 1 >> 32);
    const uint32_t index = rest >> 27;
    const int32_t low = table[index];
    const int32_t line = (table[index + 1] - low) * (int32_t)(rest >> 16 & 2047);
    return (63 - zeros) * (1 << LOG_BITS) + low + ((line + 1024) >> 11);
}

static int16_t result_of(uint64_t sum, uint64_t floor, int32_t exponent) {
    enum { SHIFT = LOG_BITS - RESULT_BITS };
    const int32_t large = exponent > MOST_EXPONENT ? MOST_EXPONENT
                          : exponent > 0           ? exponent
                                                   : 0;
    const int32_t small = exponent < -MOST_EXPONENT ? MOST_EXPONENT
                          : exponent < 0            ? -exponent
                                                    : 0;
    const uint64_t total = (sum >> (2 * small)) + (floor >> (2 * large));
    const int32_t log =
        log2_of(total > 0 ? total : 1) + (2 * large - FLOOR_BITS) * (1 << LOG_BITS);
    const int32_t result = (log + (1 << (SHIFT - 1))) >> SHIFT;
    return (int16_t)(result > INT16_MAX   ? INT16_MAX
                     : result < INT16_MIN ? INT16_MIN
                                          : result);
}

static int32_t run_row(const ember_log_bands_s16_t *s, int32_t exponent, int16_t *y,
                       ember_weigh_fn weigh) {
    uint32_t at = 0;
    for (uint32_t j = 0; j < s->m; j++) {
        const uint32_t first = (uint32_t)s->bands[2 * j];
        const uint32_t length = (uint32_t)s->bands[2 * j + 1];
        if (first > s->bins || length > s->bins - first || length > s->count - at) {
            return EMBER_DATA_RANGE;
        }
        const uint64_t sum = weigh(s->energies + first, s->weights + at, length);
        y[j] = result_of(sum, s->floor, exponent);
        at += length;
    }
    return EMBER_OK;
}

int32_t ember_log_bands_s16_run(const ember_log_bands_s16_t *s,
                                ember_energies_fn energies, ember_weigh_fn weigh) {
    for (uint32_t row = 0; row < s->rows; row++) {
        energies(s->z + (size_t)row * s->bins * 2, s->energies, s->bins);
        const int32_t status =
            run_row(s, s->exponents[row], s->y + (size_t)row * s->m, weigh);
        if (status != EMBER_OK) {
            return status;
        }
    }
    return EMBER_OK;
}

static void energies_of(const int16_t *z, uint32_t *energies, uint32_t bins) {
    for (uint32_t i = 0; i < bins; i++, z += 2) {
        energies[i] = (uint32_t)(z[0] * z[0]) + (uint32_t)(z[1] * z[1]);
    }
}

// By halves, for cores that multiply to 32 bits.
static uint64_t weigh(const uint32_t *energies, const int16_t *weights,
                      uint32_t length) {
    enum { BITS = 15 };
    uint64_t high = 0;
    uint64_t low = 0;
    for (uint32_t i = 0; i < length; i++) {
        const uint32_t weight = (uint16_t)weights[i];
        high += (energies[i] >> BITS) * weight;
        low += (energies[i] & ((1u << BITS) - 1)) * weight;
    }
    return (high << BITS) + low;
}

static int32_t run(void *state) {
    return ember_log_bands_s16_run(state, energies_of, weigh);
}

// ---- prepare ------------------------------------------------------------------------

static bool is_plain(const ember_tensor_t *tensor, ember_dtype_t dtype) {
    return tensor->dtype == dtype && ember_tensor_is_contiguous(tensor);
}

// Whether each spectrum has an exponent.
static bool fits(const ember_tensor_t *z, const ember_tensor_t *exponents,
                 const ember_tensor_t *bands, const ember_tensor_t *weights) {
    return z->rank >= 2 && z->sizes[z->rank - 1] == 2 &&
           ember_tensor_has_shape(exponents, z->rank - 2u, z->sizes) &&
           bands->rank == 2 && bands->sizes[1] == 2 && weights->rank == 1;
}

ember_status_t ember_log_bands_s16_prepare(ember_node_t *node,
                                           ember_log_bands_s16_t *s) {
    ember_tensor_t z;
    ember_tensor_t exponents;
    ember_tensor_t bands;
    ember_tensor_t weights;
    ember_tensor_t y;
    int32_t sizes[EMBER_MAX_RANK] = {0};
    ember_node_tensor(node, Z, &z);
    ember_node_tensor(node, EXPONENTS, &exponents);
    ember_node_tensor(node, BANDS, &bands);
    ember_node_tensor(node, WEIGHTS, &weights);
    const int64_t floor = ember_node_int(node, FLOOR);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!fits(&z, &exponents, &bands, &weights) || floor < 1 ||
        floor > (int64_t)1 << FLOOR_BITS) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "log_bands_s16: shapes, or a floor out of range");
    }
    memcpy(sizes, z.sizes, (z.rank - 2u) * sizeof(*sizes));
    sizes[z.rank - 2] = bands.sizes[0];
    ember_node_output(node, OUT, z.rank - 1u, sizes, &y);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!is_plain(&z, EMBER_S16) || !is_plain(&exponents, EMBER_S32) ||
        !is_plain(&bands, EMBER_S32) || !is_plain(&weights, EMBER_S16) ||
        !is_plain(&y, EMBER_S16)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "log_bands_s16: not contiguous int16 and int32");
    }
    const uint32_t bins = (uint32_t)z.sizes[z.rank - 2];
    *s = (ember_log_bands_s16_t){
        .z = z.data,
        .exponents = exponents.data,
        .bands = bands.data,
        .weights = weights.data,
        .y = y.data,
        .energies = ember_node_scratch(node, bins * sizeof(uint32_t)),
        .floor = (uint64_t)floor,
        .rows = exponents.numel,
        .bins = bins,
        .m = (uint32_t)bands.sizes[0],
        .count = weights.numel,
    };
    ember_node_work(node, s->rows, 4 * s->count + 32 * s->m + bins);
    return ember_node_status(node);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_log_bands_s16_prepare(node, state);
}

EMBER_KERNEL(log_bands_s16, ember_log_bands_s16_t);
