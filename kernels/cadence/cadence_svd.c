// SPDX-License-Identifier: Apache-2.0
// cadence::linalg_svd: A = U S V' for 3 x 3 matrices, the only size in the dialect. V
// has the eigenvectors of A'A, found by rotations that zero its largest off-diagonal
// element (Jacobi); U = A V / S, completed to a right-handed basis if a singular value
// is 0.
#include <math.h>

#include "kernels/engine/cadence/numbers.h"

enum { A, FULL, VECTORS, DRIVER, U, S, VH, N = 3, ROTATIONS = 100 };
#define NOTHING 1e-10f

typedef struct svd {
    const float *a; // (count, 3, 3)
    float *u;
    float *s; // (count, 3)
    float *vh;
    uint32_t count;
} svd_t;

// Eigenvalues on the diagonal of `d`, eigenvectors in the columns of `v`.
typedef struct basis {
    float d[N][N];
    float v[N][N];
} basis_t;

// Zeroes element (p, q); `r` is the third index.
static void rotate(basis_t *b, int32_t p, int32_t q, int32_t r) {
    const float pp = b->d[p][p], qq = b->d[q][q], pq = b->d[p][q];
    const float angle = ember_fabsf(pp - qq) < NOTHING
                            ? 0.78539816339744830962f
                            : 0.5f * ember_atan2f(2 * pq, qq - pp);
    const float c = ember_cosf(angle), s = ember_sinf(angle);
    const float pr = b->d[p][r], qr = b->d[q][r];

    b->d[p][p] = c * c * pp - 2 * s * c * pq + s * s * qq;
    b->d[q][q] = s * s * pp + 2 * s * c * pq + c * c * qq;
    b->d[p][q] = b->d[q][p] = 0.0f;
    b->d[p][r] = b->d[r][p] = c * pr - s * qr;
    b->d[q][r] = b->d[r][q] = s * pr + c * qr;
    for (int32_t i = 0; i < N; i++) {
        const float vp = b->v[i][p], vq = b->v[i][q];
        b->v[i][p] = c * vp - s * vq;
        b->v[i][q] = s * vp + c * vq;
    }
}

static void diagonalize(basis_t *b) {
    static const uint8_t pairs[N][N] = {{0, 1, 2}, {0, 2, 1}, {1, 2, 0}};

    for (int32_t turn = 0; turn < ROTATIONS; turn++) {
        uint32_t best = 0;
        float most = ember_fabsf(b->d[0][1]);
        for (uint32_t i = 1; i < N; i++) {
            const float size = ember_fabsf(b->d[pairs[i][0]][pairs[i][1]]);
            best = size > most ? i : best;
            most = size > most ? size : most;
        }
        if (most < NOTHING) {
            return;
        }
        rotate(b, pairs[best][0], pairs[best][1], pairs[best][2]);
    }
}

// Sorts the columns of V by descending eigenvalues.
static void order(const basis_t *b, int32_t columns[N]) {
    for (int32_t i = 0; i < N; i++) {
        int32_t at = i;
        for (; at > 0 && b->d[columns[at - 1]][columns[at - 1]] < b->d[i][i]; at--) {
            columns[at] = columns[at - 1];
        }
        columns[at] = i;
    }
}

static void cross(const float a[N], const float b[N], float y[N]) {
    for (int32_t i = 0; i < N; i++) {
        const int32_t j = (i + 1) % N, k = (i + 2) % N;
        y[i] = a[j] * b[k] - a[k] * b[j];
    }
}

// Column `i` of U, orthogonal to those before it.
static void complete(float columns[N][N], int32_t i) {
    const bool along = ember_fabsf(columns[0][0]) > 0.9f;
    const float other[N] = {along ? 0.0f : 1.0f, along ? 1.0f : 0.0f, 0.0f};
    float *y = columns[i];

    for (int32_t r = 0; r < N; r++) {
        y[r] = 0.0f;
    }
    if (i > 0) {
        cross(columns[0], i == 1 ? other : columns[1], y);
    }
    const float norm = sqrtf(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
    for (int32_t r = 0; r < N && norm > NOTHING; r++) {
        y[r] /= norm;
    }
}

static void run_matrix(const float *a, float *u, float *sizes, float *vh) {
    basis_t b = {.v = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    float columns[N][N];
    int32_t from[N];

    for (int32_t i = 0; i < N * N; i++) {
        const int32_t p = i / N, q = i % N;
        b.d[p][q] = 0.0f;
        for (int32_t k = 0; k < N; k++) {
            b.d[p][q] += a[k * N + p] * a[k * N + q];
        }
    }
    diagonalize(&b);
    order(&b, from);
    for (int32_t i = 0; i < N; i++) {
        const float value = b.d[from[i]][from[i]];
        sizes[i] = value > 0.0f ? sqrtf(value) : 0.0f;
        for (int32_t r = 0; r < N; r++) {
            const float *row = a + r * N;
            vh[i * N + r] = b.v[r][from[i]];
            columns[i][r] = (row[0] * b.v[0][from[i]] + row[1] * b.v[1][from[i]] +
                             row[2] * b.v[2][from[i]]) /
                            (sizes[i] > NOTHING ? sizes[i] : 1.0f);
        }
        if (!(sizes[i] > NOTHING)) {
            complete(columns, i);
        }
        for (int32_t r = 0; r < N; r++) {
            u[r * N + i] = columns[i][r];
        }
    }
}

static int32_t run(void *state) {
    const svd_t *s = state;

    for (uint32_t i = 0; i < s->count; i++) {
        run_matrix(s->a + i * N * N, s->u + i * N * N, s->s + i * N, s->vh + i * N * N);
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    svd_t *s = state;
    ember_tensor_t a, u, values, vh;

    ember_node_tensor(node, A, &a);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (a.rank < 2 || a.dtype != EMBER_F32 || a.sizes[a.rank - 1] != N ||
        a.sizes[a.rank - 2] != N || !ember_tensor_is_contiguous(&a)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "svd: matrices must be 3 x 3");
    }
    ember_node_output_like(node, U, &a, &u);
    ember_node_output(node, S, a.rank - 1u, a.sizes, &values);
    ember_node_output_like(node, VH, &a, &vh);
    if (ember_node_status(node) != EMBER_OK || !ember_cadence_plain(node, &u) ||
        !ember_cadence_plain(node, &values) || !ember_cadence_plain(node, &vh)) {
        return ember_node_status(node);
    }
    if (u.dtype != EMBER_F32 || values.dtype != EMBER_F32 || vh.dtype != EMBER_F32) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "svd: dtypes");
    }
    s->a = a.data;
    s->u = u.data;
    s->s = values.data;
    s->vh = vh.data;
    s->count = a.numel / (N * N);
    ember_node_work(node, s->count, ROTATIONS * 64);
    return EMBER_OK;
}

EMBER_KERNEL(cadence_svd, svd_t);
