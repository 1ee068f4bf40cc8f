// SPDX-License-Identifier: Apache-2.0
// Matrix products on cores with SME: y = a * w + bias, converted to the output's type
// and bounded. Streaming mode is entered once for each product. device/ has the
// instructions, for any vector length; on hosts without them model/ does the same, so
// that the callers are selected and tested everywhere.
#ifndef EMBER_XNNPACK_SME_GEMM_H
#define EMBER_XNNPACK_SME_GEMM_H

#include "backends/xnnpack/nodes/window.h"
#include "vector.h"

typedef enum ember_xnn_sme_kind {
    XNN_SME_F32,
    XNN_SME_F16,    // sums in float32
    XNN_SME_BF16,   // sums in float32
    XNN_SME_QS8,    // int8 by int8 to int8
    XNN_SME_QD8,    // int8 with parameters per row by int8, to float32 or float16
    XNN_SME_QD8_S4, // the same by weights of four bits, a scale per column
    XNN_SME_QD8_B4, // a scale per column and `block` of them, to float sums
    XNN_SME_KINDS
} ember_xnn_sme_kind_t;

// How products of four int8 are summed. Both ways are exact; the first takes half the
// instructions, but some emulators (QEMU 7.2) compute it wrong.
typedef enum ember_xnn_sme_smopa {
    XNN_SMOPA_TRIED,   // whichever is right: tested on entering streaming mode
    XNN_SMOPA_FULL,    // a row of a per row of a tile
    XNN_SMOPA_DOUBLED, // a row of a in two rows of a tile, one of which is read
} ember_xnn_sme_smopa_t;

enum { XNN_SME_BATCH_DIMS = XNN_MOST_DIMS - 2 };

// A batch of matrix products, whose columns are packed in execute.
typedef struct ember_xnn_sme_batch {
    const void *b; // matrices (k, n), or (n, k) if turned
    bool turned;
    uint32_t count;                       // of products
    uint32_t sizes[XNN_SME_BATCH_DIMS];   // of the batch, innermost first
    uint32_t a_steps[XNN_SME_BATCH_DIMS]; // from matrix to matrix, in matrices; 0: the
    uint32_t b_steps[XNN_SME_BATCH_DIMS]; // same one again
} ember_xnn_sme_batch_t;

// If a row has few int8 products, packing it costs more than they do: rows stay in
// place, and are multiplied with the weights by SDOT. For a convolution the rows of a
// window are packed one by one, each in whole words.
typedef struct ember_xnn_sme_few {
    uint32_t lines; // of a window, at most XNN_SME_MOST_LINES; 1 without
    uint32_t words; // of a column, packed
    uint64_t line;  // bytes of a row of the image with its padding; 0: no padding
} ember_xnn_sme_few_t;

enum { XNN_SME_MOST_LINES = 8 };

// How sums become float results.
typedef struct ember_xnn_sme_real {
    const void *bias; // (n,) float32, float16 with half_bias; NULL: none
    float low;        // bounds
    float high;
    bool half_bias;
} ember_xnn_sme_real_t;

// Dynamically quantised rows, and their weights.
typedef struct ember_xnn_sme_dynamic {
    const ember_xnn_row_t *rows; // of a
    uint32_t row_step;           // rows of y that share parameters: 1 or all
    const float *scales;         // of columns; QD8_B4: stored with the weights
    uint32_t block; // QD8_B4: weights that share a scale; divides k; 16 * i
    bool half_out;
} ember_xnn_sme_dynamic_t;

// How sums of static int8 become int8.
typedef struct ember_xnn_sme_static {
    const int32_t *bias; // (n,); NULL: none
    const float *scales; // of columns; NULL: all are `scale`
    float scale;
    float in_scale;
    float out_scale;
    int32_t in_zero;
    ember_xnn_range_t range; // of the output
} ember_xnn_sme_static_t;

typedef struct ember_xnn_sme {
    ember_xnn_sme_kind_t kind;
    ember_xnn_sme_smopa_t smopa; // of int8
    uint32_t m;
    uint32_t k;
    uint32_t n;
    const void *a;                    // (m, k), or the image of `window`
    const void *w;                    // packed, see below; unused with `batch`
    void *y;                          // (m, n)
    uint8_t *scratch;                 // columns of b, packed rows, gathered rows
    const ember_xnn_window_t *window; // of a convolution; NULL: rows are in a
    union {                           // by `kind`
        struct {
            ember_xnn_sme_real_t real; // all but QS8
            union {
                const ember_xnn_sme_batch_t *batch; // F32, F16; NULL: one product
                ember_xnn_sme_dynamic_t dynamic;    // QD8, QD8_S4, QD8_B4
            };
        };
        struct { // QS8
            ember_xnn_sme_static_t fixed;
            const ember_xnn_sme_few_t *few; // NULL: outer products
        };
    };
} ember_xnn_sme_t;

// The batch of several products; NULL: it is one.
static inline const ember_xnn_sme_batch_t *xnn_sme_batch(const ember_xnn_sme_t *gemm) {
    return gemm->kind <= XNN_SME_F16 ? gemm->batch : NULL;
}

void ember_xnn_sme_gemm(const ember_xnn_sme_t *gemm);

// Whether this core computes SMOPA of int8 as the architecture specifies.
bool ember_xnn_sme_smopa_right(void);

// --- quantising rows -----------------------------------------------------------------

typedef struct ember_xnn_sme_quantize {
    const void *x; // (count, length) float32, or float16 with half
    int8_t *y;     // (count, length)
    ember_xnn_row_t *rows;
    uint32_t count;
    uint32_t length;
    bool half;
} ember_xnn_sme_quantize_t;

// Each row gets a scale and a zero point from its values.
void ember_xnn_sme_quantize(const ember_xnn_sme_quantize_t *job);

// All values of one row by a known factor, with these bounds.
void ember_xnn_sme_quantize_fixed(const ember_xnn_sme_quantize_t *job, float factor,
                                  const ember_xnn_range_t *range);

// --- short vectors -------------------------------------------------------------------

// Static int8, convolutions of dynamic int8, and rows by weights with scales per block
// to float16 are left to NEON's products if vectors are not longer than NEON's: these
// take fewer instructions then.
static inline bool xnn_sme_takes_s8(void) {
    return ember_xnn_sme_vector() >= 32;
}

// --- packed weights ------------------------------------------------------------------

// Blocks of columns; the last one is narrower. A block is (words, columns) words,
// followed, for int8, by the sum of each column. A word has the next 4 bytes of a
// column: one, two or four elements, or eight of four bits, the first to fourth in the
// low nibbles of its bytes, the fifth to eighth in the high ones. So weights take the
// same bytes for all vector lengths. For QD8_B4 the words of each block of weights are
// followed by one word per column: its scale as float16 in the upper half, the sum of
// the weights in the lower.

// For QD8_B4 the blocks of a block of columns are followed by three values for each
// column: `back`, a power of two that sums are multiplied by; `limit`, 2^24 times the
// last bit of the smallest scale / back, up to which sums are not rounded; and what a
// zero point of one adds to a sum, xnn_group_start() / back.
//
// Then two for each part of k. `lift` is the sum of its weights times scales / back,
// which zero points are multiplied by. `spread` consists of two float16, rounded up,
// both relative to the limit: the lower is half the norm of weights times scales /
// back, the upper how far the lift of the first few blocks is from half of it all.
enum {
    XNN_SME_GROUP_BACK,
    XNN_SME_GROUP_LIMIT,
    XNN_SME_GROUP_SCALE, // below one: for all columns, see device/groups.S
    XNN_SME_GROUP_START,
    XNN_SME_GROUP_PARTS,
    XNN_SME_GROUP_LIFT = 0, // of a part
    XNN_SME_GROUP_SPREAD,
    XNN_SME_GROUP_NUMBERS,
    XNN_SME_GROUP_PART = 128
};

// Elements of a part: whole blocks.
static inline uint32_t xnn_sme_group_part(uint32_t block) {
    return block > XNN_SME_GROUP_PART ? block : XNN_SME_GROUP_PART / block * block;
}

// Words of a column: before them, and in total.
static inline uint32_t xnn_sme_group_words(uint32_t k, uint32_t block) {
    return k / block * (block / 8 + 1);
}

static inline uint32_t xnn_sme_group_column(uint32_t k, uint32_t block) {
    const uint32_t part = xnn_sme_group_part(block);
    return xnn_sme_group_words(k, block) + XNN_SME_GROUP_PARTS +
           XNN_SME_GROUP_NUMBERS * ((k + part - 1) / part);
}

// Bytes of scratch for sums of blocks of columns, and for columns that are summed
// apart: lifts and bounds of parts of k, marks, the list of columns, and a packed block
// of them with its biases.
enum { XNN_SME_GROUP_APART = 4 }; // blocks

static inline uint64_t xnn_sme_group_scratch(uint32_t k, uint32_t most) {
    const uint64_t bounds = (uint64_t)k / 32 + 5;
    const uint64_t words = (uint64_t)k / 4 + 8;
    return 4 * (bounds + 1 + XNN_SME_GROUP_APART + words + 1) * most;
}

// Columns of a block: two vectors.
static inline uint32_t xnn_sme_columns(void) {
    return ember_xnn_sme_vector() / 2;
}

static inline uint32_t xnn_sme_words(ember_xnn_sme_kind_t kind, uint32_t k) {
    switch (kind) {
    case XNN_SME_F32:
        return k;
    case XNN_SME_F16:
    case XNN_SME_BF16:
        return (k + 1) / 2;
    case XNN_SME_QD8_S4:
    case XNN_SME_QD8_B4:
        return (k + 7) / 8;
    default:
        return (k + 3) / 4;
    }
}

static inline bool xnn_sme_has_sums(ember_xnn_sme_kind_t kind) {
    return kind >= XNN_SME_QS8;
}

static inline uint32_t xnn_sme_element(ember_xnn_sme_kind_t kind) {
    return kind == XNN_SME_F32 ? 4 : xnn_sme_has_sums(kind) ? 1 : 2;
}

// Bytes of a packed column; for QD8_B4 times the number of blocks, with k of one block.
static inline uint32_t xnn_sme_column_bytes(ember_xnn_sme_kind_t kind, uint32_t k) {
    return 4 * (xnn_sme_words(kind, k) + xnn_sme_has_sums(kind));
}

// Bytes of n columns in scratch.
static inline uint64_t xnn_sme_columns_bytes(ember_xnn_sme_kind_t kind, uint32_t k,
                                             uint32_t n) {
    return ((uint64_t)n * xnn_sme_column_bytes(kind, k) + 63) & ~UINT64_C(63);
}

// The matrix of a batch for product `index`.
static inline size_t xnn_sme_matrix(const ember_xnn_sme_batch_t *batch,
                                    const uint32_t steps[XNN_SME_BATCH_DIMS],
                                    uint32_t index) {
    size_t found = 0;
    for (uint32_t i = 0; i < XNN_SME_BATCH_DIMS; i++) {
        found += (size_t)(index % batch->sizes[i]) * steps[i];
        index /= batch->sizes[i];
    }
    return found;
}

#endif // EMBER_XNNPACK_SME_GEMM_H
