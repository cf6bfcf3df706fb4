/* SPDX-License-Identifier: MIT */
/* A job of one process, which is what there is without MPI; and what the processes of any job ask each other. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/job/job.h"

/* What an interrupt prints while this process works at an item: two texts, of which one is not being written. */
static char words[2][JOB_WHY_MAX];
static volatile sig_atomic_t current;
static job_stops stops;

static void stop(int number) {
  const char *text = words[current];
  if (write(STDERR_FILENO, text, strlen(text)) < 0) (void)current; /* no one reads it */
  job_stops_release(&stops);
  raise(number);
}

static void renew_words(const job_deal *deal) {
  deal->last_words(deal->context, words[!current]);
  current = !current;
}

static int share(const job_deal *deal) {
  job_steps steps = {0, 0, 0};
  job_done *done = malloc(sizeof *done);
  int status = CLI_OK;
  if (!done) return cli_fail(NULL, "out of memory");
  renew_words(deal);
  job_stops_catch(&stops, stop);
  for (uint64_t i = 0; i < deal->count && status == CLI_OK; i++) {
    deal->run(deal->context, i, done, &steps);
    status = deal->note(deal->context, done);
    deal->show(deal->context, 0);
    renew_words(deal);
  }
  job_stops_release(&stops);
  free(done);
  return status;
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

uint64_t job_digest_bytes(const void *bytes, size_t size, uint64_t digest) {
  const unsigned char *byte = bytes;
  for (size_t i = 0; i < size; i++) digest = (digest ^ byte[i]) * 0x100000001B3u;
  return digest;
}

uint64_t job_digest(const char *text, uint64_t digest) { return job_digest_bytes(text, strlen(text) + 1, digest); }

int job_same(const char *who, uint64_t x, const char *what) {
  int other;
  if (given->same(x, &other)) return CLI_OK;
  return given->rank ? CLI_BAD : cli_fail(NULL, "%s: rank %d has %s", who, other, what);
}
