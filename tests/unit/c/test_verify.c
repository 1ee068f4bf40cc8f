// SPDX-License-Identifier: Apache-2.0
// Signed models: what is checked, in which order, and that what is refused leaves
// nothing behind.
#include "signed_toy.h"
#include "subject.h"

static ember_status_t verified(const ember_trust_t *trust) {
    ember_signed_t model = {.version = 77};
    ember_error_t err = {EMBER_OK, 0, NULL};
    uint8_t *exact = test_frees() ? test_alloc(file_size + (file_size == 0)) : file;
    memmove(exact, file, file_size);
    const ember_status_t status = ember_verify(trust, exact, file_size, &model, &err);
    if (exact != file) {
        test_free(exact);
    }
    CHECK_EQ(err.status, status);
    CHECK((model.version == 77) == (status != EMBER_OK)); // written only if trusted
    return status;
}

static ember_status_t verdict(void) {
    const ember_trust_t trust = trusting("door bell", 5);
    return verified(&trust);
}

static void a_signed_model_has_its_parts(void) {
    const ember_trust_t trust = trusting("door bell", 0x01020304);
    for (uint32_t count = 1; count <= MOST_PARTS; count++) {
        for (uint32_t size = 0; size < 35; size++) {
            ember_signed_t model;
            make(count, size);
            CHECK_EQ(ember_verify(&trust, file, file_size, &model, NULL), EMBER_OK);
            CHECK_EQ(model.version, 0x01020304);
            CHECK(model.key == &signer);
            CHECK_EQ(model.program.size, size);
            CHECK_EQ(model.data_count, count - 1);
            CHECK_EQ((uintptr_t)model.program.data % EMBER_ALIGN, 0);
            for (uint32_t i = 0; i + 1 < count; i++) {
                CHECK_EQ((uintptr_t)model.data[i].data % EMBER_ALIGN, 0);
                CHECK(size == 0 || model.data[i].data[size - 1] == 0x41 + i);
            }
        }
    }
}

static void every_changed_bit_is_refused(void) {
    make(3, 21);
    for (size_t i = 0; i < file_size * 8; i++) {
        file[i / 8] ^= (uint8_t)(1 << i % 8);
        CHECK(verdict() != EMBER_OK);
        file[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    CHECK_EQ(verdict(), EMBER_OK);
}

static void every_other_size_is_refused(void) {
    make(2, 33);
    const size_t whole = file_size;
    for (file_size = 0; file_size < ROOM; file_size++) {
        CHECK_EQ(verdict() == EMBER_OK, file_size == whole);
    }
    for (file_size = TABLE_AT; file_size < ROOM; file_size++) { // as the header says
        put(SIZE_AT, (uint32_t)file_size, 4);
        sign_again(9);
        CHECK_EQ(verdict() == EMBER_OK, file_size == whole);
    }
}

// The header says another size, and is signed: a length is not believed.
static void parts_fill_the_file(void) {
    static const uint32_t sizes[] = {0, 20, 40, 0xFFFFFFF0, 0xFFFFFFFF};
    for (uint32_t wrong = 0; wrong < 5; wrong++) {
        for (uint32_t part = 0; part < 2; part++) {
            make(2, 21);
            put(HEAD + PART_SIZE * part + PART_BYTES, sizes[wrong], 4);
            sign_again(9);
            CHECK_EQ(verdict(), EMBER_BAD_PROGRAM);
        }
    }
    make(2, 21);
    put(HEAD + PART_BYTES, 22, 4); // a zero that is there to align the next part
    sign_again(9);
    CHECK_EQ(verdict(), EMBER_UNTRUSTED);
}

static void numbers_of_parts(void) {
    static const uint32_t counts[] = {0, MOST_PARTS + 1, 0x100, 0xFFFF};
    for (size_t i = 0; i < 4; i++) {
        make(1, 16);
        put(PARTS_AT, counts[i], 2);
        CHECK_EQ(verdict(), EMBER_BAD_PROGRAM);
    }
    make(MOST_PARTS + 1, 16);
    CHECK_EQ(verdict(), EMBER_BAD_PROGRAM);
    make(0, 16);
    CHECK_EQ(verdict(), EMBER_BAD_PROGRAM);
}

static void kinds_of_parts(void) {
    make(2, 16);
    put(HEAD, 1, 4);
    sign_again(9);
    CHECK_EQ(verdict(), EMBER_BAD_PROGRAM);
    make(2, 16);
    put(HEAD + PART_SIZE, 0, 4);
    sign_again(9);
    CHECK_EQ(verdict(), EMBER_BAD_PROGRAM);
}

static void other_formats(void) {
    make(1, 16);
    file[FORMAT_AT] = 2;
    CHECK_EQ(verdict(), EMBER_UNTRUSTED);
    make(1, 16);
    file[ALGORITHM_AT] = 3;
    signatures = 0;
    CHECK_EQ(verdict(), EMBER_UNTRUSTED);
    CHECK_EQ(signatures, 0);
}

static void keys_that_are_not_the_signers(void) {
    ember_trust_t trust = trusting("door bell", 0);
    make(1, 16);
    signatures = 0;
    trust.key_count = 2; // one of the algorithm, one of the id
    CHECK_EQ(verified(&trust), EMBER_UNTRUSTED);
    CHECK_EQ(signatures, 0);
    trust.key_count = 0;
    CHECK_EQ(verified(&trust), EMBER_UNTRUSTED);
    make(1, 16);
    sign_again(6);
    CHECK_EQ(verdict(), EMBER_UNTRUSTED);
    file[ALGORITHM_AT] = EMBER_ECDSA_P256; // the first key
    sign_again(5);
    CHECK_EQ(verdict(), EMBER_OK);
}

static void claims_are_signed(void) {
    make(1, 16);
    digests = 0;
    put(VERSION_AT, 6, 4);
    CHECK_EQ(verdict(), EMBER_UNTRUSTED); // the version was not signed
    CHECK_EQ(digests, 0);
    sign_again(9);
    CHECK_EQ(verdict(), EMBER_OK);
}

static void versions(void) {
    static const uint32_t made[] = {0, 4, 5, 6, 0x80000000, 0xFFFFFFFF};
    for (size_t i = 0; i < 6; i++) {
        make(1, 16);
        put(VERSION_AT, made[i], 4);
        sign_again(9);
        CHECK_EQ(verdict(), made[i] < 5 ? EMBER_UNTRUSTED : EMBER_OK);
    }
}

static void purposes(void) {
    static const char *const others[] = {"", "door", "door bel", "door bell ",
                                         "Door bell"};
    make(1, 16);
    for (size_t i = 0; i < 5; i++) {
        const ember_trust_t trust = trusting(others[i], 0);
        CHECK_EQ(verified(&trust), EMBER_UNTRUSTED);
    }
    memcpy(file + PURPOSE_AT, "0123456789abcdef", 16);
    sign_again(9);
    const ember_trust_t longest = trusting("0123456789abcdef", 0);
    CHECK_EQ(verified(&longest), EMBER_OK);
    const ember_trust_t longer = trusting("0123456789abcdefg", 0);
    CHECK_EQ(verified(&longer), EMBER_BAD_ARGUMENT);
}

static ember_status_t broken_digest(const void *data, size_t size, uint8_t digest[32]) {
    toy_digest(data, size, digest);
    return EMBER_IO;
}

static void a_library_that_fails(void) {
    const ember_crypto_t broken = {broken_digest, toy_verify};
    ember_trust_t trust = trusting("door bell", 0);
    make(1, 16);
    trust.crypto = &broken;
    CHECK_EQ(verified(&trust), EMBER_UNTRUSTED);
}

static void bytes_that_cannot_be_read(void) {
    const ember_trust_t trust = trusting("door bell", 0);
    ember_signed_t model;
    make(1, 16);
    CHECK_EQ(ember_verify(&trust, NULL, file_size, &model, NULL), EMBER_BAD_ARGUMENT);
    for (size_t i = 1; i < EMBER_ALIGN; i++) {
        CHECK_EQ(ember_verify(&trust, file + i, file_size, &model, NULL),
                 EMBER_BAD_ARGUMENT);
    }
}

// The parts are no program: what was verified is opened as carefully as anything else.
static void opening(void) {
    const ember_trust_t trust = trusting("door bell", 0);
    ember_program_t program = {.map_count = 55};
    ember_data_map_t maps[EMBER_MOST_DATA];
    ember_signed_t model = {.version = 77};
    make(2, 16);
    CHECK_EQ(ember_verify_open(&trust, file, file_size, &program, maps, &model, NULL),
             EMBER_UNSUPPORTED);
    CHECK(program.map_count == 55 && model.version == 77);
    file[VERSION_AT] ^= 1;
    CHECK_EQ(ember_verify_open(&trust, file, file_size, &program, maps, &model, NULL),
             EMBER_UNTRUSTED);
    CHECK(program.map_count == 55 && model.version == 77);
}

TESTS(TEST(a_signed_model_has_its_parts), TEST(every_changed_bit_is_refused),
      TEST(every_other_size_is_refused), TEST(parts_fill_the_file),
      TEST(numbers_of_parts), TEST(kinds_of_parts), TEST(other_formats),
      TEST(keys_that_are_not_the_signers), TEST(claims_are_signed), TEST(versions),
      TEST(purposes), TEST(a_library_that_fails), TEST(bytes_that_cannot_be_read),
      TEST(opening))
