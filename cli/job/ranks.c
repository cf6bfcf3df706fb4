/* SPDX-License-Identifier: MIT */
/* A job of one process, which is what there is without MPI; and what the processes of any job ask each other. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/job/job.h"

static int share(const job_deal *deal) {
  job_steps steps = {0, 0, 0};
  job_done *done = malloc(sizeof *done);
  if (!done) return cli_fail(NULL, "out of memory");
  for (uint64_t i = 0; i < deal->count; i++) {
    deal->run(deal->context, i, done, &steps);
    deal->note(deal->context, done);
    deal->show(deal->context, 0);
  }
  free(done);
  return CLI_OK;
}

static int same(uint64_t x, int *other) {
  (void)x, (void)other;
  return 1;
}

static int largest(int x) { return x; }

static int group(int n) { return n == 1; }

static void spread(void *bytes, size_t size) { (void)bytes, (void)size; }

static const job_ranks alone = {0, 1, share, same, largest, group, spread};
static const job_ranks *given = &alone;

const job_ranks *job_ranks_get(void) { return given; }
void job_ranks_set(const job_ranks *ranks) { given = ranks; }

uint64_t job_digest(const char *text, uint64_t digest) {
  do digest = (digest ^ (unsigned char)*text) * 0x100000001B3u;
  while (*text++);
  return digest;
}

int job_same(const char *who, uint64_t x, const char *what) {
  int other;
  if (given->same(x, &other)) return CLI_OK;
  return given->rank ? CLI_BAD : cli_fail(NULL, "%s: rank %d has %s", who, other, what);
}
