// SPDX-License-Identifier: Apache-2.0
// A payload as it is read. All of it is untrusted.
//
//     0   u32      0
//     4   "XH00"   without it, the whole payload is a FlatBuffer
//     8   u16      bytes of this header, 30
//      10  u32      offset of the FlatBuffer
//     14  u32      its size, bytes
//      18  u32      offset of the constants
//     22  u64      their size, bytes
#ifndef EMBER_XNNPACK_PAYLOAD_H
#define EMBER_XNNPACK_PAYLOAD_H

#include "flat.h"
#include "graph.h"

typedef struct ember_xnn_payload {
    ember_flat_t flat;
    const uint8_t *root;     // the XNNGraph table
    ember_bytes_t constants; // after the FlatBuffer
    bool headed;             // has a header
    uint32_t dynamic;        // values that were split, see values.c
    ember_xnn_graph_t *graph;
} ember_xnn_payload_t;

EMBER_MUST_USE ember_status_t ember_xnn_open(ember_xnn_payload_t *payload);

// Constant `index`, at least `size` bytes at a multiple of `align`. False if there is
// no such constant; true with `*data` NULL if it has a name under which the program
// holds nothing: packing.h. `*key` is where the name is in the payload, 0 if it has
// none.
EMBER_MUST_USE bool ember_xnn_constant(ember_xnn_payload_t *payload, uint32_t index,
                                       size_t size, size_t align, const void **data,
                                       uint32_t *key);

// The value that nodes refer to as `id`, or NULL.
ember_xnn_value_t *ember_xnn_find(const ember_xnn_graph_t *graph, uint32_t id);

// Sets scales, zero point and group from an XNNQuantizedTensorValue.
EMBER_MUST_USE ember_status_t ember_xnn_read_quantization(ember_xnn_payload_t *payload,
                                                          const uint8_t *quantized,
                                                          ember_xnn_value_t *value);

EMBER_MUST_USE ember_status_t ember_xnn_read_values(ember_xnn_payload_t *payload);
EMBER_MUST_USE ember_status_t ember_xnn_read_nodes(ember_xnn_payload_t *payload);

#endif // EMBER_XNNPACK_PAYLOAD_H
