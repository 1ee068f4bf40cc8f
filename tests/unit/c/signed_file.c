// SPDX-License-Identifier: Apache-2.0
// A signed model in a file, checked by a real library of cryptography.
//
//     signed_file FILE LEAST_VERSION PURPOSE [each]
//
// Logs the status and the number of data files; with `each` the number of bytes that
// can change without being noticed, and 1 if the unchanged file is trusted. The build
// gives CRYPTO, and signer.h with KEYS.
#include <string.h>

#include "check.h"
#include "ember/port.h"
#include "ember/verify.h"
#include "signer.h"

enum { ROOM = 1 << 20, LINE = 4096 };

static _Alignas(EMBER_ALIGN) uint8_t room[ROOM];

static uint32_t number(const char *text) {
    uint32_t value = 0;
    for (; *text >= '0' && *text <= '9'; text++) {
        value = value * 10 + (uint32_t)(*text - '0');
    }
    return value;
}

static size_t read_whole(const char *path) {
    const int32_t file = ember_port_open(path, EMBER_PORT_READ);
    const int64_t size = file < 0 ? -1 : ember_port_read(file, room, sizeof(room));
    if (size < 0) {
        ember_port_panic("cannot read the file");
    }
    ember_port_close(file);
    return (size_t)size;
}

static uint32_t unnoticed(const ember_trust_t *trust, size_t size) {
    ember_signed_t model;
    uint32_t count = 0;
    for (size_t i = 0; i < size; i++) {
        room[i] ^= 0x10;
        count += ember_verify(trust, room, size, &model, NULL) == EMBER_OK;
        room[i] ^= 0x10;
    }
    return count;
}

int main(void) {
    static char line[LINE];
    static const ember_public_key_t *const keys[] = {KEYS};
    ember_program_t program;
    ember_data_map_t maps[EMBER_MOST_DATA];
    ember_signed_t model = {0};

    (void)ember_port_arguments(line, sizeof(line));
    const char *path = strtok(line, " ");
    const char *least = strtok(NULL, " ");
    const char *purpose = strtok(NULL, " ");
    const ember_trust_t trust = {&CRYPTO, keys, sizeof(keys) / sizeof(keys[0]), purpose,
                                 number(least)};
    const size_t size = read_whole(path);
    if (strtok(NULL, " ") != NULL) {
        check_log((int64_t)unnoticed(&trust, size));
        ember_port_log(" ");
        check_log(ember_verify(&trust, room, size, &model, NULL) == EMBER_OK);
        return 0;
    }
    check_log(ember_verify_open(&trust, room, size, &program, maps, &model, NULL));
    ember_port_log(" ");
    check_log(model.data_count);
    return 0;
}
