// SPDX-License-Identifier: Apache-2.0
// Cryptography of OpenSSL 3: Ed25519 and ECDSA P-256. It allocates on its heap.
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/x509.h>
#include <string.h>

#include "ember/verify.h"

enum { POINT_SIZE = 65, INTEGER_SIZE = 32, MOST_DER = 72 };

static ember_status_t digest_of(const void *data, size_t size,
                                uint8_t digest[EMBER_DIGEST_SIZE]) {
    unsigned int length = 0;
    return EVP_Digest(data, size, digest, &length, EVP_sha256(), NULL) == 1 &&
                   length == EMBER_DIGEST_SIZE
               ? EMBER_OK
               : EMBER_UNTRUSTED;
}

static EVP_PKEY *p256_key(const uint8_t bytes[64]) {
    uint8_t point[POINT_SIZE] = {4}; // x, y follow, uncompressed
    char group[] = "prime256v1";
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);

    memcpy(point + 1, bytes, 64);
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group, 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point,
                                          sizeof(point)),
        OSSL_PARAM_construct_end(),
    };
    if (context == NULL || EVP_PKEY_fromdata_init(context) != 1 ||
        EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) != 1) {
        key = NULL;
    }
    EVP_PKEY_CTX_free(context);
    return key;
}

// An ASN.1 INTEGER: no leading zeros, except one before a set first bit.
static size_t put_integer(uint8_t *to, const uint8_t from[INTEGER_SIZE]) {
    size_t skipped = 0;
    while (skipped < INTEGER_SIZE - 1 && from[skipped] == 0) {
        skipped++;
    }
    const size_t zero = from[skipped] >> 7;
    const size_t length = INTEGER_SIZE - skipped + zero;
    to[0] = 2;
    to[1] = (uint8_t)length;
    to[2] = 0;
    memcpy(to + 2 + zero, from + skipped, INTEGER_SIZE - skipped);
    return 2 + length;
}

static size_t put_signature(uint8_t der[MOST_DER], const uint8_t signature[64]) {
    size_t size = 2 + put_integer(der + 2, signature);
    size += put_integer(der + size, signature + INTEGER_SIZE);
    der[0] = 0x30;
    der[1] = (uint8_t)(size - 2);
    return size;
}

static ember_status_t verify_with(EVP_PKEY *key, const EVP_MD *digest,
                                  const ember_bytes_t *message,
                                  const ember_bytes_t *signature) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    const bool good = key != NULL && context != NULL &&
                      EVP_DigestVerifyInit(context, NULL, digest, NULL, key) == 1 &&
                      EVP_DigestVerify(context, signature->data, signature->size,
                                       message->data, message->size) == 1;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    return good ? EMBER_OK : EMBER_UNTRUSTED;
}

static ember_status_t verify(const ember_public_key_t *key, const void *message,
                             size_t size,
                             const uint8_t signature[EMBER_SIGNATURE_SIZE]) {
    const ember_bytes_t bytes = {message, size};
    if (key->algorithm == EMBER_ED25519) {
        const ember_bytes_t raw = {signature, EMBER_SIGNATURE_SIZE};
        EVP_PKEY *read =
            EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key->bytes, 32);
        return verify_with(read, NULL, &bytes, &raw);
    }
    uint8_t der[MOST_DER];
    const ember_bytes_t encoded = {der, put_signature(der, signature)};
    return verify_with(p256_key(key->bytes), EVP_sha256(), &bytes, &encoded);
}

const ember_crypto_t ember_crypto_openssl = {digest_of, verify};
