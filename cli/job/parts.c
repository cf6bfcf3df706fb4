/* SPDX-License-Identifier: MIT */
/* The ledgers of a job's parts: found beside LEDGER, and held against each other. See parts.h. */
#include "cli/job/parts.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"

/* ---- their names ---- */

/* 1: the text is ".I-of-N". */
static int is_part_end(const char *text) {
  static const char *const digits = "0123456789";
  size_t n = *text == '.' ? strspn(text + 1, digits) : 0;
  const char *of = text + 1 + n;
  if (!n || strncmp(of, "-of-", 4) != 0) return 0;
  size_t m = strspn(of + 4, digits);
  return m && !of[4 + m];
}

static int add_part(job_ledger *ledger, const char *path, const char *end) {
  char **more = realloc(ledger->part, (ledger->parts + 1) * sizeof *more);
  if (more) ledger->part = more;
  if (!more || asprintf(&more[ledger->parts], "%s%s", path, end) < 0) return cli_fail(NULL, "out of memory");
  ledger->parts++;
  return CLI_OK;
}

static int by_name(const void *x, const void *y) { return strcmp(*(char *const *)x, *(char *const *)y); }

int job_parts_list(job_ledger *ledger, const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  char *folder = slash == path ? strdup("/") : slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
  DIR *list = folder ? opendir(folder) : NULL;
  int status = folder ? CLI_OK : cli_fail(NULL, "out of memory");
  for (struct dirent *found = list ? readdir(list) : NULL; found && status == CLI_OK; found = readdir(list)) {
    size_t n = strlen(name);
    if (!strncmp(found->d_name, name, n) && is_part_end(found->d_name + n))
      status = add_part(ledger, path, found->d_name + n);
  }
  if (list) closedir(list);
  free(folder);
  if (ledger->parts) qsort(ledger->part, ledger->parts, sizeof *ledger->part, by_name);
  return status;
}

void job_parts_free(job_ledger *ledger) {
  for (size_t i = 0; i < ledger->parts; i++) free(ledger->part[i]);
  free(ledger->part);
  ledger->part = NULL;
  ledger->parts = 0;
}

int job_parts_refuse_others(const job_ledger *ledger, unsigned shards) {
  job_ledger beside = JOB_NO_LEDGER(ledger->fields);
  int status = job_parts_list(&beside, ledger->path);
  for (size_t i = 0; i < beside.parts && status == CLI_OK; i++) {
    const char *number = strrchr(beside.part[i], '-') + 1;
    if (strtoul(number, NULL, 10) != shards)
      status =
          cli_fail(beside.part[i], "is a part of %s, and this job one of %u; without --shard the command takes it over",
                   number, shards);
  }
  job_parts_free(&beside);
  return status;
}

int job_parts_refuse_old(const char *path) {
  char *folder;
  if (asprintf(&folder, "%s.parts", path) < 0) return cli_fail(NULL, "out of memory");
  int status = access(folder, F_OK)
                   ? CLI_OK
                   : cli_fail(folder, "has results of an older halfulp; let that one finish, or remove the folder");
  free(folder);
  return status;
}

/* ---- their lists ---- */

static const char begins[] = "part ";

int job_part_is_line(const char *line) { return !strncmp(line, begins, strlen(begins)); }

char *job_part_line(const job_part *part, int fields) {
  char *line;
  int length = asprintf(&line, "%s%u/%u\topen\t-\t-\t-\t-\t%016llx\t-\t-\t-\t-%s\n", begins, part->shard, part->shards,
                        (unsigned long long)part->list, fields == JOB_FIELDS ? "\t-" : "");
  return length < 0 ? NULL : line;
}

int job_part_list(const char *path, uint64_t *list) {
  char *line = NULL;
  size_t room = 0;
  int found = 0;
  FILE *file = cli_own_stream(path);
  for (ssize_t n = 0; file && (n = getline(&line, &room, file)) > 0;) {
    const char *at = line;
    if (!job_part_is_line(line) || line[n - 1] != '\n') continue;
    for (int i = 0; at && i < JOB_SOURCES; i++) at = strchr(at, '\t') ? strchr(at, '\t') + 1 : NULL;
    if (!at) continue;
    *list = strtoull(at, NULL, 16);
    found = 1;
  }
  free(line);
  if (file) fclose(file);
  return found;
}

/* Is a process at work on it? */
static int is_locked(const char *path) {
  int file = cli_own_open(path);
  if (file < 0) return 0;
  int locked = flock(file, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
  close(file);
  return locked;
}

/* The lock is asked for only where lists differ: asking keeps a part that begins at this moment from its own lock. */
int job_parts_check(const job_ledger *ledger, const job_part *part) {
  job_ledger beside = JOB_NO_LEDGER(ledger->fields);
  int status = job_parts_list(&beside, ledger->path);
  for (size_t i = 0; i < beside.parts && status == CLI_OK; i++) {
    uint64_t list;
    if (!strcmp(beside.part[i], ledger->out_name) || !job_part_list(beside.part[i], &list)) continue;
    if (list != part->list && is_locked(beside.part[i]))
      status = cli_fail(ledger->out_name, "is of %s than %s, which is at work: parts of one ledger are of one list",
                        part->what, beside.part[i]);
  }
  job_parts_free(&beside);
  return status;
}
