// SPDX-License-Identifier: Apache-2.0
// Frames on a serial line; frame.h.
#include "frame.h"

#include "crc32.h"

#include <string.h>

enum { BLOCK_MOST = 0xFF }; // code of a block that is not followed by a zero

// ---- from the line -----------------------------------------------------------------

static void keep(ember_frame_reader_t *reader, uint8_t byte) {
    if (reader->size == sizeof reader->body) {
        reader->broken = true;
        return;
    }
    reader->body[reader->size++] = byte;
    reader->crc = ember_crc32_next(reader->crc, byte);
}

static size_t end(ember_frame_reader_t *reader) {
    const uint32_t size = reader->size;
    const bool empty = size == 0 && !reader->broken && !reader->zero_pending;
    const bool whole = size >= sizeof(ember_frame_head_t) + EMBER_FRAME_CRC &&
                       reader->left == 0 && !reader->broken &&
                       reader->crc == EMBER_CRC32_RESIDUE;

    reader->size = 0;
    reader->crc = EMBER_CRC32_START;
    reader->left = 0;
    reader->zero_pending = false;
    reader->broken = false;
    if (!whole && !empty) {
        reader->damaged++;
    }
    return whole ? size - EMBER_FRAME_CRC : 0;
}

size_t ember_frame_take(ember_frame_reader_t *reader, uint8_t byte) {
    if (byte == 0) {
        return end(reader);
    }
    if (reader->left > 0) {
        reader->left--;
        keep(reader, byte);
        return 0;
    }
    if (reader->zero_pending) {
        keep(reader, 0);
    }
    reader->left = (uint8_t)(byte - 1);
    reader->zero_pending = byte != BLOCK_MOST;
    return 0;
}

// ---- to the line -------------------------------------------------------------------

static void close_block(ember_frame_writer_t *writer) {
    writer->wire[writer->code_at] = (uint8_t)(writer->size - writer->code_at);
    writer->code_at = writer->size++;
}

static void put(ember_frame_writer_t *writer, uint8_t byte) {
    if (byte == 0) {
        close_block(writer);
        return;
    }
    writer->wire[writer->size++] = byte;
    if (writer->size - writer->code_at == BLOCK_MOST) {
        close_block(writer);
    }
}

void ember_frame_put(ember_frame_writer_t *writer, uint8_t byte) {
    writer->crc = ember_crc32_next(writer->crc, byte);
    put(writer, byte);
}

void ember_frame_begin(ember_frame_writer_t *writer, const ember_frame_head_t *head) {
    uint8_t bytes[sizeof *head];

    memcpy(bytes, head, sizeof bytes);
    writer->wire[0] = 0;
    writer->code_at = 1;
    writer->size = 2;
    writer->crc = EMBER_CRC32_START;
    for (size_t i = 0; i < sizeof bytes; i++) {
        ember_frame_put(writer, bytes[i]);
    }
}

void ember_frame_end(ember_frame_writer_t *writer) {
    const uint32_t crc = ~writer->crc;

    for (uint32_t shift = 0; shift < 32; shift += 8) {
        put(writer, (uint8_t)(crc >> shift));
    }
    writer->wire[writer->code_at] = (uint8_t)(writer->size - writer->code_at);
    writer->wire[writer->size++] = 0;
}
