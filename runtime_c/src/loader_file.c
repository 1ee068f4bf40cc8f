// SPDX-License-Identifier: Apache-2.0
// DataLoader for port.h's files.
#include "ember/loader_file.h"

#include "ember/port.h"

static ember_status_t read_file(void *context, uint64_t offset, void *to, size_t size) {
    const ember_file_t *file = context;
    if (ember_port_seek(file->handle, offset) != 0 ||
        ember_port_read(file->handle, to, size) != (int64_t)size) {
        return EMBER_IO;
    }
    return EMBER_OK;
}

ember_status_t ember_file_open(ember_file_t *file, const char *path,
                               ember_loader_t *loader, ember_error_t *err) {
    ember_status_t status = EMBER_OK;
    int64_t size = -1;
    file->handle = ember_port_open(path, EMBER_PORT_READ);
    if (file->handle < 0) {
        status = ember_fail(err, EMBER_NOT_FOUND, "loader: no such file");
    } else {
        size = ember_port_size(file->handle);
        if (size < 0) {
            ember_port_close(file->handle);
            status = ember_fail(err, EMBER_IO, "loader: not a file of known size");
        }
    }
    *loader =
        (ember_loader_t){read_file, file, status == EMBER_OK ? (uint64_t)size : 0};
    return ember_error_close(err, status, EMBER_NO_INSTRUCTION);
}

void ember_file_close(ember_file_t *file) {
    ember_port_close(file->handle);
}
