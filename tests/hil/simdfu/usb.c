// SPDX-License-Identifier: Apache-2.0
// libusb with one device on the bus: a boot loader that speaks ST's DfuSe (AN3156), its
// flash a file. Preloaded into dfu-util, whose calls of libusb end here.
//
//     SIMDFU_FLASH  the file with the flash; without it there is no device
//     SIMDFU_LEFT   the file that the address is written to when it leaves
//     SIMDFU_CUT    transfers after which the device is gone
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SIZE = 128 * 1024, SECTOR = 4096, TRANSFER = 1024 };
enum { DOWNLOAD = 1, UPLOAD, GET_STATUS, CLEAR_STATUS, GET_STATE, ABORT };
enum { IDLE = 2, SYNC, BUSY, DOWNLOADING, MANIFEST = 7, UPLOADING = 9, ERROR };
enum { GONE = -4, STALL = -9 };
enum { TEXT = 0x0300, READ_DESCRIPTOR = 6 };

// ---- the structures of libusb's interface that dfu-util reads
// --------------------------

struct device_descriptor {
    uint8_t length, type;
    uint16_t usb;
    uint8_t class, subclass, protocol, packet;
    uint16_t vendor, product, device;
    uint8_t manufacturer, name, serial, configurations;
};
struct interface_descriptor {
    uint8_t length, type, number, alternate, endpoints, class, subclass, protocol, name;
    const void *endpoint;
    const uint8_t *extra;
    int extra_length;
};
struct interface {
    const struct interface_descriptor *alternates;
    int count;
};
struct configuration {
    uint8_t length, type;
    uint16_t total;
    uint8_t interfaces, value, name, attributes, power;
    const struct interface *interface;
    const uint8_t *extra;
    int extra_length;
};
struct version {
    uint16_t major, minor, micro, nano;
    const char *rc, *describe;
};

static const uint8_t functional[] = {9, 0x21, 0x0B, 255, 0, 0, TRANSFER >> 8, 0x1A, 1};
static const struct interface_descriptor alternate = {
    9, 4, 0, 0, 0, 0xFE, 1, 2, 1, 0, functional, sizeof functional};
static const struct interface interface = {&alternate, 1};
static const struct configuration configuration = {9, 2,   27,         1, 1, 0,
                                                   0, 100, &interface, 0, 0};
static const struct device_descriptor device = {18,     1,      0x0100, 0, 0, 0, 64,
                                                0x0483, 0xDF11, 0x2200, 0, 0, 2, 1};
static const char *const texts[] = {"", "@Flash  /0x00000000/32*004Kg", "SIMULATED"};
static int here;

// ---- the boot loader
// -------------------------------------------------------------------

static uint8_t *flash;
static int state = IDLE;
static uint32_t pointer;   // the address that a command set
static int pending = IDLE; // the state after the next question for it

static int command(const uint8_t *data, int length) {
    if (length != 5) {
        return STALL; // erasing all, unlocking: nobody shall ask for that
    }
    const uint32_t address =
        data[1] | data[2] << 8 | data[3] << 16 | (uint32_t)data[4] << 24;
    if (address >= SIZE) {
        return STALL;
    }
    if (data[0] == 0x41) {
        memset(flash + address / SECTOR * SECTOR, 0xFF, SECTOR);
    } else if (data[0] == 0x21) {
        pointer = address;
    } else {
        return STALL;
    }
    return length;
}

static int leave(void) {
    FILE *file = fopen(getenv("SIMDFU_LEFT"), "w");

    fprintf(file, "%#x", pointer);
    fclose(file);
    pending = MANIFEST;
    return 0;
}

static int program(int block, const uint8_t *data, int length) {
    const uint32_t at = pointer + (uint32_t)(block - 2) * TRANSFER;

    if (at + (uint32_t)length > SIZE) {
        return STALL;
    }
    for (int i = 0; i < length; i++) {
        flash[at + (uint32_t)i] &= data[i]; // as NOR flash
    }
    return length;
}

static int download(int block, const uint8_t *data, int length) {
    if (state != IDLE && state != DOWNLOADING) {
        return STALL;
    }
    state = SYNC;
    pending = DOWNLOADING;
    if (length == 0) {
        return leave();
    }
    return block == 0 ? command(data, length) : program(block, data, length);
}

static int upload(int block, uint8_t *data, int length) {
    const uint32_t at = pointer + (uint32_t)(block - 2) * TRANSFER;

    if ((state != IDLE && state != UPLOADING) || at + (uint32_t)length > SIZE) {
        return STALL;
    }
    state = UPLOADING;
    memcpy(data, flash + at, (size_t)length);
    return length;
}

static int status(uint8_t *data) {
    if (state == SYNC) {
        state = pending == MANIFEST ? MANIFEST : BUSY;
    } else if (state == BUSY) {
        state = pending;
    }
    memset(data, 0, 6);
    data[4] = (uint8_t)state;
    return 6;
}

static int text(int index, uint8_t *data) {
    const char *from = texts[index];
    int length = 2;

    if (index == 0) {
        memcpy(data, "\4\3\x09\4", 4); // the language
        return 4;
    }
    for (; *from != '\0'; from++) {
        data[length++] = (uint8_t)*from;
        data[length++] = 0;
    }
    data[0] = (uint8_t)length;
    data[1] = 3;
    return length;
}

static int is_gone(void) {
    static int transfers;
    const char *limit = getenv("SIMDFU_CUT");

    return limit != NULL && ++transfers > atoi(limit);
}

int libusb_control_transfer(void *handle, uint8_t type, uint8_t request, uint16_t value,
                            uint16_t index, uint8_t *data, uint16_t length,
                            unsigned timeout) {
    (void)handle, (void)index, (void)timeout;
    if (is_gone()) {
        return GONE;
    }
    if (type == 0x80) {
        const int is_text = request == READ_DESCRIPTOR && (value & 0xFF00) == TEXT;
        return is_text && (value & 0xFF) < 3 ? text(value & 0xFF, data) : STALL;
    }
    switch (request) {
    case DOWNLOAD:
        return download(value, data, length);
    case UPLOAD:
        return upload(value, data, length);
    case GET_STATUS:
        return status(data);
    case GET_STATE:
        data[0] = (uint8_t)state;
        return 1;
    case CLEAR_STATUS:
    case ABORT:
        state = IDLE;
        return 0;
    default:
        return STALL;
    }
}

// ---- the bus
// ---------------------------------------------------------------------------

long libusb_get_device_list(void *context, void ***list) {
    static void *devices[2];
    const char *path = getenv("SIMDFU_FLASH");

    (void)context;
    *list = devices;
    if (path == NULL) {
        return 0;
    }
    const int file = open(path, O_RDWR);
    flash = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    devices[0] = &here;
    return flash == MAP_FAILED ? -1 : 1;
}

int libusb_get_device_descriptor(void *at, struct device_descriptor *found) {
    (void)at;
    *found = device;
    return 0;
}

int libusb_get_config_descriptor(void *at, uint8_t index,
                                 const struct configuration **found) {
    (void)at, (void)index;
    *found = &configuration;
    return 0;
}

int libusb_open(void *at, void **handle) {
    *handle = at;
    return 0;
}

const char *libusb_error_name(int code) {
    return code == GONE ? "LIBUSB_ERROR_NO_DEVICE" : "LIBUSB_ERROR_PIPE";
}

const struct version *libusb_get_version(void) {
    static const struct version version = {1, 0, 26, 0, "", ""};
    return &version;
}

void *libusb_ref_device(void *at) {
    return at;
}

int libusb_get_port_numbers(void *at, uint8_t *numbers, int count) {
    (void)at, (void)count;
    numbers[0] = 1;
    return 1;
}

// What succeeds without doing anything.
__attribute__((used)) static int nothing(void) {
    return 0;
}

__asm(
    ".irp name, set_option, claim_interface, release_interface, reset_device\n"
    ".globl libusb_\\name\n"
    ".set libusb_\\name, nothing\n"
    ".endr\n"
    ".irp name, set_interface_alt_setting, get_bus_number, get_device_address, close\n"
    ".globl libusb_\\name\n"
    ".set libusb_\\name, nothing\n"
    ".endr\n"
    ".irp name, exit, free_config_descriptor, free_device_list, unref_device\n"
    ".globl libusb_\\name\n"
    ".set libusb_\\name, nothing\n"
    ".endr\n");

int libusb_init(void **context) {
    *context = &here;
    return 0;
}
