// SPDX-License-Identifier: Apache-2.0
// Bytes to and from the UART, while other things are done. Internal.
//
// A UART without a FIFO holds one byte: at a million baud, whoever computes longer than
// 10 us without ember_line_poll() loses one. So loops over bytes poll as they go.
#ifndef EMBER_PORT_UART_LINE_H
#define EMBER_PORT_UART_LINE_H

#include "frame.h"

// Takes what the UART received into memory and gives it the next byte of the frame
// that is being sent.
void ember_line_poll(void);

// The next frame: the bytes of its head and payload at *body, valid until the next
// call; 0: none yet.
size_t ember_line_receive(const uint8_t **body);

// Frames that came broken, modulo 2^16.
uint16_t ember_line_damaged(void);

// The writer of the next frame, for ember_frame_begin() and so on; NULL while one is
// being sent. ember_line_send() sends what was written.
ember_frame_writer_t *ember_line_writer(void);
void ember_line_send(void);

// Copies, and polls.
void ember_line_copy(void *to, const void *from, size_t size);

#endif // EMBER_PORT_UART_LINE_H
