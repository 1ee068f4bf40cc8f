// SPDX-License-Identifier: Apache-2.0
// Frames on a serial line; frame.h.
#include "frame.h"

#include <string.h>

enum { BLOCK_MOST = 0xFF }; // code of a block that no zero follows

#define CRC_START   0xFFFFFFFFu
#define CRC_RESIDUE 0xDEBB20E3u // of bytes with their own CRC behind them

// A table of 16 words: a quarter of the flash of the usual one, half of its speed.
static uint32_t crc_of(uint32_t crc, uint8_t byte) {
    static const uint32_t table[16] = {
        0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4,
        0x4DB26158, 0x5005713C, 0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
        0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
    };

    crc = crc >> 4 ^ table[(crc ^ byte) & 15u];
    return crc >> 4 ^ table[(crc ^ (uint32_t)byte >> 4) & 15u];
}

// ---- from the line -----------------------------------------------------------------

static void keep(ember_frame_reader_t *reader, uint8_t byte) {
    if (reader->size == sizeof reader->body) {
        reader->broken = true;
        return;
    }
    reader->body[reader->size++] = byte;
    reader->crc = crc_of(reader->crc, byte);
}

static size_t end(ember_frame_reader_t *reader) {
    const uint32_t size = reader->size;
    const bool empty = size == 0 && !reader->broken && !reader->zero_pending;
    const bool whole = size >= sizeof(ember_frame_head_t) + EMBER_FRAME_CRC &&
                       reader->left == 0 && !reader->broken &&
                       reader->crc == CRC_RESIDUE;

    reader->size = 0;
    reader->crc = CRC_START;
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
    writer->crc = crc_of(writer->crc, byte);
    put(writer, byte);
}

void ember_frame_begin(ember_frame_writer_t *writer, const ember_frame_head_t *head) {
    uint8_t bytes[sizeof *head];

    memcpy(bytes, head, sizeof bytes);
    writer->wire[0] = 0;
    writer->code_at = 1;
    writer->size = 2;
    writer->crc = CRC_START;
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
