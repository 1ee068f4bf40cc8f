// SPDX-License-Identifier: Apache-2.0
// Fully connected, dynamically quantised int8, int4 weights with a scale per group,
// with HVX. Results as in product_qd8_s4.c: after each group its sum becomes float32.
// Panels as in products_hvx.h, for one group after the other.
#include "floats_hvx.h"

enum { LANES = EMBER_LANES_HVX, PANEL = EMBER_PANEL_HVX, GROUP = EMBER_GROUP_HVX };
enum { BYTES_MAX = 1 << 28, PRODUCTS_MIN = 1024, NIBBLES = 8 };

// --- weights -------------------------------------------------------------------------

// For each vector of columns: floats that sums start from; then, for each group, 128
// times the int32 sums of its weights, its scales as float32, and weights plus 8.
static uint64_t group_bytes(const ember_xnn_geometry_t *geometry) {
    return 2 * EMBER_HVX + (uint64_t)geometry->block * LANES / 2;
}

static uint64_t vector_bytes(const ember_xnn_geometry_t *geometry) {
    return EMBER_HVX + geometry->k / geometry->block * group_bytes(geometry);
}

static uint64_t size(const ember_xnn_geometry_t *geometry) {
    const uint64_t vectors = ((uint64_t)geometry->n + LANES - 1) / LANES;
    if (geometry->block == 0 || geometry->block % EMBER_STEP_HVX != 0 ||
        geometry->k % geometry->block != 0) {
        return 0;
    }
    const uint64_t bytes = vector_bytes(geometry);
    return (bytes < INT32_MAX ? bytes : INT32_MAX) * vectors;
}

// The weights of a column in a group, for a lane of a vector that begins with lane
// `first`.
static void pack_lane(const ember_xnn_geometry_t *geometry, const uint8_t *weights,
                      uint32_t column, uint32_t first, uint32_t lane, size_t next,
                      uint8_t *sums, uint8_t *to) {
    int32_t sum = 0;
    for (uint32_t i = 0; i < geometry->block; i++) {
        const size_t at = (size_t)column * geometry->k + first + i;
        const int32_t w = xnn_weight_s4(weights, at);
        uint8_t *byte = to + i / EMBER_STEP_HVX * next + lane * GROUP + i % GROUP;
        *byte = (uint8_t)(*byte | (w + NIBBLES) << (i / GROUP % 2 * 4));
        sum += w;
    }
    sum *= XNN_GROUP_OFFSET;
    memcpy(sums + (size_t)4 * lane, &sum, sizeof(sum));
}

// A group of a panel, whose vectors are adjacent.
static uint8_t *pack_group(const ember_xnn_geometry_t *geometry, const uint8_t *weights,
                           const uint16_t *scales, uint32_t column, uint32_t lanes,
                           uint32_t group, size_t next, uint8_t *to) {
    const uint32_t groups = geometry->k / geometry->block;
    for (uint32_t i = 0; i < lanes; i++) {
        const uint32_t vector = i / LANES, lane = i % LANES;
        uint8_t *own = to + (size_t)vector * EMBER_HVX;
        const float scale =
            ember_f32_from_bf16(scales[(size_t)(column + i) * groups + group]);
        pack_lane(geometry, weights, column + i, group * geometry->block, lane, next,
                  own, own + 2 * next);
        memcpy(own + next + (size_t)4 * lane, &scale, sizeof(scale));
    }
    return to + 2 * next + geometry->block / EMBER_STEP_HVX * next;
}

static void pack(const ember_xnn_geometry_t *geometry, const void *weights,
                 const void *scales, void *packed) {
    const uint32_t groups = geometry->k / geometry->block;
    uint8_t *to = packed;
    memset(packed, 0, (size_t)size(geometry));
    for (uint32_t column = 0; column < geometry->n; column += XNN_HVX_LANES) {
        const uint32_t left = geometry->n - column;
        const uint32_t lanes = left < XNN_HVX_LANES ? left : XNN_HVX_LANES;
        const size_t next = (size_t)((lanes + LANES - 1) / LANES) * EMBER_HVX;
        for (uint32_t i = 0; i < lanes; i++) {
            const size_t first = (size_t)(column + i) * geometry->k;
            const float start =
                xnn_group_start((const uint8_t *)weights + first / 2,
                                (const uint16_t *)scales + first / geometry->block,
                                geometry->k, geometry->block);
            memcpy(to + (size_t)4 * i, &start, sizeof(start));
        }
        to += next;
        for (uint32_t group = 0; group < groups; group++) {
            to = pack_group(geometry, weights, scales, column, lanes, group, next, to);
        }
    }
}

static const ember_xnn_layout_t layout = {"hvx_qb4", size, pack, true};

// --- the plan ------------------------------------------------------------------------

typedef struct plan {
    ember_xnn_geometry_t geometry;
    ember_cells_hvx_t cells; // groups of all rows
    uint32_t rows;
    uint32_t groups;
    uint64_t sums;    // of the elements of groups: where things are in scratch
    uint64_t kept;    // sums of windows
    uint64_t numbers; // of windows
    uint64_t weights; // of a group
    uint64_t room;
    uint64_t all;
} plan_t;

// False if something is too large.
static bool plan_of(plan_t *plan, const ember_xnn_node_t *node) {
    const ember_xnn_value_t *weights = node->in[1];
    const uint32_t n = (uint32_t)weights->sizes[0], k = (uint32_t)weights->sizes[1];
    const uint32_t block = weights->group;
    const uint64_t keep = XNN_HVX_CHUNK * PANEL * EMBER_HVX;
    *plan = (plan_t){.geometry = {1, n, 1, k, block, 1, 0}};
    if (size(&plan->geometry) == 0 || n > BYTES_MAX / 1024 || k > BYTES_MAX / 1024) {
        return false;
    }
    plan->rows = n > 0 ? node->out[0]->numel / n : 0;
    plan->groups = k / block;
    const uint64_t cells = (uint64_t)plan->rows * plan->groups;
    const ember_conv_s8_axis_t one = {1, 1, 1, 1, 0, 1};
    if (cells == 0 || cells * block >= BYTES_MAX) {
        return false;
    }
    plan->cells = (ember_cells_hvx_t){
        .channels = (int32_t)block,
        .pixel = (int32_t)block,
        .batches = 1,
        .rows_apart = 1,
        .columns_apart = 1,
        .height = one,
        .width = {(int32_t)cells, (int32_t)cells, 1, 1, 0, 1},
    };
    const bool fits = ember_cells_hvx_plan(&plan->cells, BYTES_MAX);
    plan->sums = 0;
    plan->kept = (uint64_t)ember_cells_hvx_sums_bytes(&plan->cells);
    plan->numbers = plan->kept + keep;
    plan->weights = plan->numbers + keep;
    plan->room = plan->weights + (uint64_t)block * LANES * PANEL;
    plan->all =
        plan->room + (uint64_t)ember_cells_hvx_room_bytes(&plan->cells) + EMBER_HVX;
    return fits && plan->all < BYTES_MAX;
}

// --- init ----------------------------------------------------------------------------

static bool has_factors(const ember_xnn_node_t *node) {
    const ember_xnn_value_t *weights = node->in[1];
    const uint16_t *scales = weights->scales;
    const uint32_t count = scales != NULL ? weights->numel / weights->group : 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!xnn_hvx_is_factor(ember_f32_from_bf16(scales[i]))) {
            return false;
        }
    }
    return xnn_hvx_has_terms(node, (uint32_t)weights->sizes[0]);
}

static ember_status_t prepare(ember_xnn_graph_t *graph, ember_xnn_node_t *node) {
    const ember_status_t status =
        ember_xnn_linear_prepare(graph, node, &ember_xnn_type_qd8_qb4);
    plan_t plan;
    if (status != EMBER_OK) {
        return status;
    }
    if (!has_factors(node)) {
        return xnn_refuse(node, XNN_ODD_SCALES);
    }
    if (node->out[0]->datatype != XNN_F32 || node->in[0]->place == XNN_INPUT ||
        ember_xnn_work(node) < PRODUCTS_MIN || !plan_of(&plan, node)) {
        return EMBER_UNSUPPORTED;
    }
    node->scratch = (uint32_t)plan.all;
    return ember_xnn_pack(graph, node, &layout, &plan.geometry);
}

// --- execute -------------------------------------------------------------------------

// Some rows by a panel.
typedef struct walk {
    const plan_t *plan;
    const ember_xnn_node_t *node;
    const uint8_t *packed; // of the panel
    uint8_t *scratch;
    size_t next; // bytes from one parameter of the panel to the next
    int32_t vectors;
    uint32_t column;
    uint32_t lanes;
    uint32_t row;
    int32_t count; // of rows
} walk_t;

static HVX_Vector *numbers_of(const walk_t *walk) {
    return (HVX_Vector *)(void *)(walk->scratch + walk->plan->numbers);
}

static const ember_xnn_row_t *rows_of(const walk_t *walk) {
    return xnn_rows(walk->node->in[0]) + walk->row;
}

static void start(const walk_t *walk) {
    HVX_Vector *numbers = numbers_of(walk);
    for (int32_t i = 0; i < walk->count; i++) {
        const ember_float_hvx_t zero = ember_float_of_int_hvx(
            Q6_V_vsplat_R(rows_of(walk)[i].zero + XNN_GROUP_OFFSET));
        for (int32_t v = 0; v < walk->vectors; v++) {
            const ember_float_hvx_t own = ember_float_of_bits_hvx(
                ember_hvx_load_any(walk->packed + (size_t)v * EMBER_HVX));
            ember_hvx_store(numbers++, ember_fma_hvx(&zero, &own, Q6_V_vzero()));
        }
    }
}

// The sums of a group times its scales.
static void add_group(const walk_t *walk, const uint8_t *group) {
    const HVX_Vector *sums =
        (const HVX_Vector *)(const void *)(walk->scratch + walk->plan->kept);
    for (int32_t v = 0; v < walk->vectors; v++) {
        HVX_Vector *number = numbers_of(walk) + v;
        const HVX_Vector *sum = sums + v;
        const HVX_Vector scales =
            ember_hvx_load_any(group + walk->next + (size_t)v * EMBER_HVX);
        const ember_float_hvx_t by = ember_float_hvx(scales);
        for (int32_t i = 0; i < walk->count; i++) {
            const ember_float_hvx_t own = ember_float_of_int_hvx(ember_hvx_load(sum));
            ember_hvx_store(number, ember_fma_hvx(&own, &by, ember_hvx_load(number)));
            number += walk->vectors;
            sum += walk->vectors;
        }
    }
}

static void run_groups(const walk_t *walk) {
    const plan_t *plan = walk->plan;
    const uint32_t block = plan->geometry.block;
    const int8_t *x = (const int8_t *)walk->node->in[0]->constant +
                      (size_t)walk->row * plan->geometry.k;
    const int32_t *firsts = (const int32_t *)(void *)(walk->scratch + plan->sums) +
                            (size_t)walk->row * plan->groups;
    const uint8_t *group = walk->packed + walk->next;
    HVX_Vector *weights = (HVX_Vector *)(void *)(walk->scratch + plan->weights);
    HVX_Vector starts[PANEL];
    for (uint32_t i = 0; i < plan->groups; i++, x += block, firsts++) {
        const ember_windows_hvx_t windows = {
            .x = x,
            .rows = 1,
            .columns = walk->count,
            .step = (int32_t)plan->geometry.k,
            .segments = 1,
            .segment = (int32_t)block,
            .firsts = firsts,
            .firsts_step = (int32_t)plan->groups,
        };
        for (int32_t v = 0; v < walk->vectors; v++) {
            starts[v] = ember_hvx_load_any(group + (size_t)v * EMBER_HVX);
        }
        ember_xnn_hvx_unpack(group + 2 * walk->next, block / EMBER_STEP_HVX,
                             walk->vectors, (uint8_t *)weights);
        ember_windows_hvx_sum(&windows, weights, starts, walk->vectors,
                              (HVX_Vector *)(void *)(walk->scratch + plan->kept));
        add_group(walk, group);
        group += 2 * walk->next + block / EMBER_STEP_HVX * walk->next;
    }
}

// Applies a row's scale, and adds biases: two roundings.
static void finish(const walk_t *walk, HVX_Vector *numbers, float scale,
                   const xnn_hvx_limits_t *limits) {
    const HVX_Vector one = Q6_V_vsplat_R((int32_t)ember_float_bits(1.0f));
    const ember_float_hvx_t by =
        ember_float_hvx(Q6_V_vsplat_R((int32_t)ember_float_bits(scale)));
    const ember_float_hvx_t once = ember_float_hvx(one);
    union {
        HVX_Vector vectors[PANEL];
        float numbers[PANEL * LANES];
    } biases;
    for (uint32_t i = 0; i < walk->lanes; i++) {
        biases.numbers[i] = xnn_hvx_bias(walk->node, walk->column + i);
    }
    for (int32_t v = 0; v < walk->vectors; v++) {
        const ember_float_hvx_t own =
            ember_float_of_bits_hvx(ember_hvx_load(numbers + v));
        const ember_float_hvx_t scaled = ember_times_hvx(&own, &by);
        const HVX_Vector bits =
            ember_fma_hvx(&scaled, &once, ember_hvx_load(&biases.vectors[v]));
        ember_hvx_store(numbers + v, xnn_hvx_limited(bits, limits));
    }
}

// The same for rows with unusual scales, such as NaN.
static void finish_rare(const walk_t *walk, HVX_Vector *numbers, float scale) {
    const ember_xnn_node_t *node = walk->node;
    float *y = (float *)(void *)numbers;
    for (uint32_t i = 0; i < walk->lanes; i++) {
        const float number = y[i] * scale;
        y[i] = xnn_clamp(number + xnn_hvx_bias(node, walk->column + i), node->low,
                         node->high);
    }
}

static void run_some(const walk_t *walk) {
    const xnn_hvx_limits_t limits = xnn_hvx_limits(walk->node);
    const uint32_t n = walk->plan->geometry.n;
    HVX_Vector *numbers = numbers_of(walk);
    start(walk);
    run_groups(walk);
    for (int32_t i = 0; i < walk->count; i++) {
        const float scale = rows_of(walk)[i].scale;
        if (xnn_hvx_is_factor(scale)) {
            finish(walk, numbers, scale, &limits);
        } else {
            finish_rare(walk, numbers, scale);
        }
        xnn_hvx_put(walk->node->out[0],
                    (size_t)(walk->row + (uint32_t)i) * n + walk->column, numbers,
                    walk->lanes);
        numbers += walk->vectors;
    }
}

static void run(const ember_xnn_graph_t *graph, const ember_xnn_node_t *node) {
    plan_t plan;
    if (!plan_of(&plan, node)) {
        return;
    }
    const uint32_t n = plan.geometry.n;
    walk_t walk = {.plan = &plan,
                   .node = node,
                   .packed = node->packed,
                   .scratch = (uint8_t *)ember_aligned_hvx((int8_t *)graph->work)};
    ember_cells_hvx_sum(&plan.cells, node->in[0]->constant, -NIBBLES,
                        (int32_t *)(void *)(walk.scratch + plan.sums),
                        (int8_t *)walk.scratch + plan.room);
    for (; walk.column < n; walk.column += XNN_HVX_LANES) {
        const uint32_t left = n - walk.column;
        walk.lanes = left < XNN_HVX_LANES ? left : XNN_HVX_LANES;
        walk.vectors = (int32_t)((walk.lanes + LANES - 1) / LANES);
        walk.next = (size_t)walk.vectors * EMBER_HVX;
        for (walk.row = 0; walk.row < plan.rows; walk.row += XNN_HVX_CHUNK) {
            const uint32_t rows = plan.rows - walk.row;
            walk.count = (int32_t)(rows < XNN_HVX_CHUNK ? rows : XNN_HVX_CHUNK);
            run_some(&walk);
        }
        walk.packed += (size_t)walk.vectors * (size_t)vector_bytes(&plan.geometry);
    }
}

XNN_KERNEL(fully_connected_qd8_qb4_hvx, "qp8_f32_qb4w_gemm", ember_xnn_linear_shape,
           XNN_KIND(FULLY_CONNECTED));
