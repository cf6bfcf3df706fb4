/* SPDX-License-Identifier: MIT */
/* Items that are programs: run, their output kept until the end, the last line read. */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/base/launched.h"
#include "cli/campaign/campaign.h"

extern char **environ;
enum { TAIL = 4096 };

/* The environment without what a launcher has set for this process: an item is no rank of the job. To be freed. */
static char **own_environment(void) {
  size_t count = 0, n = 0;
  while (environ[count]) count++;
  char **z = malloc((count + 1) * sizeof *z);
  for (size_t i = 0; z && i < count; i++)
    if (!cli_is_from_launcher(environ[i])) z[n++] = environ[i];
  if (z) z[n] = NULL;
  return z;
}

/* Starts it with its output into `out`: 0, or an error number. */
static int start(const campaign_item *item, FILE *out, pid_t *child) {
  posix_spawn_file_actions_t actions;
  char **environment = own_environment();
  int error = environment ? posix_spawn_file_actions_init(&actions) : ENOMEM;
  if (!environment) return error;
  if (!error) error = posix_spawn_file_actions_adddup2(&actions, fileno(out), STDOUT_FILENO);
  if (!error) error = posix_spawn_file_actions_adddup2(&actions, fileno(out), STDERR_FILENO);
  if (!error) error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", 0, 0);
  if (!error) error = posix_spawnp(child, item->argument[0], &actions, NULL, item->argument, environment);
  (void)posix_spawn_file_actions_destroy(&actions);
  free(environment);
  return error;
}

/* Who sends these: a person, a scheduler, a system that is short of memory. */
static int is_from_outside(int number) {
  return number == SIGKILL || number == SIGTERM || number == SIGINT || number == SIGHUP;
}

/* Runs it: CLI_OK and whether it failed, or an exit code after an error line, where it says nothing of the item. */
static int run(const campaign_item *item, FILE *out, int *failed) {
  pid_t child;
  int status, error = start(item, out, &child);
  if (error) return cli_fail(item->name, "cannot run %s: %s", item->argument[0], strerror(error));
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return cli_fail(item->name, "cannot be waited for: %s", strerror(errno));
  if (WIFSIGNALED(status) && is_from_outside(WTERMSIG(status)))
    return cli_fail(item->name, "was killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code == 77) return cli_fail(item->name, "was skipped: it needs something that is not here");
  if (code == 126 || code == 127)
    return cli_fail(item->name, "ended with %d: a program was not found or cannot be run", code);
  *failed = code != 0;
  return CLI_OK;
}

/* Reads the last bytes of the output. */
static void read_tail(FILE *out, char tail[TAIL + 1]) {
  long size = fseek(out, 0, SEEK_END) == 0 ? ftell(out) : 0;
  long from = size > TAIL ? size - TAIL : 0;
  tail[0] = 0;
  if (fseek(out, from, SEEK_SET) != 0) return;
  tail[fread(tail, 1, TAIL, out)] = 0;
}

/* Reads the number behind a name, in digits alone; 0 if something else stands there, or it has more than 64 bits. */
static int take_number(const char **at, const char *name, int base, uint64_t *z) {
  static const char digits[] = "0123456789abcdefABCDEF";
  size_t n = strlen(name), length = 0;
  if (!strncmp(*at, name, n)) length = strspn(*at + n, base == 16 ? digits : "0123456789");
  if (!length) return 0;
  errno = 0;
  *z = strtoull(*at + n, NULL, base);
  *at += n + length;
  return errno == 0;
}

/* Takes "campaign: cases=N wrong=N digest=HEX", the last such line, as a whole; an exit code if it is malformed. */
static int take_counts(const campaign_item *item, const char *tail, job_result *z) {
  const char *line = NULL;
  for (const char *next = strstr(tail, "campaign: cases="); next; next = strstr(next + 1, "campaign: cases="))
    line = next;
  if (!line) return CLI_OK;
  const char *at = line;
  int good = take_number(&at, "campaign: cases=", 10, &z->cases) && take_number(&at, " wrong=", 10, &z->wrong) &&
             take_number(&at, " digest=", 16, &z->digest) && (!*at || strchr(" \r\n", *at));
  if (good) return CLI_OK;
  return cli_fail(item->name, "printed \"%.*s\", which is not \"campaign: cases=N wrong=N digest=HEX\"",
                  (int)strcspn(line, "\r\n"), line);
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

int campaign_program(const campaign_item *item, int fails, job_result *z) {
  char tail[TAIL + 1];
  FILE *out = cli_scratch_file();
  if (!out) return cli_fail(item->name, "no temporary file: %s; TMPDIR names another folder", strerror(errno));
  int failed = 0, status = run(item, out, &failed);
  read_tail(out, tail);
  fclose(out);
  if (status != CLI_OK) return status;
  if ((status = take_counts(item, tail, z)) != CLI_OK) return status;
  if (!z->cases) z->cases = 1;
  if (failed && fails) z->wrong = 0; /* what it found wrong is what it had to find */
  if (failed == fails) return CLI_OK;
  if (!z->wrong) z->wrong = 1;
  show(item, tail);
  return CLI_OK;
}
