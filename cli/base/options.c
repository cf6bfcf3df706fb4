/* SPDX-License-Identifier: MIT */
/* Option tables: parsing by getopt_long, --help made from the table, error lines. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/names.h"
#include "files/suggest.h"
#include "halfulp/status.h"

enum { OPTIONS_MAX = 48 };

static const cli_option common[] = {
    {'q', "quiet", NULL, "errors only: no progress, notes, or report where the result is a file"},
    {'h', "help", NULL, "this text"},
    {'V', "version", NULL, "the version"},
    {0}};

static int key_of(const cli_option *option) { return option->key & (CLI_REPEATS - 1); }

/* Writes "-f, --format", or where it has no letter "--amax". */
static const char *option_name(char text[64], const cli_option *option) {
  if (key_of(option) < 256)
    snprintf(text, 64, "-%c, --%s", key_of(option), option->name);
  else
    snprintf(text, 64, "--%s", option->name);
  return text;
}

void cli_print_folded(const char *text, size_t n, size_t at, size_t indent) {
  const char *end = text + n, *between = "";
  while (text < end) {
    size_t skip = strspn(text, " \n"), word = strcspn(text + skip, " \n");
    if (text + skip >= end) break;
    if (*between && at + 1 + word > CLI_WIDTH) {
      printf("\n%*s", (int)indent, "");
      at = indent;
    } else {
      fputs(between, stdout);
      at += strlen(between);
    }
    printf("%.*s", (int)word, text + skip);
    at += word;
    text += skip + word;
    between = " ";
  }
  putchar('\n');
}

/* Prints paragraphs; those with an indented line stand as they are. */
static void print_paragraphs(const char *text) {
  while (*text) {
    const char *end = strstr(text, "\n\n"), *shown = strstr(text, "\n  ");
    size_t n = end ? (size_t)(end - text) : strlen(text);
    putchar('\n');
    if (!strncmp(text, "  ", 2) || (shown && shown < text + n))
      printf("%.*s\n", (int)n, text);
    else
      cli_print_folded(text, n, 0, 0);
    text += end ? n + 2 : n;
  }
}

static void print_option(const cli_option *option) {
  enum { LEFT = 29 };
  char name[64], left[128], said[512];
  int n = snprintf(left, sizeof left, "  %s%s%s%s", key_of(option) < 256 ? "" : "    ", option_name(name, option),
                   option->value ? " " : "", option->value ? option->value : "");
  snprintf(said, sizeof said, "%s%s", option->help, option->key & CLI_REPEATS ? "; may be repeated" : "");
  printf("%-28s ", left);
  cli_print_folded(said, strlen(said), n < LEFT ? LEFT : (size_t)n + 1, LEFT);
}

/* Prints where --round and its options are explained. */
static void print_rounding(const cli_command *command) {
  for (const cli_option *option = command->options; option->key; option++)
    if (key_of(option) == 'r' && !strcmp(option->name, "round"))
      printf("\n`halfulp help rounding` explains MODE and POLICY.\n");
}

int cli_help_rounding(void) {
  printf(
      "Rounding: every result is rounded once, into one format. Commands that round take these options.\n\n"
      "  -r, --round MODE        default rne; N: random bits, 1 to 32\n");
  for (uint32_t round = 0; round < HU_ROUND_COUNT; round++) {
    hu_mode_words words = hu_mode_round_words(round);
    printf("      %s%s  %s%s%s%s%s\n", words.name, round < HU_SRA ? "  " : ":N", words.meaning,
           words.ieee[0] ? "; IEEE 754 " : "", words.ieee, words.p3109[0] ? "; P3109 " : "", words.p3109);
  }
  printf(
      "      sr:N   the same as sra:N\n"
      "  -s, --saturate POLICY   beyond the largest value; default: what the format's card says\n"
      "      none       what the card says of overflow: an infinity, a NaN or the largest value\n"
      "      finite     the largest value, for infinities too\n"
      "      propagate  the largest value, but an infinity remains one\n"
      "  --nan POLICY            a NaN into a format without NaN; default max\n"
      "      max        the largest value\n"
      "      zero       zero\n"
      "      error      the largest value, and the event invalid\n"
      "  --tiny WHEN             underflow is detected before or after rounding; default after\n"
      "  --seed K                stochastic modes: key of the random stream; default 0\n"
      "  --counter C             stochastic modes: element or line i, from 0, rounds with the high N bits\n"
      "                          of word C + i of the Philox4x32-10 stream of that key; default 0\n\n"
      "docs/numerics.md defines every rounding, docs/accumulators.md the modes inside a sum.\n");
  return CLI_OK;
}

static int print_help(const cli_command *command) {
  char summary[512];
  snprintf(summary, sizeof summary, "%s.", command->summary);
  printf("Usage: halfulp %s [OPTION...]%s%s\n", command->name, *command->operands ? " " : "", command->operands);
  cli_print_folded(summary, strlen(summary), 0, 0);
  print_paragraphs(command->details);
  print_rounding(command);
  printf("\nOptions:\n");
  for (const cli_option *option = command->options; option->key; option++) print_option(option);
  for (const cli_option *option = common; option->key; option++) print_option(option);
  printf("\nExamples:\n%s\n", command->examples);
  return CLI_OK;
}

/* What getopt_long reads: a letter's text and the long names. */
typedef struct tables {
  char letters[2 * OPTIONS_MAX + 4];
  struct option longs[OPTIONS_MAX];
  size_t letter_count, long_count;
} tables;

static void add_letter(tables *names, char letter, int takes) {
  if (names->letter_count + 3 > sizeof names->letters) return;
  names->letters[names->letter_count++] = letter;
  if (takes) names->letters[names->letter_count++] = ':';
}

static void add_long(tables *names, const char *name, int takes, int value) {
  if (names->long_count + 1 == OPTIONS_MAX) return;
  names->longs[names->long_count++] = (struct option){name, takes ? required_argument : no_argument, NULL, value};
}

/* Fills both so that the operands come one by one (-), and a missing argument differs from an unknown option (:). */
static void fill_tables(const cli_command *command, tables *names) {
  memset(names, 0, sizeof *names);
  add_letter(names, '-', 1);
  for (const cli_option *option = command->options; option->key; option++) {
    add_long(names, option->name, option->value != NULL, key_of(option));
    if (key_of(option) < 256) add_letter(names, (char)key_of(option), option->value != NULL);
  }
  for (const cli_option *option = common; option->key; option++) {
    add_long(names, option->name, 0, option->key);
    add_letter(names, (char)option->key, 0);
  }
}

static int has_letter(const cli_command *command, char letter) {
  for (const cli_option *option = command->options; option->key; option++)
    if (key_of(option) == letter) return 1;
  return strchr("qhV", letter) != NULL;
}

/* Returns 1 for what begins as -0.1, -.5, -0x1p-3, -inf, -nan do; the command checks whether all of it is a number. */
static int is_negative(const cli_command *command, const char *text) {
  if (text[0] != '-' || !text[1] || has_letter(command, text[1])) return 0;
  const char *digits = text + 1 + (text[1] == '.');
  return (*digits >= '0' && *digits <= '9') || !strcasecmp(text, "-inf") || !strcasecmp(text, "-infinity") ||
         !strcasecmp(text, "-nan") || !strncasecmp(text, "-nan(", 5);
}

/* Says what is wrong with --word, which may also be the beginning of several options' names. */
static int wrong_word(const cli_command *command, const char *argument) {
  char word[SUGGEST_WORD], offered[SUGGEST_WORD], end[SUGGEST_MAX], otherwise[64];
  size_t n = strcspn(argument, "=");
  suggest hint;
  snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), argument);
  snprintf(otherwise, sizeof otherwise, "see `halfulp %s --help`", command->name);
  suggest_start(&hint, word);
  for (const cli_option *option = command->options; option->key; option++) {
    if (!strcmp(word + 2, option->name))
      return cli_fail(NULL, "%s: %s takes no argument; %s", command->name, word, otherwise);
    snprintf(offered, sizeof offered, "--%s", option->name);
    suggest_offer(&hint, offered);
  }
  for (const cli_option *option = common; option->key; option++) {
    if (!strcmp(word + 2, option->name)) return cli_fail(NULL, "%s: %s takes no argument", command->name, word);
    snprintf(offered, sizeof offered, "--%s", option->name);
    suggest_offer(&hint, offered);
  }
  return cli_fail(NULL, "%s: %s is not an option of this command%s", command->name, word,
                  suggest_end(end, &hint, otherwise));
}

/* Reports a wrong option. argument: the last one that getopt_long has finished; within -abc that is one before. */
static int wrong_option(const cli_command *command, int key, const char *argument) {
  const char letter[3] = {'-', (char)optopt, 0};
  int is_letter = optopt > 0 && optopt < 256 && !has_letter(command, (char)optopt);
  if (key == ':')
    return cli_fail(NULL, "%s: %s requires an argument; see `halfulp %s --help`", command->name, argument,
                    command->name);
  if (!is_letter) return wrong_word(command, argument);
  return cli_fail(NULL, "%s: %s is not an option of this command; see `halfulp %s --help`", command->name, letter,
                  command->name);
}

/* The options that were given, and the arguments that they had, in the order of the table. */
typedef struct given {
  char is[OPTIONS_MAX];
  const char *value[OPTIONS_MAX];
} given;
static given given_now;

static int check_again(const cli_command *command, int key, const char *value) {
  char name[64];
  int i = 0;
  while (command->options[i].key && key_of(&command->options[i]) != key) i++;
  const cli_option *option = &command->options[i];
  if (option->key) given_now.is[i] = 1;
  if (!option->key || !option->value || option->key & CLI_REPEATS) return CLI_OK;
  if (given_now.value[i])
    return cli_fail(NULL, "%s: %s is given twice, '%s' and '%s', and takes one value", command->name,
                    option_name(name, option), given_now.value[i], value);
  given_now.value[i] = value;
  return CLI_OK;
}

static int check_count(const cli_command *command, char **operands, int count) {
  if (count < command->min_operands)
    return cli_fail(NULL, "%s: requires %s; see `halfulp %s --help`", command->name, command->operands, command->name);
  if (count > command->max_operands)
    return cli_fail(NULL, "%s: '%s' is one operand too many; %s%s; see `halfulp %s --help`", command->name,
                    operands[command->max_operands], *command->operands ? "it takes " : "it takes none",
                    command->operands, command->name);
  return -1;
}

/* Moves operands to the front, over arguments that have been read. */
int cli_parse(const cli_command *command, void *context, int argc, char **argv, char ***operands, int *count) {
  enum { OPERAND = 1 }; /* what getopt_long calls one */
  tables names;
  fill_tables(command, &names);
  *operands = argv + 1;
  *count = 0;
  memset(&given_now, 0, sizeof given_now);
  opterr = 0;
  optind = 1;
  for (;;) {
    int negative = optind < argc && is_negative(command, argv[optind]);
    int key = negative ? OPERAND : getopt_long(argc, argv, names.letters, names.longs, NULL);
    if (key == -1) break;
    if (key == OPERAND) (*operands)[(*count)++] = negative ? argv[optind++] : optarg;
    if (key == OPERAND) continue;
    if (key == 'h') return print_help(command);
    if (key == 'V') return printf("halfulp %s\n", HU_VERSION_STRING) < 0 ? CLI_BAD : CLI_OK;
    if (key == 'q') cli_be_quiet();
    if (key == 'q') continue;
    if (key == '?' || key == ':') return wrong_option(command, key, argv[optind - 1]);
    if (check_again(command, key, optarg)) return CLI_BAD;
    if (command->set(context, key, optarg) != CLI_OK) return CLI_BAD;
  }
  while (optind < argc) (*operands)[(*count)++] = argv[optind++];
  return check_count(command, *operands, *count);
}

int cli_mode_check(const cli_command *command, int mode, const char *const *names) {
  char name[64], text[256] = "";
  for (int i = 0; command->options[i].key; i++) {
    const cli_option *option = &command->options[i];
    int modes = option->key / CLI_FOR(0);
    if (!given_now.is[i] || !modes || modes >> mode & 1) continue;
    for (int k = 0, first = 1; k < CLI_MODES_MAX; k++) {
      size_t n = strlen(text);
      if (modes >> k & 1) snprintf(text + n, sizeof text - n, "%s%s", first ? "" : " or ", names[k]);
      if (modes >> k & 1) first = 0;
    }
    return cli_fail(NULL, "%s: %s is for %s; see `halfulp %s --help`", command->name, option_name(name, option), text,
                    command->name);
  }
  return CLI_OK;
}

int cli_read_u64(uint64_t *z, const char *what, const char *text, uint64_t low, uint64_t high) {
  char *end;
  int hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  errno = 0;
  unsigned long long x = strtoull(text, &end, hex ? 16 : 10);
  if (text[0] < '0' || text[0] > '9' || *end || errno || x < low || x > high)
    return cli_fail(NULL, "%s: '%s' is not a whole number from %llu to %llu", what, text, (unsigned long long)low,
                    (unsigned long long)high);
  *z = x;
  return CLI_OK;
}

int cli_read_format(hu_format *format, const char *text) { return cli_read_format_or(format, text, 0); }

int cli_read_format_or(hu_format *format, const char *text, unsigned taken) {
  size_t where = 0;
  const char *axis = "";
  hu_status status = hu_format_parse_axis(format, text, &where, &axis);
  if (status == HU_OK) return CLI_OK;
  if (status == HU_E_NAME || (status == HU_E_TEXT && strncmp(text, "fp(", 3)))
    return cli_fail_name("format", text, strlen(text), taken);
  if (status == HU_E_TEXT)
    return where < strlen(text)
               ? cli_fail(NULL, "format '%s': wrong from character %zu on: '%s'", text, where + 1, text + where)
               : cli_fail(NULL, "format '%s': something is missing at the end", text);
  return cli_fail(NULL, "format '%s': well-formed, but no such format can be: %s", text, axis);
}

static int set_tiny(hu_mode *mode, const char *value) {
  if (!strcmp(value, "after"))
    mode->tiny = HU_TINY_AFTER;
  else if (!strcmp(value, "before"))
    mode->tiny = HU_TINY_BEFORE;
  else
    return cli_fail(NULL, "--tiny: '%s' is neither before nor after", value);
  return CLI_OK;
}

unsigned cli_processors(unsigned most) {
  long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n < 1 ? 1 : n > (long)most ? most : (unsigned)n;
}

static int set_threads(cli_numeric *numeric, const char *value) {
  uint64_t x;
  if (cli_read_u64(&x, "--threads", value, 0, HU_THREADS_MAX)) return CLI_BAD;
  numeric->threads = x ? (unsigned)x : cli_processors(HU_THREADS_MAX);
  return CLI_OK;
}

static int set_round(hu_mode *mode, const char *value) {
  if (hu_mode_round_parse(mode, value) == HU_OK) return CLI_OK;
  const char *hint = hu_mode_round_hint(value);
  if (hint) return cli_fail(NULL, "--round: '%s' is not a rounding mode: %s", value, hint);
  return cli_fail(NULL, "--round: '%s' is not a rounding mode (" HU_ROUND_TEXTS ")", value);
}

static int set_shared(cli_numeric *numeric, int key, const char *value) {
  switch (key) {
    case 'f': numeric->format_text = value; return cli_read_format(&numeric->format, value);
    case 'j': return set_threads(numeric, value);
    case CLI_KEY_TINY: return set_tiny(&numeric->mode, value);
    case CLI_KEY_SEED: return cli_read_u64(&numeric->stream.key, "--seed", value, 0, UINT64_MAX);
    case CLI_KEY_COUNTER: return cli_read_u64(&numeric->stream.counter, "--counter", value, 0, UINT64_MAX);
    case CLI_KEY_JSON: numeric->json = 1; return CLI_OK;
    case 'r': return set_round(&numeric->mode, value);
    case 's':
      if (hu_mode_saturate_parse(&numeric->mode, value) == HU_OK) return CLI_OK;
      return cli_fail(NULL, "--saturate: '%s' is no policy (default none finite propagate)", value);
    case CLI_KEY_NAN:
      if (hu_mode_nan_parse(&numeric->mode, value) == HU_OK) return CLI_OK;
      return cli_fail(NULL, "--nan: '%s' is no policy (max zero error)", value);
    default: return -1;
  }
}

int cli_set_numeric(cli_numeric *numeric, int key, const char *value) {
  int status = set_shared(numeric, key, value);
  if (status < 0) return 0;
  return status == CLI_OK ? 1 : -1;
}

int cli_need_format(const cli_numeric *numeric) {
  return numeric->format_text ? CLI_OK : cli_fail(NULL, "no format given; use -f FORMAT");
}
