// SPDX-License-Identifier: Apache-2.0
// Cryptography of libsodium 1.0.12 or newer: Ed25519.
#include <sodium.h>

#include "ember/verify.h"

static ember_status_t digest_of(const void *data, size_t size,
                                uint8_t digest[EMBER_DIGEST_SIZE]) {
    return crypto_hash_sha256(digest, data, size) == 0 ? EMBER_OK : EMBER_UNTRUSTED;
}

static ember_status_t verify(const ember_public_key_t *key, const void *message,
                             size_t size,
                             const uint8_t signature[EMBER_SIGNATURE_SIZE]) {
    if (key->algorithm != EMBER_ED25519 || sodium_init() < 0) {
        return EMBER_UNSUPPORTED;
    }
    return crypto_sign_verify_detached(signature, message, size, key->bytes) == 0
               ? EMBER_OK
               : EMBER_UNTRUSTED;
}

const ember_crypto_t ember_crypto_sodium = {digest_of, verify};
