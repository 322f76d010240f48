/* doctor - the command `doctor`: loads and tries every part that the program uses, and prints what
 * is in use, for bug reports. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ckpt/ckpt.h"
#include "commands/commands_impl.h"

typedef struct options {
    sl_commands_common common;
} options;

static const char help[] =
    "Loads every part that symlaw uses, tries it, and prints what is in use: version,\n"
    "CPU, memory, the libraries for matrix products, MPI, the default model, the\n"
    "cache. A part that is absent or does not work is named with its remedy; the exit\n"
    "code is 1 if one does not work. Quote the output when you report a fault.\n"
    "\n"
    "The search of \"symlaw discover\" needs none of the libraries; training and models\n"
    "need those for matrix products; several processes need MPI.\n"
    "\n"
    "Examples:\n"
    "  symlaw doctor\n"
    "  symlaw doctor --json\n"
    "  SYMLAW_CPU=avx2 symlaw doctor     as on a CPU without AVX-512";

/* ---------------------------------------------------------------- parts --------------------- */

typedef sl_report_check check;

SL_PRINTF(2, 3) static void set_text(check *c, const char *format, ...) {
    va_list args;
    va_start(args, format);
    sl_vsnprintf(c->text, sizeof c->text, format, args);
    va_end(args);
}

/* A failure is what the check reports, not what the command returns. */
static void set_failed(check *c, sl_report_check_state state, const char *remedy) {
    c->state = state;
    set_text(c, "%s", sl_last_error());
    c->remedy = remedy;
}

static void check_version(check *c) { set_text(c, "%s, %s", SL_VERSION, sl_ckpt_build()); }

static void check_cpu(check *c) {
    char name[128];
    const char *word = getenv(SL_CPU_VARIABLE);
    const int cores = sl_par_cores();
    set_text(c, "%s, %d core%s, instructions %s%s%s", sl_cpu_model(name), cores,
             cores == 1 ? "" : "s", sl_isa_name(sl_cpu()), word && *word ? " by SYMLAW_CPU" : "",
             sl_cpu() < sl_cpu_best() ? ", not the widest there are" : "");
}

static void check_memory(check *c) {
    const double gb = 1e-9 * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    const double available = 1e-9 * (double)sl_mem_available();
    set_text(c, "%.1f GB", gb);
    if (available > 0) set_text(c, "%.1f GB, %.1f GB available", gb, available); // 0: unknown
    if (available > 0 && available < 1) {
        c->state = SL_REPORT_CHECK_ABSENT;
        c->remedy = "a search takes up to 1 GB: give discover a smaller --max-memory";
    }
}

/* Largest difference of a product by each library from plain sums. */
static double product_error(void) {
    enum { N = 37 };
    float a[N * N], b[N * N], c[N * N];
    double worst = 0;
    for (int i = 0; i < N * N; i++) {
        a[i] = (float)((i * 7) % 11 - 5);
        b[i] = (float)((i * 5) % 13 - 6);
    }
    for (int library = SL_GEMM_ONEDNN; library <= SL_GEMM_OPENBLAS; library++) {
        if (!sl_nn_gemm_uses((sl_gemm_library)library)) continue;
        sl_nn_gemm_by((sl_gemm_library)library, false, false, N, N, N, 1, a, N, b, N, 0, c, N);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                double sum = 0; // exact: whole numbers
                for (int k = 0; k < N; k++) sum += (double)a[i * N + k] * (double)b[k * N + j];
                const double error = fabs((double)c[i * N + j] - sum);
                if (!(error <= worst)) worst = error; // NaN too
            }
    }
    return worst;
}

static void check_products(check *c) {
    static const char remedy[] =
        "training and models need oneDNN and OpenBLAS; the search does not";
    sl_status st = sl_nn_prepare(1);
    double error = 0;
    if (st == SL_OK) {
        error = product_error();
        st = sl_nn_gemm_status();
    }
    if (st != SL_OK) {
        set_failed(c, SL_REPORT_CHECK_FAILED, remedy);
    } else if (!(error == 0)) {
        c->state = SL_REPORT_CHECK_FAILED;
        set_text(c, "%s give a wrong product, by %g", sl_nn_libraries(), error);
        c->remedy = remedy;
    } else {
        set_text(c, "%s", sl_nn_libraries());
    }
}

static void check_mpi(check *c) {
    char name[80];
    if (sl_par_library(name) != SL_OK) {
        set_failed(c, SL_REPORT_CHECK_ABSENT,
                   "one process works without it; mpirun and srun need it");
    } else if (!*name) {
        set_text(c, "not in this build: one process only");
    } else {
        set_text(c, "%s", name);
    }
}

static void check_model(check *c) {
    sl_str path = { 0 };
    sl_infer *model = NULL;
    char digits[32];
    const char *named = getenv("SYMLAW_MODEL");
    sl_status st = SL_OK;
    if (named && *named)
        sl_str_add(&path, named);
    else
        st = sl_commands_model_default(&path);
    if (st == SL_OK) st = sl_str_status(&path);
    if (st == SL_OK) st = sl_infer_open(&model, path.text);
    if (st == SL_OK) {
        const sl_infer_info *i = sl_infer_about(model);
        set_text(c, "%s%s, %s parameters, %d inputs", i->path,
                 named && *named ? " by SYMLAW_MODEL" : "",
                 sl_group_digits(digits, i->model->count), i->variables);
    } else {
        set_failed(c, named && *named ? SL_REPORT_CHECK_FAILED : SL_REPORT_CHECK_ABSENT,
                   "discover works without a model, by the search alone");
    }
    sl_infer_close(model);
    sl_str_clear(&path);
}

/* Files of the folder and their bytes; false where it cannot be read. */
static bool count_files(const char *folder, int *files, double *bytes) {
    DIR *d = opendir(folder);
    *files = 0;
    *bytes = 0;
    if (!d) return false;
    for (const struct dirent *e = readdir(d); e; e = readdir(d)) {
        struct stat of;
        if (fstatat(dirfd(d), e->d_name, &of, 0) != 0 || !S_ISREG(of.st_mode)) continue;
        ++*files;
        *bytes += (double)of.st_size;
    }
    closedir(d);
    return true;
}

static void check_cache(check *c) {
    sl_str folder = { 0 };
    int files;
    double bytes;
    sl_commands_cache_folder(&folder, NULL);
    const char *path = sl_str_text(&folder);
    if (!*path) {
        set_text(c, "off: sets of expressions are built again by each command");
    } else if (access(path, F_OK) != 0) {
        set_text(c, "%.200s, which is made when it is needed", path);
    } else if (access(path, R_OK | W_OK | X_OK) != 0 || !count_files(path, &files, &bytes)) {
        c->state = SL_REPORT_CHECK_ABSENT;
        set_text(c, "%.200s cannot be used: no permission", path);
        c->remedy = "SYMLAW_CACHE names another folder, or off";
    } else {
        set_text(c, "%.200s, %d file%s, %.1f MB", path, files, files == 1 ? "" : "s", 1e-6 * bytes);
    }
    sl_str_clear(&folder);
}

/* ---------------------------------------------------------------- the command --------------- */

static const struct {
    const char *part;
    void (*run)(check *c);
} checks[] = {
    { "version", check_version },   { "CPU", check_cpu }, { "memory", check_memory },
    { "products", check_products }, { "MPI", check_mpi }, { "model", check_model },
    { "cache", check_cache },
};

static sl_status work(sl_commands_run *run, sl_str *result, bool *ok) {
    check all[SL_LEN(checks)] = { 0 };
    for (int i = 0; i < SL_LEN(checks); i++) {
        all[i].part = checks[i].part;
        checks[i].run(&all[i]);
        *ok = *ok && all[i].state != SL_REPORT_CHECK_FAILED;
    }
    sl_report_checks_json(result, all, SL_LEN(checks));
    if (run->common->json) return SL_OK;
    sl_report_checks_table(&run->output, all, SL_LEN(checks));
    return sl_commands__output(run);
}

sl_commands_command sl_commands__doctor = {
    .info = { .name = "doctor",
              .summary = "try every part of the program and print what is in use",
              .help = help },
    .work = work,
    .size = sizeof(options),
    .parts = { SL_COMMANDS_COMMON_PART },
};
