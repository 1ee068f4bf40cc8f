// SPDX-License-Identifier: Apache-2.0
// Layouts of flat.c, for tables with up to eight fields of any kinds. Their loops are
// cut: one round, any, keeps what holds before and after it of one field, any.
#include "any.h"
#include "status.c"

static const uint32_t zeros[2];

static bool is_empty_vector(ember_vector_t vector) {
    return vector == (const uint8_t *)zeros;
}

static const uint8_t *empty_vector(void) {
    return (const uint8_t *)zeros;
}

#ifndef PROOF_KIND
#define PROOF_KIND (1 + nondet_uint8() % 7)
#endif
enum { MOST_FIELDS = 8 };
static uint32_t field; // its number among those that are read, and its kind
static uint32_t kind_of_field;

static void any_field(void) {
    field = nondet_uint32();
    kind_of_field = PROOF_KIND;
    ASSUME(field < MOST_FIELDS);
}

static bool keeps(const ember_layout_t *layout) {
    return layout->most == 0 ||
           (layout->most <= file_size - 4 &&
            fits(layout->most, layout->offsets[field], kind_of_field));
}

static void any_kept(ember_layout_t *layout) {
    layout->vtable = nondet_uint32();
    layout->most = nondet_uint32();
    layout->offsets[field] = nondet_uint16();
    ASSUME(keeps(layout));
}

// --- the loop of read_layout() -----------------------------------------------------

static bool is_counted(const ember_layout_t *layout, uint32_t done, uint32_t size) {
    const uint32_t found = layout->offsets[field];
    const uint32_t need = field_size(kind_of_field);
    return size >= 4 && size <= UINT16_MAX + 8 &&
           (done <= field || found == 0 ||
            ((need == 1 || found % 4 == 0) && found + need <= size));
}

#define CUT_LAYOUT                                                                     \
    uint32_t slot = 4;                                                                 \
    uint32_t done = 0;                                                                 \
    REQUIRE(is_counted(layout, done, size));                                           \
    slot = nondet_uint32();                                                            \
    size = nondet_uint32();                                                            \
    done = nondet_uint32();                                                            \
    kinds = nondet_uint32();                                                           \
    ASSUME(slot >= 4 && slot <= 22 && slot % 2 == 0 && done <= MOST_FIELDS);           \
    ASSUME(kinds % 8 == 0 || done < MOST_FIELDS);                                      \
    ASSUME(done != field || kinds % 8 == 0 || kinds % 8 == kind_of_field);             \
    layout->offsets[field] = nondet_uint16();                                          \
    ASSUME(is_counted(layout, done, size));                                            \
    offset = layout->offsets + done
#define CUT_LAYOUT_AGAIN                                                               \
    (REACHED("round of a layout"),                                                     \
     REQUIRE(is_counted(layout, (uint32_t)(offset - layout->offsets), size)),          \
     ASSUME(false))

#define CUT_LAYOUT_END REQUIRE(done <= field || keeps(layout))

// --- the loop of ember_flat_read() -------------------------------------------------

static ember_field_t the_field; // where the reader puts it: one of the caller's

#define CUT_READ                                                                       \
    kinds = nondet_bool() ? kind_of_field : 0;                                         \
    fields = &the_field;                                                               \
    offset += field
#define CUT_READ_AGAIN                                                                 \
    (REACHED("round of reading"), REQUIRE(fields == &the_field + 1),                   \
     REQUIRE(is_field(the_field, kind_of_field)), ASSUME(false))

#ifdef LAYOUT_IS_READ // by its contract, which prove_read_layout shows
static const ember_layout_t *read_layout(const ember_flat_t *flat, uint32_t at,
                                         uint32_t kinds, ember_layout_t *layout) {
    (void)flat;
    (void)kinds;
    any_kept(layout);
    layout->vtable = at;
    return layout;
}
#endif
#include "flat.c"

void prove_read_layout(void) {
    ember_flat_t flat;
    ember_layout_t layout;
    any_file();
    any_field();
    any_reader(&flat);
    const uint32_t at = nondet_uint32();
    REQUIRE(read_layout(&flat, at, nondet_uint32(), &layout) == &layout);
    REQUIRE(layout.vtable == at);
    if (layout.most > 0 && layout.offsets[field] > 0 && field == MOST_FIELDS - 1) {
        REACHED("last field");
    }
}

void prove_layout(void) {
    ember_flat_t flat;
    ember_layout_t layouts[2];
    any_file();
    any_field();
    any_reader(&flat);
    const ember_status_t before = flat.status;
    any_kept(&layouts[0]);
    any_kept(&layouts[1]);
    const uint8_t *table = any_table();
    const uint16_t *offsets = ember_flat_layout(&flat, table, nondet_uint32(), layouts);
    REQUIRE(fits(place_of(table), offsets[field], kind_of_field));
    REQUIRE(keeps(&layouts[0]) && keeps(&layouts[1]));
    REQUIRE(is_reader(&flat, before));
    if (offsets == layouts[0].offsets) {
        REACHED("first");
    } else if (offsets == layouts[1].offsets) {
        REACHED("second");
    } else if (flat.status != EMBER_OK) {
        REACHED("absent");
    }
}

void prove_read(void) {
    ember_flat_t flat;
    ember_field_t fields[1];
    any_file();
    any_field();
    any_reader(&flat);
    const ember_status_t before = flat.status;
    const uint8_t *table = nondet_bool() ? any_table() : NULL;
    ember_flat_read(&flat, table, nondet_uint32(), fields);
    REQUIRE(is_reader(&flat, before));
    if (table != NULL && flat.status == EMBER_OK) {
        REACHED("read");
    }
}

void prove_field(void) {
    ember_flat_t flat;
    any_file();
    any_field();
    any_reader(&flat);
    ASSUME(field == 0);
    const uint8_t *table = nondet_bool() ? any_table() : NULL;
    const ember_field_t found = ember_flat_field(&flat, table, kind_of_field);
    REQUIRE(is_field(found, kind_of_field));
    if (kind_of_field == FLAT_U64 && in_file(found.at)) {
        (void)ember_flat_size(found.at);
    }
    if (flat.status == EMBER_OK) {
        REACHED("field");
    }
}
