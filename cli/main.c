/* SPDX-License-Identifier: MIT */
/* The `halfulp` command: one table of subcommands. */
#include <signal.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/base/launched.h"
#include "files/suggest.h"
#include "halfulp/version.h"
#ifdef HU_CLI_MPI
#include "mpi/ranks.h"
#endif

typedef struct entry {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *summary;
} entry;

static const entry table[] = {
    {"formats", cli_formats, "list the named formats"},
    {"presets", cli_presets, "list conversions as other programs do them"},
    {"info", cli_info, "card of a format: axes, limits, special codes, every code"},
    {"encode", cli_encode, "numbers to codes, one per line; arrays and models"},
    {"decode", cli_decode, "codes to numbers, one per line; arrays and models"},
    {"explain", cli_explain, "why a number becomes the code it becomes"},
    {"quantize", cli_quantize, "put an array or a model on a format's grid, with events and errors"},
    {"compare", cli_compare, "what several formats do to an array or a model, side by side"},
    {"gemm", cli_gemm, "D = A B + C of .npy matrices under an accumulation model"},
    {"collective", cli_collective, "what an all-reduce over many machines gives, against the exact sums"},
    {"train", cli_train, "train a network in low precision, as a configuration file says"},
    {"experiments", cli_experiments, "list papers' claims on training that can be tried here"},
    {"experiment", cli_experiment, "run one of them and judge it"},
    {"sweep", cli_sweep, "train with many values of a key and several seeds, and compare"},
    {"models", cli_models, "list the accumulation models and matrix units"},
    {"mma", cli_mma, "dot products as a matrix unit computes them, one per line"},
    {"identify", cli_identify, "which accumulation model a black box has"},
    {"distinguish", cli_distinguish, "a question that two accumulation models answer differently"},
    {"diff", cli_diff, "compare two .npy arrays bit for bit"},
    {"plot", cli_plot, "draw a format's value line, and data over it, as SVG"},
    {"vectors", cli_vectors, "test vectors of an operation, in TestFloat's text form"},
    {"check-vectors", cli_check_vectors, "judge results of an operation from elsewhere"},
    {"testfloat", cli_testfloat, "operands in, results out, in TestFloat's text form"},
    {"declare", cli_declare, "what this build has of the draft standard IEEE P3109"},
    {"verify", cli_verify, "self-test of this build on this machine"},
    {"campaign", cli_campaign, "a long list of checks on many processes, with a ledger"},
    {"probe-hw", cli_probe_hw, "the device's matrix instructions against their models"},
    {"bench", cli_bench, "what this machine does with the library, in twenty seconds"},
};
enum { TABLE_SIZE = sizeof table / sizeof table[0] };

static int print_usage(void) {
  printf(
      "Usage: halfulp COMMAND [OPTION...] [FILE...]\n"
      "Low-precision floating point, bit for bit.\n\nCommands:\n");
  for (int i = 0; i < TABLE_SIZE; i++) printf("  %-14s%s\n", table[i].name, table[i].summary);
  printf(
      "\n`halfulp help COMMAND` describes a command, with examples. `halfulp version` prints the version.\n"
      "Exit codes: 0 done, 1 differences found or a check failed, 2 wrong usage or input.\n");
  return CLI_OK;
}

static int unknown(const char *name) {
  char end[SUGGEST_MAX];
  suggest s;
  suggest_start(&s, name);
  for (int i = 0; i < TABLE_SIZE; i++) suggest_offer(&s, table[i].name);
  return cli_fail(NULL, "unknown command '%s'%s", name, suggest_end(end, &s, "`halfulp --help` lists them"));
}

static int one_of(const char *name, const char *const names[3]) {
  for (int i = 0; i < 3; i++)
    if (!strcmp(name, names[i])) return 1;
  return 0;
}

/* -1: no such command. */
static int run_named(int argc, char **argv) {
  for (int i = 0; i < TABLE_SIZE; i++)
    if (!strcmp(argv[0], table[i].name)) return table[i].run(argc, argv);
  return -1;
}

/* `help COMMAND` is `COMMAND --help`. */
static int help(int argc, char **argv) {
  char option[] = "--help";
  char *const asked[] = {argc > 1 ? argv[1] : NULL, option, NULL};
  char *arguments[3];
  memcpy(arguments, asked, sizeof arguments);
  if (argc < 2) return print_usage();
  if (argc > 2) return cli_fail(NULL, "help: '%s' is one operand too many; it takes COMMAND", argv[2]);
  int status = run_named(2, arguments);
  return status < 0 ? unknown(argv[1]) : status;
}

static int version(int argc, char **argv) {
  if (argc > 1) return cli_fail(NULL, "%s: '%s' is one operand too many; it takes none", argv[0], argv[1]);
  return printf("halfulp %s\n", HU_VERSION_STRING) < 0 ? CLI_BAD : CLI_OK;
}

/* All of the command. */
static int halfulp(int argc, char **argv) {
  if (argc < 2) return cli_fail(NULL, "no command given; `halfulp --help` lists them");
  static const char *const help_names[3] = {"--help", "-h", "help"}, *const version_names[3] = {"--version", "-V",
                                                                                                "version"};
  int status;
  cli_memory_start();
  signal(SIGXFSZ, SIG_IGN); /* a file beyond `ulimit -f` is an error of the write, which leaves nothing */
  if (one_of(argv[1], help_names))
    status = help(argc - 1, argv + 1);
  else if (one_of(argv[1], version_names))
    status = version(argc - 1, argv + 1);
  else
    status = run_named(argc - 1, argv + 1);
  if (status < 0) return unknown(argv[1]);
  if (status != CLI_BAD && cli_inputs_check()) return CLI_BAD;
  if (fflush(stdout) || ferror(stdout)) return cli_fail("standard output", "cannot write");
  return status;
}

#ifdef HU_CLI_MPI
int main(int argc, char **argv) {
  mpi_ranks_start(&argc, &argv);
  return mpi_ranks_stop(halfulp(argc, argv));
}
#else
int main(int argc, char **argv) {
  int status = cli_launched(argc, argv);
  return status == CLI_OK ? halfulp(argc, argv) : status;
}
#endif
