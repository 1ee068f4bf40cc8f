// SPDX-License-Identifier: Apache-2.0
// Bytes to and from the UART in the background. Internal.
//
// A UART without a FIFO holds one byte: at a million baud, a computation of more than
// 10 us without ember_line_poll() loses one. So loops over bytes poll as they go.
#ifndef EMBER_PORT_UART_LINE_H
#define EMBER_PORT_UART_LINE_H

#include "frame.h"

// Stores what the UART received, and gives it the next byte of the frame that is being
// sent.
void ember_line_poll(void);

// The next frame: the bytes of its head and payload at *body, valid until the next
// call; 0: none yet.
size_t ember_line_receive(const uint8_t **body);

// Damaged frames received, modulo 2^16.
uint16_t ember_line_damaged(void);

// The writer of the next frame, for ember_frame_begin() and so on; NULL while one is
// being sent. ember_line_send() sends what was written.
ember_frame_writer_t *ember_line_writer(void);
void ember_line_send(void);

// Copies while polling.
void ember_line_copy(void *to, const void *from, size_t size);

#endif // EMBER_PORT_UART_LINE_H
