// SPDX-License-Identifier: Apache-2.0
// Accessors of flat.c: for any bytes, any table or vector of theirs, any reader.
// The loop of ember_flat_find() is cut: one round, any, goes on with fewer tables to
// halve, or to look at.
#define FIND_GOES_ON (high <= count && left <= count && low + left <= 2 * count)
#define FIND_LEFT    (left + (low < high ? high - low : 0))
#define CUT_FIND                                                                       \
    uint32_t left = count;                                                             \
    REQUIRE(FIND_GOES_ON);                                                             \
    low = nondet_uint32();                                                             \
    high = nondet_uint32();                                                            \
    left = nondet_uint32();                                                            \
    ASSUME(low <= 2 * count && FIND_GOES_ON);                                          \
    const uint32_t before = FIND_LEFT
#define CUT_FIND_AGAIN                                                                 \
    REACHED("round of a search");                                                      \
    REQUIRE(FIND_LEFT < before && FIND_GOES_ON);                                       \
    ASSUME(false);

#include "flat.c"

#include "any.h"
#include "status.c"

static bool is_empty_vector(ember_vector_t vector) {
    return vector == (const uint8_t *)zeros;
}

static const uint8_t *empty_vector(void) {
    return (const uint8_t *)zeros;
}

void prove_begin(void) {
    ember_flat_t flat;
    any_file();
    const ember_bytes_t bytes = {file_data, nondet_bool() ? file_size : nondet_size()};
    ASSUME(bytes.size <= file_size || bytes.size > INT32_MAX);
    ember_flat_begin(&flat, &bytes, &some_error);
    const bool small = bytes.size < LEAST_BYTES;
    REQUIRE((flat.status == EMBER_OK) == (!small && bytes.size <= INT32_MAX));
    REQUIRE(flat.begin == file_data);
    REQUIRE(flat.status != EMBER_OK ? flat.last == file_data
                                    : flat.last == file_data + (bytes.size - 4));
    for (uint32_t i = 0; i < EMBER_LAYOUTS; i++) {
        REQUIRE(flat.layouts[i][0].most == 0 && flat.layouts[i][1].most == 0);
    }
    const uint8_t *root = ember_flat_root(&flat);
    REQUIRE(root == NULL || is_table(root));
    REQUIRE(root != NULL || flat.status != EMBER_OK);
    if (root != NULL && flat.status == EMBER_OK) {
        REACHED("root");
    } else if (small) {
        REACHED("small");
    }
}

void prove_follow(void) {
    ember_flat_t flat;
    any_file();
    any_reader(&flat);
    const ember_status_t before = flat.status;
    const size_t place = nondet_size();
    ASSUME(place <= file_size - 4 && place % 4 == 0);
    const uint8_t *found = ember_flat_follow(&flat, file_data + place);
    REQUIRE(found == NULL || (is_table(found) && place_of(found) > place));
    REQUIRE(found != NULL || flat.status != EMBER_OK);
    REQUIRE(is_reader(&flat, before));
    if (found != NULL && place_of(found) == file_size - 4) {
        REACHED("last");
    } else if (found == NULL && before == EMBER_OK) {
        REACHED("malformed");
    }
}

void prove_vector(void) {
    static const uint32_t kinds[] = {FLAT_VEC1, FLAT_VEC4, FLAT_VEC8};
    ember_flat_t flat;
    any_file();
    any_reader(&flat);
    const ember_status_t before = flat.status;
    const uint32_t kind = kinds[nondet_uint8() % 3];
    const uint8_t *table = nondet_bool() ? any_table() : NULL;
    const uint32_t offset = nondet_uint16();
    ASSUME(table != NULL ? fits(place_of(table), offset, kind) : offset == 0);
    const ember_vector_t found = ember_flat_vector(&flat, table, offset, kind);
    REQUIRE(is_vector(found, kind));
    REQUIRE(is_reader(&flat, before));
    if (vector_count(found) > 0) {
        const uint32_t size = kind == FLAT_VEC1 ? 1 : kind == FLAT_VEC4 ? 4 : 8;
        proof_readable(vector_items(found), vector_count(found) * (size_t)size);
        REACHED("items");
    }
}

void prove_item(void) {
    ember_flat_t flat;
    any_file();
    any_reader(&flat);
    const ember_status_t before = flat.status;
    const ember_vector_t tables = any_vector(FLAT_VEC4);
    const uint8_t *found = ember_flat_item(&flat, tables, nondet_uint32());
    REQUIRE(found == NULL || is_table(found));
    REQUIRE(found != NULL || flat.status != EMBER_OK);
    REQUIRE(is_reader(&flat, before));
    if (found != NULL && flat.status == EMBER_OK) {
        REACHED("item");
    }
}

void prove_union(void) {
    ember_flat_t flat;
    uint32_t tag = 0;
    any_file();
    any_reader(&flat);
    any_layouts(&flat, LAYOUT_UNION, UNION_FIELDS);
    const ember_status_t before = flat.status;
    const ember_vector_t tables = any_vector(FLAT_VEC4);
    const uint8_t *found = ember_flat_union(&flat, tables, nondet_uint32(), &tag);
    REQUIRE(found == NULL || is_table(found));
    REQUIRE(found != NULL || (flat.status != EMBER_OK && tag == 1));
    REQUIRE(tag >= 1 && tag <= UNION_MOST);
    REQUIRE(is_reader(&flat, before));
    REQUIRE(are_layouts(&flat, LAYOUT_UNION, UNION_FIELDS));
    if (found != NULL && tag == UNION_MOST) {
        REACHED("union");
    }
}

void prove_compare(void) {
    any_file();
    const ember_vector_t string = any_vector(FLAT_VEC1);
    const uint32_t length = nondet_uint32();
    ASSUME(length >= 1 && length <= PROOF_BYTES);
    uint8_t *text = malloc(length);
    const int order = ember_flat_compare(string, text, length);
    REQUIRE(order != 0 || vector_count(string) == length);
    if (order == 0) {
        REACHED("equal");
    }
}

void prove_is(void) {
    any_file();
    const ember_vector_t string = any_vector(FLAT_VEC1);
    const uint32_t length = nondet_uint32();
    ASSUME(length < 8);
    char *text = malloc(length + 1);
    text[length] = '\0';
    const bool same = ember_flat_is(string, text);
    REQUIRE(!same || vector_count(string) <= length);
    if (same && length == 7 && vector_count(string) == 7) {
        REACHED("seven");
    }
}

void prove_find(void) {
    ember_flat_t flat;
    any_file();
    any_reader(&flat);
    any_layouts(&flat, LAYOUT_LIST, FLAT(0, FLAT_VEC4));
    const ember_status_t before = flat.status;
    const ember_vector_t tables = any_vector(FLAT_VEC4);
    const uint32_t length = nondet_uint32();
    ASSUME(length >= 1 && length <= PROOF_BYTES);
    char *key = malloc(length);
    const uint8_t *found = ember_flat_find(&flat, tables, key, length);
    REQUIRE(found == NULL || is_table(found));
    REQUIRE(is_reader(&flat, before));
    if (found != NULL && vector_count(tables) > 2) {
        REACHED("found");
    }
}
