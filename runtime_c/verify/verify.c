// SPDX-License-Identifier: Apache-2.0
// A signed model becomes its parts, if the device trusts it.
#include "ember/verify.h"

#include <string.h>

enum {
    FORMAT_AT = 4,
    ALGORITHM_AT = 5,
    PARTS_AT = 6,
    VERSION_AT = 8,
    SIZE_AT = 12,
    KEY_AT = 16,
    PURPOSE_AT = 32,
    TABLE_AT = 48,
    PART_SIZE = 40,
    PART_BYTES = 4, // of a part: where its size is
    PART_DIGEST = 8,
    S_AT = 32, // of a signature
    FORMAT = 1,
};

static uint32_t number_at(const uint8_t *at, uint32_t bytes) {
    uint32_t number = 0;
    while (bytes > 0) {
        number = number << 8 | at[--bytes];
    }
    return number;
}

// Compares all bytes, whatever the first ones are: in constant time.
static bool same(const uint8_t *a, const uint8_t *b, size_t size) {
    uint8_t different = 0;
    for (size_t i = 0; i < size; i++) {
        different |= a[i] ^ b[i];
    }
    return different == 0;
}

static uint32_t part_count(const uint8_t *head) {
    return number_at(head + PARTS_AT, 2);
}

// Bytes before the signature.
static size_t signed_size(const uint8_t *head) {
    return TABLE_AT + (size_t)PART_SIZE * part_count(head);
}

// The end of the zeros from `at` to the next multiple of EMBER_ALIGN, where a part
// begins; 0 if there are other bytes, or the file ends first.
static size_t after_zeros(const ember_bytes_t *file, size_t at) {
    while ((at & (EMBER_ALIGN - 1)) != 0) {
        if (at >= file->size || file->data[at] != 0) {
            return 0;
        }
        at++;
    }
    return at;
}

static void add_part(ember_signed_t *model, uint32_t index, const uint8_t *data,
                     size_t size) {
    const ember_bytes_t part = {data, size};
    if (index == 0) {
        model->program = part;
    } else {
        model->data[model->data_count++] = part;
    }
}

// Finds the parts; false if the file does not consist of exactly these.
static bool cut_parts(const ember_bytes_t *file, ember_signed_t *model) {
    size_t at = signed_size(file->data) + EMBER_SIGNATURE_SIZE;
    for (uint32_t i = 0; i < part_count(file->data); i++) {
        const uint8_t *part = file->data + TABLE_AT + (size_t)PART_SIZE * i;
        const size_t size = number_at(part + PART_BYTES, 4);
        at = after_zeros(file, at);
        if (at == 0 || number_at(part, 4) != (i > 0) || size > file->size - at) {
            return false;
        }
        add_part(model, i, file->data + at, size);
        at += size;
    }
    return at == file->size;
}

static ember_status_t check_form(const ember_bytes_t *file, ember_signed_t *model,
                                 ember_error_t *err) {
    if (file->data == NULL || ((uintptr_t)file->data & (EMBER_ALIGN - 1)) != 0) {
        return ember_fail(err, EMBER_BAD_ARGUMENT,
                          "signed model: must be aligned to 16 bytes");
    }
    if (file->size < TABLE_AT || memcmp(file->data, "EMBS", FORMAT_AT) != 0) {
        return ember_fail(err, EMBER_BAD_PROGRAM, "signed model: it has no header");
    }
    if (file->data[FORMAT_AT] != FORMAT) {
        return ember_fail(err, EMBER_UNTRUSTED, "signed model: unsupported format");
    }
    const uint32_t parts = part_count(file->data);
    if (parts == 0 || parts > 1 + EMBER_MOST_DATA ||
        number_at(file->data + SIZE_AT, 4) != file->size ||
        file->size < signed_size(file->data) + EMBER_SIGNATURE_SIZE ||
        !cut_parts(file, model)) {
        return ember_fail(err, EMBER_BAD_PROGRAM,
                          "signed model: its parts do not fill the file");
    }
    model->version = number_at(file->data + VERSION_AT, 4);
    return EMBER_OK;
}

static ember_status_t find_key(const ember_trust_t *trust, const uint8_t *head,
                               ember_signed_t *model, ember_error_t *err) {
    bool known = false;
    for (uint32_t i = 0; i < trust->key_count; i++) {
        const ember_public_key_t *key = trust->keys[i];
        if (!same(key->id, head + KEY_AT, EMBER_KEY_ID_SIZE)) {
            continue;
        }
        known = true;
        if ((uint8_t)key->algorithm == head[ALGORITHM_AT]) {
            model->key = key;
            return EMBER_OK;
        }
    }
    return known ? ember_fail(err, EMBER_UNTRUSTED,
                              "signed model: its key is of another algorithm")
                 : ember_fail(err, EMBER_UNTRUSTED, "signed model: unknown key");
}

// What the signer says the model is; covered by the signature.
static ember_status_t check_claims(const ember_trust_t *trust, const uint8_t *head,
                                   const ember_signed_t *model, ember_error_t *err) {
    uint8_t purpose[EMBER_PURPOSE_SIZE] = {0};
    const size_t length = strlen(trust->purpose);
    if (length > sizeof(purpose)) {
        return ember_fail(err, EMBER_BAD_ARGUMENT,
                          "signed model: a purpose has at most 16 characters");
    }
    memcpy(purpose, trust->purpose, length);
    if (!same(purpose, head + PURPOSE_AT, sizeof(purpose))) {
        return ember_fail(err, EMBER_UNTRUSTED,
                          "signed model: it is for another purpose");
    }
    if (model->version < trust->least_version) {
        return ember_fail(err, EMBER_UNTRUSTED, "signed model: its version is too old");
    }
    return EMBER_OK;
}

static ember_status_t check_digest(const ember_trust_t *trust, const uint8_t *part,
                                   const ember_bytes_t *content, ember_error_t *err) {
    uint8_t digest[EMBER_DIGEST_SIZE] = {0};
    if (trust->crypto->sha256(content->data, content->size, digest) != EMBER_OK ||
        !same(digest, part + PART_DIGEST, sizeof(digest))) {
        return ember_fail(err, EMBER_UNTRUSTED,
                          "signed model: a part is not what was signed");
    }
    return EMBER_OK;
}

static ember_status_t check_digests(const ember_trust_t *trust, const uint8_t *head,
                                    const ember_signed_t *model, ember_error_t *err) {
    const uint8_t *part = head + TABLE_AT;
    ember_status_t status = check_digest(trust, part, &model->program, err);
    for (uint32_t i = 0; status == EMBER_OK && i < model->data_count; i++) {
        part += PART_SIZE;
        status = check_digest(trust, part, &model->data[i], err);
    }
    return status;
}

// Whether s, big-endian, is the lower one of the two with which the signature is right:
// the other is the order of P-256 less s.
static bool is_low(const uint8_t *s) {
    static const uint8_t half_order[] = {
        0x7f, 0xff, 0xff, 0xff, 0x80, 0x00, 0x00, 0x00, 0x7f, 0xff, 0xff,
        0xff, 0xff, 0xff, 0xff, 0xff, 0xde, 0x73, 0x7d, 0x56, 0xd3, 0x8b,
        0xcf, 0x42, 0x79, 0xdc, 0xe5, 0x61, 0x7e, 0x31, 0x92, 0xa8,
    };
    return memcmp(s, half_order, sizeof(half_order)) <= 0;
}

static ember_status_t check_signature(const ember_trust_t *trust, const uint8_t *head,
                                      const ember_signed_t *model, ember_error_t *err) {
    const size_t size = signed_size(head);
    const uint8_t *signature = head + size;
    if (model->key->algorithm == EMBER_ECDSA_P256 && !is_low(signature + S_AT)) {
        return ember_fail(err, EMBER_UNTRUSTED,
                          "signed model: s of its signature is above half the order");
    }
    return trust->crypto->verify(model->key, head, size, signature) == EMBER_OK
               ? EMBER_OK
               : ember_fail(err, EMBER_UNTRUSTED,
                            "signed model: the signature is wrong");
}

ember_status_t ember_verify(const ember_trust_t *trust, const void *data, size_t size,
                            ember_signed_t *model, ember_error_t *err) {
    const ember_bytes_t file = {data, size};
    ember_signed_t read = {0};
    ember_status_t status = check_form(&file, &read, err);
    if (status == EMBER_OK) {
        status = find_key(trust, data, &read, err);
    }
    if (status == EMBER_OK) {
        status = check_signature(trust, data, &read, err);
    }
    if (status == EMBER_OK) {
        status = check_claims(trust, data, &read, err);
    }
    if (status == EMBER_OK) {
        status = check_digests(trust, data, &read, err);
    }
    if (status == EMBER_OK) {
        *model = read;
    }
    return ember_error_close(err, status, EMBER_NO_INSTRUCTION);
}

ember_status_t ember_verify_open(const ember_trust_t *trust, const void *data,
                                 size_t size, ember_program_t *program,
                                 ember_data_map_t *maps, ember_signed_t *model,
                                 ember_error_t *err) {
    ember_signed_t read;
    ember_program_t opened;
    ember_status_t status = ember_verify(trust, data, size, &read, err);
    if (status == EMBER_OK) {
        status = ember_program_open(&opened, read.program.data, read.program.size, err);
    }
    for (uint32_t i = 0; status == EMBER_OK && i < read.data_count; i++) {
        status =
            ember_data_map_open(&maps[i], read.data[i].data, read.data[i].size, err);
    }
    if (status == EMBER_OK && read.data_count > 0) {
        ember_program_attach(&opened, maps, read.data_count);
    }
    if (status == EMBER_OK) {
        *program = opened;
        *model = read;
    }
    return status;
}
