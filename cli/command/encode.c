/* SPDX-License-Identifier: MIT */
/* halfulp encode, halfulp decode - numbers to codes and back, one per line. */
#include <string.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/base/numbers.h"
#include "cli/quantize/quantize.h"
#include "halfulp/scalar.h"

enum { KEY_BITS32 = CLI_KEY_OWN, KEY_BITS64, CLI_VALUES_MAX = 1 << 20, WORD_DIGITS = 8 };

typedef struct encode_state {
  cli_numeric numeric;
  cli_quantize_state files; /* the same options, for IN OUT */
  int bits, words, verbose;
} encode_state;

static int set(void *context, int key, const char *value) {
  encode_state *state = context;
  if (cli_quantize_set(&state->files, key, value)) return CLI_BAD;
  state->numeric = state->files.numeric;
  if (key == KEY_BITS32) state->bits = 32;
  if (key == KEY_BITS64) state->bits = 64;
  if (key == CLI_KEY_WORDS) state->words = 1;
  if (key == 'v') state->verbose = 1;
  return CLI_OK;
}

static const cli_option encode_options[] = {
    CLI_OPTION_TARGET,
    CLI_OPTIONS_ROUND,
    CLI_OPTIONS_STREAM,
    {CLI_KEY_WORDS, "words", NULL,
     "stochastic modes: a field more in each line: R in hex, or a random word of 8 digits"},
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
    "[NUMBER... | FILE | IN OUT]",
    "Round numbers into a format and print their codes in hex, one per line; or arrays, file to file",
    "With IN and OUT it is `halfulp quantize --codes`: .npy or .safetensors files, scaled formats too. Else\n"
    "a number is decimal, C99 hexadecimal, inf or nan, and is rounded once, straight from its text. Numbers\n"
    "are operands, or lines of FILE, which is standard input if absent or -. An operand that is the name of\n"
    "a file is one: then the lines are read. Output continues up to a line that is wrong; then the error\n"
    "names it.\n"
    "\n"
    "With --words each number is followed by a blank and R, the random digits: up to as many bits as the mode has,\n"
    "or a word of 8 hex digits whose low bits are R, as `halfulp vectors --words` writes them.",
    "  halfulp encode -f float8_e4m3fn 0.3 -1e9\n"
    "  echo 0.3 | halfulp encode -f float8_e4m3fn\n"
    "  echo 0x1.8p-10 | halfulp encode -f float8_e5m2 -r rtz -v\n"
    "  echo 3e9c0000 | halfulp encode -f bfloat16 --bits32\n"
    "  echo 0.3 ff | halfulp encode -f float8_e4m3fn -r sra:8 --words\n"
    "  echo 1.125 80 | halfulp encode -f float8_e5m2 -r sra:8 --saturate none --words   # VCVTBIASPH2BF8, bias 80\n"
    "  echo 1000 | halfulp encode -f cuda.fp8_e4m3.nosat\n"
    "  halfulp encode -f mxfp4 digits_weights.npy /tmp/w4.npy",
    encode_options,
    0,
    CLI_VALUES_MAX,
    set};

/* Refuses options that do not belong to the input: single numbers have no blocks, and files have no fields. */
static int check_lines(const encode_state *state) {
  const cli_quantize_state *files = &state->files;
  if (cli_need_format(&state->numeric)) return CLI_BAD;
  if (files->target.kind != &cli_kind_format && files->target.kind != &cli_kind_conversion)
    return cli_fail(NULL, "'%s' is for arrays: give IN.npy OUT.npy; numbers, one per line, require a plain format",
                    files->target.given);
  if (files->packed) return cli_fail(NULL, "--packed goes with IN.npy and OUT.npy");
  if (files->has_amax || files->importance || files->includes || files->excludes || files->any_rank ||
      files->rows_out || files->report)
    return cli_fail(NULL,
                    "--amax, --importance, --include, --exclude, --any-rank, --rows and --report go with IN and OUT");
  if (files->in_place) return cli_fail(NULL, "--in-place goes with a file");
  return CLI_OK;
}

static int check_files(const encode_state *state) {
  if (!state->bits && !state->words && !state->verbose) return CLI_OK;
  return cli_fail(NULL, "--bits32, --bits64, --words and --verbose go with numbers, one per line, not with IN and OUT");
}

static uint32_t random_digits(const encode_state *state, unsigned long line) {
  if (state->numeric.mode.bits == 0) return 0;
  return hu_stream_word(state->numeric.stream, line - 1) >> (32 - state->numeric.mode.bits);
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

/* Reads the operand of a line. Returns 1, or 0 after the reason is in *wrong. */
static int read_operand(operand *x, const encode_state *state, const char *text, const char **wrong) {
  uint64_t bits;
  number z;
  *wrong = state->bits == 32 ? "not eight hex digits" : state->bits == 64 ? "not sixteen hex digits" : "not a number";
  if (state->bits) {
    if (!hex_parse(&bits, text, (unsigned)state->bits / 4)) return 0;
    if (state->bits == 32) {
      uint32_t u32 = (uint32_t)bits;
      memcpy(&x->narrow, &u32, sizeof x->narrow);
      x->value = x->narrow;
    } else {
      memcpy(&x->value, &bits, sizeof x->value);
    }
    return 1;
  }
  if (!number_parse(&z, text)) return 0;
  *wrong = "the mode requires more digits of this number than binary64 holds; give it exactly in binary64";
  if (!number_suffices(z, state->numeric.format, state->numeric.mode)) return 0;
  x->value = z.value;
  return 1;
}

static uint32_t code_of(const encode_state *state, operand x, uint32_t random, uint32_t *events) {
  const cli_target *target = &state->files.target;
  if (!target->has_mode) return hu_encode64(state->numeric.format, state->numeric.mode, x.value, random, events);
  return state->bits == 32 ? hu_conversion_encode(&target->conversion, x.narrow, random, events)
                           : hu_conversion_encode64(&target->conversion, x.value, random, events);
}

/* Prints "LINE:3: 'abc' is not a number". */
static int fail_text(const cli_lines *lines, const char *text, const char *wrong) {
  char said[CLI_SHOWN_MAX];
  snprintf(said, sizeof said, "'%.200s'%s: %s", text, strlen(text) > 200 ? "..." : "", wrong);
  return cli_lines_fail(lines, said);
}

/* Begins an object of the list of --json. */
static void begin_object(const cli_lines *lines) { printf(lines->number > 1 ? ",\n " : "["); }

static void print_code(const encode_state *state, const cli_lines *lines, uint32_t code, uint32_t events, int digits) {
  double value = hu_decode64(state->numeric.format, code);
  char hex[NUMBER_TEXT_MAX], words[CLI_EVENTS_MAX];
  if (!state->numeric.json) {
    printf("%0*x", digits, code);
    if (state->verbose) printf(" %s %s", number_hex(hex, value), cli_event_words(words, events));
    putchar('\n');
    return;
  }
  begin_object(lines);
  cli_json(stdout, "{'operand': ?, ?, 'events': ?}", JSON(lines->line), cli_code(digits, code, value),
           cli_event_set(events));
}

static int encode_line(const encode_state *state, cli_lines *lines) {
  const char *wrong;
  operand x = {0, 0};
  uint64_t random = random_digits(state, lines->number);
  uint32_t events;
  if (!*lines->line) return cli_lines_fail(lines, "empty line, a number is expected");
  if (state->words) {
    unsigned bits = state->numeric.mode.bits;
    char *field = second_field(lines->line);
    if (!field) return fail_text(lines, lines->line, "two fields are expected: a number and R in hex");
    uint64_t last = bits ? UINT32_MAX >> (32 - bits) : 0;
    if (!hex_parse_any(&random, field, strlen(field) == WORD_DIGITS ? UINT32_MAX : last))
      return fail_text(lines, field, "R is not a hex number of as many bits as the mode has, nor a word of 8 digits");
    random &= last;
  }
  if (!read_operand(&x, state, lines->line, &wrong)) return fail_text(lines, lines->line, wrong);
  uint32_t code = code_of(state, x, (uint32_t)random, &events);
  print_code(state, lines, code, events, (int)code_digits(state->numeric.format));
  return CLI_OK;
}

/* ---- values as operands, or lines of a file ---- */

static int is_file(const char *path) { return !strcmp(path, "-") || access(path, F_OK) == 0; }

/* Returns 1 if the first field of an operand is a number or a code, as the command reads them. */
static int is_number(const encode_state *state, const char *text) {
  char field[CLI_SHOWN_MAX];
  number z;
  uint64_t bits;
  snprintf(field, sizeof field, "%.*s", state->words ? (int)strcspn(text, " \t") : (int)sizeof field - 1, text);
  return state->bits ? hex_parse(&bits, field, (unsigned)state->bits / 4) : number_parse(&z, field);
}

static int is_code(const encode_state *state, const char *text) {
  uint64_t bits;
  (void)state;
  return hex_parse_any(&bits, text, UINT32_MAX);
}

/* Returns 1 if the operands are values, and the first no file's name; 0: none, a file or two; -1: an error line. */
static int has_values(const encode_state *state, const char *command, char **operands, int count,
                      int (*is)(const encode_state *, const char *)) {
  if (count && !is_file(operands[0]) && is(state, operands[0])) return 1;
  if (count <= 2) return 0;
  cli_fail(NULL, "%s: '%s' is one operand too many", command, operands[2]);
  return -1;
}

/* Treats every operand as a line, or every line of the file. */
static int each(const encode_state *state, char **operands, int count, int values,
                int (*take)(const encode_state *state, cli_lines *lines)) {
  cli_lines lines = {.name = "operand"};
  int status = CLI_OK, next;
  for (int i = 0; values && i < count && status == CLI_OK; i++) {
    lines.line = operands[i];
    lines.number++;
    status = take(state, &lines);
  }
  unsigned long done = lines.number;
  if (!values) {
    if (cli_lines_open(&lines, count ? operands[0] : "-")) return CLI_BAD;
    while (status == CLI_OK && !ferror(stdout) && (next = cli_lines_next(&lines)) != 0)
      status = next < 0 ? -next : take(state, &lines);
    done = lines.number;
    cli_lines_close(&lines);
  }
  if (state->numeric.json) printf(done > (status != CLI_OK) ? "]\n" : "[]\n");
  return status;
}

int cli_encode(int argc, char **argv) {
  encode_state state = {0};
  char **operands;
  int count, status = cli_parse(&encode_command, &state, argc, argv, &operands, &count);
  if (status >= 0) return status;
  int values = has_values(&state, "encode", operands, count, is_number);
  if (values < 0) return CLI_BAD;
  const char *out = values ? NULL : cli_quantize_out(&state.files, operands, count);
  if (out) {
    state.files.codes = 1;
    return check_files(&state) ? CLI_BAD : cli_quantize_files(&state.files, operands[0], out);
  }
  if (check_lines(&state) || cli_preset_mode(&state.numeric, &state.files.target)) return CLI_BAD;
  if (state.words && !state.numeric.mode.bits) return cli_fail(NULL, "--words requires a stochastic mode (-r sra:N)");
  return each(&state, operands, count, values, encode_line);
}

static const cli_option decode_options[] = {
    CLI_OPTION_TARGET,
    {'v', "verbose", NULL, "also print the value in decimal"},
    CLI_OPTION_ROWS,
    CLI_OPTION_PACKED(CLI_KEY_PACKED),
    CLI_OPTION_LAYOUT(CLI_KEY_LAYOUT),
    {CLI_KEY_INCLUDE | CLI_REPEATS, "include", "GLOB", "of a model, the tensors of these names alone"},
    CLI_OPTION_DTYPE(CLI_KEY_DTYPE),
    CLI_OPTION_IN_PLACE,
    CLI_OPTION_THREADS,
    CLI_OPTION_JSON,
    {0}};
static const cli_command decode_command = {
    "decode",
    "[CODE... | FILE | IN OUT]",
    "Print the values of codes in hex, one per line, as C99 hexadecimal numbers; or arrays, file to file",
    "Infinities and NaN are inf, -inf and nan. Codes are operands, with 0x or without, or lines of FILE, which\n"
    "is standard input if absent or -. An operand that is the name of a file is one.\n"
    "A code with bits above the format's width is an error. --packed reads bytes that hold two codes of 4 bits\n"
    "each, the first in the low half, or four of 6 bits in three; the last axis becomes 2 or 4/3 of what it was.\n"
    "With IN and OUT: IN.npy holds codes of FORMAT (and IN.scales.npy, IN.tensor.npy their scales; files of\n"
    "different sets are refused), OUT.npy gets float32 or float64; or IN.safetensors was written with --codes,\n"
    "which says the format (no -f), and OUT.safetensors gets the tensors in the dtypes they had, OUT.npy the only\n"
    "one; or IN.gguf says its types (no -f): MXFP4, NVFP4, Q4_0 to Q6_K, IQ4 and Q8_0 become F32 in OUT.gguf or\n"
    "OUT.safetensors.",
    "  halfulp decode -f float8_e4m3fn 7e 0x01\n  echo 7e | halfulp decode -f float8_e4m3fn\n  halfulp info "
    "float4_e2m1fn --table | cut -d' ' -f1 | halfulp "
    "decode -f float4_e2m1fn",
    decode_options,
    0,
    CLI_VALUES_MAX,
    set};

static int decode_line(const encode_state *state, cli_lines *lines) {
  char hex[NUMBER_TEXT_MAX];
  uint64_t code, last = ((uint64_t)1 << hu_limits_of(state->numeric.format).width) - 1;
  if (!hex_parse_any(&code, lines->line, last))
    return fail_text(lines, lines->line, "not a code in hex, or one wider than the format");
  double x = hu_decode64(state->numeric.format, (uint32_t)code);
  if (state->numeric.json) {
    begin_object(lines);
    cli_json(stdout, "{?}", cli_code((int)code_digits(state->numeric.format), code, x));
    return CLI_OK;
  }
  fputs(number_hex(hex, x), stdout);
  if (state->verbose) printf(" %s", DECIMAL(x));
  putchar('\n');
  return CLI_OK;
}

int cli_decode(int argc, char **argv) {
  encode_state state = {0};
  char **operands;
  int count, status = cli_parse(&decode_command, &state, argc, argv, &operands, &count);
  if (status >= 0) return status;
  int values = has_values(&state, "decode", operands, count, is_code);
  if (values < 0) return CLI_BAD;
  const char *out = values ? NULL : cli_quantize_out(&state.files, operands, count);
  if (out && state.numeric.json) return cli_fail(NULL, "decode: --json goes with codes, not with IN and OUT");
  if (out) return check_files(&state) ? CLI_BAD : cli_decode_files(&state.files, operands[0], out);
  if (check_lines(&state)) return CLI_BAD;
  return each(&state, operands, count, values, decode_line);
}
