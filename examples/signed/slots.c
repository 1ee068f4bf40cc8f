// SPDX-License-Identifier: Apache-2.0
#include "slots.h"

#include <string.h>

enum { MARK = 0x534C4F54, WORDS = 8, RECORD_SIZE = 4 * WORDS };
// Words of a record.
enum { IS_RECORD, SEQUENCE, ACTIVE, TRIAL, LEAST, CHECKSUM = WORDS - 1 };

static uint32_t checksum(const uint32_t *words) {
    uint32_t state = 2166136261u;
    for (uint32_t i = 0; i < CHECKSUM; i++) {
        for (uint32_t bit = 0; bit < 32; bit += 8) {
            state = (state ^ (words[i] >> bit & 0xFF)) * 16777619u;
        }
    }
    return state;
}

static void read_record(const flash_t *flash, uint32_t area, uint32_t at,
                        uint32_t *words) {
    memcpy(words, flash->areas[area] + at, RECORD_SIZE);
}

static bool is_valid(const uint32_t *words) {
    return words[IS_RECORD] == MARK && words[ACTIVE] < SLOTS &&
           words[CHECKSUM] == checksum(words);
}

// The last record, and its area; what a device begins with, if there is none.
static uint32_t read_state(const flash_t *flash, uint32_t *state) {
    uint32_t words[WORDS];
    uint32_t place = SLOTS;
    memset(state, 0, RECORD_SIZE);
    for (uint32_t area = SLOTS; area < AREAS; area++) {
        for (uint32_t at = 0; at < flash->sizes[area]; at += RECORD_SIZE) {
            read_record(flash, area, at, words);
            if (is_valid(words) && words[SEQUENCE] > state[SEQUENCE]) {
                memcpy(state, words, RECORD_SIZE);
                place = area;
            }
        }
    }
    return place;
}

// The first place behind everything that was ever written to an area, half a record
// included.
static uint32_t end_of(const flash_t *flash, uint32_t area) {
    uint32_t size = flash->sizes[area];
    while (size > 0 && flash->areas[area][size - 1] == 0xFF) {
        size--;
    }
    return (size + RECORD_SIZE - 1) / RECORD_SIZE * RECORD_SIZE;
}

static bool write_record(const flash_t *flash, uint32_t area, uint32_t at,
                         const uint32_t *words) {
    uint32_t written[WORDS];
    for (uint32_t i = 0; i < WORDS; i++) {
        if (!flash->write(area, at + 4 * i, words[i])) {
            return false;
        }
    }
    read_record(flash, area, at, written);
    return memcmp(written, words, RECORD_SIZE) == 0;
}

// The area of the last record is erased only after the other one has a newer record.
static bool append(const flash_t *flash, uint32_t active, bool trial, uint32_t least) {
    uint32_t words[WORDS];
    uint32_t area = read_state(flash, words);
    uint32_t at = end_of(flash, area);
    if (at >= flash->sizes[area]) {
        area = area == SLOTS ? SLOTS + 1 : SLOTS;
        at = 0;
        if (!flash->erase(area)) {
            return false;
        }
    }
    words[IS_RECORD] = MARK;
    words[SEQUENCE]++;
    words[ACTIVE] = active;
    words[TRIAL] = trial;
    words[LEAST] = least;
    words[CHECKSUM] = checksum(words);
    return write_record(flash, area, at, words);
}

static uint32_t size_in(const flash_t *flash, uint32_t slot) {
    uint32_t size;
    memcpy(&size, flash->areas[slot] + 12, sizeof(size)); // ember/verify.h
    return size <= flash->sizes[slot] ? size : flash->sizes[slot];
}

// Whether a slot has a model of at least the version `least` that is to be trusted.
static ember_status_t verify_slot(const slots_t *slots, uint32_t slot, uint32_t least,
                                  ember_signed_t *model) {
    ember_trust_t trust = slots->trust;
    if (least > trust.least_version) {
        trust.least_version = least;
    }
    return ember_verify(&trust, slots->flash->areas[slot], size_in(slots->flash, slot),
                        model, NULL);
}

ember_status_t slots_open(slots_t *slots, const flash_t *flash,
                          const ember_trust_t *trust) {
    uint32_t state[WORDS];
    slots->flash = flash;
    slots->trust = *trust;
    read_state(flash, state);
    const uint32_t first = state[ACTIVE];
    // A reset from now on goes back to the other one.
    const bool tried =
        state[TRIAL] == 0 || append(flash, 1 - first, false, state[LEAST]);
    for (uint32_t i = 0; i < SLOTS; i++) {
        const uint32_t slot = (first + i + !tried) % SLOTS;
        if (verify_slot(slots, slot, state[LEAST], &slots->model) == EMBER_OK) {
            slots->active = slot;
            slots->size = size_in(flash, slot);
            slots->trial = state[TRIAL] != 0 && slot == first;
            return EMBER_OK;
        }
    }
    return EMBER_NOT_FOUND;
}

static bool write_slot(const flash_t *flash, uint32_t slot, const uint8_t *data,
                       size_t size) {
    if (!flash->erase(slot)) {
        return false;
    }
    for (uint32_t at = 0; at < size; at += 4) {
        uint32_t word = 0xFFFFFFFF;
        memcpy(&word, data + at, size - at < 4 ? size - at : 4);
        if (!flash->write(slot, at, word)) {
            return false;
        }
    }
    return true;
}

ember_status_t slots_install(slots_t *slots, const void *data, size_t size) {
    uint32_t state[WORDS];
    ember_signed_t model;
    const uint32_t slot = 1 - slots->active;
    if (slots->trial) {
        return EMBER_BAD_ARGUMENT;
    }
    if (size > slots->flash->sizes[slot]) {
        return EMBER_NO_MEMORY;
    }
    read_state(slots->flash, state);
    if (!write_slot(slots->flash, slot, data, size)) {
        return EMBER_IO;
    }
    const ember_status_t status = verify_slot(slots, slot, state[LEAST], &model);
    if (status != EMBER_OK) {
        return status;
    }
    return append(slots->flash, slot, true, state[LEAST]) ? EMBER_OK : EMBER_IO;
}

ember_status_t slots_confirm(slots_t *slots) {
    if (!append(slots->flash, slots->active, false, slots->model.version)) {
        return EMBER_IO;
    }
    slots->trial = false;
    return EMBER_OK;
}
