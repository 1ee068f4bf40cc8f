// SPDX-License-Identifier: Apache-2.0
#include "sme_weights.h"

// How weights become bits of packed words.
typedef struct source {
    ember_xnn_sme_kind_t kind;
    uint32_t bits; // of a number
    bool rounded;  // from float32 to float16
} source_t;

static const source_t f32_source = {XNN_SME_F32, 32, false};
static const source_t f16_source = {XNN_SME_F16, 16, false};
static const source_t rounded_source = {XNN_SME_F16, 16, true};
static const source_t bf16_source = {XNN_SME_BF16, 16, false};
static const source_t s8_source = {XNN_SME_QS8, 8, false};
static const source_t s4_source = {XNN_SME_QD8_S4, 4, false};

static uint32_t read_bits(const source_t *source, const void *weights, size_t index) {
    if (source->rounded) {
        return ember_f16_from_f32(((const float *)weights)[index]);
    }
    switch (source->bits) {
    case 32:
        return ((const uint32_t *)weights)[index];
    case 16:
        return ((const uint16_t *)weights)[index];
    case 8:
        return ((const uint8_t *)weights)[index];
    default: // without the zero point of 8, as a signed number
        return (((const uint8_t *)weights)[index / 2] >> 4 * (index % 2) & 15) ^ 8;
    }
}

// The position of element `i` in a word.
static uint32_t place_of(const source_t *source, uint32_t i) {
    if (source->bits == 4) {
        return i < 4 ? 8 * i : 8 * (i - 4) + 4;
    }
    return source->bits * i;
}

static int32_t signed_of(uint32_t bits, uint32_t count) {
    const uint32_t top = UINT32_C(1) << (count - 1);
    return (int32_t)((bits ^ top) - top);
}

static size_t index_of(const source_t *source, const ember_xnn_geometry_t *geometry,
                       uint32_t column, uint32_t k) {
    const uint32_t own = geometry->taps * geometry->k;
    const uint32_t all = source->bits == 4 ? xnn_column_s4(own) : own;
    return geometry->transposed ? (size_t)k * geometry->n + column
                                : (size_t)column * all + k;
}

// Rows (taps) begin with a word of their own.
static uint32_t pack_word(const source_t *source, const ember_xnn_geometry_t *geometry,
                          const void *weights, uint32_t column, uint32_t word) {
    const uint32_t count = 32 / source->bits;
    const uint32_t words = xnn_sme_words(source->kind, geometry->k); // of a row
    const uint32_t first = word % words * count;
    uint32_t packed = 0;
    for (uint32_t i = 0; i < count && first + i < geometry->k; i++) {
        const uint32_t k = word / words * geometry->k + first + i;
        const size_t at = index_of(source, geometry, column, k);
        packed |= read_bits(source, weights, at) << place_of(source, i);
    }
    return packed;
}

static uint32_t sum_of(const source_t *source, const ember_xnn_geometry_t *geometry,
                       const void *weights, uint32_t column) {
    const uint32_t all = geometry->taps * geometry->k;
    uint32_t sum = 0;
    for (uint32_t k = 0; k < all; k++) {
        const uint32_t bits =
            read_bits(source, weights, index_of(source, geometry, column, k));
        sum += (uint32_t)signed_of(bits, source->bits);
    }
    return sum;
}

static uint32_t words_of(const source_t *source, const ember_xnn_geometry_t *geometry) {
    return geometry->taps * xnn_sme_words(source->kind, geometry->k);
}

static void pack_from(const source_t *source, const ember_xnn_geometry_t *geometry,
                      const void *weights, uint32_t *to) {
    const uint32_t words = words_of(source, geometry);
    for (uint32_t first = 0; first < geometry->n; first += geometry->unit) {
        const uint32_t left = geometry->n - first;
        const uint32_t end = first + (left < geometry->unit ? left : geometry->unit);
        for (uint32_t word = 0; word < words; word++) {
            for (uint32_t column = first; column < end; column++) {
                *to++ = pack_word(source, geometry, weights, column, word);
            }
        }
        for (uint32_t column = first; xnn_sme_has_sums(source->kind) && column < end;
             column++) {
            *to++ = sum_of(source, geometry, weights, column);
        }
    }
}

static uint64_t size_for(const source_t *source, const ember_xnn_geometry_t *geometry) {
    const uint64_t all = (uint64_t)geometry->taps * geometry->k;
    if (all > INT32_MAX / 4) {
        return 0;
    }
    const uint32_t sums = xnn_sme_has_sums(source->kind);
    return (uint64_t)geometry->n * 4 * (words_of(source, geometry) + sums);
}

#define LAYOUT(NAME)                                                                   \
    static uint64_t NAME##_size(const ember_xnn_geometry_t *geometry) {                \
        return size_for(&NAME##_source, geometry);                                     \
    }                                                                                  \
    static void NAME##_pack(const ember_xnn_geometry_t *geometry, const void *weights, \
                            const void *scales, void *to) {                            \
        (void)scales;                                                                  \
        pack_from(&NAME##_source, geometry, weights, to);                              \
    }                                                                                  \
    static const ember_xnn_layout_t NAME##_layout = {"sme_" #NAME, NAME##_size,        \
                                                     NAME##_pack, false}
LAYOUT(f32);
LAYOUT(f16);
LAYOUT(rounded);
LAYOUT(bf16);
LAYOUT(s8);
LAYOUT(s4);

static const ember_xnn_layout_t *const layouts[XNN_SME_KINDS] = {
    [XNN_SME_F32] = &f32_layout,
    [XNN_SME_F16] = &f16_layout,
    [XNN_SME_BF16] = &bf16_layout,
    [XNN_SME_QS8] = &s8_layout,
    [XNN_SME_QD8] = &s8_layout,
    [XNN_SME_QD8_S4] = &s4_layout,
    [XNN_SME_QD8_B4] = &ember_xnn_sme_groups,
};

void ember_xnn_sme_pack_matrix(ember_xnn_sme_kind_t kind,
                               const ember_xnn_geometry_t *geometry,
                               const void *weights, const void *scales, void *to) {
    layouts[kind]->pack(geometry, weights, scales, to);
}

static bool transposed(const ember_xnn_node_t *node) {
    return node->kind == XNN_FULLY_CONNECTED &&
           (node->flags & FLAG_TRANSPOSE_WEIGHTS) != 0;
}

uint32_t ember_xnn_sme_products(const ember_xnn_node_t *node) {
    const ember_xnn_value_t *weights = node->in[1];
    uint32_t k = (uint32_t)weights->sizes[transposed(node) ? 0 : weights->rank - 1];
    for (uint32_t i = 1; i + 1 < weights->rank; i++) {
        k *= (uint32_t)weights->sizes[i];
    }
    return k;
}

uint64_t ember_xnn_sme_scratch(ember_xnn_sme_kind_t kind, uint32_t m, uint32_t k,
                               bool gathered) {
    const uint64_t most = xnn_sme_columns(); // a block is square
    if (kind == XNN_SME_QD8_B4) {            // float sums, columns, rows as float16
        const uint64_t floats = 2 * most * most + k / 32 + 8 + m;
        return m > 1 ? 4 * floats + 2 * (uint64_t)k * (most + m) +
                           xnn_sme_group_scratch(k, (uint32_t)most)
                     : 0;
    }
    const uint64_t wanted = xnn_sme_has_sums(kind) ? 2 * (uint64_t)m : m;
    const uint64_t lanes = gathered || wanted > most ? most : wanted;
    const uint64_t words = xnn_sme_words(kind, k);
    const uint64_t packed = 4 * lanes * (kind == XNN_SME_QD8_S4 ? 2 * words : words);
    // With other sizes of an image, m may become larger.
    return gathered ? packed + most * k * xnn_sme_element(kind) : m > 1 ? packed : 0;
}

// The most words of a row times vectors of columns, without a window and with one.
enum { FEW = 16, FEW_OF_WINDOW = 48 };

// Pixels that the windows of an axis cover.
static uint64_t reach(const ember_xnn_axis_t *axis) {
    return (uint64_t)(axis->out - 1) * (uint32_t)axis->stride + (uint32_t)axis->kernel;
}

static bool is_padded(const ember_xnn_axis_t *axis) {
    return axis->before > 0 || reach(axis) > (uint32_t)axis->in;
}

bool ember_xnn_sme_few(const ember_xnn_window_t *window, uint32_t k, uint32_t n,
                       ember_xnn_sme_few_t *few) {
    const uint32_t lanes = xnn_sme_columns() / 2;
    *few = (ember_xnn_sme_few_t){.lines = 1};
    if (window != NULL) {
        if (window->y.kernel > XNN_SME_MOST_LINES || window->y.dilation != 1 ||
            window->x.dilation != 1) {
            return false;
        }
        few->lines = (uint32_t)window->y.kernel;
        if (is_padded(&window->y) || is_padded(&window->x)) {
            few->line = reach(&window->x) * (uint32_t)window->channels;
        }
    }
    few->words = few->lines * xnn_sme_words(XNN_SME_QS8, k / few->lines);
    return few->words * (((uint64_t)n + lanes - 1) / lanes) <=
           (window != NULL ? FEW_OF_WINDOW : FEW);
}

uint64_t ember_xnn_sme_few_scratch(const ember_xnn_sme_few_t *few, uint32_t n) {
    const uint64_t most = xnn_sme_columns();
    const uint64_t lists = (n + most - 1) / most * most;
    return 8 * lists + few->line * (few->lines + 1);
}

// 16 times the sums of weights of four bits must fit into int32.
enum { MOST_PRODUCTS_S4 = INT32_MAX / (128 * 128) };

ember_status_t ember_xnn_sme_pack(ember_xnn_graph_t *graph, ember_xnn_node_t *node,
                                  ember_xnn_sme_kind_t kind,
                                  const ember_xnn_window_t *window) {
    const uint32_t n = (uint32_t)xnn_size(node->out[0], 0);
    const uint32_t k = ember_xnn_sme_products(node);
    ember_xnn_sme_few_t few = {.lines = 1};
    const bool is_few = kind == XNN_SME_QS8 && ember_xnn_sme_few(window, k, n, &few);
    const uint32_t lines = is_few ? few.lines : 1;
    const ember_xnn_geometry_t geometry = {
        .groups = 1,
        .n = n,
        .taps = lines,
        .k = k / lines,
        .block = kind == XNN_SME_QD8_B4 ? node->in[1]->group : 0,
        .unit = xnn_sme_columns(),
        .transposed = transposed(node),
    };
    if (n == 0 || k == 0 || (kind == XNN_SME_QD8_S4 && k > MOST_PRODUCTS_S4)) {
        return EMBER_UNSUPPORTED;
    }
    if (kind == XNN_SME_QD8_B4 &&
        !ember_xnn_sme_groups_fit(&geometry, node->in[1]->scales)) {
        return xnn_refuse(node, XNN_ODD_SCALES);
    }
    // To float16, rows by weights with scales per block are multiplied one by one.
    const bool each = kind == XNN_SME_QD8_B4 && node->out[0]->datatype == XNN_F16;
    const uint32_t m = each ? 1 : node->out[0]->numel / n;
    const uint64_t scratch = is_few ? ember_xnn_sme_few_scratch(&few, n)
                                    : ember_xnn_sme_scratch(kind, m, k, window != NULL);
    if (scratch > INT32_MAX / 2) {
        return EMBER_UNSUPPORTED;
    }
    node->scratch = (uint32_t)scratch;
    const bool rounds = kind == XNN_SME_F16 && node->in[1]->datatype == XNN_F32;
    return ember_xnn_pack(graph, node, rounds ? &rounded_layout : layouts[kind],
                          &geometry);
}
