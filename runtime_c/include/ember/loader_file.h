// SPDX-License-Identifier: Apache-2.0
// DataLoader over a file of the host, through port.h: a file of the process on a host,
// semihosting on a board.
//
//     ember_file_t file;
//     ember_loader_t loader;
//     ember_file_open(&file, "model.pte", &loader, &err);
//     ember_loader_read_all(&loader, &arena, EMBER_ALIGN, &bytes, &err);
//     ember_file_close(&file);
#ifndef EMBER_LOADER_FILE_H
#define EMBER_LOADER_FILE_H

#include "ember/loader.h"

EMBER_C_BEGIN

// An open file. It must outlive its loader.
typedef struct ember_file {
    int32_t handle; // of port.h
} ember_file_t;

// Opens `path` for reading, with a loader for all of it.
//
// NOT_FOUND if there is no such file or the port has no files; IO if its size is
// unknown. On failure nothing is left open.
EMBER_MUST_USE ember_status_t ember_file_open(ember_file_t *file, const char *path,
                                              ember_loader_t *loader,
                                              ember_error_t *err);

void ember_file_close(ember_file_t *file);

EMBER_C_END

#endif // EMBER_LOADER_FILE_H
