/* SPDX-License-Identifier: MIT */
/* The options of work that has parts, and which items they choose. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/job/job.h"

int job_shard(const char *text, uint64_t *i, uint64_t *n) {
  char *end;
  if (strspn(text, "0123456789/") != strlen(text)) return 0;
  *i = strtoull(text, &end, 10);
  if (*end != '/' || end == text) return 0;
  *n = strtoull(end + 1, &end, 10);
  return *end == 0 && *i >= 1 && *i <= *n && *n <= JOB_SHARDS_MAX;
}

static int set_shard(job_asked *asked, const char *value) {
  uint64_t i, n;
  if (!job_shard(value, &i, &n))
    return cli_fail(NULL, "--shard: '%s' is not I/N with 1 <= I <= N <= %d", value, JOB_SHARDS_MAX);
  asked->shard = (unsigned)i;
  asked->shards = (unsigned)n;
  return CLI_OK;
}

static int set_jobs(job_asked *asked, const char *value) {
  uint64_t jobs;
  if (cli_read_u64(&jobs, "--jobs", value, 0, JOB_JOBS_MAX)) return CLI_BAD;
  asked->jobs = (int)jobs;
  return CLI_OK;
}

static int add_glob(job_asked *asked, const char *value) {
  if (asked->globs == JOB_GLOBS_MAX) return cli_fail(NULL, "--include: more than %d patterns", JOB_GLOBS_MAX);
  asked->glob[asked->globs++] = value;
  return CLI_OK;
}

int job_set(job_asked *asked, int key, const char *value) {
  switch (key) {
    case JOB_KEY_LEDGER: asked->ledger = value; return CLI_OK;
    case JOB_KEY_SHARD: return set_shard(asked, value);
    case JOB_KEY_JOBS: return set_jobs(asked, value);
    case JOB_KEY_INCLUDE: return add_glob(asked, value);
    case JOB_KEY_OVERWRITE: asked->overwrite = 1; return CLI_OK;
    case JOB_KEY_STATUS: asked->status = 1; return CLI_OK;
    case JOB_KEY_MERGE: asked->merge = 1; return CLI_OK;
    default: return -1;
  }
}

int job_parse(const cli_command *command, void *state, int argc, char **argv, char ***operands, int *count) {
  int status = cli_parse(command, state, argc, argv, operands, count);
  int same = job_same(command->name, (uint64_t)(unsigned)(status + 1), "other options than rank 0");
  return same == CLI_OK ? status : same;
}

int job_is_part(const job_asked *asked) { return asked->shards || asked->globs; }

int job_is_own(const job_work *work, size_t i) {
  const job_asked *asked = work->asked;
  if (asked->shards && i % asked->shards != asked->shard - 1) return 0;
  for (int k = 0; k < asked->globs; k++)
    if (fnmatch(asked->glob[k], work->item[i].name, 0) == 0) return 1;
  return !asked->globs;
}
