/* SPDX-License-Identifier: MIT */
/* cli/train/ranks.h - the processes that train one net together: one alone, or those of an MPI job (mpi/train.c). The
 * first one writes the files and speaks; the others compute their shards. */
#ifndef HALFULP_CLI_TRAIN_RANKS_H
#define HALFULP_CLI_TRAIN_RANKS_H

#include "halfulp/train/trainer.h"

typedef struct train_ranks {
  hu_trainer_ranks trainer; /* with its calls, if size is above 1 */
  void (*end)(int status);  /* ends all processes at once: one of them cannot continue */
} train_ranks;

const train_ranks *train_ranks_get(void);
void train_ranks_set(const train_ranks *ranks);

/* Prints the error line of a call that failed in this process, which ends all of them: the others would wait for it. */
int train_fail(const char *config, hu_status status);
/* Returns 1 for the first process. */
int train_speaks(void);
/* Return the largest of what the processes give: exit codes, signals, from 0 on; and of two numbers each by itself,
 * where x[1] becomes CLI_BAD if a process cannot be reached. All call it. */
int train_largest(int x);
void train_largest_two(int x[2]);
/* Returns CLI_OK, or prints an error line of the first process that names the first one whose x is another than its
 * own: "rank 2 has other WHAT than rank 0". All call it and get the same. */
int train_same(uint64_t x, const char *what);
/* Returns the first process whose x is not the first one's; 0: all are the same; -1: one could not be asked. */
int train_other(uint64_t x);
/* Computes what to give it, of all keys that weights depend on. hash: JOB_DIGEST_START (cli/job/job.h), or that of
 * what comes before. */
uint64_t train_digest_keys(const hu_trainer *trainer, uint64_t hash);
/* Copies the state of the first process's trainer to all, bit for bit. Returns an exit code, the same for all. */
int train_spread(hu_trainer *trainer);

#endif
