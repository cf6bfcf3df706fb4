/* SPDX-License-Identifier: MIT */
/* Items that are programs: run, their output kept until the end, the last line read. */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
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

/* ---- signals: the program has a group of its own, which ends where this process is stopped ---- */

enum { NO_GROUP, STARTING = -1 };
static volatile sig_atomic_t group;   /* of the program */
static volatile sig_atomic_t stopped; /* the signal that came while it started */
static job_stops stops;
static struct sigaction rested; /* what SIGTSTP did */

/* Ends the program and all that it has started. What is still there after two seconds is killed. */
static void end_group(void) {
  const struct timespec pause = {0, 10000000};
  (void)kill(-group, SIGTERM);
  (void)kill(-group, SIGCONT);
  for (int i = 0; i < 200; i++) {
    (void)waitpid(group, NULL, WNOHANG);
    if (kill(-group, 0)) return;
    nanosleep(&pause, NULL);
  }
  (void)kill(-group, SIGKILL);
}

/* Ends the program, and lets the signal take its effect. */
static void stop(int number) {
  stopped = number;
  if (group == STARTING) return;
  if (group != NO_GROUP) end_group();
  job_stops_release(&stops);
  raise(number);
}

/* Stops and continues the program with this process, which is the only one that Ctrl-Z on a terminal reaches. */
static void rest(int number) {
  int error = errno;
  (void)number;
  if (group > 0) (void)kill(-group, SIGSTOP);
  (void)raise(SIGSTOP);
  if (group > 0) (void)kill(-group, SIGCONT);
  errno = error;
}

static void catch_signals(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = rest;
  sigemptyset(&action.sa_mask);
  stopped = 0;
  group = STARTING;
  job_stops_catch(&stops, stop);
  sigaction(SIGTSTP, NULL, &rested);
  if (rested.sa_handler == SIG_DFL) sigaction(SIGTSTP, &action, NULL);
}

static void release_signals(void) {
  group = NO_GROUP;
  sigaction(SIGTSTP, &rested, NULL);
  job_stops_release(&stops);
}

/* ---- the program ---- */

static int spawn(const campaign_item *item, const posix_spawn_file_actions_t *actions, char **environment,
                 pid_t *child) {
  posix_spawnattr_t how;
  int error = posix_spawnattr_init(&how);
  if (error) return error;
  error = posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP);
  if (!error) error = posix_spawnattr_setpgroup(&how, 0);
  if (!error) error = posix_spawnp(child, item->argument[0], actions, &how, item->argument, environment);
  (void)posix_spawnattr_destroy(&how);
  return error;
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
  if (!error) error = spawn(item, &actions, environment, child);
  (void)posix_spawn_file_actions_destroy(&actions);
  free(environment);
  return error;
}

/* Who sends these: a person, a scheduler, a system that is short of memory. */
static int is_from_outside(int number) {
  return number == SIGKILL || number == SIGTERM || number == SIGINT || number == SIGHUP;
}

/* Runs it: CLI_OK and what waitpid says of it, or an exit code after an error line. */
static int wait_for(const campaign_item *item, FILE *out, int *status) {
  pid_t child = -1;
  catch_signals();
  int error = start(item, out, &child), why = 0;
  group = error ? NO_GROUP : child;
  if (stopped) stop(stopped);
  while (!error && !why && waitpid(child, status, 0) < 0) why = errno == EINTR ? 0 : errno;
  release_signals();
  if (error) return cli_fail(item->name, "cannot run %s: %s", item->argument[0], strerror(error));
  return why ? cli_fail(item->name, "cannot be waited for: %s", strerror(why)) : CLI_OK;
}

/* Runs it: CLI_OK and whether it failed, or an exit code after an error line, where it says nothing of the item. */
static int run(const campaign_item *item, FILE *out, int *failed) {
  int status, error = wait_for(item, out, &status);
  if (error != CLI_OK) return error;
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
