// SPDX-License-Identifier: Apache-2.0
#include "kernels/signal/rfft_s16_pass.h"

#include <string.h>

enum { X, WINDOW, ROOTS, N, OUT, EXPONENTS };
enum { SHORTEST = 4, LONGEST = 1 << 15 };

typedef struct wide {
    int32_t re;
    int32_t im;
} wide_t;

INLINE wide_t load(const ember_pair_s16_t *x) {
    return (wide_t){x->re, x->im};
}

INLINE magnitude_t store(ember_pair_s16_t *y, wide_t a) {
    *y = (ember_pair_s16_t){(int16_t)a.re, (int16_t)a.im};
    return magnitude_of(a.re) | magnitude_of(a.im);
}

INLINE wide_t add(wide_t a, wide_t b, uint32_t halvings) {
    return (wide_t){(a.re + b.re) >> halvings, (a.im + b.im) >> halvings};
}

INLINE wide_t sub(wide_t a, wide_t b, uint32_t halvings) {
    return (wide_t){(a.re - b.re) >> halvings, (a.im - b.im) >> halvings};
}

INLINE wide_t mul(wide_t a, const ember_pair_s16_t *w) {
    return (wide_t){rounded(a.re * w->re, -(a.im * w->im)),
                    rounded(a.re * w->im, a.im * w->re)};
}

// Without `w` roots are 1: the compiler makes a copy without products.
INLINE wide_t twisted(wide_t a, const ember_pair_s16_t *w) {
    return w != NULL ? mul(a, w) : a;
}

magnitude_t ember_rfft_s16_products(const int16_t *x, const int16_t *window,
                                    uint32_t width) {
    magnitude_t magnitude = 0;
    for (uint32_t i = 0; i < width; i++) {
        magnitude |= magnitude_of(x[i] * window[i]);
    }
    return magnitude;
}

magnitude_t ember_rfft_s16_fill(const int16_t *x, const int16_t *window, uint32_t width,
                                uint32_t shift, int16_t *y) {
    const int32_t half = (int32_t)1 << shift >> 1;
    magnitude_t magnitude = 0;
    for (uint32_t i = 0; i < width; i++) {
        const int32_t number = (x[i] * window[i] + half) >> shift;
        y[i] = (int16_t)number;
        magnitude |= magnitude_of(number);
    }
    return magnitude;
}

INLINE magnitude_t fours(const pass_t *pass, const ember_pair_s16_t *x,
                         ember_pair_s16_t *y, const ember_pair_s16_t *w) {
    const uint32_t step = pass->s;
    const size_t far = (size_t)step * pass->m;
    const uint32_t first = pass->halvings > 0;
    const uint32_t second = pass->halvings > 1;
    magnitude_t magnitude = 0;
    for (const ember_pair_s16_t *end = x + step; x != end; x++, y++) {
        const wide_t a = load(x);
        const wide_t b = load(x + far);
        const wide_t c = load(x + 2 * far);
        const wide_t d = load(x + 3 * far);
        const wide_t even = add(a, c, first);
        const wide_t half = sub(a, c, first);
        const wide_t odd = add(b, d, first);
        const wide_t back = sub(b, d, first);
        const wide_t turned = {back.im, -back.re};
        magnitude |= store(y, add(even, odd, second));
        magnitude |= store(y + step, twisted(add(half, turned, second), w));
        magnitude |= store(y + 2 * (size_t)step,
                           twisted(sub(even, odd, second), w != NULL ? w + 1 : NULL));
        magnitude |= store(y + 3 * (size_t)step, twisted(sub(half, turned, second),
                                                         w != NULL ? w + 2 : NULL));
    }
    return magnitude;
}

magnitude_t ember_rfft_s16_fours(const pass_t *pass, uint32_t count) {
    const ember_pair_s16_t *w = pass->twist;
    magnitude_t magnitude = fours(pass, pass->x, pass->y, NULL);
    for (uint32_t p = 1; p < count; p++, w += 3) {
        const size_t at = (size_t)pass->s * p;
        magnitude |= fours(pass, pass->x + at, pass->y + 4 * at, w);
    }
    return magnitude;
}

static magnitude_t four(const pass_t *pass) {
    return ember_rfft_s16_fours(pass, pass->m);
}

// The last pass of a length: its roots are 1.
magnitude_t ember_rfft_s16_two(const pass_t *pass) {
    const uint32_t step = pass->s;
    magnitude_t magnitude = 0;
    for (uint32_t q = 0; q < step; q++) {
        const wide_t a = load(pass->x + q);
        const wide_t b = load(pass->x + q + step);
        magnitude |= store(pass->y + q, add(a, b, pass->halvings));
        magnitude |= store(pass->y + q + step, sub(a, b, pass->halvings));
    }
    return magnitude;
}

void ember_rfft_s16_split(ember_pair_s16_t *z, uint32_t h, uint32_t from,
                          const ember_pair_s16_t *roots, uint32_t halvings) {
    for (uint32_t k = from; k < h / 2; k++) {
        const wide_t a = load(z + k);
        const wide_t b = load(z + h - k);
        const wide_t even = {(a.re + b.re) >> 1, (a.im - b.im) >> 1};
        const wide_t odd = {(a.re - b.re) >> 1, (a.im + b.im) >> 1};
        const wide_t made = mul(odd, roots + k - 1);
        (void)store(z + k, add(even, made, halvings));
        const wide_t rest = sub(even, made, 0);
        (void)store(z + h - k, (wide_t){rest.re >> halvings, -rest.im >> halvings});
    }
}

static void split(ember_pair_s16_t *z, uint32_t h, const ember_pair_s16_t *roots,
                  uint32_t halvings) {
    ember_rfft_s16_split(z, h, 1, roots, halvings);
}

static int32_t run(void *state) {
    static const steps_t steps = {ember_rfft_s16_products, ember_rfft_s16_fill, four,
                                  ember_rfft_s16_two, split};
    run_by(state, &steps);
    return EMBER_OK;
}

// ---- prepare ------------------------------------------------------------------------

static bool is_plain(const ember_tensor_t *tensor, ember_dtype_t dtype) {
    return tensor->dtype == dtype && ember_tensor_is_contiguous(tensor);
}

static uint32_t root_count(uint32_t h) {
    uint32_t count = h / 2 - 1;
    for (uint32_t m = h; m % 4 == 0;) {
        m /= 4;
        count += 3 * (m - 1);
    }
    return count;
}

static void prepare_outputs(ember_node_t *node, const ember_tensor_t *x, uint32_t h,
                            ember_tensor_t *z, ember_tensor_t *exponents) {
    int32_t sizes[EMBER_MAX_RANK + 1];
    const uint32_t rank = x->rank - 1u;
    memcpy(sizes, x->sizes, rank * sizeof(*sizes));
    ember_node_output(node, EXPONENTS, rank, sizes, exponents);
    sizes[rank] = (int32_t)h + 1;
    sizes[rank + 1] = 2;
    ember_node_output(node, OUT, rank + 2, sizes, z);
}

// Whether window and roots are those of a transform of n of rows of `x`.
static bool fits(const ember_tensor_t *x, const ember_tensor_t *window,
                 const ember_tensor_t *roots, uint32_t n) {
    if (x->rank == 0 || x->rank >= EMBER_MAX_RANK || n < SHORTEST ||
        (n & (n - 1)) != 0) {
        return false;
    }
    const int32_t width = x->sizes[x->rank - 1];
    const int32_t count[2] = {(int32_t)root_count(n / 2), 2};
    return width >= 1 && (uint32_t)width <= n &&
           ember_tensor_has_shape(window, 1, &width) &&
           ember_tensor_has_shape(roots, 2, count);
}

ember_status_t ember_rfft_s16_prepare(ember_node_t *node, ember_rfft_s16_t *s) {
    ember_tensor_t x;
    ember_tensor_t window;
    ember_tensor_t roots;
    ember_tensor_t z;
    ember_tensor_t exponents;
    ember_node_tensor(node, X, &x);
    ember_node_tensor(node, WINDOW, &window);
    ember_node_tensor(node, ROOTS, &roots);
    const uint32_t n = (uint32_t)ember_node_int_in(node, N, 1, LONGEST);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!fits(&x, &window, &roots, n)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "rfft_s16: n must be a power of 2, at least 4, and fit "
                               "the shapes");
    }
    prepare_outputs(node, &x, n / 2, &z, &exponents);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!is_plain(&x, EMBER_S16) || !is_plain(&window, EMBER_S16) ||
        !is_plain(&roots, EMBER_S16) || !is_plain(&z, EMBER_S16) ||
        !is_plain(&exponents, EMBER_S32)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "rfft_s16: not contiguous int16, exponents int32");
    }
    *s = (ember_rfft_s16_t){
        .x = x.data,
        .window = window.data,
        .roots = roots.data,
        .z = z.data,
        .exponents = exponents.data,
        .scratch = ember_node_scratch(node, n / 2 * sizeof(ember_pair_s16_t)),
        .rows = exponents.numel,
        .width = window.numel,
        .h = n / 2,
    };
    ember_node_work(node, exponents.numel * (n / 2), 16 * passes_of(n / 2) + 16);
    return ember_node_status(node);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_rfft_s16_prepare(node, state);
}

EMBER_KERNEL(rfft_s16, ember_rfft_s16_t);
