/* files - pages and examples, read once at the start. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/serve_impl.h"

enum { FILES_MAX = 200, BYTES_MAX = 8 << 20 };

/* ---------------------------------------------------------------- one file ------------------ */

static const char *type_of(const char *name) {
    static const char *const types[][2] = {
        { ".html", "text/html; charset=utf-8" },
        { ".js", "text/javascript; charset=utf-8" },
        { ".css", "text/css; charset=utf-8" },
        { ".svg", "image/svg+xml" },
        { ".png", "image/png" },
        { ".ico", "image/x-icon" },
        { ".woff2", "font/woff2" },
        { ".csv", "text/csv; charset=utf-8" },
        { ".json", "application/json" },
        { ".webmanifest", "application/manifest+json" },
    };
    const char *dot = strrchr(name, '.');
    for (int i = 0; dot && dot != name && i < SL_SERVE__LEN(types); i++)
        if (strcmp(dot, types[i][0]) == 0) return types[i][1];
    return NULL;
}

static bool read_all(int fd, char *bytes, size_t size) {
    size_t have = 0;
    while (have < size) {
        const ssize_t n = read(fd, bytes + have, size - have);
        if (n <= 0) return false;
        have += (size_t)n;
    }
    return true;
}

/* FNV-1a: a tag that changes with the bytes. */
static void tag(char *etag, size_t room, const char *bytes, size_t size) {
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++) h = (h ^ (unsigned char)bytes[i]) * 0x100000001b3u;
    sl_serve__format(etag, room, "\"%016llx-%zx\"", (unsigned long long)h, size);
}

/* *bytes := the file, if it is a regular one of moderate size; else it stays NULL. */
static bool read_file(char **bytes, size_t *size, int folder, const char *name) {
    struct stat about;
    *bytes = NULL;
    const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return true;
    bool good = true;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size <= BYTES_MAX) {
        *size = (size_t)about.st_size;
        *bytes = malloc(*size + 1);
        good = *bytes != NULL;
        if (good) (*bytes)[*size] = '\0';
        if (good && !read_all(fd, *bytes, *size)) {
            free(*bytes);
            *bytes = NULL;
        }
    }
    close(fd);
    return good;
}

static bool add_file(sl_serve__files *f, int folder, const char *name) {
    sl_serve__file one = { .type = type_of(name) };
    if (!read_file(&one.bytes, &one.size, folder, name)) return false;
    if (!one.bytes) return true;
    one.name = strdup(name);
    if (!one.name) {
        free(one.bytes);
        return false;
    }
    tag(one.etag, sizeof one.etag, one.bytes, one.size);
    f->file[f->n++] = one;
    return true;
}

/* ---------------------------------------------------------------- examples ------------------ */

/* Copies a cell of a Markdown table, from *at to the next bar. */
static char *take_cell(const char **at) {
    const size_t n = strcspn(*at, "|\n");
    size_t begin = 0, end = n;
    while (begin < n && (*at)[begin] == ' ') begin++;
    while (end > begin && (*at)[end - 1] == ' ') end--;
    char *cell = strndup(*at + begin, end - begin);
    *at += n + ((*at)[n] == '|');
    return cell;
}

/* The README of the examples has a row "| `kepler.csv` | what | the law |" for each table. */
static bool describe(sl_serve__file *f, const char *readme) {
    char begin[300];
    sl_serve__format(begin, sizeof begin, "| `%s` |", f->name);
    const char *row = readme ? strstr(readme, begin) : NULL;
    if (row) {
        row += strlen(begin);
        f->title = take_cell(&row);
        f->text = take_cell(&row);
    } else {
        f->title = strdup("");
        f->text = strdup("");
    }
    return f->title && f->text;
}

static bool describe_all(sl_serve__files *f, int folder) {
    char *readme = NULL;
    size_t size;
    bool good = read_file(&readme, &size, folder, "README.md");
    for (int i = 0; i < f->n && good; i++) good = describe(&f->file[i], readme);
    free(readme);
    return good;
}

/* ---------------------------------------------------------------- a folder ------------------ */

static int by_name(const void *a, const void *b) {
    const sl_serve__file *p = a, *q = b;
    return strcmp(p->name, q->name);
}

static bool is_wanted(const char *name, bool examples) {
    const size_t n = strlen(name);
    const bool csv = n > 4 && strcmp(name + n - 4, ".csv") == 0;
    return name[0] != '.' && type_of(name) && csv == examples;
}

bool sl_serve__files_read(sl_serve__files *out, const char *folder, bool examples) {
    char *path = NULL;
    *out = (sl_serve__files){ 0 };
    const symlaw_status st = symlaw_share_find(&path, folder);
    DIR *dir = path ? opendir(path) : NULL;
    symlaw_string_free(path);
    if (!dir) return st != SYMLAW_ENOMEM;
    out->file = calloc(FILES_MAX, sizeof *out->file);
    bool good = out->file != NULL;
    for (struct dirent *e = readdir(dir); good && e && out->n < FILES_MAX; e = readdir(dir))
        if (is_wanted(e->d_name, examples)) good = add_file(out, dirfd(dir), e->d_name);
    if (good && examples) good = describe_all(out, dirfd(dir));
    closedir(dir);
    if (good && out->n > 0) qsort(out->file, (size_t)out->n, sizeof *out->file, by_name);
    return good;
}

const sl_serve__file *sl_serve__files_find(const sl_serve__files *f, const char *name) {
    for (int i = 0; i < f->n; i++)
        if (strcmp(f->file[i].name, name) == 0) return &f->file[i];
    return NULL;
}

void sl_serve__files_clear(sl_serve__files *f) {
    for (int i = 0; i < f->n; i++) {
        free(f->file[i].name);
        free(f->file[i].bytes);
        free(f->file[i].title);
        free(f->file[i].text);
    }
    free(f->file);
    *f = (sl_serve__files){ 0 };
}
