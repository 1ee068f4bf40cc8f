// SPDX-License-Identifier: Apache-2.0
// Frames on a serial line. Internal; sdk/ember/hil/frames.py is the other side.
//
//     0x00, COBS of (head, payload, CRC-32 of both), 0x00
//
// Between the two zeros there is no zero byte, so a reader that lost synchronisation
// finds the next frame at the next zero. Anything with a wrong CRC is ignored. Little
// endian.
#ifndef EMBER_PORT_UART_FRAME_H
#define EMBER_PORT_UART_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef EMBER_LINK_WINDOW
#define EMBER_LINK_WINDOW 4096 // bytes from the host that are buffered; 1024 or 4096
#endif

typedef struct ember_frame_head {
    uint8_t type;
    uint8_t flags;
    uint16_t session;
    uint32_t offset; // of the payload in its stream
} ember_frame_head_t;

enum {
    EMBER_FRAME_PAYLOAD = EMBER_LINK_WINDOW / 8, // bytes at most
    EMBER_FRAME_CRC = 4,
    EMBER_FRAME_BODY =
        (int)sizeof(ember_frame_head_t) + EMBER_FRAME_PAYLOAD + EMBER_FRAME_CRC,
    EMBER_FRAME_WIRE = EMBER_FRAME_BODY + EMBER_FRAME_BODY / 254 + 4,
};

typedef struct ember_frame_reader {
    uint8_t body[EMBER_FRAME_BODY];
    uint32_t size; // bytes in body
    uint32_t crc;
    uint8_t left;      // bytes before the next code of COBS
    bool zero_pending; // a zero comes before that
    bool broken;
    uint16_t damaged; // frames with a wrong CRC, modulo 2^16
} ember_frame_reader_t;

typedef struct ember_frame_writer {
    uint8_t wire[EMBER_FRAME_WIRE];
    uint32_t size;
    uint32_t code_at; // where the open block's code goes
    uint32_t crc;
} ember_frame_writer_t;

// Takes one byte. If it completes a frame, returns the bytes of head and payload in
// `body`, which stay valid until the next byte; else 0.
size_t ember_frame_take(ember_frame_reader_t *reader, uint8_t byte);

// A frame is begun, filled with at most EMBER_FRAME_PAYLOAD bytes, and ended.
void ember_frame_begin(ember_frame_writer_t *writer, const ember_frame_head_t *head);
void ember_frame_put(ember_frame_writer_t *writer, uint8_t byte);
void ember_frame_end(ember_frame_writer_t *writer);

#endif // EMBER_PORT_UART_FRAME_H
