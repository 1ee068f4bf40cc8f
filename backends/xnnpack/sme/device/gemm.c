// SPDX-License-Identifier: Apache-2.0
// Matrix products block by block.
#include "block.h"

static const sme_kind_t *const kinds[XNN_SME_KINDS] = {
    [XNN_SME_F32] = &xnn_sme_f32,   [XNN_SME_F16] = &xnn_sme_f16,
    [XNN_SME_BF16] = &xnn_sme_bf16, [XNN_SME_QS8] = &xnn_sme_qs8,
    [XNN_SME_QD8] = &xnn_sme_qd8,   [XNN_SME_QD8_S4] = &xnn_sme_qd8_s4,
};

// Words of a row of a, which has whole words of w.
static uint32_t
words_of(const ember_xnn_sme_t *gemm) __arm_streaming __arm_preserves("za") {
    const uint32_t words = xnn_sme_words(gemm->kind, gemm->k);
    return gemm->kind == XNN_SME_QD8_S4 ? 2 * words : words;
}

static uint32_t
row_bytes(const ember_xnn_sme_t *gemm) __arm_streaming __arm_preserves("za") {
    return gemm->k * xnn_sme_element(gemm->kind);
}

// Four times 1 * 2 summed in a few places of a tile; those in odd rows and columns are
// where emulators are known to fail.
static bool try_smopa(void) __arm_streaming __arm_inout("za") {
    const svbool_t all = svptrue_b8();
    svzero_mask_za(0x11);
    svmopa_za32_s8_m(0, all, all, svdup_s8(1), svdup_s8(2));
    const svint32_t row = svread_hor_za32_s32_m(svdup_s32(0), svptrue_b32(), 0, 1);
    return !svptest_any(svptrue_b32(), svcmpne_n_s32(svptrue_b32(), row, 8));
}

// Rows of a tile for each row of a.
static uint32_t step_of(const ember_xnn_sme_t *gemm) __arm_streaming __arm_inout("za") {
    if (!xnn_sme_has_sums(gemm->kind) || gemm->smopa == XNN_SMOPA_FULL) {
        return 1;
    }
    return gemm->smopa == XNN_SMOPA_TRIED && try_smopa() ? 1 : 2;
}

// Packs the rows of a block.
static void pack(const ember_xnn_sme_t *gemm,
                 const sme_block_t *block) __arm_streaming __arm_inout("za") {
    const uint32_t bytes = row_bytes(gemm);
    const uint8_t *from = (const uint8_t *)gemm->a + (size_t)block->row * bytes;
    uint8_t *to = gemm->scratch;
    if (gemm->window != NULL) {
        uint8_t *rows = to + 4 * (size_t)block->words * block->lanes;
        xnn_sme_gather(gemm, block->row, block->rows, rows);
        from = rows;
    }
    xnn_sme_turn(from, bytes, block->rows, bytes, block->step, block->words, to);
}

static void run_block(const ember_xnn_sme_t *gemm,
                      const sme_block_t *block) __arm_streaming __arm_inout("za") {
    const uint32_t most = 2 * (uint32_t)svcntw();
    const sme_kind_t *kind = kinds[gemm->kind];
    kind->begin(gemm, block);
    if (block->lanes == most && block->columns == most) {
        kind->whole(block->a, block->w, block->words);
    } else {
        kind->part(block->a, block->w, block->words, block->lanes, block->columns);
    }
    kind->end(gemm, block);
}

static void run_blocks(const ember_xnn_sme_t *gemm) __arm_streaming __arm_inout("za") {
    const uint32_t most = 2 * (uint32_t)svcntw();
    const size_t column = xnn_sme_column_bytes(gemm->kind, gemm->k);
    sme_block_t block = {.a = gemm->scratch, .words = words_of(gemm)};
    block.step = step_of(gemm);
    for (block.row = 0; block.row < gemm->m; block.row += block.rows) {
        const uint32_t left = gemm->m - block.row;
        block.rows = left < most / block.step ? left : most / block.step;
        block.lanes = block.rows * block.step;
        pack(gemm, &block);
        for (block.column = 0; block.column < gemm->n; block.column += most) {
            const uint32_t rest = gemm->n - block.column;
            block.columns = rest < most ? rest : most;
            block.w = (const uint8_t *)gemm->w + block.column * column;
            run_block(gemm, &block);
        }
    }
}

static void run_one(const ember_xnn_sme_t *gemm) __arm_streaming __arm_preserves("za") {
    ember_xnn_sme_t one = *gemm;
    if (gemm->window != NULL) {
        xnn_sme_gather(gemm, 0, 1, gemm->scratch);
        one.a = gemm->scratch;
    }
    kinds[gemm->kind]->one(&one);
}

static void run_product(const ember_xnn_sme_t *gemm) __arm_streaming __arm_inout("za") {
    if (gemm->kind == XNN_SME_QD8_B4) {
        if (gemm->m == 1 || gemm->dynamic.half_out) {
            xnn_sme_groups_each(gemm);
        } else {
            xnn_sme_groups(gemm);
        }
    } else if (gemm->kind == XNN_SME_QS8 && gemm->few != NULL &&
               (gemm->m > 1 || gemm->window != NULL)) {
        xnn_sme_few(gemm);
    } else if (gemm->m == 1) {
        run_one(gemm);
    } else {
        run_blocks(gemm);
    }
}

static void run_batch(const ember_xnn_sme_t *gemm) __arm_streaming __arm_inout("za") {
    const ember_xnn_sme_batch_t *batch = gemm->batch;
    const size_t element = xnn_sme_element(gemm->kind);
    const size_t bytes = gemm->k * element; // of a row of a, and a column of b
    size_t packed = SIZE_MAX;
    ember_xnn_sme_t one = *gemm;
    one.w = gemm->scratch;
    one.scratch += xnn_sme_columns_bytes(gemm->kind, gemm->k, gemm->n);
    for (uint32_t i = 0; i < batch->count; i++) {
        const size_t b = xnn_sme_matrix(batch, batch->b_steps, i);
        const size_t a = xnn_sme_matrix(batch, batch->a_steps, i);
        if (b != packed) {
            const uint8_t *from = (const uint8_t *)batch->b + b * gemm->n * bytes;
            xnn_sme_pack_columns(gemm, from, gemm->scratch);
            packed = b;
        }
        one.a = (const uint8_t *)gemm->a + a * gemm->m * bytes;
        one.y = (uint8_t *)gemm->y + (size_t)i * gemm->m * gemm->n * element;
        run_product(&one);
    }
}

// Not inlined: clang 19 loses the return address of a function that enters streaming
// mode and calls nothing.
__attribute__((noinline)) static void
run(const ember_xnn_sme_t *gemm) __arm_streaming __arm_inout("za") {
    if (xnn_sme_batch(gemm) != NULL) {
        run_batch(gemm);
    } else {
        run_product(gemm);
    }
}

__arm_new("za") __arm_locally_streaming void ember_xnn_sme_gemm(
    const ember_xnn_sme_t *gemm) {
    run(gemm);
}

__attribute__((noinline)) static bool tried(void) __arm_streaming __arm_inout("za") {
    return try_smopa();
}

__arm_new("za") __arm_locally_streaming bool ember_xnn_sme_smopa_right(void) {
    return tried();
}
