// SPDX-License-Identifier: Apache-2.0
// The checked FlatBuffer reader for payloads: a copy of the core's with different
// names, because the core's reader is static in firmware (ember_core.c). Tables of a
// payload have up to 20 fields, so they are read one by one, by id.
#ifndef EMBER_XNNPACK_FLAT_H
#define EMBER_XNNPACK_FLAT_H

#define ember_flat_absent      ember_xnn_flat_absent
#define ember_flat_begin       ember_xnn_flat_begin
#define ember_flat_compare     ember_xnn_flat_compare
#define ember_flat_field       ember_xnn_flat_field
#define ember_flat_find        ember_xnn_flat_find
#define ember_flat_follow      ember_xnn_flat_follow
#define ember_flat_is          ember_xnn_flat_is
#define ember_flat_item        ember_xnn_flat_item
#define ember_flat_malformed   ember_xnn_flat_malformed
#define ember_flat_layout      ember_xnn_flat_layout
#define ember_flat_next_layout ember_xnn_flat_next_layout
#define ember_flat_next_union  ember_xnn_flat_next_union
#define ember_flat_note        ember_xnn_flat_note
#define ember_flat_read        ember_xnn_flat_read
#define ember_flat_root        ember_xnn_flat_root
#define ember_flat_size        ember_xnn_flat_size
#define ember_flat_union       ember_xnn_flat_union
#define ember_flat_vector      ember_xnn_flat_vector
#include "runtime_c/src/flat.h"

// Scalar field `id` of a table; 0 if it is absent or malformed. A float as its bits.
uint32_t ember_xnn_u8(ember_flat_t *flat, const uint8_t *table, uint32_t id);
uint32_t ember_xnn_u16(ember_flat_t *flat, const uint8_t *table, uint32_t id);
uint32_t ember_xnn_u32(ember_flat_t *flat, const uint8_t *table, uint32_t id);
float ember_xnn_float(ember_flat_t *flat, const uint8_t *table, uint32_t id);
// SIZE_MAX if a size_t is too small.
size_t ember_xnn_size(ember_flat_t *flat, const uint8_t *table, uint32_t id);

// A table, or NULL.
const uint8_t *ember_xnn_table(ember_flat_t *flat, const uint8_t *table, uint32_t id);

// A vector of FLAT_VEC1, FLAT_VEC4 or FLAT_VEC8; empty if absent.
ember_vector_t ember_xnn_vector(ember_flat_t *flat, const uint8_t *table, uint32_t id,
                                uint32_t kind);

// The float with these bits.
static inline float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

#endif // EMBER_XNNPACK_FLAT_H
