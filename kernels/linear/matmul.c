// SPDX-License-Identifier: Apache-2.0
// Matrix products for every dtype. Contract: matmul.h.
#include "kernels/linear/matmul.h"

#include <string.h>

// --- reading arguments -----------------------------------------------------------

static ember_matrices_t matrices(const ember_view_t *view) {
    return (ember_matrices_t){view->data, view->strides[0], view->strides[1],
                              view->strides[2]};
}

// A matrix becomes a batch of one.
static void as_batch(ember_view_t *view) {
    if (view->rank == 2) {
        ember_view_insert(view, 0, 1, 0);
    }
}

// Sizes and strides from the three views, which have rank 3.
static ember_status_t fill(ember_matmul_t *matmul, ember_node_t *node,
                           const ember_view_t *a, const ember_view_t *b,
                           const ember_view_t *c) {
    matmul->a = matrices(a);
    matmul->b = matrices(b);
    matmul->c = matrices(c);
    matmul->bias = (ember_matrices_t){0};
    matmul->batches = c->sizes[0];
    matmul->rows = c->sizes[1];
    matmul->inner = a->sizes[2];
    matmul->columns = c->sizes[2];
    matmul->dtype = c->dtype;
    matmul->alpha = matmul->beta = (ember_scalar_t){1, EMBER_S64};
    if (a->dtype != c->dtype || b->dtype != c->dtype || c->dtype == EMBER_B1) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "matmul: dtypes");
    }
    if (matmul->inner == 0) { // a and b are not read; NULL may not be stepped
        matmul->a = matmul->b = matmul->c;
    }
    const uint32_t outputs = (uint32_t)ember_view_numel(c);
    ember_node_work(node, outputs, (uint32_t)matmul->inner);
    ember_node_work(node, outputs, EMBER_STEPS_RESULT);
    matmul->batches = outputs > 0 ? matmul->batches : 0; // rows of nothing
    return EMBER_OK;
}

// Reads a and b at `arg` and `arg + 1`, both of rank `rank`, and the output.
static ember_status_t product(ember_matmul_t *matmul, ember_node_t *node, uint32_t rank,
                              uint32_t arg, uint32_t out) {
    ember_view_t a, b, c;
    ember_tensor_t tensor;

    ember_view_arg(&a, node, arg);
    ember_view_arg(&b, node, arg + 1);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (a.rank != rank || b.rank != rank) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "matmul: wrong rank");
    }
    as_batch(&a);
    as_batch(&b);
    if (a.sizes[0] != b.sizes[0] || a.sizes[2] != b.sizes[1]) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "matmul: sizes do not fit");
    }
    const int32_t sizes[3] = {a.sizes[0], a.sizes[1], b.sizes[2]};
    ember_node_output(node, out, rank, sizes + (3 - rank), &tensor);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    ember_view_tensor(&c, &tensor);
    as_batch(&c);
    return fill(matmul, node, &a, &b, &c);
}

// Takes `bias`, broadcast to the output.
static ember_status_t set_bias(ember_matmul_t *matmul, ember_node_t *node,
                               ember_view_t *bias) {
    const int32_t sizes[3] = {matmul->batches, matmul->rows, matmul->columns};

    if (!ember_view_expand(bias, 3, sizes)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "matmul: wrong shape of bias");
    }
    if (bias->dtype != matmul->dtype) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "matmul: wrong dtype of bias");
    }
    if (!ember_scalar_is_zero(matmul->beta)) { // else ATen ignores it, NaN included
        matmul->bias = matrices(bias);
    }
    return EMBER_OK;
}

// (self, a, b, beta, alpha, out)
static ember_status_t scaled_product(ember_matmul_t *matmul, ember_node_t *node,
                                     uint32_t rank) {
    enum { SELF, A, B, BETA, ALPHA, OUT };
    ember_view_t bias;
    const ember_status_t status = product(matmul, node, rank, A, OUT);

    if (status != EMBER_OK) {
        return status;
    }
    matmul->beta = ember_scalar_arg(node, BETA);
    matmul->alpha = ember_scalar_arg(node, ALPHA);
    ember_view_arg(&bias, node, SELF);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    return set_bias(matmul, node, &bias);
}

ember_status_t ember_matmul_mm(ember_matmul_t *matmul, ember_node_t *node) {
    return product(matmul, node, 2, 0, 2);
}

ember_status_t ember_matmul_bmm(ember_matmul_t *matmul, ember_node_t *node) {
    return product(matmul, node, 3, 0, 2);
}

ember_status_t ember_matmul_addmm(ember_matmul_t *matmul, ember_node_t *node) {
    return scaled_product(matmul, node, 2);
}

ember_status_t ember_matmul_baddbmm(ember_matmul_t *matmul, ember_node_t *node) {
    return scaled_product(matmul, node, 3);
}

// All leading dimensions of a contiguous tensor as rows: (1, rows, last).
static void as_rows(ember_view_t *view, const ember_tensor_t *tensor) {
    const int32_t last = tensor->rank == 0 ? 1 : tensor->sizes[tensor->rank - 1];
    const int32_t rows = last == 0 ? 0 : (int32_t)tensor->numel / last;
    const int32_t size = tensor->element_size;

    ember_view_tensor(view, tensor);
    view->rank = 0;
    ember_view_insert(view, 0, last, size);
    ember_view_insert(view, 0, rows, tensor->numel == 0 ? 0 : last * size);
    ember_view_insert(view, 0, 1, 0);
}

// (input, weight, bias, out), weight: (columns, inner)
ember_status_t ember_matmul_linear(ember_matmul_t *matmul, ember_node_t *node) {
    enum { INPUT, WEIGHT, BIAS, OUT };
    ember_tensor_t input, out, optional;
    ember_view_t a, b, c;
    int32_t sizes[EMBER_MAX_RANK];

    ember_node_tensor(node, INPUT, &input);
    ember_view_arg(&b, node, WEIGHT);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (input.rank == 0 || b.rank != 2 || input.sizes[input.rank - 1] != b.sizes[1]) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "linear: sizes do not fit");
    }
    memcpy(sizes, input.sizes, input.rank * sizeof(sizes[0]));
    sizes[input.rank - 1] = b.sizes[0];
    ember_node_output(node, OUT, input.rank, sizes, &out);
    const bool has_bias = ember_node_optional_tensor(node, BIAS, &optional);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!ember_tensor_is_contiguous(&input) || !ember_tensor_is_contiguous(&out)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "linear: not contiguous");
    }
    ember_view_swap(&b, 0, 1);
    as_batch(&b);
    as_rows(&a, &input);
    as_rows(&c, &out);
    a.sizes[1] = c.sizes[1]; // rows of no elements still count
    const ember_status_t status = fill(matmul, node, &a, &b, &c);
    if (status != EMBER_OK || !has_bias) {
        return status;
    }
    ember_view_tensor(&a, &optional);
    return set_bias(matmul, node, &a);
}

// --- computing ---------------------------------------------------------------------

enum { CHUNK = 32 };

static void add_products(ember_class_t class, ember_number_t *sum, const void *a,
                         const void *b, uint32_t count) {
    if (class == EMBER_CLASS_F32) {
        for (uint32_t k = 0; k < count; k++) {
            sum->f32 += ((const float *)a)[k] * ((const float *)b)[k];
        }
    } else if (class == EMBER_CLASS_F64) {
        for (uint32_t k = 0; k < count; k++) {
            sum->f64 += ((const double *)a)[k] * ((const double *)b)[k];
        }
    } else { // wraps, like PyTorch's integers
        for (uint32_t k = 0; k < count; k++) {
            const uint64_t x = (uint64_t)((const int64_t *)a)[k];
            sum->s64 =
                (int64_t)((uint64_t)sum->s64 + x * (uint64_t)((const int64_t *)b)[k]);
        }
    }
}

static char *at(const ember_matrices_t *m, int32_t n, int32_t row, int32_t column) {
    return m->data + (ptrdiff_t)n * m->batch + (ptrdiff_t)row * m->row +
           (ptrdiff_t)column * m->column;
}

static void load_factor(ember_class_t class, void *to, ember_scalar_t factor) {
    ember_elements_load(class, to, factor.dtype, &factor.bits, 0, 1);
}

static void run_element(const ember_matmul_t *matmul, int32_t n, int32_t i, int32_t j) {
    const ember_class_t class = ember_class_of(matmul->dtype);
    const uint32_t size = ember_class_size(class);
    const char *a = at(&matmul->a, n, i, 0);
    const char *b = at(&matmul->b, n, 0, j);
    int64_t x[CHUNK], y[CHUNK];
    ember_number_t sum = {.s64 = 0};
    uint32_t terms = 1;

    for (int32_t k = 0; k < matmul->inner; k += CHUNK) {
        const int32_t left = matmul->inner - k;
        const uint32_t count = (uint32_t)(left < CHUNK ? left : CHUNK);
        ember_elements_load(class, x, matmul->dtype, a, matmul->a.column, count);
        ember_elements_load(class, y, matmul->dtype, b, matmul->b.row, count);
        add_products(class, &sum, x, y, count);
        a += (ptrdiff_t)CHUNK * matmul->a.column;
        b += (ptrdiff_t)CHUNK * matmul->b.row;
    }
    memcpy(x, &sum, size);
    load_factor(class, y, matmul->alpha);
    if (matmul->bias.data != NULL) {
        ember_elements_load(class, (char *)x + size, matmul->dtype,
                            at(&matmul->bias, n, i, j), 0, 1);
        load_factor(class, (char *)y + size, matmul->beta);
        terms = 2;
    }
    sum.s64 = 0;
    add_products(class, &sum, x, y, terms);
    ember_elements_store(class, &sum, matmul->dtype, at(&matmul->c, n, i, j), 0, 1);
}

void ember_matmul_run(const ember_matmul_t *matmul) {
    for (int32_t n = 0; n < matmul->batches; n++) {
        for (int32_t i = 0; i < matmul->rows; i++) {
            for (int32_t j = 0; j < matmul->columns; j++) {
                run_element(matmul, n, i, j);
            }
        }
    }
}
