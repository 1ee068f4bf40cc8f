// SPDX-License-Identifier: Apache-2.0
// FlatBuffers that are as short as they can be: what reads to their last byte.
#include "flat.h"

#include <string.h>

#include "check.h"

#define NUMBER FLAT(0, FLAT_U32) // the only field that is asked for

static ember_flat_t begun(const uint32_t *words, size_t size) {
    ember_flat_t flat;
    const ember_bytes_t bytes = {(const uint8_t *)words, size};
    ember_flat_begin(&flat, &bytes, NULL);
    return flat;
}

static uint32_t number(ember_flat_t *flat) {
    return ember_flat_field(flat, ember_flat_root(flat), NUMBER).number;
}

// The root's offset is a vtable as well, of a table without fields.
static void eight_bytes_may_be_a_table(void) {
    static const uint32_t words[] = {4, 4};
    ember_flat_t flat = begun(words, sizeof(words));
    CHECK_EQ(number(&flat), 0);
    CHECK_EQ(flat.status, EMBER_OK);
    flat = begun(words, sizeof(words) - 1);
    CHECK_EQ(flat.status, EMBER_BAD_PROGRAM);
}

static void a_vtable_may_be_last(void) {
    static const uint32_t words[] = {4, (uint32_t)-4, 4};
    ember_flat_t flat = begun(words, sizeof(words));
    CHECK_EQ(number(&flat), 0);
    CHECK_EQ(flat.status, EMBER_OK);
}

// A table of 20 bytes, with its vtable inside: the field is 16 bytes behind its start.
static void a_field_may_be_last(void) {
    static const uint32_t words[] = {4, (uint32_t)-4, 20 << 16 | 6, 16, 0, 77};
    ember_flat_t flat = begun(words, sizeof(words));
    CHECK_EQ(number(&flat), 77);
    CHECK_EQ(flat.status, EMBER_OK);
    flat = begun(words, sizeof(words) - 4);
    CHECK_EQ(number(&flat), 0);
    CHECK_EQ(flat.status, EMBER_BAD_PROGRAM);
}

// What follows the last item would be another one.
static void items_end(void) {
    static const uint32_t words[] = {1, 4, 4, 4};
    ember_flat_t flat = begun(words, sizeof(words));
    CHECK(ember_flat_item(&flat, flat.begin, 0) == flat.begin + 8);
    CHECK_EQ(flat.status, EMBER_OK);
    CHECK(ember_flat_item(&flat, flat.begin, 1) == NULL);
    CHECK_EQ(flat.status, EMBER_BAD_PROGRAM);
}

// What would be read in place of a tag or a body that is not there, the offset of the
// vtable, is a tag and leads into the file.
static void unions_have_tag_and_body(void) {
    static const struct {
        uint32_t tag, body; // where they are in the table; 0: absent
    } cases[] = {{4, 8}, {0, 8}, {4, 0}, {0, 0}};
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t fields = cases[i].body << 16 | cases[i].tag;
        const uint32_t words[] = {1, 12, 12 << 16 | 8, fields, 8, 2, 4, 0};
        ember_flat_t flat = begun(words, sizeof(words));
        uint32_t tag;
        const uint8_t *body = ember_flat_union(&flat, flat.begin, 0, &tag);
        CHECK(body == (i == 0 ? flat.begin + 28 : NULL));
        CHECK_EQ(tag, i == 0 ? 2 : 1);
        CHECK_EQ(flat.status, i == 0 ? EMBER_OK : EMBER_BAD_PROGRAM);
    }
}

static void a_prefix_comes_first(void) {
    static const uint32_t two[] = {2, 'a' | 'b' << 8};
    const uint8_t *string = (const uint8_t *)two;
    CHECK(ember_flat_compare(string, "abc", 3) < 0);
    CHECK(ember_flat_compare(string, "a", 1) > 0);
    CHECK(ember_flat_compare(string, "ab", 2) == 0);
    CHECK(ember_flat_compare(string, "b", 1) < 0);
}

// Memory of a reader may be that of another file's.
static void no_layout_is_known_at_first(void) {
    static const uint32_t words[] = {4, 4};
    const ember_bytes_t bytes = {(const uint8_t *)words, sizeof(words)};
    ember_flat_t flat;
    memset(&flat, 0xA5, sizeof(flat));
    ember_flat_begin(&flat, &bytes, NULL);
    for (uint32_t i = 0; i < EMBER_LAYOUTS; i++) {
        for (uint32_t k = 0; k < 2; k++) {
            CHECK_EQ(flat.layouts[i][k].vtable, 0);
            CHECK_EQ(flat.layouts[i][k].most, 0);
        }
    }
}

TESTS(TEST(no_layout_is_known_at_first), TEST(eight_bytes_may_be_a_table),
      TEST(a_vtable_may_be_last), TEST(a_field_may_be_last), TEST(items_end),
      TEST(unions_have_tag_and_body), TEST(a_prefix_comes_first))
