// SPDX-License-Identifier: Apache-2.0
// examples/signed/slots.c on flash that loses power at any write or erase, in the
// middle of it: there is always a model to run, and never again one before the
// confirmed one.
#include "ember/port.h"
#include "signed_toy.h"
#include "subject.h"

#include "examples/signed/slots.c"

enum { SLOT_SIZE = 512, JOURNAL_SIZE = 2 * RECORD_SIZE, TEARS = 4, NEVER = 1 << 30 };

static _Alignas(EMBER_ALIGN) uint8_t memory[AREAS][SLOT_SIZE];
static uint32_t power; // operations that are left
static uint32_t tear;  // what the one that loses power leaves behind
static uint32_t noise;

static uint32_t next_noise(void) {
    noise = noise * 1664525u + 1013904223u;
    return noise >> 8 | noise << 24;
}

static uint32_t size_of_area(uint32_t area) {
    return area < SLOTS ? SLOT_SIZE : JOURNAL_SIZE;
}

// Whether an operation is done in full; if not, whether it is done in part.
static bool has_power(bool *partly) {
    *partly = power == 1;
    power -= power > 0;
    return power > 0;
}

static bool erase(uint32_t area) {
    bool partly;
    const bool whole = has_power(&partly);
    for (uint32_t i = 0; (whole || partly) && i < size_of_area(area); i++) {
        static const uint32_t shares[TEARS] = {0, 1, 3, 4}; // of four bytes
        if (whole || (next_noise() & 3) < shares[tear]) {
            memory[area][i] = 0xFF;
        } else if (tear == 1) {
            memory[area][i] |= (uint8_t)next_noise();
        }
    }
    return whole;
}

static bool write(uint32_t area, uint32_t at, uint32_t word) {
    static const uint32_t kept[TEARS] = {0xFFFFFFFF, 0xFFFF0000, 0, 0};
    bool partly;
    const bool whole = has_power(&partly);
    uint32_t old;
    CHECK(at % 4 == 0 && at + 4 <= size_of_area(area));
    memcpy(&old, memory[area] + at, 4);
    uint32_t made = old & word;
    if (!whole) {
        made =
            partly ? old & (word | kept[tear] | (tear == 2 ? next_noise() : 0)) : old;
    }
    memcpy(memory[area] + at, &made, 4);
    return whole;
}

static const flash_t flash = {
    {memory[0], memory[1], memory[2], memory[3]},
    {SLOT_SIZE, SLOT_SIZE, JOURNAL_SIZE, JOURNAL_SIZE},
    erase,
    write,
};

static void make_version(uint32_t version) {
    make(1, 50);
    put(VERSION_AT, version, 4);
    sign_again(9);
}

// The version that runs after a reset; 0: none.
static uint32_t reset(slots_t *slots) {
    const ember_trust_t trust = trusting("door bell", 1);
    memset(slots, 0, sizeof(*slots));
    return slots_open(slots, &flash, &trust) == EMBER_OK ? slots->model.version : 0;
}

static ember_status_t install(slots_t *slots, uint32_t version) {
    make_version(version);
    uint8_t *exact = test_frees() ? test_alloc(file_size) : file;
    memmove(exact, file, file_size);
    const ember_status_t status = slots_install(slots, exact, file_size);
    if (exact != file) {
        test_free(exact);
    }
    return status;
}

// A device that left the factory with version 1, confirmed after `records` starts.
static void leave_factory(slots_t *slots, uint32_t records) {
    memset(memory, 0xFF, sizeof(memory));
    power = NEVER;
    make_version(1);
    memcpy(memory[0], file, file_size);
    CHECK_EQ(reset(slots), 1);
    for (uint32_t i = 0; i < records; i++) {
        CHECK_EQ(slots_confirm(slots), EMBER_OK);
    }
}

static void a_new_model_is_on_trial(void) {
    slots_t slots;
    leave_factory(&slots, 1);
    CHECK_EQ(install(&slots, 2), EMBER_OK);
    CHECK_EQ(slots.model.version, 1); // the one in use is as it was
    CHECK_EQ(reset(&slots), 2);
    CHECK(slots.trial);
    CHECK_EQ(install(&slots, 3), EMBER_BAD_ARGUMENT); // the old one is still needed
    CHECK_EQ(reset(&slots), 1);                       // it was not confirmed
    CHECK(!slots.trial);
    CHECK_EQ(install(&slots, 2), EMBER_OK);
    CHECK_EQ(reset(&slots), 2);
    CHECK_EQ(slots_confirm(&slots), EMBER_OK);
    CHECK_EQ(reset(&slots), 2);
    CHECK(!slots.trial);
    CHECK_EQ(install(&slots, 3), EMBER_OK);
    CHECK_EQ(reset(&slots), 3);
}

static void what_is_refused_leaves_the_old_one(void) {
    slots_t slots;
    leave_factory(&slots, 1);
    CHECK_EQ(install(&slots, 2), EMBER_OK);
    CHECK_EQ(reset(&slots), 2);
    CHECK_EQ(slots_confirm(&slots), EMBER_OK);
    CHECK_EQ(install(&slots, 1), EMBER_UNTRUSTED); // rollback
    CHECK_EQ(reset(&slots), 2);
    make_version(3);
    file[file_size - 1] ^= 1;
    CHECK_EQ(slots_install(&slots, file, file_size), EMBER_UNTRUSTED);
    CHECK_EQ(reset(&slots), 2);
    CHECK_EQ(slots_install(&slots, file, 20), EMBER_BAD_PROGRAM);
    CHECK_EQ(slots_install(&slots, file, SLOT_SIZE + 1), EMBER_NO_MEMORY);
    CHECK_EQ(reset(&slots), 2);
    make(1, SLOT_SIZE - 160); // fills it
    CHECK_EQ(file_size, SLOT_SIZE);
    CHECK_EQ(slots_install(&slots, file, file_size), EMBER_OK);
    CHECK_EQ(reset(&slots), 0x01020304);
}

// Who can write the slots, but not the journal, brings an older model back.
static void an_older_model_does_not_come_back(void) {
    slots_t slots;
    leave_factory(&slots, 1);
    CHECK_EQ(install(&slots, 2), EMBER_OK);
    CHECK_EQ(reset(&slots), 2);
    CHECK_EQ(slots_confirm(&slots), EMBER_OK);
    make_version(1);
    memcpy(memory[0], file, file_size);
    memcpy(memory[1], file, file_size);
    CHECK_EQ(reset(&slots), 0);
}

static void a_damaged_model_gives_way(void) {
    slots_t slots;
    leave_factory(&slots, 1);
    CHECK_EQ(install(&slots, 1), EMBER_OK); // the same version
    CHECK_EQ(reset(&slots), 1);
    CHECK_EQ(slots_confirm(&slots), EMBER_OK);
    memory[slots.active][SLOT_SIZE / 4] ^= 1;
    CHECK_EQ(reset(&slots), 1);
    memory[slots.active][SLOT_SIZE / 4] ^= 1;
    CHECK_EQ(reset(&slots), 0);
    memset(memory, 0xFF, sizeof(memory));
    CHECK_EQ(reset(&slots), 0);
    memset(memory, 0, sizeof(memory));
    CHECK_EQ(reset(&slots), 0);
}

// Flash fails, and nothing else does.
static void flash_that_fails(void) {
    slots_t slots;
    tear = 0;
    for (uint32_t operation = 1; operation < 10; operation++) {
        leave_factory(&slots, 1);
        power = operation;
        CHECK_EQ(install(&slots, 2), EMBER_IO);
        CHECK_EQ(reset(&slots), 1);
    }
    leave_factory(&slots, 1);
    CHECK_EQ(install(&slots, 2), EMBER_OK);
    power = 0;
    CHECK_EQ(reset(&slots), 1); // a trial that cannot be noted is none
    CHECK(!slots.trial);
    CHECK_EQ(slots_confirm(&slots), EMBER_IO);
}

// Version `from` becomes the next one. False: the power went.
static bool update(slots_t *slots, uint32_t from, uint32_t *confirmed) {
    if (reset(slots) == from && install(slots, from + 1) != EMBER_OK) {
        return false;
    }
    if (power == 0 || reset(slots) != from + 1 || slots_confirm(slots) != EMBER_OK) {
        return false;
    }
    *confirmed = from + 1;
    return true;
}

// After a cut: something runs, and it is not older than what was confirmed, nor will
// be.
static void check_after_cut(slots_t *slots, uint32_t from, uint32_t confirmed) {
    uint32_t state[WORDS];
    power = NEVER;
    const uint32_t version = reset(slots);
    read_state(&flash, state);
    CHECK(version >= confirmed && version <= from + 1);
    CHECK(state[LEAST] >= confirmed && state[LEAST] <= version);
}

static void finish(slots_t *slots, uint32_t from, uint32_t confirmed) {
    CHECK(confirmed > from || update(slots, from, &confirmed) ||
          update(slots, from, &confirmed));
    CHECK_EQ(install(slots, from), EMBER_UNTRUSTED);
    CHECK_EQ(reset(slots), from + 1);
}

// Cuts at operation `first` of an update, and at `second` of the next try, on a device
// that took `from` - 1 updates before.
static bool survive(uint32_t from, uint32_t records, uint32_t first, uint32_t second) {
    slots_t slots;
    uint32_t confirmed = 1;
    leave_factory(&slots, records);
    for (uint32_t version = 1; version < from; version++) {
        CHECK(update(&slots, version, &confirmed));
    }
    power = first;
    const bool whole = update(&slots, from, &confirmed);
    check_after_cut(&slots, from, confirmed);
    if (second > 0 && confirmed == from) {
        power = second;
        (void)update(&slots, from, &confirmed);
        check_after_cut(&slots, from, confirmed);
    }
    finish(&slots, from, confirmed);
    return whole;
}

static void power_is_cut_at_every_operation(void) {
    uint32_t cuts = 0;
    for (uint32_t from = 1; from < 4; from++) {
        for (uint32_t records = 1; records < 6; records++) {
            for (tear = 0; tear < TEARS; tear++) {
                uint32_t first = 1;
                while (!survive(from, records, first, 0)) {
                    first++;
                }
                cuts += first - 1;
            }
        }
    }
    CHECK(cuts > 4000);
    check_log(cuts);
    ember_port_log(" cuts\n");
}

static void power_is_cut_twice(void) {
    for (tear = 0; tear < TEARS; tear++) {
        for (uint32_t first = 1; first < 90; first += 7) {
            for (uint32_t second = 1; second < 90; second += 5) {
                (void)survive(2, 1 + first % 4, first, second);
            }
        }
    }
}

TESTS(TEST(a_new_model_is_on_trial), TEST(what_is_refused_leaves_the_old_one),
      TEST(an_older_model_does_not_come_back), TEST(a_damaged_model_gives_way),
      TEST(flash_that_fails), TEST(power_is_cut_at_every_operation),
      TEST(power_is_cut_twice))
