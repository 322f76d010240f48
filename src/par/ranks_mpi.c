/* ranks_mpi - processes started together by mpirun or srun. The only file that uses MPI.
 *
 * MPI is loaded and started only if a launcher started this process (it sets environment variables)
 * or if the host program has loaded MPI: its libraries take 15 MB, MPI_Init takes a good part of a
 * second, and most commands run alone.
 *
 * Loaded by dlopen, so nothing is linked with MPI. Its types and constants come from <mpi.h>, its
 * functions from a table. Predefined handles such as MPI_COMM_WORLD are constants in MPICH and
 * those that follow its binary interface; in Open MPI they are addresses of its variables, which
 * are looked up like functions. */
#include <dlfcn.h>
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "par/par_impl.h"

/* Shares go in messages of at most MESSAGE numbers: long enough for full speed, and so that no
 * count or byte that MPI keeps in an int overflows. */
enum { LINE_BYTES = 1024, MESSAGE = 1 << 20 };

enum { SHARE, STOP }; // tags of messages

/* ---------------------------------------------------------------- loading ------------------- */

// functions of MPI that are used
#define FUNCTIONS(X)       \
    X(Initialized)         \
    X(Finalized)           \
    X(Init_thread)         \
    X(Finalize)            \
    X(Error_string)        \
    X(Comm_dup)            \
    X(Comm_free)           \
    X(Comm_rank)           \
    X(Comm_size)           \
    X(Comm_set_errhandler) \
    X(Comm_split_type)     \
    X(Allreduce)           \
    X(Iallreduce)          \
    X(Test)                \
    X(Barrier)             \
    X(Bcast)               \
    X(Sendrecv)            \
    X(Iprobe)              \
    X(Isend)               \
    X(Recv)                \
    X(Waitall)

// predefined handles, by the name that Open MPI's variables have behind "ompi_mpi_"
#define HANDLES(X)                                      \
    X(MPI_Comm, comm_world, MPI_COMM_WORLD)             \
    X(MPI_Errhandler, errors_return, MPI_ERRORS_RETURN) \
    X(MPI_Info, info_null, MPI_INFO_NULL)               \
    X(MPI_Datatype, byte, MPI_BYTE)                     \
    X(MPI_Datatype, int, MPI_INT)                       \
    X(MPI_Datatype, 2int, MPI_2INT)                     \
    X(MPI_Datatype, int64_t, MPI_INT64_T)               \
    X(MPI_Op, op_minloc, MPI_MINLOC)                    \
    X(MPI_Op, op_sum, MPI_SUM)

static struct {
#define X(name) __typeof__(MPI_##name) *name;
    FUNCTIONS(X)
#undef X
#define X(type, name, constant) type h_##name;
    HANDLES(X)
#undef X
} mpi;

static sl_status fail_load(const char *mark) {
    const char *why = sl_dlerror();
    if (!why) why = "unknown reason";
    if (!mark) return sl_fail(SL_EIO, "the MPI of this program cannot be used: %s", why);
    return sl_fail(SL_EIO,
                   "started by mpirun or srun (%s is set), but MPI cannot be loaded: %s; install "
                   "it, or start without mpirun and srun",
                   mark, why);
}

static bool find_symbol(void *out, void *library, const char *name) {
    void *at = dlsym(library, name);
    memcpy(out, &at, sizeof at); // a pointer to a function, to which a void * does not convert
    return at != NULL;
}

static bool find_all(void *library) {
#define X(name) \
    if (!find_symbol(&mpi.name, library, "MPI_" #name)) return false;
    FUNCTIONS(X)
#undef X
#ifdef OPEN_MPI
#define X(type, name, constant) \
    if (!find_symbol(&mpi.h_##name, library, "ompi_mpi_" #name)) return false;
#else
#define X(type, name, constant) mpi.h_##name = constant;
#endif
    HANDLES(X)
#undef X
    return true;
}

static const char *launcher_mark(void) {
    static const char *const marks[] = {
        "OMPI_COMM_WORLD_SIZE", // Open MPI's mpirun
        "PMIX_RANK",            // srun --mpi=pmix, prterun
        "PMI_SIZE",
        "PMI_RANK",            // MPICH and Intel's mpirun, srun --mpi=pmi2
        "MV2_COMM_WORLD_SIZE", // MVAPICH2
    };
    for (int i = 0; i < SL_LEN(marks); i++) {
        if (getenv(marks[i])) return marks[i];
    }
    return NULL;
}

/* *loaded: the table of functions is filled. MPI is never unloaded: it leaves threads and handlers
 * behind. */
static sl_status load(bool *loaded) {
    const char *mark = launcher_mark();
    // the host program's, which it may have loaded with RTLD_LOCAL
    void *library = dlopen(SYMLAW_MPI_FILE, RTLD_NOW | RTLD_NOLOAD);
    *loaded = false;
    if (!library && !mark) return SL_OK;
    // global: the plugins that Open MPI loads look up its symbols there
    if (!library) library = dlopen(SYMLAW_MPI_FILE, RTLD_NOW | RTLD_GLOBAL);
    if (!library || !find_all(library)) return fail_load(mark);
    *loaded = true;
    return SL_OK;
}

/* ---------------------------------------------------------------- lifetime ------------------ */

static MPI_Comm world; // all ranks; a duplicate, so the host's messages do not mix with ours
static bool active;    // MPI is running and `world` is valid
static bool ours;      // this library started MPI, so it ends it
static int rank, ranks = 1, peers = 1;
static MPI_Request *stop_sends; // (ranks): requests to stop sent by this rank
static bool stop_sent;          // they were sent

static sl_status fail_mpi(int error, const char *what) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int len;
    mpi.Error_string(error, text, &len);
    return sl_fail(SL_EIO, "MPI: %s: %s", what, text);
}

/* A launcher may have bound each rank of a machine to cores of its own, some of them to the same
 * ones, or none to any: so ranks of one machine compare the cores they may use. Sets that are equal
 * are shared; launchers make no others that overlap. */
static sl_status count_peers(void) {
    MPI_Comm machine;
    cpu_set_t mine, its;
    int local;
    int error = mpi.Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, mpi.h_info_null, &machine);
    if (error != MPI_SUCCESS) return fail_mpi(error, "looking for ranks on this machine");
    mpi.Comm_size(machine, &local);
    // fails with more than 1024 cores: then all count as shared
    if (sched_getaffinity(0, sizeof mine, &mine) != 0) CPU_ZERO(&mine);
    peers = 0;
    for (int r = 0; r < local && error == MPI_SUCCESS; r++) {
        its = mine;
        error = mpi.Bcast(&its, sizeof its, mpi.h_byte, r, machine);
        peers += CPU_EQUAL(&its, &mine) != 0;
    }
    mpi.Comm_free(&machine);
    return error == MPI_SUCCESS ? SL_OK : fail_mpi(error, "comparing cores");
}

sl_status sl_par_begin(void) {
    bool loaded;
    int running = 0, over = 0;
    SL_TRY(load(&loaded));
    if (!loaded) return SL_OK;
    mpi.Initialized(&running); // the host program may have started it,
    mpi.Finalized(&over);      // and ended it
    if (over || (!running && !launcher_mark())) return SL_OK;
    if (!running) {
        int level;
        int error = mpi.Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
        if (error != MPI_SUCCESS) return fail_mpi(error, "starting");
        ours = true;
    }
    int error = mpi.Comm_dup(mpi.h_comm_world, &world);
    if (error != MPI_SUCCESS) return fail_mpi(error, "starting");
    active = true;
    mpi.Comm_set_errhandler(world, mpi.h_errors_return); // a library does not exit
    mpi.Comm_rank(world, &rank);
    mpi.Comm_size(world, &ranks);
    stop_sends = sl_calloc((size_t)ranks, sizeof *stop_sends);
    if (!stop_sends) return sl_fail_memory((size_t)ranks, sizeof *stop_sends, "a list of ranks");
    return count_peers();
}

void sl_par_end(void) {
    if (active) mpi.Comm_free(&world);
    if (ours) mpi.Finalize();
    sl_free(stop_sends);
    stop_sends = NULL;
    active = ours = false;
    rank = 0;
    ranks = peers = 1;
}

sl_status sl_par_library(char name[80]) {
    __typeof__(MPI_Get_library_version) *version; // may be called before MPI_Init
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int n;
    name[0] = '\0';
    void *library = dlopen(SYMLAW_MPI_FILE, RTLD_NOW | RTLD_GLOBAL);
    if (!library || !find_symbol(&version, library, "MPI_Get_library_version"))
        return sl_fail(SL_EIO, "cannot load MPI: %s", sl_dlerror());
    version(text, &n);
    sl_snprintf(name, 80, "%.*s", (int)SL_MIN(strcspn(text, ",\n"), (size_t)79), text);
    return SL_OK;
}

int sl_par_rank(void) { return rank; }
int sl_par_ranks(void) { return ranks; }
int sl_par_peers(void) { return peers; }

/* Also broadcasts the message, so that every rank reports what failed and on which rank. */
sl_status sl_par_agree(sl_status mine) {
    if (!active) return mine;
    struct {
        int st, rank;
    } in = { mine, rank }, worst;
    MPI_Request request;
    int done = 0;
    int error = mpi.Iallreduce(&in, &worst, 1, mpi.h_2int, mpi.h_op_minloc, world, &request);
    while (!done && error == MPI_SUCCESS) {
        error = mpi.Test(&request, &done, MPI_STATUS_IGNORE);
        if (!done) sl_par_stopping(); // a request to stop must reach ranks that still work
    }
    if (error != MPI_SUCCESS) return fail_mpi(error, "agreeing on a status");
    if (worst.st == SL_OK) return SL_OK;

    char line[LINE_BYTES];
    sl_snprintf(line, sizeof line, "%s", sl_last_error());
    error = mpi.Bcast(line, sizeof line, mpi.h_byte, worst.rank, world);
    if (error != MPI_SUCCESS) return fail_mpi(error, "passing on a message");
    sl_status st = (sl_status)worst.st;
    return rank == worst.rank ? st : sl_fail(st, "rank %d: %s", worst.rank, line);
}

void sl_par_barrier(void) {
    if (active) mpi.Barrier(world);
}

/* ---------------------------------------------------------------- stopping ------------------ */

void sl_par__stop_send(void) {
    if (!active || stop_sent) return;
    stop_sent = true;
    for (int i = 1; i < ranks; i++)
        mpi.Isend(NULL, 0, mpi.h_byte, (rank + i) % ranks, STOP, world, &stop_sends[i - 1]);
}

bool sl_par__stop_arrived(void) {
    int there = 0;
    if (active) mpi.Iprobe(MPI_ANY_SOURCE, STOP, world, &there, MPI_STATUS_IGNORE);
    return there;
}

void sl_par__stop_clear(void) {
    if (!active) return;
    int any = stop_sent;
    if (mpi.Allreduce(MPI_IN_PLACE, &any, 1, mpi.h_int, mpi.h_op_sum, world) != MPI_SUCCESS) return;
    for (int r = 0, sent = stop_sent; any && r < ranks; r++, sent = stop_sent) {
        mpi.Bcast(&sent, 1, mpi.h_int, r, world);
        if (sent && r != rank) mpi.Recv(NULL, 0, mpi.h_byte, r, STOP, world, MPI_STATUS_IGNORE);
    }
    if (stop_sent) mpi.Waitall(ranks - 1, stop_sends, MPI_STATUSES_IGNORE);
    stop_sent = false;
}

/* ---------------------------------------------------------------- shares -------------------- */

/* A run of numbers on its way to or from another rank. */
typedef struct run {
    char *at;
    int64_t left;
    int peer;
} run;

static int next_message(const run *r, int *peer) {
    *peer = r->left > 0 ? r->peer : MPI_PROC_NULL;
    return (int)SL_MIN(r->left, MESSAGE);
}

/* Sends one run while receiving another. Either may be empty; both peers cut a run alike. */
static sl_status pass(run out, run in, size_t size, const char *what) {
    while (out.left > 0 || in.left > 0) {
        int to, from;
        int n_out = next_message(&out, &to), n_in = next_message(&in, &from);
        const int bytes = (int)size; // sent as bytes: all machines have the same representation
        int error = mpi.Sendrecv(out.at, n_out * bytes, mpi.h_byte, to, SHARE, in.at, n_in * bytes,
                                 mpi.h_byte, from, SHARE, world, MPI_STATUS_IGNORE);
        if (error != MPI_SUCCESS) return fail_mpi(error, what);
        out.at += (size_t)n_out * size;
        out.left -= n_out;
        in.at += (size_t)n_in * size;
        in.left -= n_in;
    }
    return SL_OK;
}

static int64_t share_count(const int64_t *begin, int r) { return begin[r + 1] - begin[r]; }

/* In round d each rank sends to the rank d places on, so no rank receives from two at once. */
sl_status sl_par_exchange(float *recv, const float *block, const int64_t *begin) {
    const int64_t mine = share_count(begin, rank);
    memcpy(recv + rank * mine, block + begin[rank], (size_t)mine * sizeof *recv);
    for (int d = 1; d < ranks; d++) {
        int to = (rank + d) % ranks, from = (rank - d + ranks) % ranks;
        run out = { (char *)(block + begin[to]), share_count(begin, to), to };
        run in = { (char *)(recv + from * mine), mine, from };
        SL_TRY(pass(out, in, sizeof *recv, "exchanging shares"));
    }
    return SL_OK;
}

/* Round a ring: each rank sends its own share to the next, then what it received last. */
sl_status sl_par_gather(void *block, size_t size, const int64_t *begin) {
    SL_ASSERT(size == 1 || size == 4 || size == 8);
    char *at = block;
    int next = (rank + 1) % ranks, last = (rank - 1 + ranks) % ranks;
    for (int d = 0; d < ranks - 1; d++) {
        int give = (rank - d + ranks) % ranks, take = (rank - d - 1 + ranks) % ranks;
        run out = { at + (size_t)begin[give] * size, share_count(begin, give), next };
        run in = { at + (size_t)begin[take] * size, share_count(begin, take), last };
        SL_TRY(pass(out, in, size, "gathering shares"));
    }
    return SL_OK;
}

sl_status sl_par_collect(float *whole, const float *share, const int64_t *begin) {
    static const run none = { 0 };
    if (rank > 0) {
        run out = { (char *)share, share_count(begin, rank), 0 };
        return pass(out, none, sizeof *share, "collecting shares");
    }
    memmove(whole + begin[0], share, (size_t)share_count(begin, 0) * sizeof *whole);
    for (int r = 1; r < ranks; r++) {
        run in = { (char *)(whole + begin[r]), share_count(begin, r), r };
        SL_TRY(pass(none, in, sizeof *whole, "collecting shares"));
    }
    return SL_OK;
}

sl_status sl_par_share(void *bytes, size_t n) {
    char *at = bytes;
    while (active && n > 0) {
        int part = (int)SL_MIN(n, (size_t)MESSAGE * sizeof(float));
        int error = mpi.Bcast(at, part, mpi.h_byte, 0, world);
        if (error != MPI_SUCCESS) return fail_mpi(error, "sharing bytes of rank 0");
        at += part;
        n -= (size_t)part;
    }
    return SL_OK;
}

sl_status sl_par_sum(int64_t *x, int n) {
    if (!active) return SL_OK;
    int error = mpi.Allreduce(MPI_IN_PLACE, x, n, mpi.h_int64_t, mpi.h_op_sum, world);
    return error == MPI_SUCCESS ? SL_OK : fail_mpi(error, "adding up counts");
}
