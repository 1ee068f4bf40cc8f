// SPDX-License-Identifier: Apache-2.0
// Two slots of flash for signed models, and a switch between them that may lose power
// at any moment.
//
// One slot has the model in use, the other takes the next one. Which is which stands in
// a journal: records that are only ever appended, in two areas that are erased in turn.
// A record counts once its last word, a checksum, is written; before that the one
// before it counts. A new model is on trial until the application confirms it: after a
// reset before that, the old one is back.
//
// Threads   one caller at a time.
// Trust     bytes of the slots are untrusted. The journal has the counter against
//           rollback: nobody but this code may write to it.
#ifndef SLOTS_H
#define SLOTS_H

#include "ember/verify.h"

enum { SLOTS = 2, JOURNALS = 2, AREAS = SLOTS + JOURNALS };

// Flash that is read in place. Erased bytes are 0xFF; writing clears bits. An area is
// what is erased at once: slots are areas 0 and 1, journals 2 and 3.
typedef struct flash {
    const uint8_t *areas[AREAS]; // aligned to EMBER_ALIGN
    uint32_t sizes[AREAS];       // bytes, a multiple of 32
    // False: it failed. `at` is in bytes from the start of the area, a multiple of 4.
    bool (*erase)(uint32_t area);
    bool (*write)(uint32_t area, uint32_t at, uint32_t word);
} flash_t;

typedef struct slots {
    const flash_t *flash;
    ember_trust_t trust; // least_version is the lowest there will ever be
    uint32_t active;     // the slot of the model that was opened
    bool trial;          // until slots_confirm()
    ember_signed_t model;
    uint32_t size; // bytes of the signed file, whose parts the model has
} slots_t;

// Finds a model to run: that on trial, else the confirmed one; if it is not to be
// trusted, the other. Writes to the journal if there is one on trial. `slots->model` is
// it. Returns EMBER_OK; NOT_FOUND: no slot has a model that is to be trusted.
EMBER_MUST_USE ember_status_t slots_open(slots_t *slots, const flash_t *flash,
                                         const ember_trust_t *trust);

// Writes a signed model of `size` bytes to the slot that is not in use, checks it
// there, and puts it on trial for the next slots_open(). On failure the model in use
// stays, also at the next start. Returns EMBER_OK, or
//   NO_MEMORY     it is larger than a slot
//   BAD_ARGUMENT  the model in use is still on trial: confirm it first
//   IO            flash failed
//   others        those of ember_verify()
EMBER_MUST_USE ember_status_t slots_install(slots_t *slots, const void *data,
                                            size_t size);

// Keeps the model in use, and refuses those of lower versions from now on. Call it once
// the model has proved itself. IO: flash failed; then nothing has changed.
EMBER_MUST_USE ember_status_t slots_confirm(slots_t *slots);

#endif // SLOTS_H
