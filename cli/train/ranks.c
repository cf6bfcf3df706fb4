/* SPDX-License-Identifier: MIT */
/* What the processes of a training run exchange besides gradients: sums of whole numbers, of which each process fills
 * its own places. See ranks.h. */
#include "cli/train/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/job/job.h"

static const train_ranks alone = {{0, 1, NULL, NULL, NULL}, NULL};
static const train_ranks *given = &alone;

const train_ranks *train_ranks_get(void) { return given; }
void train_ranks_set(const train_ranks *ranks) { given = ranks; }

int train_fail(const char *config, hu_status error) {
  int status = cli_fail_status(config, error);
  if (given->end) given->end(status);
  return status;
}

int train_speaks(void) { return given->trainer.rank == 0; }

/* Makes x[i] the sum over the processes. */
static int sum(size_t n, double *x) {
  if (given->trainer.size == 1 || given->trainer.sum(given->trainer.context, n, x) == HU_OK) return CLI_OK;
  return CLI_BAD;
}

/* Collects z[r n + i] = x[i] of process r, whole numbers up to 2^53. */
static int collect(size_t n, double *z, const double *x) {
  memset(z, 0, (size_t)given->trainer.size * n * sizeof *z);
  memcpy(z + (size_t)given->trainer.rank * n, x, n * sizeof *z);
  return sum((size_t)given->trainer.size * n, z);
}

static double *places(size_t n) {
  double *z = malloc((size_t)given->trainer.size * n * sizeof *z);
  if (!z && given->end) given->end(CLI_BAD);
  return z;
}

void train_largest_two(int x[2]) {
  const double own[2] = {(double)x[0], (double)x[1]};
  if (given->trainer.size == 1) return;
  double *all = places(2);
  if (!all || collect(2, all, own)) x[1] = CLI_BAD;
  for (int rank = 0; all && rank < 2 * given->trainer.size; rank++) {
    if (all[rank] > (double)x[rank % 2]) x[rank % 2] = (int)all[rank];
  }
  free(all);
}

int train_largest(int x) {
  int two[2] = {0, x};
  train_largest_two(two);
  return two[1];
}

/* Finds the first process whose two numbers are not those of process 0. */
static int other(const double *all) {
  for (int rank = 1; rank < given->trainer.size; rank++) {
    if (all[2 * rank] != all[0] || all[2 * rank + 1] != all[1]) return rank;
  }
  return 0;
}

int train_other(uint64_t x) {
  const double halves[2] = {(double)(x & 0xFFFFFFFFu), (double)(x >> 32)};
  double *all = places(2);
  int status = all ? collect(2, all, halves) : CLI_BAD, rank = status == CLI_OK ? other(all) : 0;
  free(all);
  return status == CLI_OK ? rank : -1;
}

int train_same(uint64_t x, const char *what) {
  int rank = train_other(x);
  if (rank <= 0) return rank ? CLI_BAD : CLI_OK;
  return train_speaks() ? cli_fail(NULL, "train: rank %d has other %s than rank 0", rank, what) : CLI_BAD;
}

uint64_t train_digest_keys(const hu_trainer *trainer, uint64_t hash) {
  for (size_t i = 0; i < hu_trainer_key_count(); i++) {
    hu_trainer_key key = hu_trainer_key_at(i);
    if (key.weights) hash = job_digest(hu_trainer_get(trainer, key.name), hash);
  }
  return hash;
}

/* ---- the state ---- */

/* Copies a tensor to all. Its bits are whole numbers, which sums keep; as values a -0 would be lost. */
static int spread_tensor(hu_trainer *trainer, size_t i, size_t n) {
  float *x = malloc((n + 1) * sizeof *x);
  double *bits = calloc(n + 1, sizeof *bits);
  int status = x && bits ? CLI_OK : cli_fail(NULL, "out of memory");
  if (status == CLI_OK && train_speaks()) {
    if (hu_trainer_read(trainer, i, x) != HU_OK) status = CLI_BAD;
    for (size_t k = 0; k < n; k++) {
      uint32_t word;
      memcpy(&word, &x[k], sizeof word);
      bits[k] = (double)word;
    }
  }
  if (status == CLI_OK) status = sum(n, bits);
  for (size_t k = 0; k < n && status == CLI_OK; k++) {
    uint32_t word = (uint32_t)bits[k];
    memcpy(&x[k], &word, sizeof word);
  }
  if (status == CLI_OK && !train_speaks() && hu_trainer_write(trainer, i, x) != HU_OK) status = CLI_BAD;
  free(x);
  free(bits);
  return status;
}

static int spread_text(hu_trainer *trainer) {
  double length = train_speaks() ? (double)hu_trainer_state(trainer, NULL, 0) : 0;
  if (sum(1, &length)) return CLI_BAD;
  size_t n = (size_t)length;
  char *text = calloc(n + 1, 1), why[HU_DATA_WHY_MAX] = "";
  double *letters = calloc(n + 1, sizeof *letters);
  int status = text && letters ? CLI_OK : cli_fail(NULL, "out of memory");
  if (status == CLI_OK && train_speaks()) (void)hu_trainer_state(trainer, text, n + 1);
  for (size_t i = 0; i < n && status == CLI_OK; i++) letters[i] = (double)(unsigned char)text[i];
  if (status == CLI_OK) status = sum(n, letters);
  for (size_t i = 0; i < n && status == CLI_OK; i++) text[i] = (char)(unsigned char)letters[i];
  if (status == CLI_OK && !train_speaks() && hu_trainer_resume(trainer, text, why) != HU_OK)
    status = cli_fail(NULL, "%s", why);
  free(text);
  free(letters);
  return status;
}

/* Ends all processes if one cannot continue: the others are in a sum that it does not make. */
static int all_or_none(int status) {
  if (status != CLI_OK && given->end) given->end(status);
  return status;
}

int train_spread(hu_trainer *trainer) {
  int status = CLI_OK;
  if (given->trainer.size == 1) return CLI_OK;
  for (size_t i = 0; i < hu_trainer_tensor_count(trainer) && status == CLI_OK; i++) {
    hu_trainer_tensor tensor = hu_trainer_tensor_at(trainer, i);
    status = all_or_none(spread_tensor(trainer, i, tensor.rows * tensor.cols));
  }
  if (status == CLI_OK) status = all_or_none(spread_text(trainer));
  return train_largest(status);
}
