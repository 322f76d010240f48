/* For fuzz targets that read files: any bytes as a file, and what a refusal must look like. */
#ifndef SL_FUZZ_FILE_H
#define SL_FUZZ_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"

_Noreturn static void wrong(const char *what) {
    fprintf(stderr, "%s: %s\n", what, sl_last_error());
    abort();
}

/* A file that is nowhere, with its path. */
static int file_of(char path[64], const void *bytes, size_t n) {
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0) wrong("no file");
    for (size_t at = 0; at < n;) {
        const ssize_t done = write(fd, (const char *)bytes + at, n - at);
        if (done <= 0) wrong("not written");
        at += (size_t)done;
    }
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

static void expect_reason(sl_status st) {
    if (st != SL_EFORMAT && st != SL_ELIMIT && st != SL_EIO && st != SL_EINVAL)
        wrong("another status");
    if (!*sl_last_error()) wrong("no reason");
}

#endif
