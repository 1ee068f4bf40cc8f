// SPDX-License-Identifier: Apache-2.0
// A delegate's graph in memory: values, and nodes in execution order.
//
// Built once by init, in the method's arena. Values that pass between nodes, and the
// scratch of nodes, are in the method's scratch: their places are fixed when the graph
// is built, for the declared sizes, which are the largest. If inputs come in other
// sizes, shapes are inferred again; the places stay.
#ifndef EMBER_XNNPACK_GRAPH_H
#define EMBER_XNNPACK_GRAPH_H

#include <string.h>

#include "ember/backend.h"
#include "ember/port.h"
#include "schema.h"

enum { XNN_MOST_DIMS = 6, XNN_MOST_INPUTS = 5, XNN_MOST_OUTPUTS = 2 };
#define XNN_NO_VALUE UINT32_MAX

// Where a value's elements are.
typedef enum ember_xnn_place {
    XNN_INTERNAL, // in scratch, at `offset`
    XNN_CONSTANT, // in the program or a data file; NULL: left out, see packing.h
    XNN_INPUT,    // an argument of the call
    XNN_OUTPUT,   // also an argument
    XNN_VIEW,     // in the memory of value `argument` of the graph, in another shape
} ember_xnn_place_t;

typedef struct ember_xnn_value {
    union {
        void *data; // now; during init NULL, except for constants
        const void *constant;
    };
    const void *scales;           // QCS8, QCS4: float32; QBS4: bfloat16
    int32_t sizes[XNN_MOST_DIMS]; // now, in memory order, outermost first
    uint32_t numel;               // elements
    uint32_t bytes;               // current size, parameters of QDS8 included
    union {
        uint32_t capacity;   // maximum size; set when places are assigned
        uint32_t scales_key; // XNN_CONSTANT: like `key`, for the scales
    };
    union {
        uint32_t offset;
        uint32_t key; // XNN_CONSTANT: where its name is in the payload; 0: no name
    };
    uint32_t id;       // by which nodes refer to it
    uint32_t argument; // of the call: XNN_INPUT, XNN_OUTPUT; XNN_VIEW: see there
    float scale;       // QS8, QS32
    int32_t zero;      // QS8: zero point
    uint32_t group;    // QBS4: elements that share a scale; QDS8: dimensions that do
    uint16_t first;    // node that writes it
    uint16_t last;     // node that reads it last
    uint8_t datatype;  // XNN_F32, ...
    uint8_t rank;      // at most XNN_MOST_DIMS
    uint8_t place;     // ember_xnn_place_t
    bool known;        // while the graph is made: some node has written it
    bool dynamic;      // XNN_INPUT: nodes read it quantised per row, an old form
    bool wide;         // XNN_OUTPUT, S32: the call's tensor is int64
} ember_xnn_value_t;

// Why a kernel of the right types refused a node, for users; bits.
typedef enum ember_xnn_refusal {
    XNN_HAS_GROUPS = 1,        // a grouped convolution
    XNN_SHORT_VECTORS = 2,     // streaming vectors so short that NEON is faster
    XNN_OTHER_WINDOW = 4,      // not 3 x 3, or not one output per channel
    XNN_FEW_CHANNELS = 8,      //
    XNN_CHANGING_WEIGHTS = 16, // not constant
    XNN_ODD_SCALES = 32,       // with which its results are not exact
    XNN_HALF_SUMS = 64,        // float16 from sums in an order that is slower there
} ember_xnn_refusal_t;

struct ember_xnn_graph;
struct ember_xnn_node;
struct ember_xnnpack_kernel;

// Computes a node, relying on what prepare and shape of its kernel have checked.
typedef void (*ember_xnnpack_run_fn)(const struct ember_xnn_graph *graph,
                                     const struct ember_xnn_node *node);

typedef struct ember_xnn_node {
    union {
        const struct ember_xnnpack_kernel *kernel;
        ember_xnnpack_run_fn run; // of a graph that has settled: ember_run_xnnpack()
    };
    ember_xnn_value_t *in[XNN_MOST_INPUTS]; // NULL: absent
    ember_xnn_value_t *out[XNN_MOST_OUTPUTS];
    const uint32_t *params;    // its `p` fields, in order
    const uint8_t *vectors[2]; // its `v` fields; vectors of u32
    const void *packed;        // input 1 in a packed layout (packing.h), or NULL
    const float *scales;       // values for each column, for kernels that keep them
    float low;                 // bounds of its outputs
    float high;
    uint32_t scratch; // bytes that run needs besides its values
    uint32_t flags;
    uint8_t kind; // XNN_ADD, ...
    uint8_t inputs;
    bool packs;       // `packed` was made by init
    uint8_t refusals; // ember_xnn_refusal_t of kernels tried before
} ember_xnn_node_t;

typedef struct ember_xnn_graph {
    ember_xnn_value_t *values;
    ember_xnn_node_t *nodes;
    uint32_t value_count;
    uint32_t node_count;
    uint32_t internal;                 // bytes of scratch for internal values
    uint32_t scratch;                  // bytes in all
    uint32_t cpu;                      // ember_port_cpu()
    uint64_t most;                     // steps of a run with the largest sizes
    bool placed;                       // capacities are fixed now
    bool current;                      // shapes match the sizes of the inputs
    uint8_t *work;                     // in execute: scratch of the node
    const ember_delegate_info_t *info; // in init, else NULL
    const uint8_t *payload;            // the base of the values' keys
    bool reads_payload;                // it contains constants
} ember_xnn_graph_t;

// The answer of a node's kernel while a graph is made: EMBER_UNSUPPORTED lets the next
// kernel try, anything else except EMBER_OK ends the load.
typedef struct ember_xnnpack_kernel {
    uint64_t kinds; // bits XNN_ADD, ... of the kinds it may take
    // Checks what does not change, and the largest sizes; packs weights; asks for
    // scratch.
    ember_status_t (*prepare)(ember_xnn_graph_t *graph, ember_xnn_node_t *node);
    // Sets the sizes of the outputs; checks everything that depends on sizes. Runs
    // before prepare, and again when sizes change.
    ember_status_t (*shape)(ember_xnn_graph_t *graph, ember_xnn_node_t *node);
    ember_xnnpack_run_fn run;
    const char *name;    // NULL with EMBER_ERROR_STRINGS 0
    const char *variant; // name for users, "pf32_gemm"; NULL: none
    uint32_t needs;      // EMBER_CPU_*: it is skipped on cores without them
} ember_xnnpack_kernel_t;

#define XNN_KIND(name) (UINT64_C(1) << XNN_##name)
#if EMBER_ERROR_STRINGS
#define XNN_NAMES(NAME, VARIANT) #NAME, VARIANT
#else
#define XNN_NAMES(NAME, VARIANT) NULL, NULL
#endif
// Defines the descriptor of a kernel from the file's static prepare and run.
#define XNN_KERNEL(NAME, VARIANT, SHAPE, KINDS)                                        \
    XNN_KERNEL_FOR(0, NAME, VARIANT, SHAPE, KINDS)
// The same for a kernel that needs instructions EMBER_CPU_*.
#define XNN_KERNEL_FOR(NEEDS, NAME, VARIANT, SHAPE, KINDS)                             \
    XNN_KERNEL_OF(NEEDS, NAME, VARIANT, KINDS, prepare, SHAPE, run)
// The same from functions with other names. Prepared firmware (`ember build
// --prepared`) has only RUN, by the name of its own.
#define XNN_KERNEL_OF(NEEDS, NAME, VARIANT, KINDS, PREPARE, SHAPE, RUN)                \
    EMBER_STATE_MAY_POINT_TO(RUN, ember_xnnpack_run_##NAME);                           \
    extern const ember_xnnpack_kernel_t ember_xnnpack_##NAME;                          \
    const ember_xnnpack_kernel_t ember_xnnpack_##NAME = {                              \
        KINDS, PREPARE, SHAPE, RUN, XNN_NAMES(NAME, VARIANT), NEEDS}

// The kernels of a build, in the order in which they are tried; ends with NULL.
// Generated from kernels.yaml.
extern const ember_xnnpack_kernel_t *const ember_xnnpack_kernels[];

// --- for kernels -----------------------------------------------------------------

// Sets a value's sizes. False if it would be too large, or larger than its place.
EMBER_MUST_USE bool ember_xnn_resize(const ember_xnn_graph_t *graph,
                                     ember_xnn_value_t *value, uint32_t rank,
                                     const int32_t *sizes);

// Shape of a node whose outputs have the sizes of its first input.
ember_status_t ember_xnn_shape_same(ember_xnn_graph_t *graph, ember_xnn_node_t *node);

// Records that sizes do not fit; returns EMBER_BACKEND.
ember_status_t ember_xnn_bad_shape(const ember_xnn_graph_t *graph);

// Records that a payload contradicts itself; returns EMBER_BACKEND.
ember_status_t ember_xnn_bad(const ember_xnn_graph_t *graph);

// Bytes of one element, 0 for those of four bits.
uint32_t ember_xnn_element_size(uint32_t datatype);

// Whether the first input and the first output have these datatypes.
static inline bool xnn_types(const ember_xnn_node_t *node, uint32_t in, uint32_t out) {
    return node->in[0]->datatype == in && node->out[0]->datatype == out;
}

// UNSUPPORTED, with a reason for users.
static inline ember_status_t xnn_refuse(ember_xnn_node_t *node,
                                        ember_xnn_refusal_t reason) {
    node->refusals = (uint8_t)(node->refusals | reason);
    return EMBER_UNSUPPORTED;
}

// A size, counted from the innermost dimension; 1 beyond the rank.
static inline int32_t xnn_size(const ember_xnn_value_t *value, uint32_t from_end) {
    return from_end < value->rank ? value->sizes[value->rank - 1 - from_end] : 1;
}

// --- steps of init and execute -------------------------------------------------------

// Reads the payload: values and nodes, without kernels.
EMBER_MUST_USE ember_status_t ember_xnn_parse(ember_xnn_graph_t *graph);

// Turns pointwise convolutions of dynamically quantised images into what they are in
// XNNPACK: fully connected layers.
void ember_xnn_split_pixels(ember_xnn_graph_t *graph);

// Finds a kernel for each node, and shapes.
EMBER_MUST_USE ember_status_t ember_xnn_choose(ember_xnn_graph_t *graph);

// Assigns internal values their places in scratch. False if they would be too large.
EMBER_MUST_USE bool ember_xnn_place(ember_xnn_graph_t *graph);

// Products and elements of a node with a kernel, for its current shapes.
uint64_t ember_xnn_work(const ember_xnn_node_t *node);

// A bound of the elementary steps of a run, with the current shapes.
uint64_t ember_xnn_bound(const ember_xnn_graph_t *graph);

// Infers all shapes from those of the inputs.
EMBER_MUST_USE ember_status_t ember_xnn_infer(ember_xnn_graph_t *graph);

// Widens outputs that the call has as int64, in place.
void ember_xnn_widen(const ember_xnn_graph_t *graph);

// The step of a graph that has settled, whose state is the graph itself.
int32_t ember_run_xnnpack(void *state);

// Runs node `node` with hooks around it, and reports its outputs.
void ember_xnn_run_traced(ember_xnn_graph_t *graph, uint32_t node,
                          const ember_delegate_tracer_t *tracer);

#endif // EMBER_XNNPACK_GRAPH_H
