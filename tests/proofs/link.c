// SPDX-License-Identifier: Apache-2.0
// The serial link: one byte, or one frame, in any state that can come about. What holds
// before holds after, so it holds for any bytes on the line, however many.
#include "frame.h"

// Of a frame with `count` bytes: each block of 254 has a code more.
static bool is_writer(const ember_frame_writer_t *writer, uint32_t count) {
    const uint32_t codes = writer->size - 2 - count;
    return writer->code_at >= 1 && writer->code_at < writer->size &&
           writer->size - writer->code_at < UINT8_MAX && writer->size >= 2 + count &&
           codes <= 4 && codes * 254 + (writer->size - writer->code_at - 1) <= count;
}

// A byte that ember_frame_end() writes, by what prove_frame_put shows.
static uint32_t written;
#define CUT_PUT                                                                        \
    REQUIRE(written < EMBER_FRAME_BODY && is_writer(writer, written));                 \
    writer->size = nondet_uint32();                                                    \
    writer->code_at = nondet_uint32();                                                 \
    ASSUME(is_writer(writer, ++written))

#include "frame.c"
#include "link_in.c"

// --- reading frames ----------------------------------------------------------------

void prove_frame_take(void) {
    ember_frame_reader_t reader;
    ASSUME(reader.size <= sizeof reader.body);
    const size_t size = ember_frame_take(&reader, nondet_uint8());
    REQUIRE(reader.size <= sizeof reader.body);
    REQUIRE(size == 0 || (size >= sizeof(ember_frame_head_t) &&
                          size <= sizeof reader.body - EMBER_FRAME_CRC));
    if (size == sizeof reader.body - EMBER_FRAME_CRC) {
        REACHED("longest frame");
    } else if (reader.broken) {
        REACHED("broken");
    }
}

// --- writing frames ----------------------------------------------------------------

void prove_frame_put(void) {
    ember_frame_writer_t writer;
    const uint32_t count = nondet_uint32();
    ASSUME(count < EMBER_FRAME_BODY && is_writer(&writer, count));
    ember_frame_put(&writer, nondet_uint8());
    REQUIRE(is_writer(&writer, count + 1));
    if (count + 1 == EMBER_FRAME_BODY && writer.size == 2 + count + 1 + 2) {
        REACHED("fullest frame");
    }
}

void prove_frame_begin(void) {
    ember_frame_writer_t writer;
    ember_frame_head_t head;
    ember_frame_begin(&writer, &head);
    REQUIRE(is_writer(&writer, sizeof head));
    REACHED("begun");
}

void prove_frame_end(void) {
    ember_frame_writer_t writer;
    const uint32_t count = nondet_uint32();
    ASSUME(count <= EMBER_FRAME_BODY - EMBER_FRAME_CRC && is_writer(&writer, count));
    written = count;
    ember_frame_end(&writer);
    REQUIRE(written == count + EMBER_FRAME_CRC);
    REQUIRE(writer.size <= sizeof writer.wire);
    REQUIRE(writer.wire[writer.size - 1] == 0);
    if (written == EMBER_FRAME_BODY) {
        REACHED("ended");
    }
}

// --- the stream from the host ------------------------------------------------------

void ember_line_copy(void *to, const void *from, size_t size) {
    proof_readable(from, size);
    proof_writable(to, size);
}

static bool is_stream(void) {
    return in.next - in.taken <= EMBER_LINK_WINDOW; // modulo 2^32
}

static void any_stream(void) {
    in.taken = nondet_uint32();
    in.next = nondet_uint32();
    for (uint32_t i = 0; i < EMBER_LINK_BLOCKS / 32; i++) {
        in.early[i] = nondet_uint32();
    }
    ASSUME(is_stream());
}

void prove_link_take(void) {
    any_stream();
    const uint32_t size = nondet_uint32();
    ASSUME(size >= 1 && size <= 2 * EMBER_LINK_WINDOW);
    uint8_t *to = nondet_bool() ? malloc(size) : NULL;
    const uint32_t next = in.next;
    const size_t piece = ember_link_in_take(to, size);
    REQUIRE(piece <= size && is_stream() && in.next == next);
    if (piece == EMBER_LINK_WINDOW && to != NULL) {
        REACHED("whole window");
    }
}
