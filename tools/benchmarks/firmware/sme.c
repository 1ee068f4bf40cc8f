// SPDX-License-Identifier: Apache-2.0
// Products of matrices by outer products, one after the other between the marks that
// the emulator counts, with the quantising of rows where a kind asks for it. What they
// compute is checked elsewhere.
#include "ember/port.h"

#include "backends/xnnpack/sme/sme_weights.h"
#include "kernels/engine/element.h"

typedef struct product {
    ember_xnn_sme_kind_t kind;
    ember_xnn_sme_smopa_t smopa;
    uint32_t m, k, n, block;
} product_t;

static const product_t products[] = {
#include "products.h" // made by sme.py
};

enum { MOST = 1024, MOST_ROWS = 128, MOST_SCRATCH = 2 << 20, LANES = 4, PERIOD = 4093 };

static _Alignas(64) uint32_t a[MOST_ROWS * MOST];
static uint32_t w[MOST * MOST];
static uint16_t group_scales[MOST * MOST / 16];
static float scales[MOST];
static _Alignas(64) uint32_t packed[MOST * MOST + MOST * MOST / 16];
static int8_t elements[MOST_ROWS * MOST];
static ember_xnn_row_t rows[MOST_ROWS];
static float y[MOST_ROWS * MOST];
static _Alignas(64) uint8_t scratch[MOST_SCRATCH];

// About normal, as a sum of even ones is: of variance 4 / 3.
static float normal(void) {
    static uint32_t state = 1;
    int32_t sum = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        state = state * 1664525 + 1013904223;
        sum += (int32_t)(state >> 16) - 32768;
    }
    return (float)sum / 32768.0f;
}

// A word of numbers of `bits` bits.
static uint32_t word_of(uint32_t bits) {
    uint32_t word = 0;
    for (uint32_t at = 0; at < 32; at += bits) {
        const float x = normal();
        const uint32_t number = bits == 32   ? ember_float_bits(x)
                                : bits == 16 ? ember_f16_from_f32(x)
                                : bits == 8  ? (uint32_t)(int32_t)(x * 30.0f)
                                             : 8 + (uint32_t)(int32_t)(x * 2.0f);
        word |= bits == 32 ? number : (number & ((1u << bits) - 1)) << at;
    }
    return word;
}

// After PERIOD words the same again: making them takes longer than multiplying them.
static void fill(uint32_t *words, uint32_t count, uint32_t bits) {
    for (uint32_t i = 0; i < count; i++) {
        words[i] = i < PERIOD ? word_of(bits) : words[i - PERIOD];
    }
}

static uint32_t weight_bits(ember_xnn_sme_kind_t kind) {
    return kind >= XNN_SME_QD8_S4 ? 4 : 8 * xnn_sme_element(kind);
}

// Static int8 begins with elements, what is quantised at run time with float32.
static void prepare(const product_t *product) {
    const bool dynamic = product->kind >= XNN_SME_QD8;
    const uint32_t bits = dynamic ? 32 : 8 * xnn_sme_element(product->kind);
    const uint32_t weights = weight_bits(product->kind);
    const ember_xnn_geometry_t geometry = {
        .groups = 1,
        .n = product->n,
        .taps = 1,
        .k = product->k,
        .block = product->block,
        .unit = xnn_sme_columns(),
    };
    fill(a, product->m * product->k / (32 / bits), bits);
    fill(w, product->n * product->k / (32 / weights), weights);
    for (uint32_t i = 0; product->block > 0 && i < MOST * MOST / 16; i++) {
        const float x = (float)(i % 61) / 61.0f;
        group_scales[i] = (uint16_t)(ember_float_bits(0.2f + 0.27f * x) >> 16);
    }
    for (uint32_t i = 0; i < MOST; i++) {
        scales[i] = 0.01f;
    }
    ember_xnn_sme_pack_matrix(product->kind, &geometry, w, group_scales, packed);
}

static void run(const product_t *product) {
    const bool dynamic = product->kind >= XNN_SME_QD8;
    const ember_xnn_sme_quantize_t job = {
        .x = a,
        .y = elements,
        .rows = rows,
        .count = product->m,
        .length = product->k,
    };
    ember_xnn_sme_t gemm = {
        .kind = product->kind,
        .smopa = product->smopa,
        .m = product->m,
        .k = product->k,
        .n = product->n,
        .a = dynamic ? (const void *)elements : a,
        .w = packed,
        .y = y,
        .scratch = scratch,
    };
    if (product->kind == XNN_SME_QS8) {
        gemm.fixed = (ember_xnn_sme_static_t){
            .scales = scales,
            .in_scale = 0.02f,
            .out_scale = 0.5f,
            .range = {-128.0f, 127.0f, 0},
        };
    } else {
        gemm.real.low = -__builtin_inff();
        gemm.real.high = __builtin_inff();
    }
    if (dynamic) {
        gemm.dynamic = (ember_xnn_sme_dynamic_t){
            .rows = rows,
            .row_step = 1,
            .scales = scales,
            .block = product->block,
        };
    }
    ember_port_mark_begin(EMBER_MARK_EXECUTE);
    if (dynamic) {
        ember_xnn_sme_quantize(&job);
    }
    ember_xnn_sme_gemm(&gemm);
    ember_port_mark_end(EMBER_MARK_EXECUTE);
}

int main(void) {
    for (uint32_t i = 0; i < sizeof(products) / sizeof(products[0]); i++) {
        prepare(&products[i]);
        run(&products[i]);
    }
    return 0;
}
