/* SPDX-License-Identifier: MIT */
/* Option tables: parsing by getopt_long, --help made from the table, error lines. */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { KEY_HELP = 299, OPTIONS_MAX = 48 };

int cli_fail(const char *file, const char *format, ...) {
  va_list args;
  fflush(stdout);
  fprintf(stderr, "halfulp: %s%s", file ? file : "", file ? ": " : "");
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
  return CLI_BAD;
}

int cli_fail_status(const char *file, hu_status status) {
  return cli_fail(file, "%s (%s)", hu_status_text(status), hu_status_name(status));
}

static void print_option(const cli_option *o) {
  char left[64];
  int n = 0;
  if (o->key < 256)
    n = snprintf(left, sizeof left, "-%c, ", o->key);
  else
    n = snprintf(left, sizeof left, "    ");
  snprintf(left + n, sizeof left - (size_t)n, "--%s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
  printf("  %-26s %s\n", left, o->help);
}

static int print_help(const cli_command *c) {
  static const cli_option help = {'h', "help", NULL, "this text"};
  printf("Usage: halfulp %s [OPTION...]%s%s\n%s.\n", c->name, *c->operands ? " " : "", c->operands, c->summary);
  if (*c->details) printf("\n%s\n", c->details);
  printf("\nOptions:\n");
  for (const cli_option *o = c->options; o->key; o++) print_option(o);
  print_option(&help);
  printf("\nExamples:\n%s\n", c->examples);
  return CLI_OK;
}

static void fill_tables(const cli_command *c, char *letters, struct option *longs) {
  int n = 0;
  *letters++ = ':'; /* a missing argument is told apart from an unknown option */
  for (const cli_option *o = c->options; o->key && n < OPTIONS_MAX - 2; o++, n++) {
    longs[n] = (struct option){o->name, o->value ? required_argument : no_argument, NULL, o->key};
    if (o->key >= 256) continue;
    *letters++ = (char)o->key;
    if (o->value) *letters++ = ':';
  }
  longs[n] = (struct option){"help", no_argument, NULL, KEY_HELP};
  longs[n + 1] = (struct option){NULL, 0, NULL, 0};
  *letters++ = 'h';
  *letters = 0;
}

static int wrong_option(const cli_command *c, int key, const char *argument) {
  char letter[3] = {'-', (char)optopt, 0};
  const char *shown = optopt && optopt < 256 ? letter : argument;
  const char *what = key == ':' ? "wants an argument" : "is not an option of this command, or is misused";
  return cli_fail(NULL, "%s: %s %s; see `halfulp %s --help`", c->name, shown, what, c->name);
}

int cli_parse(const cli_command *command, void *state, int argc, char **argv, char ***operands, int *count) {
  char letters[2 * OPTIONS_MAX + 4];
  struct option longs[OPTIONS_MAX];
  fill_tables(command, letters, longs);
  opterr = 0;
  optind = 1;
  for (;;) {
    int key = getopt_long(argc, argv, letters, longs, NULL);
    if (key == -1) break;
    if (key == KEY_HELP || key == 'h') return print_help(command);
    if (key == '?' || key == ':') return wrong_option(command, key, argv[optind - 1]);
    if (command->set(state, key, optarg) != CLI_OK) return CLI_BAD;
  }
  *operands = argv + optind;
  *count = argc - optind;
  if (*count < command->min_operands)
    return cli_fail(NULL, "%s: wants %s; see `halfulp %s --help`", command->name, command->operands, command->name);
  if (*count > command->max_operands)
    return cli_fail(NULL, "%s: '%s' is one operand too many", command->name, (*operands)[command->max_operands]);
  return -1;
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

int cli_read_format(hu_format *f, const char *text) {
  size_t where = 0;
  const char *axis = "";
  hu_status s = hu_format_parse_why(f, text, &where, &axis);
  if (s == HU_OK) return CLI_OK;
  if (s == HU_E_NAME) return cli_fail(NULL, "format '%s': no such name; `halfulp formats` lists them", text);
  if (s == HU_E_TEXT)
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

static int set_threads(cli_numeric *n, const char *value) {
  uint64_t x;
  if (cli_read_u64(&x, "--threads", value, 1, HU_THREADS_MAX)) return CLI_BAD;
  n->threads = (unsigned)x;
  return CLI_OK;
}

static int set_shared(cli_numeric *n, int key, const char *value) {
  switch (key) {
    case 'f': n->format_text = value; return cli_read_format(&n->format, value);
    case 'j': return set_threads(n, value);
    case CLI_KEY_TINY: return set_tiny(&n->mode, value);
    case CLI_KEY_SEED: return cli_read_u64(&n->stream.key, "--seed", value, 0, UINT64_MAX);
    case CLI_KEY_COUNTER: return cli_read_u64(&n->stream.counter, "--counter", value, 0, UINT64_MAX);
    case CLI_KEY_JSON: n->json = 1; return CLI_OK;
    case 'r':
      if (hu_mode_parse_round(&n->mode, value) == HU_OK) return CLI_OK;
      return cli_fail(NULL, "--round: '%s' is no rounding mode (rne rna rnz rtz rtp rtn raz rto sra:N srb:N src:N)",
                      value);
    case 's':
      if (hu_mode_parse_saturate(&n->mode, value) == HU_OK) return CLI_OK;
      return cli_fail(NULL, "--saturate: '%s' is no policy (default none finite propagate)", value);
    case CLI_KEY_NAN:
      if (hu_mode_parse_nan(&n->mode, value) == HU_OK) return CLI_OK;
      return cli_fail(NULL, "--nan: '%s' is no policy (max zero error)", value);
    default: return -1;
  }
}

int cli_set_numeric(cli_numeric *numeric, int key, const char *value) {
  int status = set_shared(numeric, key, value);
  if (status < 0) return 0;
  return status == CLI_OK ? 1 : -1;
}

int cli_want_format(const cli_numeric *numeric) {
  return numeric->format_text ? CLI_OK : cli_fail(NULL, "no format given; use -f FORMAT");
}
