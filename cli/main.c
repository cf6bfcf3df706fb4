/* SPDX-License-Identifier: MIT */
/* The `halfulp` command: one table of subcommands. */
#include <signal.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/base/launched.h"
#include "files/suggest.h"
#include "halfulp/status.h"

typedef struct entry {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *summary;
} entry;

#define ENTRY(name, summary) {#name, cli_##name, summary},
static const entry table[] = {CLI_COMMANDS(ENTRY)};
enum { TABLE_SIZE = sizeof table / sizeof table[0] };

/* Words that are no commands, and what does their work. */
static const char *const other_words[][2] = {{"experiments", "experiment"},
                                             {"check-vectors", "vectors --check OP"},
                                             {"testfloat", "vectors --testfloat FUNCTION"},
                                             {"distinguish", "identify --distinguish MODEL MODEL"},
                                             {"declare", "info --p3109"},
                                             {"probe-hw", "verify --only instructions"},
                                             {"diff", "compare X.npy Y.npy"}};

static int print_usage(int json) {
  for (int i = 0; json && i < TABLE_SIZE; i++)
    cli_json(stdout, "?\n  {'id': ?, 'summary': ?}", cli_plain(i ? "," : "["), JSON(table[i].name),
             JSON(table[i].summary));
  if (json) return printf("\n]\n"), CLI_OK;
  printf(
      "Usage: halfulp COMMAND [OPTION...] [FILE...]\n"
      "Low-precision floating point, bit for bit.\n\nCommands:\n");
  for (int i = 0; i < TABLE_SIZE; i++) printf("  %-14s%s\n", table[i].name, table[i].summary);
  printf(
      "\n`halfulp help COMMAND` describes a command, `halfulp help rounding` explains rounding.\n"
      "--json, -q (quiet), --help and --version stand before or behind a command.\n"
      "Exit codes: 0 done, 1 differences found or a check failed, 2 wrong usage or input.\n");
  return CLI_OK;
}

static int unknown(const char *name) {
  char end[SUGGEST_MAX];
  suggest near;
  suggest_start(&near, name);
  for (size_t i = 0; i < sizeof other_words / sizeof other_words[0]; i++)
    if (!strcmp(name, other_words[i][0]))
      return cli_fail(NULL, "unknown command '%s'; use `halfulp %s`", name, other_words[i][1]);
  for (int i = 0; i < TABLE_SIZE; i++) suggest_offer(&near, table[i].name);
  return cli_fail(NULL, "unknown command '%s'%s", name, suggest_end(end, &near, "`halfulp help` lists them"));
}

static int one_of(const char *name, const char *const names[3]) {
  for (int i = 0; i < 3; i++)
    if (!strcmp(name, names[i])) return 1;
  return 0;
}

/* Returns the number of a command, -1 if there is no such one. */
static int run_named(int argc, char **argv) {
  for (int i = 0; i < TABLE_SIZE; i++)
    if (!strcmp(argv[0], table[i].name)) return table[i].run(argc, argv);
  return -1;
}

/* ---- help and version ---- */

static int set_json(void *state, int key, const char *value) {
  (void)key, (void)value;
  return *(int *)state = 1, CLI_OK;
}

static const cli_option json_option[] = {CLI_OPTION_JSON, {0}};
static const cli_command help_command = {"help",
                                         "[COMMAND | rounding]",
                                         "List the commands, or describe one, or explain how results are rounded",
                                         "",
                                         "  halfulp help\n  halfulp help quantize\n  halfulp help rounding",
                                         json_option,
                                         0,
                                         1,
                                         set_json};
static const cli_command version_command = {
    "version", "", "Print the version", "", "  halfulp version\n  halfulp version --json", json_option, 0, 0, set_json};

/* `help COMMAND` is `COMMAND --help`. */
static int help(int argc, char **argv) {
  char option[] = "--help", **operands;
  int json = 0, count, status = cli_parse(&help_command, &json, argc, argv, &operands, &count);
  if (status >= 0) return status;
  if (!count) return print_usage(json);
  if (!strcmp(operands[0], "rounding")) return cli_help_rounding();
  char *arguments[] = {operands[0], option, NULL};
  status = run_named(2, arguments);
  return status < 0 ? unknown(operands[0]) : status;
}

static int version(int argc, char **argv) {
  char **operands;
  int json = 0, count, status = cli_parse(&version_command, &json, argc, argv, &operands, &count);
  if (status >= 0) return status;
  return printf(json ? "{\"version\": \"%s\"}\n" : "halfulp %s\n", HU_VERSION_STRING) < 0 ? CLI_BAD : CLI_OK;
}

/* General options before the command move behind it. Returns how many there were. */
static int move_options(int argc, char **argv) {
  static const char *const names[3] = {"-q", "--quiet", "--json"};
  int n = 0;
  while (1 + n < argc && one_of(argv[1 + n], names)) n++;
  if (1 + n == argc) return n;
  char *command = argv[1 + n];
  memmove(argv + 2, argv + 1, (size_t)n * sizeof *argv);
  argv[1] = command;
  return n;
}

int cli_run(int argc, char **argv) {
  static const char *const help_names[3] = {"--help", "-h", "help"}, *const version_names[3] = {"--version", "-V",
                                                                                                "version"};
  int status, before = move_options(argc, argv);
  cli_memory_start();
  signal(SIGXFSZ, SIG_IGN); /* a file beyond `ulimit -f` is an error of the write, which leaves nothing */
  if (argc == 1 + before)
    status = help(argc, argv);
  else if (one_of(argv[1], help_names))
    status = help(argc - 1, argv + 1);
  else if (one_of(argv[1], version_names))
    status = version(argc - 1, argv + 1);
  else
    status = run_named(argc - 1, argv + 1);
  if (status < 0 && argv[1][0] == '-')
    return cli_fail(NULL, "%s does not stand before a command; only --json, --quiet, --help and --version do", argv[1]);
  if (status < 0) return unknown(argv[1]);
  if (status != CLI_BAD && cli_inputs_check()) return CLI_BAD;
  if (fflush(stdout) || ferror(stdout)) return cli_fail("standard output", "cannot write");
  return status;
}

#ifndef HU_CLI_MPI /* mpi/ranks.c has the main() of a job's processes */
int main(int argc, char **argv) {
  int status = cli_launched(argc, argv);
  return status == CLI_OK ? cli_run(argc, argv) : status;
}
#endif
