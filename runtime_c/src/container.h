// SPDX-License-Identifier: Apache-2.0
// What programs (.pte) and data files (.ptd) have in common: a FlatBuffer in front,
// segments behind, a header that says where each ends. Internal.
#ifndef EMBER_CONTAINER_H
#define EMBER_CONTAINER_H

#include "flat.h"

// Where the header of a file lies and how it is laid out.
typedef struct ember_container {
    const char *identifier; // 4 bytes at offset 4
    const char *magic;      // 4 bytes at offset 8
    uint32_t flat_offset;   // u64 at this offset: where tables may start; 0: none
    uint32_t flat_size;     // u64 at this offset: bytes of the FlatBuffer
    uint32_t segments;      // u64 at this offset: where segments start;
                            //   the next u64 is their size
} ember_container_t;

// Cuts a file into its FlatBuffer and its segments. A file without header is all
// FlatBuffer.
ember_status_t ember_container_open(const ember_container_t *kind,
                                    const ember_bytes_t *file, ember_bytes_t *flat,
                                    ember_bytes_t *segments, ember_error_t *err);

#endif // EMBER_CONTAINER_H
