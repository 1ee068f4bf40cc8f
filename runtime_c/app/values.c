// SPDX-License-Identifier: Apache-2.0
// Values of a method as files of the host; the format is in values.h.
#include "values.h"

#include "ember/port.h"

static bool read_exactly(int32_t file, void *to, size_t size) {
    return ember_port_read(file, to, size) == (int64_t)size;
}

static ember_status_t broken(ember_error_t *err) {
    return ember_fail(err, EMBER_IO, "values: the file is broken or ends early");
}

static bool skip_padding(int32_t file, uint32_t bytes) {
    uint8_t padding[4];
    return (bytes & 3u) == 0 || read_exactly(file, padding, (0u - bytes) & 3u);
}

static ember_status_t read_tensor(int32_t file, const ember_values_head_t *head,
                                  ember_method_t *method, uint32_t index,
                                  ember_error_t *err) {
    int32_t sizes[EMBER_MAX_RANK];
    ember_value_t value;
    ember_status_t status = ember_method_input(method, index, &value);
    if (status != EMBER_OK || value.kind != EMBER_TENSOR ||
        value.as_tensor.dtype != head->dtype || value.as_tensor.rank != head->rank) {
        return ember_fail(err, EMBER_BAD_ARGUMENT, "input: wrong kind, dtype or rank");
    }
    if (head->rank > EMBER_MAX_RANK ||
        !read_exactly(file, sizes, head->rank * sizeof(sizes[0]))) {
        return broken(err);
    }
    status = ember_values_resize(method, index, head->rank, sizes, err);
    if (status != EMBER_OK) {
        return status;
    }
    status = ember_method_input(method, index, &value);
    if (status != EMBER_OK || ember_tensor_bytes(&value.as_tensor) != head->bytes ||
        (head->bytes > 0 &&
         (value.as_tensor.data == NULL || value.as_tensor.constant))) {
        return ember_fail(err, EMBER_BAD_ARGUMENT,
                          "input: no memory for a tensor of this size");
    }
    return read_exactly(file, value.as_tensor.data, head->bytes) &&
                   skip_padding(file, head->bytes)
               ? EMBER_OK
               : broken(err);
}

static ember_status_t read_value(int32_t file, ember_method_t *method, uint32_t index,
                                 ember_error_t *err) {
    ember_values_head_t head;
    if (!read_exactly(file, &head, sizeof(head))) {
        return broken(err);
    }
    return head.kind == EMBER_TENSOR
               ? read_tensor(file, &head, method, index, err)
               : ember_values_read_other(file, &head, method, index, err);
}

ember_status_t ember_values_read(int32_t file, ember_method_t *method,
                                 ember_error_t *err) {
    uint32_t head[2];
    if (!read_exactly(file, head, sizeof(head)) || head[0] != EMBER_VALUES_MAGIC) {
        return broken(err);
    }
    ember_status_t status = EMBER_OK;
    for (uint32_t i = 0; status == EMBER_OK && i < head[1]; i++) {
        status = read_value(file, method, i, err);
    }
    return status;
}

// Each write costs a trap into the emulator, even an empty one.
static bool write_some(int32_t file, const void *data, size_t size) {
    return size == 0 || ember_port_write(file, data, size) == 0;
}

ember_status_t ember_value_write(int32_t file, const ember_value_t *value) {
    static const uint8_t padding[4];
    ember_values_head_t head = {.kind = (uint32_t)value->kind};
    const void *payload = &value->as_int;
    const int32_t *sizes = NULL;
    int64_t flag;
    if (value->kind == EMBER_TENSOR) {
        const ember_tensor_t *tensor = &value->as_tensor;
        head.dtype = tensor->dtype;
        head.rank = tensor->rank;
        head.bytes = tensor->data != NULL ? (uint32_t)ember_tensor_bytes(tensor) : 0;
        sizes = tensor->sizes;
        payload = tensor->data;
    } else if (value->kind == EMBER_BOOL) {
        flag = value->as_bool ? 1 : 0;
        head.bytes = sizeof(flag);
        payload = &flag;
    } else if (value->kind == EMBER_STRING) {
        head.bytes = value->as_string.length;
        payload = value->as_string.text;
    } else if (value->kind == EMBER_INT || value->kind == EMBER_DOUBLE) {
        head.bytes = sizeof(value->as_int);
    }
    const bool written = ember_port_write(file, &head, sizeof(head)) == 0 &&
                         write_some(file, sizes, head.rank * sizeof(*sizes)) &&
                         write_some(file, payload, head.bytes) &&
                         write_some(file, padding, (0u - head.bytes) & 3u);
    return written ? EMBER_OK : EMBER_IO;
}

ember_status_t ember_values_write(int32_t file, ember_method_t *method) {
    const uint32_t head[2] = {EMBER_VALUES_MAGIC, method->meta.output_count};
    if (ember_port_write(file, head, sizeof(head)) != 0) {
        return EMBER_IO;
    }
    ember_status_t status = EMBER_OK;
    for (uint32_t i = 0; status == EMBER_OK && i < head[1]; i++) {
        ember_value_t value;
        status = ember_method_output(method, i, &value);
        if (status == EMBER_OK) {
            status = ember_value_write(file, &value);
        }
    }
    return status;
}
