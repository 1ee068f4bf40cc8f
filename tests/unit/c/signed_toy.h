// SPDX-License-Identifier: Apache-2.0
// Signed models made by tests, with cryptography that is no more than a checksum.
#ifndef EMBER_TEST_SIGNED_TOY_H
#define EMBER_TEST_SIGNED_TOY_H

#include <string.h>

#include "check.h"

#include "runtime_c/verify/verify.c"

enum { ROOM = 4096, HEAD = TABLE_AT, MOST_PARTS = 1 + EMBER_MOST_DATA };

static _Alignas(EMBER_ALIGN) uint8_t file[ROOM];
static size_t file_size;
static uint32_t signatures; // that were asked for
static uint32_t digests;

static void sum(const uint8_t *data, size_t size, uint8_t start, uint8_t *to,
                size_t length) {
    uint32_t state = 2166136261u ^ start;
    for (size_t i = 0; i < size; i++) {
        state = (state ^ data[i]) * 16777619u;
    }
    for (size_t i = 0; i < length; i++) {
        state = (state ^ i) * 16777619u;
        to[i] = (uint8_t)(state >> 24);
    }
}

static ember_status_t toy_digest(const void *data, size_t size, uint8_t digest[32]) {
    digests++;
    sum(data, size, 1, digest, 32);
    return EMBER_OK;
}

static ember_status_t toy_verify(const ember_public_key_t *key, const void *message,
                                 size_t size, const uint8_t signature[64]) {
    uint8_t right[64];
    signatures++;
    sum(message, size, key->bytes[0], right, sizeof(right));
    return memcmp(right, signature, sizeof(right)) == 0 ? EMBER_OK : EMBER_UNTRUSTED;
}

static const ember_crypto_t toy = {toy_digest, toy_verify};
static const ember_public_key_t of_p256 = {EMBER_ECDSA_P256, {7}, {5}};
static const ember_public_key_t another = {EMBER_ED25519, {8}, {6}};
static const ember_public_key_t signer = {EMBER_ED25519, {7}, {9}};
static const ember_public_key_t *const keys[] = {&of_p256, &another, &signer};

static ember_trust_t trusting(const char *purpose, uint32_t least) {
    const ember_trust_t trust = {&toy, keys, 3, purpose, least};
    return trust;
}

static void put(size_t at, uint32_t number, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        file[at + i] = (uint8_t)(number >> 8 * i);
    }
}

static void sign_again(uint8_t secret) {
    const size_t size = signed_size(file);
    sum(file, size, secret, file + size, 64);
}

// A file of `count` parts of `size` bytes each, signed by the last of the keys.
static void make(uint32_t count, uint32_t size) {
    memset(file, 0, sizeof(file));
    memcpy(file, "EMBS", 4);
    file[FORMAT_AT] = FORMAT;
    file[ALGORITHM_AT] = EMBER_ED25519;
    put(PARTS_AT, count, 2);
    put(VERSION_AT, 0x01020304, 4);
    file[KEY_AT] = 7;
    memcpy(file + PURPOSE_AT, "door bell", 9);
    size_t at = signed_size(file) + EMBER_SIGNATURE_SIZE;
    for (uint32_t i = 0; i < count; i++) {
        const size_t part = HEAD + (size_t)PART_SIZE * i;
        at = (at + EMBER_ALIGN - 1) / EMBER_ALIGN * EMBER_ALIGN;
        memset(file + at, (int)(0x40 + i), size);
        put(part, i > 0, 4);
        put(part + PART_BYTES, size, 4);
        sum(file + at, size, 1, file + part + PART_DIGEST, 32);
        at += size;
    }
    file_size = at;
    put(SIZE_AT, (uint32_t)at, 4);
    sign_again(9);
}

#endif // EMBER_TEST_SIGNED_TOY_H
