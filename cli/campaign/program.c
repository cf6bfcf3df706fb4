/* SPDX-License-Identifier: MIT */
/* Items that are programs: run, their output kept until the end, the last line read. */
#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/campaign/campaign.h"

extern char **environ;
enum { TAIL = 4096 };

/* Runs it with its output into `out`; its exit status, -1 after an error line, 128 + N where signal N ended it. */
static int run(const campaign_item *item, FILE *out) {
  posix_spawn_file_actions_t actions;
  pid_t child;
  int status, error = posix_spawn_file_actions_init(&actions);
  if (!error) error = posix_spawn_file_actions_adddup2(&actions, fileno(out), STDOUT_FILENO);
  if (!error) error = posix_spawn_file_actions_adddup2(&actions, fileno(out), STDERR_FILENO);
  if (!error) error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", 0, 0);
  if (!error) error = posix_spawnp(&child, item->argument[0], &actions, NULL, item->argument, environ);
  (void)posix_spawn_file_actions_destroy(&actions);
  if (error) {
    (void)cli_fail(item->name, "cannot run %s: %s", item->argument[0], strerror(error));
    return -1;
  }
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The last bytes of the output. */
static void read_tail(FILE *out, char tail[TAIL + 1]) {
  long size = fseek(out, 0, SEEK_END) == 0 ? ftell(out) : 0;
  long from = size > TAIL ? size - TAIL : 0;
  tail[0] = 0;
  if (fseek(out, from, SEEK_SET) != 0) return;
  tail[fread(tail, 1, TAIL, out)] = 0;
}

/* "campaign: cases=N wrong=N digest=HEX", the last such line. */
static void take_counts(const char *tail, campaign_result *z) {
  const char *at = NULL;
  for (const char *p = strstr(tail, "campaign: cases="); p; p = strstr(p + 1, "campaign: cases=")) at = p;
  if (at)
    (void)sscanf(at, "campaign: cases=%" SCNu64 " wrong=%" SCNu64 " digest=%" SCNx64, &z->cases, &z->wrong, &z->digest);
}

/* What it said, where it was wrong, each line with the item's name before it. */
static void show(const campaign_item *item, char *tail) {
  for (char *line = tail, *end; *line; line = end) {
    end = line + strcspn(line, "\n");
    if (*end) *end++ = 0;
    cli_clean(line);
    fprintf(stderr, "%s: %s\n", item->name, line);
  }
}

int campaign_program(const campaign_item *item, int fails, campaign_result *z) {
  char tail[TAIL + 1];
  FILE *out = tmpfile();
  if (!out) return cli_fail(item->name, "no temporary file: %s", strerror(errno));
  int status = run(item, out);
  read_tail(out, tail);
  fclose(out);
  if (status < 0) return CLI_BAD;
  if (status == 77) return cli_fail(item->name, "was skipped: it needs something that is not here");
  take_counts(tail, z);
  if (!z->cases) z->cases = 1;
  if ((status != 0) == fails) return CLI_OK;
  if (!z->wrong) z->wrong = 1;
  show(item, tail);
  return CLI_OK;
}
