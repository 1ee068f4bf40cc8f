// SPDX-License-Identifier: Apache-2.0
// Programs from files of the host.
#include <string.h>

#include "check.h"
#include "ember/loader_file.h"
#include "subject.h"
#include "toys.h"

static const char *path_of(const char *name) {
    static char path[600];
    const char *folder = test_argument(0);
    const size_t length = strlen(folder);
    memcpy(path, folder, length);
    path[length] = '/';
    memcpy(path + length + 1, name, strlen(name) + 1);
    return path;
}

static void programs_are_read(void) {
    ember_file_t file;
    ember_loader_t loader;
    ember_error_t error;
    ember_bytes_t bytes;
    subject_t subject;
    uint8_t part[4];
    CHECK_EQ(ember_file_open(&file, path_of("add.pte"), &loader, &error), EMBER_OK);
    const ember_bytes_t want = test_file("add.pte");
    CHECK_EQ(loader.size, want.size);
    CHECK_EQ(loader.read(loader.context, 4, part, 4), EMBER_OK);
    CHECK(memcmp(part, "ET12", 4) == 0);
    CHECK_EQ(loader.read(loader.context, loader.size - 3, part, 4), EMBER_IO);
    CHECK_EQ(loader.read(loader.context, UINT64_MAX, part, 4), EMBER_IO);
    CHECK_EQ(loader.read(loader.context, loader.size, part, 0), EMBER_OK);

    ember_arena_t arena = {.data = test_alloc(want.size), .size = want.size};
    CHECK_EQ(ember_loader_read_all(&loader, &arena, EMBER_ALIGN, &bytes, &error),
             EMBER_OK);
    ember_file_close(&file);
    CHECK(bytes.size == want.size && memcmp(bytes.data, want.data, want.size) == 0);
    CHECK_EQ(subject_open_bytes(&subject, bytes), EMBER_OK);
    CHECK_EQ(subject_load(&subject, "forward", &toy_registry), EMBER_OK);
    subject_close(&subject);
}

static void small_arenas_are_refused(void) {
    ember_file_t file;
    ember_loader_t loader;
    ember_error_t error;
    ember_bytes_t bytes;
    CHECK_EQ(ember_file_open(&file, path_of("add.pte"), &loader, &error), EMBER_OK);
    ember_arena_t arena = {.data = test_alloc(64), .size = 64};
    CHECK_EQ(ember_loader_read_all(&loader, &arena, EMBER_ALIGN, &bytes, &error),
             EMBER_NO_MEMORY);
    CHECK_EQ(error.status, EMBER_NO_MEMORY);
    ember_file_close(&file);
}

static void missing_files_are_reported(void) {
    ember_file_t file;
    ember_loader_t loader;
    ember_error_t error = {EMBER_OK, 0, NULL};
    CHECK_EQ(ember_file_open(&file, path_of("nothing.pte"), &loader, &error),
             EMBER_NOT_FOUND);
    CHECK_EQ(error.status, EMBER_NOT_FOUND);
    CHECK_EQ(loader.size, 0);
    CHECK_EQ(ember_file_open(&file, "", &loader, NULL), EMBER_NOT_FOUND);
}

// The tests' output is a pipe, which has no size; a file of no bytes has one. No handle
// is kept: the next file gets the same one.
static void files_have_a_size(void) {
    ember_file_t file;
    ember_loader_t loader;
    CHECK_EQ(ember_file_open(&file, path_of("empty.bin"), &loader, NULL), EMBER_OK);
    const int32_t handle = file.handle;
    CHECK_EQ(loader.size, 0);
    ember_file_close(&file);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(ember_file_open(&file, "/proc/self/fd/1", &loader, NULL), EMBER_IO);
        CHECK_EQ(loader.size, 0);
        CHECK_EQ(file.handle, handle);
    }
}

#if __STDC_HOSTED__
#include <stdio.h>

// Without a standard input its number is that of the next file.
static void a_handle_may_be_zero(void) {
    ember_file_t file;
    ember_loader_t loader;
    CHECK_EQ(fclose(stdin), 0);
    CHECK_EQ(ember_file_open(&file, path_of("add.pte"), &loader, NULL), EMBER_OK);
    CHECK_EQ(file.handle, 0);
    CHECK(loader.size > 0);
    ember_file_close(&file);
}
#else
static void a_handle_may_be_zero(void) {
}
#endif

TESTS(TEST(programs_are_read), TEST(small_arenas_are_refused),
      TEST(missing_files_are_reported), TEST(files_have_a_size),
      TEST(a_handle_may_be_zero))
