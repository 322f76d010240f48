/* Inside src/study only: programs of Slurm, and text for their shells. */
#ifndef SL_STUDY_SLURM_IMPL_H
#define SL_STUDY_SLURM_IMPL_H

#include "study/study.h"

/* Runs a program found in PATH, without a shell, and waits for it. Appends what it writes, at most
 * SL_STUDY__OUTPUT bytes each; *code := its exit code, 128 + n after signal n. SL_EIO: there is no
 * such program (*missing), it cannot be started, or it takes more than `seconds` and is killed. */
enum { SL_STUDY__OUTPUT = 1 << 20 };
SL_NODISCARD sl_status sl_study__execute(int *code, bool *missing, sl_str *out, sl_str *err,
                                         const char *const *argv, double seconds);

enum { SL_STUDY__SLURM_NAME = 64 };
/* The folders of a study's jobs, and the name of the jobs. */
typedef struct sl_study__slurm_place {
    char study[4096];  // the folder, absolute
    char folder[4096]; // slurm/ in it
    char name[SL_STUDY__SLURM_NAME];
} sl_study__slurm_place;
/* SL_EINVAL: a backslash in the folder's path, which Slurm removes from the name of a log. */
SL_NODISCARD sl_status sl_study__slurm_find(sl_study__slurm_place *out, const sl_study_plan *plan,
                                             const char *dir);

/* Appends the script. SL_EINVAL names the option that cannot be written. */
SL_NODISCARD sl_status sl_study__slurm_script(sl_str *s, const sl_study_slurm_options *o,
                                              const sl_study__slurm_place *p);

/* The arguments of the command that submits it; they point into texts, which the caller clears. */
enum { SL_STUDY__SBATCH_WORDS = 6 };
void sl_study__slurm_words(const char *words[SL_STUDY__SBATCH_WORDS], sl_str texts[3],
                           const sl_study__slurm_place *p);

/* Parses the output of `sbatch --parsable`: a number, perhaps with ";cluster", and a line's end.
 * Anything else is SL_EFORMAT. */
SL_NODISCARD sl_status sl_study__slurm_read_id(char id[32], const char *text);
/* Parses lines of SL_STUDY__SQUEUE_FORMAT. SL_EFORMAT quotes the malformed line. */
#define SL_STUDY__SQUEUE_FORMAT "%F|%K|%T|%r"
SL_NODISCARD sl_status sl_study__slurm_read_jobs(sl_study_slurm_jobs *out, const char *text);

#endif
