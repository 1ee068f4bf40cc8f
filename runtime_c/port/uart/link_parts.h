// SPDX-License-Identifier: Apache-2.0
// The two streams of a link, used by link.c. Internal.
#ifndef EMBER_PORT_UART_LINK_PARTS_H
#define EMBER_PORT_UART_LINK_PARTS_H

#include "link.h"

// ---- from the host -----------------------------------------------------------------

// Keeps the part of the stream that is new and for which there is room.
void ember_link_in_accept(uint32_t offset, const uint8_t *data, uint32_t size);

// Fills in limit and early blocks of a STATE. Returns the offset before which
// everything has arrived.
uint32_t ember_link_in_tell(ember_link_state_t *state);

bool ember_link_in_is_empty(void);

// Whether the limit has moved far since it was last told.
bool ember_link_in_has_room(void);

// Reads up to `size` bytes of what waits; returns how many.
size_t ember_link_in_take(uint8_t *to, size_t size);

// ---- to the host -------------------------------------------------------------------

void ember_link_out_acknowledge(uint32_t offset, const ember_link_ack_t *ack);

// Sends the next frame; with `flush` even if it is not full. False if there is none.
bool ember_link_out_send(ember_frame_writer_t *writer, bool flush);

// Appends up to `size` bytes, as many as there is room for; returns how many.
size_t ember_link_out_put(const uint8_t *from, size_t size);

uint32_t ember_link_out_sent(void);
uint32_t ember_link_out_written(void);

// ---- frames of this session --------------------------------------------------------

void ember_link_begin(ember_frame_writer_t *writer, uint8_t type, uint8_t flags,
                      uint32_t offset);
void ember_link_finish(ember_frame_writer_t *writer);

#endif // EMBER_PORT_UART_LINK_PARTS_H
