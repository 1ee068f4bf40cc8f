// SPDX-License-Identifier: Apache-2.0
// Signed models: program and data files from outside, checked before they are opened.
//
// `ember sign` writes them, `ember keygen` the key as a C header. The cryptography
// comes from a library that your project links; runtime_c/verify connects libsodium,
// OpenSSL or Mbed TLS. All numbers are little-endian:
//
//     0   4 bytes   "EMBS"
//     4   u8        format: 1
//     5   u8        algorithm: EMBER_ED25519 or EMBER_ECDSA_P256
//     6   u16       parts: the program, then up to EMBER_MOST_DATA data files
//     8   u32       version
//     12  u32       bytes of the whole file
//      16  16 bytes  the key's id: the first half of the SHA-256 of the public key
//     32  16 bytes  purpose: text, filled with zeros
//     48  parts     of 40 bytes: u32 kind (0 program, 1 data), u32 size, SHA-256
//     ..  64 bytes  signature of everything before it
//      ..  the parts in order, each at a multiple of EMBER_ALIGN after zeros
//
// A signed model has exactly one encoding: superfluous bytes make it malformed.
//
//  Lifetime  nothing is copied: the bytes must outlive the program and its methods.
//  Threads   no shared state of its own; the cryptography library may have some.
//  Trust     the bytes are untrusted; keys, purpose and least version are the device's.
//            Once the bytes are verified, only the caller may write to them.
#ifndef EMBER_VERIFY_H
#define EMBER_VERIFY_H

#include "ember/data.h"
#include "ember/program.h"

EMBER_C_BEGIN

enum {
    EMBER_MOST_DATA = 7,    // data files of a signed model
    EMBER_KEY_ID_SIZE = 16, // bytes, as the following
    EMBER_PURPOSE_SIZE = 16,
    EMBER_DIGEST_SIZE = 32,
    EMBER_SIGNATURE_SIZE = 64,
};

typedef enum ember_algorithm {
    EMBER_ED25519 = 1, // RFC 8032, without a context or a prehash
    // With SHA-256; the signature is r, s, big-endian, s at most half the order.
    EMBER_ECDSA_P256 = 2,
} ember_algorithm_t;

typedef struct ember_public_key {
    ember_algorithm_t algorithm;
    uint8_t id[EMBER_KEY_ID_SIZE];
    uint8_t bytes[64]; // Ed25519: 32; P-256: x, y, big-endian
} ember_public_key_t;

// A cryptography library. Both functions return EMBER_OK, or anything else if the
// library fails or the signature is wrong.
typedef struct ember_crypto {
    ember_status_t (*sha256)(const void *data, size_t size,
                             uint8_t digest[EMBER_DIGEST_SIZE]);
    // Whether `signature` is that of `size` bytes at `message` by `key`.
    ember_status_t (*verify)(const ember_public_key_t *key, const void *message,
                             size_t size,
                             const uint8_t signature[EMBER_SIGNATURE_SIZE]);
} ember_crypto_t;

// runtime_c/verify/<library>.c; ember_add_verify() of CMake compiles one of them.
extern const ember_crypto_t ember_crypto_sodium;  // Ed25519
extern const ember_crypto_t ember_crypto_openssl; // both
extern const ember_crypto_t ember_crypto_mbedtls; // P-256

// What a device accepts.
typedef struct ember_trust {
    const ember_crypto_t *crypto;
    const ember_public_key_t *const *keys; // any of them may have signed
    uint32_t key_count;
    const char *purpose;    // what the model is for: the text of `ember sign --purpose`
    uint32_t least_version; // older ones are refused: the counter that you keep
} ember_trust_t;

typedef struct ember_signed {
    uint32_t version;
    const ember_public_key_t *key; // that signed it
    ember_bytes_t program;
    ember_bytes_t data[EMBER_MOST_DATA];
    uint32_t data_count;
} ember_signed_t;

// Checks `size` bytes at `data`, aligned to EMBER_ALIGN: form, key, signature, purpose,
// version, and the digest of every part. `model` is written only if all of it holds.
//
// Keep the counter where an attacker cannot write. Raise it to `model->version` only
// once the model has been found to work: older versions are refused from then on.
//
// Returns EMBER_OK, or
//   EMBER_BAD_PROGRAM   malformed or truncated
//   EMBER_UNTRUSTED     another format, unknown key, or one of another algorithm; wrong
//                       signature, purpose or digest; too old
//   EMBER_BAD_ARGUMENT  data is NULL or unaligned; the purpose is too long
EMBER_MUST_USE ember_status_t ember_verify(const ember_trust_t *trust, const void *data,
                                           size_t size, ember_signed_t *model,
                                           ember_error_t *err);

// ember_verify(), then ember_program_open() with the model's data files, for which
// `maps` has room for EMBER_MOST_DATA; it must outlive the program. If a model is
// refused, nothing of it is opened. Errors of both, and of ember_data_map_open().
EMBER_MUST_USE ember_status_t ember_verify_open(
    const ember_trust_t *trust, const void *data, size_t size, ember_program_t *program,
    ember_data_map_t *maps, ember_signed_t *model, ember_error_t *err);

EMBER_C_END

#endif // EMBER_VERIFY_H
