/* SPDX-License-Identifier: MIT */
/* halfulp encode, halfulp decode - numbers to codes and back, one a line. */
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/io.h"
#include "cli/numbers.h"
#include "cli/quantize.h"
#include "halfulp/scalar.h"

enum { KEY_BITS32 = CLI_KEY_OWN, KEY_BITS64 };

typedef struct encode_state {
  cli_numeric numeric;
  cli_quantize_state files; /* the same options, for IN OUT */
  int bits, random, verbose;
} encode_state;

static int set(void *state, int key, const char *value) {
  encode_state *s = state;
  if (cli_quantize_set(&s->files, key, value)) return CLI_BAD;
  s->numeric = s->files.numeric;
  if (key == KEY_BITS32) s->bits = 32;
  if (key == KEY_BITS64) s->bits = 64;
  if (key == CLI_KEY_RANDOM) s->random = 1;
  if (key == 'v') s->verbose = 1;
  return CLI_OK;
}

static const cli_option encode_options[] = {
    CLI_OPTION_TARGET,
    CLI_OPTIONS_ROUND,
    CLI_OPTIONS_STREAM,
    {CLI_KEY_RANDOM, "random", NULL, "stochastic modes: a second field of each line is R, the random digits, in hex"},
    {KEY_BITS32, "bits32", NULL, "a line is eight hex digits: a binary32 operand"},
    {KEY_BITS64, "bits64", NULL, "a line is sixteen hex digits: a binary64 operand"},
    {'v', "verbose", NULL, "also print the value of the code and the events"},
    CLI_OPTIONS_FILES,
    CLI_OPTION_ROWS,
    CLI_OPTION_IN_PLACE,
    CLI_OPTION_THREADS,
    CLI_OPTION_JSON,
    {0}};
static const cli_command encode_command = {
    "encode",
    "[FILE | IN OUT]",
    "Round numbers into a format, one a line, and print their codes in hex; or arrays, file to file",
    "With IN and OUT it is `halfulp quantize --codes`: .npy or .safetensors files, scaled formats too. Else\n"
    "a number is decimal, C99 hexadecimal, inf or nan, and is rounded once, straight from its text. FILE\n"
    "is standard input if absent or -. Output goes on up to a line that is wrong; then the error names\n"
    "it.",
    "  echo 0.3 | halfulp encode -f float8_e4m3fn\n"
    "  echo 0x1.8p-10 | halfulp encode -f float8_e5m2 -r rtz -v\n"
    "  echo 3e9c0000 | halfulp encode -f bfloat16 --bits32\n"
    "  echo 0.3 ff | halfulp encode -f float8_e4m3fn -r sra:8 --random\n"
    "  echo 1000 | halfulp encode -f cuda.fp8_e4m3.nosat\n"
    "  halfulp encode -f mxfp4 digits_weights.npy /tmp/w4.npy",
    encode_options,
    0,
    2,
    set};

/* Numbers one a line know no blocks, and files no single numbers. */
static int check_lines(const encode_state *s) {
  const cli_quantize_state *f = &s->files;
  if (cli_want_format(&s->numeric)) return CLI_BAD;
  if (f->target.kind != &cli_kind_format && f->target.kind != &cli_kind_conversion)
    return cli_fail(NULL, "'%s' is for arrays: give IN.npy OUT.npy; numbers one a line want a plain format",
                    f->target.given);
  if (f->has_amax || f->includes || f->excludes || f->any_rank || f->rows_out || f->report || s->numeric.json)
    return cli_fail(NULL, "--amax, --include, --exclude, --any-rank, --rows, --report and --json go with IN and OUT");
  if (f->in_place) return cli_fail(NULL, "--in-place goes with a file");
  return CLI_OK;
}

static int check_files(const encode_state *s) {
  if (!s->bits && !s->random && !s->verbose) return CLI_OK;
  return cli_fail(NULL, "--bits32, --bits64, --random and --verbose go with numbers one a line, not with IN and OUT");
}

static uint32_t random_digits(const encode_state *s, unsigned long line) {
  if (s->numeric.mode.bits == 0) return 0;
  return hu_stream_word(s->numeric.stream, line - 1) >> (32 - s->numeric.mode.bits);
}

/* Splits off the second field; NULL if there is none or there are more. */
static char *second_field(char *line) {
  char *blank = strpbrk(line, " \t");
  if (!blank) return NULL;
  *blank++ = 0;
  blank += strspn(blank, " \t");
  return *blank && !strpbrk(blank, " \t") ? blank : NULL;
}

/* An operand as binary64, and with --bits32 as it came: a NaN may not survive being widened. */
typedef struct operand {
  double value;
  float narrow;
} operand;

/* The operand of a line; 1, or 0 after the reason is in *wrong. */
static int read_operand(operand *x, const encode_state *s, const char *text, const char **wrong) {
  uint64_t u;
  number z;
  *wrong = s->bits == 32 ? "not eight hex digits" : s->bits == 64 ? "not sixteen hex digits" : "not a number";
  if (s->bits) {
    if (!hex_parse(&u, text, (unsigned)s->bits / 4)) return 0;
    if (s->bits == 32) {
      uint32_t u32 = (uint32_t)u;
      memcpy(&x->narrow, &u32, sizeof x->narrow);
      x->value = x->narrow;
    } else {
      memcpy(&x->value, &u, sizeof x->value);
    }
    return 1;
  }
  if (!number_parse(&z, text)) return 0;
  *wrong = "the mode wants more digits of this number than binary64 holds; give it exactly in binary64";
  if (!number_suffices(z, s->numeric.format, s->numeric.mode)) return 0;
  x->value = z.value;
  return 1;
}

static uint32_t code_of(const encode_state *s, operand x, uint32_t random, uint32_t *events) {
  const cli_target *t = &s->files.target;
  if (!t->has_mode) return hu_encode64(s->numeric.format, s->numeric.mode, x.value, random, events);
  return s->bits == 32 ? hu_conversion_encode(&t->conversion, x.narrow, random, events)
                       : hu_conversion_encode64(&t->conversion, x.value, random, events);
}

static int encode_line(const encode_state *s, cli_lines *lines, int digits) {
  const char *wrong;
  operand x = {0, 0};
  uint64_t r = random_digits(s, lines->number);
  uint32_t events;
  if (!*lines->line) return cli_lines_fail(lines, "empty line, a number is wanted");
  if (s->random) {
    unsigned bits = s->numeric.mode.bits;
    char *field = second_field(lines->line);
    if (!field) return cli_lines_fail(lines, "two fields are wanted: a number and R in hex");
    if (!hex_parse_any(&r, field, bits ? UINT32_MAX >> (32 - bits) : 0))
      return cli_lines_fail(lines, "R is not a hex number of as many bits as the mode has");
  }
  if (!read_operand(&x, s, lines->line, &wrong)) return cli_lines_fail(lines, wrong);
  uint32_t code = code_of(s, x, (uint32_t)r, &events);
  printf("%0*x", digits, code);
  if (s->verbose) {
    char value[NUMBER_TEXT_MAX], words[CLI_EVENTS_MAX];
    printf(" %s %s", number_hex(value, hu_decode64(s->numeric.format, code)), cli_event_words(words, events));
  }
  putchar('\n');
  return CLI_OK;
}

/* A number where a file is meant: everyone tries it. */
static int is_missing(const char *path) { return access(path, F_OK) != 0; }
static int fail_operand(const char *command, const char *text) {
  return cli_fail(NULL, "%s: there is no file '%s', and numbers are read from lines: echo %s | halfulp %s ...", command,
                  text, text, command);
}

int cli_encode(int argc, char **argv) {
  encode_state state = {0};
  number z;
  cli_lines lines;
  char **operands;
  int count, next, status = cli_parse(&encode_command, &state, argc, argv, &operands, &count);
  if (status >= 0) return status;
  const char *out = cli_quantize_out(&state.files, operands, count);
  if (out) {
    state.files.codes = 1;
    return check_files(&state) ? CLI_BAD : cli_quantize_files(&state.files, operands[0], out);
  }
  if (check_lines(&state) || cli_preset_mode(&state.numeric, &state.files.target)) return CLI_BAD;
  if (state.random && !state.numeric.mode.bits) return cli_fail(NULL, "--random wants a stochastic mode (-r sra:N)");
  if (count && is_missing(operands[0]) && number_parse(&z, operands[0])) return fail_operand("encode", operands[0]);
  if (cli_lines_open(&lines, count ? operands[0] : "-")) return CLI_BAD;
  int digits = (int)code_digits(state.numeric.format);
  status = CLI_OK;
  while (status == CLI_OK && !ferror(stdout) && (next = cli_lines_next(&lines)) != 0)
    status = next < 0 ? -next : encode_line(&state, &lines, digits);
  cli_lines_close(&lines);
  return status;
}

static const cli_option decode_options[] = {CLI_OPTION_TARGET,
                                            {'v', "verbose", NULL, "also print the value in decimal"},
                                            {CLI_KEY_JOBS, "jobs", "N", "the same as --threads"},
                                            CLI_OPTION_ROWS,
                                            CLI_OPTION_IN_PLACE,
                                            CLI_OPTION_THREADS,
                                            {0}};
static const cli_command decode_command = {
    "decode",
    "[FILE | IN OUT]",
    "Print the values of codes in hex, one a line, as C99 hexadecimal numbers; or arrays, file to file",
    "Infinities and NaN are inf, -inf and nan. FILE is standard input if absent or -.\n"
    "With IN and OUT: IN.npy holds codes of FORMAT (and IN.scales.npy, IN.tensor.npy their scales; files of\n"
    "different sets are refused), OUT.npy gets float32 or float64; or IN.safetensors was written with --codes, which "
    "says the format (no -f),\n"
    "and OUT.safetensors gets the tensors in the dtypes they had, OUT.npy the only one.",
    "  echo 7e | halfulp decode -f float8_e4m3fn\n  halfulp info float4_e2m1fn --table | cut -d' ' -f1 | halfulp "
    "decode -f float4_e2m1fn",
    decode_options,
    0,
    2,
    set};

static int decode_line(const encode_state *s, cli_lines *lines, uint64_t last) {
  char hex[NUMBER_TEXT_MAX], decimal[NUMBER_TEXT_MAX];
  uint64_t code;
  if (!hex_parse_any(&code, lines->line, last))
    return cli_lines_fail(lines, "not a code in hex, or one wider than the format");
  double x = hu_decode64(s->numeric.format, (uint32_t)code);
  fputs(number_hex(hex, x), stdout);
  if (s->verbose) printf(" %s", number_decimal(decimal, x));
  putchar('\n');
  return CLI_OK;
}

int cli_decode(int argc, char **argv) {
  encode_state state = {0};
  uint64_t code;
  cli_lines lines;
  char **operands;
  int count, next, status = cli_parse(&decode_command, &state, argc, argv, &operands, &count);
  if (status >= 0) return status;
  const char *out = cli_quantize_out(&state.files, operands, count);
  if (out) return check_files(&state) ? CLI_BAD : cli_decode_files(&state.files, operands[0], out);
  if (check_lines(&state)) return CLI_BAD;
  if (count && is_missing(operands[0]) && hex_parse_any(&code, operands[0], UINT32_MAX))
    return fail_operand("decode", operands[0]);
  if (cli_lines_open(&lines, count ? operands[0] : "-")) return CLI_BAD;
  uint64_t last = ((uint64_t)1 << hu_format_limits(state.numeric.format).width) - 1;
  status = CLI_OK;
  while (status == CLI_OK && !ferror(stdout) && (next = cli_lines_next(&lines)) != 0)
    status = next < 0 ? -next : decode_line(&state, &lines, last);
  cli_lines_close(&lines);
  return status;
}
