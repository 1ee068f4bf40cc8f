// Loaded before the C library by LD_PRELOAD: one call that changes files below a folder
// fails, or writes a half and the next one fails. Processes that are started from this
// one do as usual.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define SHOWN      __attribute__((visibility("default")))
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static char root[PATH_MAX]; // real path with a slash at its end; empty: nothing fails
static int fails_at;        // the call that fails, from 0
static int error_number;
static bool halves; // the call before it writes a half
static int calls;   // so far

// Calls from now on count, and call `at` fails with `error`; -1: none does. `half`: a
// write there writes a half, as when a disk gets full, and the next call fails.
SHOWN void faults_arm(const char *folder, int at, int error, int half) {
    calls = 0;
    fails_at = at;
    error_number = error;
    halves = half != 0;
    if (realpath(folder, root) != NULL) {
        strcat(root, "/");
    }
}

SHOWN int faults_calls(void) {
    return calls;
}

__attribute__((constructor)) static void leave_children_alone(void) {
    unsetenv("LD_PRELOAD");
}

static bool fails(const char *place) {
    if (strncmp(place, root, strlen(root)) != 0 || calls++ != fails_at) {
        return false;
    }
    errno = error_number;
    return true;
}

static bool fails_here(int folder, const char *path) {
    char parent[PATH_MAX], real[PATH_MAX];
    if (root[0] == '\0' || (folder != AT_FDCWD && path[0] != '/') ||
        strlen(path) >= PATH_MAX) {
        return false;
    }
    strcpy(parent, path);
    char *slash = strrchr(parent, '/');
    if (slash == NULL) {
        strcpy(parent, ".");
    } else {
        slash[slash == parent] = '\0';
    }
    if (realpath(parent, real) == NULL) {
        return false;
    }
    strcat(real, "/");
    return fails(real);
}

static bool fails_at_file(int file) {
    char link[64], place[PATH_MAX];
    if (root[0] == '\0') {
        return false;
    }
    snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
    const ssize_t length = readlink(link, place, sizeof(place) - 1);
    if (length < 0) {
        return false;
    }
    place[length] = '\0';
    return fails(place);
}

static bool makes(int flags) {
    return (flags & (O_CREAT | O_WRONLY | O_RDWR | O_TRUNC)) != 0 &&
           (flags & O_DIRECTORY) == 0;
}

#define MODE(flags)                                                                    \
    va_list list;                                                                      \
    va_start(list, flags);                                                             \
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(list, mode_t) : 0;             \
    va_end(list)

SHOWN int open(const char *path, int flags, ...) {
    MODE(flags);
    return makes(flags) && fails_here(AT_FDCWD, path) ? -1
                                                      : REAL(open)(path, flags, mode);
}

SHOWN int open64(const char *path, int flags, ...) {
    MODE(flags);
    return makes(flags) && fails_here(AT_FDCWD, path) ? -1
                                                      : REAL(open64)(path, flags, mode);
}

SHOWN int openat(int folder, const char *path, int flags, ...) {
    MODE(flags);
    return makes(flags) && fails_here(folder, path)
               ? -1
               : REAL(openat)(folder, path, flags, mode);
}

// How many of so many bytes are written; -1: none, it fails.
static ssize_t granted(int file, size_t size) {
    if (!fails_at_file(file)) {
        return (ssize_t)size;
    }
    if (!halves || size < 2) {
        return -1;
    }
    halves = false;
    fails_at = calls;
    return (ssize_t)(size / 2);
}

SHOWN ssize_t write(int file, const void *data, size_t size) {
    const ssize_t some = granted(file, size);
    return some < 0 ? -1 : REAL(write)(file, data, (size_t)some);
}

SHOWN ssize_t pwrite64(int file, const void *data, size_t size, off64_t at) {
    const ssize_t some = granted(file, size);
    return some < 0 ? -1 : REAL(pwrite64)(file, data, (size_t)some, at);
}

SHOWN ssize_t sendfile(int to, int from, off_t *at, size_t size) {
    const ssize_t some = granted(to, size);
    return some < 0 ? -1 : REAL(sendfile)(to, from, at, (size_t)some);
}

SHOWN ssize_t copy_file_range(int from, off64_t *at, int to, off64_t *there,
                              size_t size, unsigned int flags) {
    const ssize_t some = granted(to, size);
    return some < 0 ? -1
                    : REAL(copy_file_range)(from, at, to, there, (size_t)some, flags);
}

SHOWN int ftruncate64(int file, off64_t size) {
    return fails_at_file(file) ? -1 : REAL(ftruncate64)(file, size);
}

SHOWN int fsync(int file) {
    return fails_at_file(file) ? -1 : REAL(fsync)(file);
}

SHOWN int fdatasync(int file) {
    return fails_at_file(file) ? -1 : REAL(fdatasync)(file);
}

SHOWN int mkdir(const char *path, mode_t mode) {
    return fails_here(AT_FDCWD, path) ? -1 : REAL(mkdir)(path, mode);
}

SHOWN int rename(const char *from, const char *to) {
    return fails_here(AT_FDCWD, to) ? -1 : REAL(rename)(from, to);
}

SHOWN int renameat(int from_folder, const char *from, int folder, const char *to) {
    return fails_here(folder, to) ? -1 : REAL(renameat)(from_folder, from, folder, to);
}

SHOWN int link(const char *from, const char *to) {
    return fails_here(AT_FDCWD, to) ? -1 : REAL(link)(from, to);
}

SHOWN int symlink(const char *to, const char *path) {
    return fails_here(AT_FDCWD, path) ? -1 : REAL(symlink)(to, path);
}

SHOWN int chmod(const char *path, mode_t mode) {
    return fails_here(AT_FDCWD, path) ? -1 : REAL(chmod)(path, mode);
}
