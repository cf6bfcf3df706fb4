/* SPDX-License-Identifier: MIT */
/* halfulp vectors, check-vectors, testfloat - test vectors out, results judged, operands in and results out. */
#include <string.h>

#include "cli/models.h"
#include "cli/vectors.h"

enum {
  KEY_LEVEL = CLI_KEY_FREE,
  KEY_TO,
  KEY_FIRST,
  KEY_CHECK,
  KEY_NOTEXACT,
  KEY_NO_FLAGS,
  KEY_WORDS,
  KEY_JOINED,
  KEY_ACCUM,
  KEY_FA,
  KEY_FB,
  KEY_FD
};

typedef struct state {
  cli_numeric numeric;
  hu_format to;
  const char *to_text;
  uint64_t level, first;
  int check, notexact, no_flags, words, joined;
  const char *accum, *fa, *fb, *fd; /* of dot */
  uint64_t n;
} state;

static int set(void *context, int key, const char *value) {
  state *s = context;
  int shared = cli_set_numeric(&s->numeric, key, value);
  if (shared) return shared > 0 ? CLI_OK : CLI_BAD;
  switch (key) {
    case KEY_LEVEL: return cli_read_u64(&s->level, "--level", value, 1, 2);
    case KEY_FIRST: return cli_read_u64(&s->first, "--first", value, 0, UINT64_MAX);
    case KEY_TO: s->to_text = value; return cli_read_format(&s->to, value);
    case KEY_CHECK: s->check = 1; break;
    case KEY_NOTEXACT: s->notexact = 1; break;
    case KEY_WORDS: s->words = 1; break;
    case KEY_JOINED: s->joined = 1; break;
    case KEY_ACCUM: s->accum = value; break;
    case KEY_FA: s->fa = value; break;
    case KEY_FB: s->fb = value; break;
    case KEY_FD: s->fd = value; break;
    case 'n': return cli_read_u64(&s->n, "-n", value, 1, 4096);
    default: s->no_flags = 1; break;
  }
  return CLI_OK;
}

#define OPTION_TO \
  { KEY_TO, "to", "FORMAT", "format of the results; default that of the operands" }
#define OPTION_LEVEL \
  { KEY_LEVEL, "level", "N", "1: a few thousand cases; 2: many more, all codes up to 8 bits" }
#define OPTION_FIRST \
  { KEY_FIRST, "first", "N", "differences to print; default 20" }
#define OPTION_NO_FLAGS \
  { KEY_NO_FLAGS, "no-flags", NULL, "look at results only; lines may end before the flags" }

#define OPTIONS_LINES                                                                                                 \
  {KEY_WORDS, "words", NULL, "a field more behind the operands: random words, 8 digits each; R is the low N bits"}, { \
    KEY_JOINED, "joined", NULL, "lines without blanks, for $readmemh: one number each"                                \
  }
#define OPTIONS_DOT                                                                                           \
  {KEY_ACCUM, "accum", "MODEL", "dot: an accumulation model or preset (halfulp models)"},                     \
      {KEY_FA, "fa", "FORMAT", "dot: elements of A, as in mma; default: the named model's"},                  \
      {KEY_FB, "fb", "FORMAT", "dot: elements of B"}, {KEY_FD, "fd", "FORMAT", "dot: elements of C and D"}, { \
    'n', "elements", "N", "dot: elements of a row; default the instruction's K, or 4"                         \
  }

#define OPERATIONS                                                                                           \
  "OP is add sub mul div sqrt fma minimum maximum minimum_number maximum_number round_to_integral\n"         \
  "convert; a function: exp exp2 expm1 log log2 log1p tanh sigmoid erf gelu rsqrt reciprocal sin cos\n"      \
  "pow; a relation: eq lt_quiet le_quiet, and lt le eq_signaling, for which NaN is invalid; or dot, whose\n" \
  "operands are A B C [SCALES_A SCALES_B] as `halfulp mma` reads them.\n"
#define LINES                                                                                            \
  "A line holds the operands, the result and the flags in hex: 01 inexact, 02 underflow, 04 overflow,\n" \
  "08 division by zero, 10 invalid. In formats with IEEE 754's NaNs, one whose first trailing digit\n"   \
  "is 0 counts as signalling and is invalid as an operand; NaN results are as good as each other."

static const cli_option vectors_options[] = {CLI_OPTIONS_FORMAT, OPTION_TO,     CLI_OPTIONS_ROUND, CLI_OPTIONS_STREAM,
                                             OPTION_LEVEL,       OPTIONS_LINES, OPTIONS_DOT,       {0}};
static const cli_command vectors_command = {
    "vectors",
    "OP",
    "Generate operands, results and flags of an operation, in Berkeley TestFloat's text form",
    OPERATIONS LINES,
    "  halfulp vectors add -f float8_e4m3fn\n"
    "  halfulp vectors convert -f binary16 --to float8_e5m2 -r rtz --level 1\n"
    "  halfulp vectors gelu -f bfloat16 --level 2\n"
    "  halfulp vectors dot --accum nv.volta.f16.f32\n"
    "  halfulp vectors add -f bfloat16 -r sra:8 --words --joined\n"
    "  halfulp vectors fma -f float4_e2m1fn | halfulp check-vectors fma -f float4_e2m1fn",
    vectors_options,
    1,
    1,
    set};

static const cli_option check_options[] = {CLI_OPTIONS_FORMAT, OPTION_TO,    CLI_OPTIONS_ROUND,
                                           CLI_OPTIONS_STREAM, OPTION_FIRST, OPTION_NO_FLAGS,
                                           OPTIONS_LINES,      OPTIONS_DOT,  {0}};
static const cli_command check_command = {
    "check-vectors",
    "OP [FILE]",
    "Judge results from elsewhere: lines of operands, result and flags",
    OPERATIONS LINES
    "\nFILE is standard input if absent or -. Line i draws random word C + i - 1 in stochastic modes.\n"
    "Exit code 1 if a result or its flags differ.",
    "  halfulp vectors sqrt -f bfloat16 | halfulp check-vectors sqrt -f bfloat16\n"
    "  echo '38 38 40 00' | halfulp check-vectors add -f float8_e4m3fn\n"
    "  halfulp vectors dot --accum nv.volta.f16.f32 | halfulp check-vectors dot --accum nv.volta.f16.f32",
    check_options,
    1,
    2,
    set};

static const cli_option testfloat_options[] = {
    CLI_OPTIONS_ROUND,
    OPTION_LEVEL,
    {KEY_CHECK, "check", NULL, "judge lines of operands, result and flags instead, as check-vectors does"},
    {KEY_NOTEXACT, "notexact", NULL, "roundToInt without the flag inexact, TestFloat's own default"},
    OPTION_FIRST,
    OPTION_NO_FLAGS,
    {0}};
static const cli_command testfloat_command = {
    "testfloat",
    "FUNCTION [FILE]",
    "Read operands and write operands, results and flags, in Berkeley TestFloat's text form",
    "FUNCTION is a TestFloat name for f16, bf16 or f32: f16_add f16_sub f16_mul f16_mulAdd f16_div\n"
    "f16_sqrt f16_roundToInt f16_eq f16_le f16_lt f16_eq_signaling f16_le_quiet f16_lt_quiet f16_to_f32.\n"
    "So this command can stand between testfloat_gen and testfloat_ver. With --level it makes the operands\n"
    "itself. " LINES,
    "  echo '3C00 3C01' | halfulp testfloat f16_add\n"
    "  halfulp testfloat f16_to_f32 --level 1\n"
    "  halfulp testfloat f16_mulAdd --level 1 | halfulp testfloat f16_mulAdd --check",
    testfloat_options,
    1,
    2,
    set};

static int generate(const vectors *v, int level) {
  vectors_source source;
  vectors_case c = {0};
  if (vectors_source_open(&source, v, level)) return CLI_BAD;
  for (uint64_t i = 0; vectors_source_case(&source, i, &c) && !ferror(stdout); i++) {
    c.word = vectors_word(v, i);
    vectors_solve(v, i, &c);
    vectors_print(v, &c);
  }
  vectors_source_close(&source);
  return CLI_OK;
}

typedef struct verdict {
  uint64_t cases, wrong;
} verdict;

static int judge(const state *s, const vectors *v, cli_lines *lines, verdict *sum) {
  vectors_case given = {0}, want;
  int n = vectors_read(v, lines->line, &given);
  if (n != vectors_given(v) + 2 && !(s->no_flags && n == vectors_given(v) + 1))
    return cli_lines_fail(lines, "not the operands, a result and flags in hex, each within its format");
  want = given;
  vectors_solve(v, lines->number - 1, &want);
  sum->cases++;
  if (vectors_right(v, &want, given.z, s->no_flags ? want.flags : given.flags)) return CLI_OK;
  if (sum->wrong++ < s->first) {
    printf("line %lu: ", lines->number);
    vectors_print_operands(v, &want);
    vectors_print_result(v, " is", given.z, given.flags);
    vectors_print_result(v, ", wanted", want.z, want.flags);
    putchar('\n');
  }
  return CLI_OK;
}

static int answer(const vectors *v, cli_lines *lines) {
  vectors_case c = {0};
  if (vectors_read(v, lines->line, &c) < v->op->operands)
    return cli_lines_fail(lines, "not the operands in hex, each within its format");
  vectors_solve(v, lines->number - 1, &c);
  vectors_print(v, &c);
  return CLI_OK;
}

static int report(const char *path, verdict sum) {
  printf("%llu cases, %llu differ\n", (unsigned long long)sum.cases, (unsigned long long)sum.wrong);
  if (!sum.cases) return cli_fail(path, "no cases");
  return sum.wrong ? CLI_DIFFERENT : CLI_OK;
}

static int read_lines(const state *s, const vectors *v, const char *path, int check) {
  cli_lines lines;
  verdict sum = {0, 0};
  int next, status = CLI_OK;
  if (cli_lines_open(&lines, path)) return CLI_BAD;
  while (status == CLI_OK && (next = cli_lines_next(&lines)) != 0)
    status = next < 0 ? -next : check ? judge(s, v, &lines, &sum) : answer(v, &lines);
  cli_lines_close(&lines);
  if (status != CLI_OK || !check) return status;
  return report(path, sum);
}

/* The operation and the formats of vectors and check-vectors. */
static int choose(const state *s, const char *name, vectors *v) {
  v->op = vectors_find(name);
  if (!v->op) return cli_fail(NULL, "'%s' is no operation; see `halfulp vectors --help`", name);
  if (cli_want_format(&s->numeric)) return CLI_BAD;
  v->from = s->numeric.format;
  v->to = s->to_text ? s->to : v->from;
  if (v->op->kind == VECTORS_INTEGRAL && !hu_format_equal(v->from, v->to))
    return cli_fail(NULL, "round_to_integral has one format for operand and result");
  v->mode = s->numeric.mode;
  v->stream = s->numeric.stream;
  v->words = s->words;
  v->joined = s->joined;
  if (s->accum || s->fa || s->fb || s->fd || s->n)
    return cli_fail(NULL, "--accum, --fa, --fb, --fd and -n belong to dot");
  if (s->words && !v->mode.bits) return cli_fail(NULL, "--words: the rounding is not stochastic");
  return CLI_OK;
}

/* The model and the elements of dot. */
static int choose_dot(const state *s, vectors_dot *v) {
  int named;
  const char *const given[] = {s->fa, s->fb, s->fd};
  hu_element *const element[] = {&v->dot.a, &v->dot.b, &v->dot.d};
  if (!s->accum) return cli_fail(NULL, "dot: no model given; use --accum MODEL");
  if (s->numeric.format_text || s->to_text) return cli_fail(NULL, "dot: use --fa, --fb and --fd for its formats");
  if (cli_dot_model(&v->dot, "--accum", s->accum, &named)) return CLI_BAD;
  for (int i = 0; i < 3; i++) {
    if (!given[i] && !named)
      return cli_fail(NULL, "dot: '%s' leaves the elements open; use --fa, --fb and --fd", s->accum);
    if (given[i] && cli_read_element(element[i], given[i])) return CLI_BAD;
  }
  v->dot.mode = s->numeric.mode;
  v->dot.words = s->words;
  v->n = s->n ? s->n : named ? v->dot.depth : 4;
  v->stream = s->numeric.stream;
  v->first = s->first;
  v->joined = s->joined;
  v->no_flags = s->no_flags;
  if (v->n % v->dot.depth) return cli_fail(NULL, "-n: not a multiple of the instruction's K, %zu", v->dot.depth);
  if (s->words && !v->dot.mode.bits && !v->dot.accum.mode.bits)
    return cli_fail(NULL, "--words: no rounding is stochastic");
  return CLI_OK;
}

static int judge_dot(const state *s, const char *path) {
  vectors_dot v = {0};
  verdict sum = {0, 0};
  cli_lines lines;
  if (choose_dot(s, &v) || cli_lines_open(&lines, path)) return CLI_BAD;
  int status = vectors_dot_judge(&v, &lines, &sum.cases, &sum.wrong);
  cli_lines_close(&lines);
  return status ? status : report(path, sum);
}

static int generate_dot(const state *s) {
  vectors_dot v = {0};
  return choose_dot(s, &v) ? CLI_BAD : vectors_dot_generate(&v, (int)s->level);
}

int cli_vectors(int argc, char **argv) {
  state s = {.level = 1, .first = 20};
  vectors v = {0};
  char **operands;
  int count, status = cli_parse(&vectors_command, &s, argc, argv, &operands, &count);
  if (status >= 0) return status;
  if (!strcmp(operands[0], "dot")) return generate_dot(&s);
  return choose(&s, operands[0], &v) ? CLI_BAD : generate(&v, (int)s.level);
}

int cli_check_vectors(int argc, char **argv) {
  state s = {.level = 1, .first = 20};
  vectors v = {0};
  char **operands;
  int count, status = cli_parse(&check_command, &s, argc, argv, &operands, &count);
  if (status >= 0) return status;
  const char *path = count > 1 ? operands[1] : "-";
  if (!strcmp(operands[0], "dot")) return judge_dot(&s, path);
  return choose(&s, operands[0], &v) ? CLI_BAD : read_lines(&s, &v, path, 1);
}

int cli_testfloat(int argc, char **argv) {
  state s = {.first = 20};
  vectors v = {0};
  char **operands;
  int count, status = cli_parse(&testfloat_command, &s, argc, argv, &operands, &count);
  if (status >= 0) return status;
  if (!vectors_find_testfloat(&v, operands[0]))
    return cli_fail(NULL, "'%s' is no function of f16, bf16 or f32; see `halfulp testfloat --help`", operands[0]);
  v.mode = s.numeric.mode;
  v.quiet_integral = s.notexact;
  if (s.level && (count > 1 || s.check))
    return cli_fail(NULL, "--level makes the operands; it goes with no FILE and no --check");
  if (s.level) return generate(&v, (int)s.level);
  return read_lines(&s, &v, count > 1 ? operands[1] : "-", s.check);
}
