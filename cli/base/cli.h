/* SPDX-License-Identifier: MIT */
/* cli/base/cli.h - what the subcommands share: exit codes, error lines, option tables, numeric options. */
#ifndef HALFULP_CLI_BASE_CLI_H
#define HALFULP_CLI_BASE_CLI_H

#include <stdio.h>

#include "cli/base/json.h"
#include "halfulp/array.h"
#include "halfulp/format.h"
#include "halfulp/mode.h"

/* Exit codes of the command. */
enum { CLI_OK = 0, CLI_DIFFERENT = 1, CLI_BAD = 2 };

/* Prints "halfulp: FILE: what is wrong" (without FILE if it is NULL) on stderr, one line, cleaned (cli_clean); returns
 * CLI_BAD. Of a text that it repeats (%s: an operand, a name in a file) and that is longer than CLI_REPEATED_MAX bytes,
 * it has the begin and the end with ... between them; of FILE where that is longer than a path can be. The formats are
 * printf's, of the conversions d i u x X c s and those of double. */
enum { CLI_REPEATED_MAX = 400 };
int cli_fail(const char *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Replaces each byte of a control character, such as a line end, and each that is not UTF-8 by a ?. */
void cli_clean(char *text);
/* The name of a file, cleaned, for printing; cut where it is longer than the buffer. Files are opened by the name
 * itself, and JSON has it with its escapes. */
enum { CLI_SHOWN_MAX = 4096 };
const char *cli_shown(char text[CLI_SHOWN_MAX], const char *name);

/* Returns 1 after --quiet: standard error gets errors only, no progress and no notes, and a file no report. */
int cli_quiet(void);
void cli_be_quiet(void);
/* The sequence that begins a colour of text on a terminal, and for CLI_INK_END ends it. "" if out is no terminal, if
 * NO_COLOR is set and not empty, or if TERM is dumb or not set. */
typedef enum cli_ink { CLI_INK_END, CLI_INK_WRONG, CLI_INK_RIGHT, CLI_INK_STRONG } cli_ink;
const char *cli_ink_on(FILE *out, cli_ink ink);
/* Prints "halfulp: note" on stderr like cli_fail, but nothing after --quiet. */
void cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* From here on this thread's error lines go to `out`, without "halfulp: " before them, and it is quiet; NULL: to stderr
 * again. */
void cli_take_lines(FILE *out);

/* Returns the stream for the report on a result that goes to `path`: standard output, or standard error where the
 * result takes that (-). NULL: nothing is reported, after --quiet, unless --json asks for it on standard output. */
FILE *cli_report_file(const char *path, int json);

/* One option of a subcommand. key: the short letter, or a number >= 256 for an option without one; with CLI_REPEATS
 * added it may be given more than once, which --help says. Others with an argument are an error the second time. With
 * CLI_FOR(i) added, for one i or more, it belongs to these of the command's modes alone (cli_mode_check). */
enum { CLI_REPEATS = 1 << 16, CLI_MODES_MAX = 8 };
#define CLI_FOR(i) (1 << (17 + (i)))
typedef struct cli_option {
  int key;
  const char *name;
  const char *value; /* name of its argument, NULL if it takes none */
  const char *help;
} cli_option;

/* One subcommand. `set` stores an option and returns CLI_OK, or reports what is wrong and returns CLI_BAD. */
typedef struct cli_command {
  const char *name;
  const char *operands;      /* "IN.npy OUT.npy" */
  const char *summary;       /* one line */
  const char *details;       /* paragraphs for --help, "" if none */
  const char *examples;      /* lines for --help */
  const cli_option *options; /* ends with key 0 */
  int min_operands, max_operands;
  int (*set)(void *context, int key, const char *value);
} cli_command;

/* Reads options and operands of argv[1..], in any order; *operands gets the first operand, *count their number. A
 * negative number (-0.1, -inf, -nan) is an operand, unless the command has an option of that letter; behind -- all are.
 * Every command also takes --help, --quiet and --version. Returns -1 if the command is to continue, else the exit code
 * (--help has been printed, or an error). */
int cli_parse(const cli_command *command, void *context, int argc, char **argv, char ***operands, int *count);
/* Prints the words of the first n bytes on lines of up to CLI_WIDTH columns, of which `at` are taken; later lines are
 * indented. */
enum { CLI_WIDTH = 100 };
void cli_print_folded(const char *text, size_t n, size_t at, size_t indent);
/* Prints what `halfulp help rounding` prints. */
int cli_help_rounding(void);
/* Checks, after cli_parse, that every option given belongs to `mode`, the number of one of the command's modes. `names`
 * has what each mode is called in the error line. */
int cli_mode_check(const cli_command *command, int mode, const char *const *names);

/* The options that choose a format and how to round into it; the same letters in every subcommand. */
enum {
  CLI_KEY_NAN = 300,
  CLI_KEY_TINY,
  CLI_KEY_SEED,
  CLI_KEY_COUNTER,
  CLI_KEY_RANDOM,
  CLI_KEY_WORDS,
  CLI_KEY_JSON,
  CLI_KEY_FREE = 400
};
#define CLI_OPTIONS_FORMAT \
  { 'f', "format", "FORMAT", "number format: a name (halfulp formats) or fp(e,m,b):suffixes" }
#define CLI_OPTIONS_ROUND_OF(modes)                                                                             \
  {'r' | (modes), "round", "MODE", HU_ROUND_TEXTS " (sr:N is sra:N); default rne"},                             \
      {'s' | (modes), "saturate", "POLICY", "default none finite propagate; default: the format's card"},       \
      {CLI_KEY_NAN | (modes), "nan", "POLICY", "NaN into a format without NaN: max zero error; default max"}, { \
    CLI_KEY_TINY | (modes), "tiny", "WHEN", "tininess is detected before or after rounding; default after"      \
  }
#define CLI_OPTIONS_STREAM_OF(modes)                                                                           \
  {CLI_KEY_SEED | (modes), "seed", "K", "stochastic modes: key of the random stream; default 0"}, {            \
    CLI_KEY_COUNTER | (modes), "counter", "C", "stochastic modes: element i uses random word C + i; default 0" \
  }
#define CLI_OPTIONS_ROUND CLI_OPTIONS_ROUND_OF(0)
#define CLI_OPTIONS_STREAM CLI_OPTIONS_STREAM_OF(0)
#define CLI_OPTION_JSON \
  { CLI_KEY_JSON, "json", NULL, "machine-readable output" }
#define CLI_OPTION_THREADS \
  { 'j', "threads", "N", "threads, 1 to 256, 0: one per processor; the result is the same for any number; default 1" }

typedef struct cli_numeric {
  hu_format format;
  const char *format_text; /* as given, NULL if not given */
  hu_mode mode;
  hu_stream stream;
  unsigned threads;
  int json;
} cli_numeric;

/* Stores a shared option. Returns 1, or 0 if the key is another one, or -1 if it was reported as wrong. */
int cli_set_numeric(cli_numeric *numeric, int key, const char *value);
/* Reads a format; the error line names the part of the text that is wrong. */
int cli_read_format(hu_format *format, const char *text);
/* Reads a format where other names are taken, too, none of which the text is (CLI_NAMES_); for the error line. */
int cli_read_format_or(hu_format *format, const char *text, unsigned taken);
/* Reads a whole number, decimal or 0x; `what` names the option in the error line. */
int cli_read_u64(uint64_t *z, const char *what, const char *text, uint64_t low, uint64_t high);
/* Prints the error line for a library call that refused its arguments. */
int cli_fail_status(const char *file, hu_status status);
/* Returns the number of CPUs of the machine, between 1 and `most`. */
unsigned cli_processors(unsigned most);
/* Returns CLI_OK if a format was given. */
int cli_need_format(const cli_numeric *numeric);

/* The name to show for a format: its catalogue id, else its fp(...) text. */
#define CLI_NAME_MAX 160
const char *cli_format_name(char text[CLI_NAME_MAX], hu_format format);
/* Returns the entry that has the name given, as id or alias, else the first with the descriptor; its id is NULL if no
 * entry has either. */
hu_format_entry cli_format_entry(hu_format format, const char *given);
/* Writes the name of a format that was given as text: a name stays the name given, since several can have one
 * descriptor; another name of an entry becomes the entry's own. */
const char *cli_shown_name(char text[CLI_NAME_MAX], hu_format format, const char *given);
/* Writes "rne, saturate finite, ..." without what is the default, except for the rounding. */
const char *cli_mode_name(char text[CLI_NAME_MAX], hu_mode mode);

/* Returns how many of the first n bytes of UTF-8 text are whole characters: n, or less where the last one is cut. */
size_t cli_whole_text(const char *text, size_t n);
/* Returns 1 if the name ends so. */
int cli_ends(const char *name, const char *end);
/* Returns the number of bytes, 1 to 4, of the character at text; 0 if the bytes are not UTF-8. */
size_t cli_character(const char *text);
/* Writes counts of events as a table, only of the events that happened, "none" if none. */
void cli_print_events(FILE *out, const char *indent, const hu_events *events);
/* A set of events as words, "none" if empty. */
#define CLI_EVENTS_MAX 128
const char *cli_event_words(char text[CLI_EVENTS_MAX], uint32_t events);

/* Has the process end with an error line and CLI_BAD where GMP and MPFR, with which the oracle computes, get no memory;
 * by themselves they raise SIGABRT, since their calls cannot fail. Temporary files are removed, and what a campaign has
 * done stays in its ledger's parts. For a program's main alone: their calls for memory belong to the process, and so to
 * no library. Does nothing without an oracle. */
void cli_memory_start(void);

/* The subcommands, in the order of `halfulp help`: the name, and what it does. Prototypes, the program's table, man
 * pages, completion and the tests of every command follow from these lines. Each is a file of cli/command. */
#define CLI_COMMANDS(X)                                                                         \
  X(formats, "list the named formats")                                                          \
  X(presets, "list conversions as other programs do them")                                      \
  X(info, "card of a format: axes, limits, special codes, every code")                          \
  X(encode, "numbers to codes, one per line; arrays and models")                                \
  X(decode, "codes to numbers, one per line; arrays and models")                                \
  X(explain, "why a number becomes the code it becomes")                                        \
  X(quantize, "put an array or a model on a format's grid, with events and errors")             \
  X(compare, "several formats on an array or a model, side by side; two arrays bit for bit")    \
  X(audit, "why two quantized models differ; which rule made one")                              \
  X(gemm, "D = A B + C of .npy matrices under an accumulation model")                           \
  X(collective, "what an all-reduce over many machines gives, against the exact sums")          \
  X(path, "an expression under rules of rounding; where programs part, and which one computed") \
  X(train, "train a network in low precision, as a configuration file says")                    \
  X(experiment, "list papers' claims on training that can be tried here; run one and judge it") \
  X(sweep, "train with many values of a key and several seeds, and compare")                    \
  X(models, "list the accumulation models and matrix units")                                    \
  X(mma, "dot products as a matrix unit computes them, one per line")                           \
  X(identify, "which accumulation model a black box has; where two models differ")              \
  X(plot, "draw a format's value line, and data over it, as SVG")                               \
  X(vectors, "test vectors of an operation, in TestFloat's text form; results judged")          \
  X(verify, "self-test of this build on this machine, and of its matrix instructions")          \
  X(campaign, "a long list of checks on many processes, with a ledger")                         \
  X(bench, "what this machine does with the library, in twenty seconds")
#define CLI_PROTOTYPE(name, summary) int cli_##name(int argc, char **argv);
CLI_COMMANDS(CLI_PROTOTYPE)

#endif
