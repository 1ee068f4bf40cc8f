// SPDX-License-Identifier: Apache-2.0
// Cryptography of Mbed TLS 2.28 or 3: ECDSA P-256.
#include <mbedtls/ecdsa.h>
#include <mbedtls/sha256.h>
#include <mbedtls/version.h>

#include "ember/verify.h"

enum { INTEGER_SIZE = 32, POINT_SIZE = 65 };

#if MBEDTLS_VERSION_MAJOR < 3
#define mbedtls_sha256 mbedtls_sha256_ret
#endif

static ember_status_t digest_of(const void *data, size_t size,
                                uint8_t digest[EMBER_DIGEST_SIZE]) {
    return mbedtls_sha256(data, size, digest, 0) == 0 ? EMBER_OK : EMBER_UNTRUSTED;
}

// The library's functions read bignums, and may run out of memory.
typedef struct check {
    mbedtls_ecp_group group;
    mbedtls_ecp_point point;
    mbedtls_mpi r;
    mbedtls_mpi s;
} check_t;

static bool read_check(check_t *check, const ember_public_key_t *key,
                       const uint8_t *signature) {
    uint8_t point[POINT_SIZE] = {4}; // x, y follow, uncompressed
    for (size_t i = 0; i < sizeof(key->bytes); i++) {
        point[1 + i] = key->bytes[i];
    }
    return mbedtls_ecp_group_load(&check->group, MBEDTLS_ECP_DP_SECP256R1) == 0 &&
           mbedtls_ecp_point_read_binary(&check->group, &check->point, point,
                                         sizeof(point)) == 0 &&
           mbedtls_ecp_check_pubkey(&check->group, &check->point) == 0 &&
           mbedtls_mpi_read_binary(&check->r, signature, INTEGER_SIZE) == 0 &&
           mbedtls_mpi_read_binary(&check->s, signature + INTEGER_SIZE, INTEGER_SIZE) ==
               0;
}

static ember_status_t verify(const ember_public_key_t *key, const void *message,
                             size_t size,
                             const uint8_t signature[EMBER_SIGNATURE_SIZE]) {
    uint8_t digest[EMBER_DIGEST_SIZE];
    check_t check;
    if (key->algorithm != EMBER_ECDSA_P256) {
        return EMBER_UNSUPPORTED;
    }
    mbedtls_ecp_group_init(&check.group);
    mbedtls_ecp_point_init(&check.point);
    mbedtls_mpi_init(&check.r);
    mbedtls_mpi_init(&check.s);
    const bool good = digest_of(message, size, digest) == EMBER_OK &&
                      read_check(&check, key, signature) &&
                      mbedtls_ecdsa_verify(&check.group, digest, sizeof(digest),
                                           &check.point, &check.r, &check.s) == 0;
    mbedtls_mpi_free(&check.s);
    mbedtls_mpi_free(&check.r);
    mbedtls_ecp_point_free(&check.point);
    mbedtls_ecp_group_free(&check.group);
    return good ? EMBER_OK : EMBER_UNTRUSTED;
}

const ember_crypto_t ember_crypto_mbedtls = {digest_of, verify};
