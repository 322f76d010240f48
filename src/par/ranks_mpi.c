/* ranks_mpi - processes started together by mpirun or srun. The only file that knows MPI.
 *
 * MPI is started only when we were: MPI_Init takes a good part of a second, and most commands run
 * alone. Launchers leave their mark in the environment. */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "par/par.h"

/* Shares go in messages of at most MESSAGE numbers: long enough for full speed, and so that no
 * count or byte that MPI keeps in an int overflows. */
enum { LINE_BYTES = 1024, MESSAGE = 1 << 20 };

static MPI_Comm world; // all ranks, apart from what a program that embeds us sends between them
static bool active;    // MPI runs and has us among others
static bool ours;      // and we started it, so we end it
static int rank, ranks = 1, peers = 1;

static bool launched(void) {
    static const char *const marks[] = {
        "OMPI_COMM_WORLD_SIZE", // Open MPI's mpirun
        "PMIX_RANK",            // srun --mpi=pmix, prterun
        "PMI_SIZE",
        "PMI_RANK",            // MPICH and Intel's mpirun, srun --mpi=pmi2
        "MV2_COMM_WORLD_SIZE", // MVAPICH2
    };
    for (int i = 0; i < SL_LEN(marks); i++) {
        if (getenv(marks[i])) return true;
    }
    return false;
}

static sl_status fail_mpi(int error, const char *what) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int len;
    MPI_Error_string(error, text, &len);
    return sl_fail(SL_EIO, "MPI: %s: %s", what, text);
}

/* A launcher may have bound each rank of a machine to cores of its own, some of them to the same
 * ones, or none to any: so ranks of one machine compare the cores they may use. Sets that are equal
 * are shared; launchers make no others that overlap. */
static sl_status count_peers(void) {
    MPI_Comm machine;
    cpu_set_t mine, its;
    int local;
    int error = MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    if (error != MPI_SUCCESS) return fail_mpi(error, "looking for ranks on this machine");
    MPI_Comm_size(machine, &local);
    // fails with more than 1024 cores: then all count as shared
    if (sched_getaffinity(0, sizeof mine, &mine) != 0) CPU_ZERO(&mine);
    peers = 0;
    for (int r = 0; r < local && error == MPI_SUCCESS; r++) {
        its = mine;
        error = MPI_Bcast(&its, sizeof its, MPI_BYTE, r, machine);
        peers += CPU_EQUAL(&its, &mine) != 0;
    }
    MPI_Comm_free(&machine);
    return error == MPI_SUCCESS ? SL_OK : fail_mpi(error, "comparing cores");
}

sl_status sl_par_begin(void) {
    int running = 0;
    MPI_Initialized(&running); // a program that embeds us may have started it
    if (!running && !launched()) return SL_OK;
    if (!running) {
        int level;
        int error = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
        if (error != MPI_SUCCESS) return fail_mpi(error, "starting");
        ours = true;
    }
    int error = MPI_Comm_dup(MPI_COMM_WORLD, &world);
    if (error != MPI_SUCCESS) return fail_mpi(error, "starting");
    active = true;
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN); // a library does not exit
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &ranks);
    return count_peers();
}

void sl_par_end(void) {
    if (active) MPI_Comm_free(&world);
    if (ours) MPI_Finalize();
    active = ours = false;
    rank = 0;
    ranks = peers = 1;
}

int sl_par_rank(void) { return rank; }
int sl_par_ranks(void) { return ranks; }
int sl_par_peers(void) { return peers; }

/* Also carries the message: every rank can say what went wrong, and where. */
sl_status sl_par_agree(sl_status mine) {
    if (!active) return mine;
    struct {
        int st, rank;
    } in = { mine, rank }, worst;
    int error = MPI_Allreduce(&in, &worst, 1, MPI_2INT, MPI_MINLOC, world);
    if (error != MPI_SUCCESS) return fail_mpi(error, "agreeing on a status");
    if (worst.st == SL_OK) return SL_OK;

    char line[LINE_BYTES];
    sl_snprintf(line, sizeof line, "%s", sl_last_error());
    error = MPI_Bcast(line, sizeof line, MPI_CHAR, worst.rank, world);
    if (error != MPI_SUCCESS) return fail_mpi(error, "passing on a message");
    sl_status st = (sl_status)worst.st;
    return rank == worst.rank ? st : sl_fail(st, "rank %d: %s", worst.rank, line);
}

void sl_par_barrier(void) {
    if (active) MPI_Barrier(world);
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
static sl_status pass(run out, run in, MPI_Datatype type, size_t size, const char *what) {
    while (out.left > 0 || in.left > 0) {
        int to, from;
        int n_out = next_message(&out, &to), n_in = next_message(&in, &from);
        int error = MPI_Sendrecv(out.at, n_out, type, to, 0, in.at, n_in, type, from, 0, world,
                                 MPI_STATUS_IGNORE);
        if (error != MPI_SUCCESS) return fail_mpi(error, what);
        out.at += (size_t)n_out * size;
        out.left -= n_out;
        in.at += (size_t)n_in * size;
        in.left -= n_in;
    }
    return SL_OK;
}

static int64_t share_count(const int64_t *begin, int r) { return begin[r + 1] - begin[r]; }

/* In round d everybody sends to the rank d places on, so nobody is sent to by two at once. */
sl_status sl_par_exchange(float *recv, const float *block, const int64_t *begin) {
    const int64_t mine = share_count(begin, rank);
    memcpy(recv + rank * mine, block + begin[rank], (size_t)mine * sizeof *recv);
    for (int d = 1; d < ranks; d++) {
        int to = (rank + d) % ranks, from = (rank - d + ranks) % ranks;
        run out = { (char *)(block + begin[to]), share_count(begin, to), to };
        run in = { (char *)(recv + from * mine), mine, from };
        SL_TRY(pass(out, in, MPI_FLOAT, sizeof *recv, "exchanging shares"));
    }
    return SL_OK;
}

static MPI_Datatype type_of(size_t size) {
    SL_ASSERT(size == 1 || size == 4 || size == 8);
    return size == 1 ? MPI_BYTE : size == 4 ? MPI_UINT32_T : MPI_UINT64_T;
}

/* Round a ring: each rank hands on to the next what it got last, its own share first. */
sl_status sl_par_gather(void *block, size_t size, const int64_t *begin) {
    MPI_Datatype type = type_of(size);
    char *at = block;
    int next = (rank + 1) % ranks, last = (rank - 1 + ranks) % ranks;
    for (int d = 0; d < ranks - 1; d++) {
        int give = (rank - d + ranks) % ranks, take = (rank - d - 1 + ranks) % ranks;
        run out = { at + (size_t)begin[give] * size, share_count(begin, give), next };
        run in = { at + (size_t)begin[take] * size, share_count(begin, take), last };
        SL_TRY(pass(out, in, type, size, "gathering shares"));
    }
    return SL_OK;
}

sl_status sl_par_collect(float *whole, const float *share, const int64_t *begin) {
    static const run none = { 0 };
    if (rank > 0) {
        run out = { (char *)share, share_count(begin, rank), 0 };
        return pass(out, none, MPI_FLOAT, sizeof *share, "collecting shares");
    }
    memmove(whole + begin[0], share, (size_t)share_count(begin, 0) * sizeof *whole);
    for (int r = 1; r < ranks; r++) {
        run in = { (char *)(whole + begin[r]), share_count(begin, r), r };
        SL_TRY(pass(none, in, MPI_FLOAT, sizeof *whole, "collecting shares"));
    }
    return SL_OK;
}

sl_status sl_par_share(void *bytes, size_t n) {
    char *at = bytes;
    while (active && n > 0) {
        int part = (int)SL_MIN(n, (size_t)MESSAGE * sizeof(float));
        int error = MPI_Bcast(at, part, MPI_BYTE, 0, world);
        if (error != MPI_SUCCESS) return fail_mpi(error, "sharing bytes of rank 0");
        at += part;
        n -= (size_t)part;
    }
    return SL_OK;
}

sl_status sl_par_sum(int64_t *x, int n) {
    if (!active) return SL_OK;
    int error = MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_INT64_T, MPI_SUM, world);
    return error == MPI_SUCCESS ? SL_OK : fail_mpi(error, "adding up counts");
}
