// SPDX-License-Identifier: Apache-2.0
// What newlib's <stdio.h> and malloc() ask of a system, for applications that use them.
// The runtime and the kernels use neither, so the linker drops all of this from other
// firmware. stdout and stderr are the log, stdin is the console; there are no files.
// All functions are weak: an application may define its own.
#include "ember/port.h"

#include <string.h>
#include <sys/stat.h>

// The heap of an application that calls malloc() or printf(). Two pages, because
// malloc() first takes the rest of a page, then whole pages only.
#define HEAP_BYTES 8192

#define CHUNK       32
#define LAST_STREAM 2 // stdin 0, stdout 1, stderr 2

#define WEAK __attribute__((weak))

WEAK int _close(int file);
WEAK int _fstat(int file, struct stat *state);
WEAK int _getpid(void);
WEAK int _isatty(int file);
WEAK int _kill(int process, int number);
WEAK int _lseek(int file, int offset, int from);
WEAK int _read(int file, char *data, int size);
WEAK int _write(int file, const char *data, int size);
WEAK void *_sbrk(int bytes);
WEAK _Noreturn void _exit(int code);

int _write(int file, const char *data, int size) {
    if (file < 1 || file > LAST_STREAM) {
        return -1;
    }
    char text[CHUNK + 1];
    for (int at = 0; at < size; at += CHUNK) {
        size_t count = (size_t)(size - at < CHUNK ? size - at : CHUNK);
        memcpy(text, data + at, count);
        text[count] = '\0';
        ember_port_log(text);
    }
    return size;
}

int _read(int file, char *data, int size) {
    if (file != 0) {
        return -1;
    }
    int count = 0;
    while (count < size) {
        int32_t character = ember_port_read_char();
        if (character < 0) {
            break;
        }
        data[count++] = (char)character;
        if (character == '\n') {
            break;
        }
    }
    return count;
}

void *_sbrk(int bytes) {
    static _Alignas(8) unsigned char heap[HEAP_BYTES];
    static int used;

    if (bytes > HEAP_BYTES - used || bytes < -used) {
        return (void *)-1; // NOLINT(performance-no-int-to-ptr): newlib's error value
    }
    void *start = heap + used;
    used += bytes;
    return start;
}

int _isatty(int file) {
    return file >= 0 && file <= LAST_STREAM;
}

int _fstat(int file, struct stat *state) {
    (void)file;
    state->st_mode = S_IFCHR;
    return 0;
}

int _close(int file) {
    (void)file;
    return 0;
}

int _lseek(int file, int offset, int from) {
    (void)file;
    (void)offset;
    (void)from;
    return 0;
}

int _getpid(void) {
    return 1;
}

int _kill(int process, int number) {
    (void)process;
    (void)number;
    ember_port_panic("abort()");
}

_Noreturn void _exit(int code) {
    ember_port_exit(code);
}
