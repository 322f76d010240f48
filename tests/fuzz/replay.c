/* replay - runs a fuzz target once over every file of the directories and files named: what
 * libFuzzer found in hours is tested in a second, with any compiler.
 *
 * Every file is also given cut short at a few places, since half a file is the commonest broken
 * one. Each input is copied into a block of exactly its size, so that AddressSanitizer sees a read
 * past it. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int n_inputs;

static void run(const uint8_t *data, size_t size) {
    uint8_t *exact = malloc(size ? size : 1);
    if (!exact) abort();
    memcpy(exact, data, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    n_inputs++;
}

static int replay_file(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        return 1;
    }
    static uint8_t data[1 << 22];
    size_t size = fread(data, 1, sizeof data, f);
    fclose(f);
    run(data, size);
    for (size_t part = 1; part < 8; part++) run(data, size * part / 8);
    return 0;
}

static int replay(const char *path) {
    struct stat s;
    if (stat(path, &s) != 0) {
        perror(path);
        return 1;
    }
    if (!S_ISDIR(s.st_mode)) return replay_file(path);
    struct dirent **entries;
    int n = scandir(path, &entries, NULL, alphasort);
    if (n < 0) {
        perror(path);
        return 1;
    }
    int failed = 0;
    for (int i = 0; i < n; i++) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') failed |= replay(name);
        free(entries[i]);
    }
    free(entries);
    return failed;
}

int main(int argc, char **argv) {
    int failed = 0;
    for (int i = 1; i < argc; i++) failed |= replay(argv[i]);
    printf("%d inputs\n", n_inputs);
    if (n_inputs == 0) fprintf(stderr, "no inputs: nothing was tested\n");
    return failed || n_inputs == 0;
}
