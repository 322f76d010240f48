/* ranks_mpi - processes started together by mpirun or srun. The only file that knows MPI.
 *
 * MPI is started only when we were: MPI_Init takes a good part of a second, and most commands run
 * alone. Launchers leave their mark in the environment. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "par/par.h"

enum { LINE_BYTES = 1024 };

static bool active; // MPI runs and has us among others
static bool ours;   // and we started it, so we end it
static int rank, ranks = 1;

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
    active = true;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); // a library does not exit
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return SL_OK;
}

void sl_par_end(void) {
    if (ours) MPI_Finalize();
    active = ours = false;
    rank = 0;
    ranks = 1;
}

int sl_par_rank(void) { return rank; }
int sl_par_ranks(void) { return ranks; }

/* Also carries the message: every rank can say what went wrong, and where. */
sl_status sl_par_agree(sl_status mine) {
    if (!active) return mine;
    struct {
        int st, rank;
    } in = { mine, rank }, worst;
    int error = MPI_Allreduce(&in, &worst, 1, MPI_2INT, MPI_MINLOC, MPI_COMM_WORLD);
    if (error != MPI_SUCCESS) return fail_mpi(error, "agreeing on a status");
    if (worst.st == SL_OK) return SL_OK;

    char line[LINE_BYTES];
    snprintf(line, sizeof line, "%s", sl_last_error());
    error = MPI_Bcast(line, sizeof line, MPI_CHAR, worst.rank, MPI_COMM_WORLD);
    if (error != MPI_SUCCESS) return fail_mpi(error, "passing on a message");
    sl_status st = (sl_status)worst.st;
    return rank == worst.rank ? st : sl_fail(st, "rank %d: %s", worst.rank, line);
}

void sl_par_barrier(void) {
    if (active) MPI_Barrier(MPI_COMM_WORLD);
}
