/* SPDX-License-Identifier: MIT */
/* halfulp mma - dot products as a matrix unit computes them, one per line, patterns in and out. */
#include <stdio.h>
#include <string.h>

#include "cli/accum/text.h"
#include "cli/vectors/dot_line.h"
#include "halfulp/scalar.h"

enum { KEY_FA = CLI_KEY_FREE, KEY_FB, KEY_FD };

typedef struct mma_state {
  cli_numeric numeric;
  hu_type a, b, result;
  int has_a, has_b, has_d;
} mma_state;

static int set(void *context, int key, const char *value) {
  mma_state *state = context;
  int shared = cli_set_numeric(&state->numeric, key, value);
  if (shared) return shared > 0 ? CLI_OK : CLI_BAD;
  if (key == KEY_FA) state->has_a = 1;
  if (key == KEY_FB) state->has_b = 1;
  if (key == KEY_FD) state->has_d = 1;
  return cli_read_element(key == KEY_FA ? &state->a : key == KEY_FB ? &state->b : &state->result, value);
}

static const cli_option options[] = {
    {KEY_FA, "fa", "FORMAT", "elements of A: a format, binary64, s8, u8, s4, u4; default: the model's own"},
    {KEY_FB, "fb", "FORMAT", "elements of B"},
    {KEY_FD, "fd", "FORMAT", "elements of C and D (s32 with integers)"},
    CLI_OPTIONS_ROUND,
    CLI_OPTIONS_STREAM,
    CLI_OPTION_JSON,
    {0}};
static const cli_command command = {
    "mma",
    "MODEL [FILE]",
    "Dot products under an accumulation model, one per line",
    "A line is A B C [SCALES_A SCALES_B], each the patterns of its elements in hex: a fixed number of digits each,\n"
    "element 0 first, no separators; 4-bit elements one digit; tf32 and xf32 operands as binary32 patterns; C may be\n"
    "- (absent, +0). A pattern above the element's width is an error. Any multiple of the instruction's K: blocks\n"
    "are chained, k ascending. D is printed in hex.\n"
    "MODEL as in gemm: a named unit, or a model with `takes(A,B,C,...)`, has elements of its own and takes no\n"
    "others; `any(MODEL)` takes others, too. -r and -s are those of the last rounding into D's format. Stochastic\n"
    "models: line i is element i.\n"
    "FILE is standard input if absent or -.\n\n"
    "A model of your own, for a unit that aligns its terms to the largest exponent:\n\n"
    "  block(align,l=4,f=3,emin=-28,out=binary16)   l: 4 products and C at a time; f: 3 digits are kept\n"
    "                                               below the largest exponent, which is at least emin;\n"
    "                                               out: the accumulator\n\n"
    "`halfulp models --grammar` explains every key of block(...) and computes the last example below step by step.",
    "  echo 3c003c003c003c00 3c003c003c003c00 3f800000 | halfulp mma nv.volta.f16.f32\n"
    "  echo 3c003c00 3c003c00 0000 | halfulp mma 'seq(binary16,rtz)' --fa binary16 --fb binary16 --fd binary16\n"
    "  echo 48003d003a003000 3c003c00bc003c00 3c00 | \\\n"
    "      halfulp mma 'block(align,l=4,f=3,emin=-28,out=binary16)' --fa binary16 --fb binary16 --fd binary16",
    options,
    1,
    2,
    set};

static double value_of(hu_type element, uint64_t pattern) {
  double z;
  if (element.kind == HU_TYPE_CODES) return hu_decode64(element.format, (uint32_t)pattern);
  if (element.kind == HU_TYPE_INT32) return (int32_t)(uint32_t)pattern;
  memcpy(&z, &pattern, sizeof z);
  return z;
}

static int print_line(const cli_dot *dot, const cli_numeric *numeric, const cli_lines *lines) {
  uint64_t result;
  hu_exec exec = {1, 0, numeric->stream, {0}};
  exec.stream.counter += lines->number - 1;
  char *word[CLI_DOT_WORDS];
  int count = cli_split(lines->line, word, CLI_DOT_WORDS);
  if (cli_dot_line(&result, NULL, dot, word, count, lines, &exec)) return CLI_BAD;
  int digits = (int)(hu_type_width(dot->result) + 3) / 4;
  if (!numeric->json) {
    printf("%0*llx\n", digits, (unsigned long long)result);
    return CLI_OK;
  }
  cli_json(stdout, "?{?}", cli_plain(lines->number > 1 ? ",\n " : "["),
           cli_code(digits, result, value_of(dot->result, result)));
  return CLI_OK;
}

static int choose_model(cli_dot *dot, const mma_state *state, const char *text) {
  int named;
  if (cli_dot_model(dot, "model", text, &named)) return CLI_BAD;
  if (!named) {
    dot->a = dot->accum.a;
    dot->b = dot->accum.b;
    dot->result = cli_model_result(&dot->accum);
  }
  if (state->has_a) dot->a = state->a;
  if (state->has_b) dot->b = state->b;
  if (state->has_d) dot->result = state->result;
  if (!hu_type_size(dot->a) || !hu_type_size(dot->b) || !hu_type_size(dot->result))
    return cli_fail(NULL, "mma: '%s' is no named model and leaves the elements open; use --fa, --fb and --fd", text);
  if (cli_dot_taken(dot, text)) return CLI_BAD;
  dot->mode = state->numeric.mode;
  dot->registers = 1;
  return CLI_OK;
}

int cli_mma(int argc, char **argv) {
  mma_state state = {0};
  cli_dot dot = {0};
  cli_lines lines;
  char **operands;
  int count, next, status = cli_parse(&command, &state, argc, argv, &operands, &count);
  if (status >= 0) return status;
  if (choose_model(&dot, &state, operands[0])) return CLI_BAD;
  if (cli_lines_open(&lines, count > 1 ? operands[1] : "-")) return CLI_BAD;
  status = CLI_OK;
  while (status == CLI_OK && !ferror(stdout) && (next = cli_lines_next(&lines)) != 0)
    status = next < 0 ? -next : print_line(&dot, &state.numeric, &lines);
  if (state.numeric.json) printf(lines.number > (status != CLI_OK) ? "]\n" : "[]\n");
  cli_lines_close(&lines);
  return status;
}
