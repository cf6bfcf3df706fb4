/* SPDX-License-Identifier: MIT */
/* halfulp vectors - test vectors out; results judged; operands in and results out. */
#include <string.h>

#include "cli/accum/text.h"
#include "cli/command/explain_case.h"
#include "cli/vectors/vectors.h"

enum {
  KEY_LEVEL = CLI_KEY_FREE,
  KEY_FIRST,
  KEY_CHECK,
  KEY_NOTEXACT,
  KEY_NO_FLAGS,
  KEY_WORDS,
  KEY_JOINED,
  KEY_ACCUM,
  KEY_FA,
  KEY_FB,
  KEY_FC,
  KEY_FD,
  KEY_COUNT,
  KEY_COMPLETE,
  KEY_CASES,
  KEY_NAN_RESULT,
  KEY_NAN_FMA,
  KEY_INTEGER,
  KEY_ELEMENTS,
  KEY_EXPLAIN,
  KEY_TESTFLOAT
};

/* What is asked for. */
enum { GENERATE, JUDGE, FUNCTION, FUNCTION_JUDGE };
static const char *const mode_names[] = {"vectors OP", "--check", "--testfloat", "--testfloat --check"};
enum {
  OF_OP = CLI_FOR(GENERATE) | CLI_FOR(JUDGE),
  OF_JUDGE = CLI_FOR(JUDGE) | CLI_FOR(FUNCTION_JUDGE),
  OF_FUNCTION = CLI_FOR(FUNCTION) | CLI_FOR(FUNCTION_JUDGE)
};

typedef struct state {
  cli_numeric numeric;
  const char *from; /* type as given */
  uint64_t level, cases;
  vectors_rules rules;
  int check, testfloat, notexact, words, joined, count, complete, integer, explain;
  const char *accum, *fa, *fb, *fc, *fd;
  uint64_t n;
} state;

static int set_nan_result(state *s, const char *value) {
  static const char *const names[] = {"any", "quiet", "canonical"};
  for (int i = 0; i < 3; i++)
    if (!strcmp(value, names[i])) return s->rules.nan_result = i, CLI_OK;
  return cli_fail(NULL, "--nan-result: '%s' is not one of any quiet canonical", value);
}

static int set_nan_fma(state *s, const char *value) {
  s->rules.fixed_nan_fma = strcmp(value, "any") != 0;
  if (!s->rules.fixed_nan_fma || hu_mode_nan_fma_parse(&s->numeric.mode, value) == HU_OK) return CLI_OK;
  return cli_fail(NULL, "--nan-fma: '%s' is not one of any quiet invalid", value);
}

static int set_integer(state *s, const char *value) {
  static const char *const names[] = {"riscv", "arm", "x86"};
  for (int i = 0; i < 3; i++)
    if (!strcmp(value, names[i])) return s->integer = i, CLI_OK;
  return cli_fail(NULL, "--integer: '%s' is not one of riscv arm x86", value);
}

static int set(void *context, int key, const char *value) {
  state *s = context;
  if (key == 'f') return s->from = value, CLI_OK;
  int shared = cli_set_numeric(&s->numeric, key, value);
  if (shared) return shared > 0 ? CLI_OK : CLI_BAD;
  switch (key) {
    case KEY_LEVEL: return cli_read_u64(&s->level, "--level", value, 1, 2);
    case KEY_FIRST: return cli_read_u64(&s->rules.first, "--first", value, 0, UINT64_MAX);
    case KEY_CASES: return cli_read_u64(&s->cases, "--cases", value, 1, UINT64_MAX);
    case KEY_NAN_RESULT: return set_nan_result(s, value);
    case KEY_NAN_FMA: return set_nan_fma(s, value);
    case KEY_INTEGER: return set_integer(s, value);
    case KEY_CHECK: s->check = 1; break;
    case KEY_TESTFLOAT: s->testfloat = 1; break;
    case KEY_EXPLAIN: s->explain = 1; break;
    case KEY_NOTEXACT: s->notexact = 1; break;
    case KEY_WORDS: s->words = 1; break;
    case KEY_JOINED: s->joined = 1; break;
    case KEY_COUNT: s->count = 1; break;
    case KEY_COMPLETE: s->complete = 1; break;
    case KEY_ACCUM: s->accum = value; break;
    case KEY_FA: s->fa = value; break;
    case KEY_FB: s->fb = value; break;
    case KEY_FC: s->fc = value; break;
    case KEY_FD: s->fd = value; break;
    case KEY_ELEMENTS: return cli_read_u64(&s->n, "--elements", value, 1, 4096);
    default: s->rules.no_flags = 1; break;
  }
  return CLI_OK;
}

static const cli_option options[] = {
    {KEY_CHECK, "check", NULL, "judge results from elsewhere: lines of operands, result and flags"},
    {KEY_TESTFLOAT, "testfloat", NULL, "OP is a function of TestFloat; read operands, and write them with the results"},
    {'f' | OF_OP, "format", "FORMAT",
     "format of operands and result; convert: also binary64, i8 ... i64, ui8 ... ui64"},
    {KEY_FA | OF_OP, "fa", "FORMAT", "format of operand A, default -f; dot: elements of A, as in mma"},
    {KEY_FB | OF_OP, "fb", "FORMAT", "format of operand B"},
    {KEY_FC | OF_OP, "fc", "FORMAT", "format of operand C of fma"},
    {KEY_FD | OF_OP, "fd", "FORMAT", "format of the result D, default -f; dot: elements of C and D, as in mma"},
    {KEY_ACCUM | OF_OP, "accum", "MODEL", "dot: an accumulation model or preset (halfulp models)"},
    {KEY_ELEMENTS | OF_OP, "elements", "N", "dot: elements of a row; default the instruction's K, or 4"},
    CLI_OPTIONS_ROUND,
    {KEY_NAN_FMA, "nan-fma", "RULE",
     "infinity times zero plus a NaN: quiet (x86, default), invalid (RISC-V, Arm); --check: any, default"},
    CLI_OPTIONS_STREAM,
    {KEY_LEVEL, "level", "LEVEL", "1: some tens of thousands of cases; 2: many more; see --count; default 1"},
    {KEY_INTEGER, "integer", "RULE", "result of an invalid conversion to an integer: riscv arm x86; default riscv"},
    {KEY_COUNT | CLI_FOR(GENERATE), "count", NULL, "print how many cases there are, and no case"},
    {KEY_WORDS | OF_OP, "words", NULL,
     "a field more behind the operands: random words, 8 digits each; R is the low N bits"},
    {KEY_JOINED | OF_OP, "joined", NULL, "lines without blanks, for $readmemh: one number each"},
    {KEY_NOTEXACT | OF_FUNCTION, "notexact", NULL,
     "--testfloat: roundToInt and to integers without the flag inexact, TestFloat's own default"},
    {KEY_NAN_RESULT | OF_JUDGE, "nan-result", "RULE",
     "--check: NaN results that are right: any, quiet ones, the canonical one; default any"},
    {KEY_FIRST | OF_JUDGE, "first", "N", "--check: the first N differences to print; default 20"},
    {KEY_EXPLAIN | OF_JUDGE, "explain", NULL,
     "--check: below the first difference, what `halfulp explain` says about its operands"},
    {KEY_NO_FLAGS | OF_JUDGE, "no-flags", NULL, "--check: look at results only; lines may end before the flags"},
    {KEY_COMPLETE | CLI_FOR(JUDGE), "complete", NULL,
     "--check: the lines must be those of `halfulp vectors` with the same options, all of them"},
    {KEY_CASES | CLI_FOR(JUDGE), "cases", "N", "--check: there must be N lines"},
    CLI_OPTION_JSON,
    {0}};

static const cli_command command = {
    "vectors",
    "OP [FILE]",
    "Generate operands, results and flags of an operation in Berkeley TestFloat's text form, or judge or answer such "
    "lines",
    "OP is add sub mul div sqrt fma remainder minimum maximum minimum_number maximum_number\n"
    "round_to_integral convert; a function: exp exp2 expm1 log log2 log1p tanh sigmoid erf gelu rsqrt\n"
    "reciprocal sin cos pow; a relation: eq lt_quiet le_quiet, and lt le eq_signaling, for which NaN is\n"
    "invalid; or dot, whose operands are A B C [SCALES_A SCALES_B] as `halfulp mma` reads them.\n"
    "A line holds the operands, the result and the flags in hex: 01 inexact, 02 underflow, 04 overflow,\n"
    "08 infinite (division by zero), 10 invalid. In formats with IEEE 754's NaNs, one whose first trailing digit\n"
    "is 0 is signalling and invalid as an operand.\n\n"
    "Cases: every code of one operand of up to 16 bits, every pair of up to 6 bits (level 2: 8); else edge codes\n"
    "of the operands against each other, then, for add sub mul div sqrt fma convert, results about the smallest\n"
    "normal number and below it, on and beside the points where rounding turns; then random operands.\n"
    "docs/vectors.md gives the number of each.\n\n"
    "--check reads FILE, standard input if absent or -. Line i draws random word C + i - 1 in stochastic modes. A\n"
    "result with digits X or Z, as four-state simulators print them, differs. Unless --nan-result and --nan-fma say\n"
    "more, any NaN is as good as another, and infinity times zero plus a NaN may be invalid or not.\n"
    "Exit code 1 if a result or its flags differ, or lines are missing.\n\n"
    "--testfloat stands between testfloat_gen and testfloat_ver: OP is a TestFloat name for f16, bf16 or f32, f16_add\n"
    "f16_sub f16_mul f16_mulAdd f16_div f16_rem f16_sqrt f16_roundToInt f16_eq f16_le f16_lt f16_eq_signaling\n"
    "f16_le_quiet f16_lt_quiet; a conversion among these, f64, i32, ui32, i64, ui64: f16_to_f32 f64_to_f16 f16_to_i32\n"
    "ui64_to_bf16. It reads FILE, too; with --level it makes the operands itself.",
    "  halfulp vectors add -f float8_e4m3fn\n"
    "  halfulp vectors convert -f binary16 --fd i32 -r rtz\n"
    "  halfulp vectors fma --fa float8_e5m2 --fb float8_e5m2 --fc binary16 --fd binary16\n"
    "  halfulp vectors dot --accum nv.volta.f16.f32\n"
    "  halfulp vectors add -f bfloat16 -r sra:8 --words --joined\n"
    "  halfulp vectors fma -f float4_e2m1fn | halfulp vectors --check fma -f float4_e2m1fn --complete\n"
    "  echo '38 38 40 00' | halfulp vectors --check add -f float8_e4m3fn\n"
    "  halfulp vectors dot --accum nv.volta.f16.f32 | halfulp vectors --check dot --accum nv.volta.f16.f32\n"
    "  echo '3C00 3C01' | halfulp vectors --testfloat f16_add\n"
    "  halfulp vectors --testfloat f16_mulAdd --level 1 | halfulp vectors --testfloat f16_mulAdd --check",
    options,
    1,
    2,
    set};

static const char *operands_text(char text[80], const vectors *v, const vectors_case *c) {
  size_t at = 0;
  for (int k = 0; k < v->op->operands; k++)
    at += (size_t)snprintf(text + at, 80 - at, "%s%0*llX", k ? " " : "", (int)vectors_digits(&v->x[k]),
                           (unsigned long long)c->x[k]);
  if (v->words) snprintf(text + at, 80 - at, " %08X", c->word);
  return text;
}

static void print_case(const vectors *v, const vectors_case *c, int json, int first) {
  char text[80];
  if (json)
    vectors_json_case(first, operands_text(text, v, c), &v->z, c->z, c->flags);
  else
    vectors_print(v, c);
}

static int generate(const vectors *v, int level, int json) {
  vectors_source source;
  vectors_case c = {0};
  if (vectors_source_open(&source, v, level)) return CLI_BAD;
  for (uint64_t i = 0; vectors_source_case(&source, i, &c) && !ferror(stdout); i++) {
    c.word = vectors_word(v, i);
    vectors_solve(v, i, &c);
    print_case(v, &c, json, i == 0);
  }
  if (json) printf("]\n");
  vectors_source_close(&source);
  return CLI_OK;
}

/* ---- lines judged ---- */

/* The operands that there should be, where all are asked for. */
typedef struct expected {
  vectors_source source;
  int complete;
} expected;

static int check_operands(const expected *e, const vectors *v, cli_lines *lines, const vectors_case *given,
                          uint64_t i) {
  vectors_case want = {0};
  if (!e->complete) return CLI_OK;
  if (!vectors_source_case(&e->source, i, &want))
    return cli_lines_fail(lines, "--complete: more lines than `halfulp vectors` gives");
  for (int k = 0; k < v->op->operands; k++)
    if (want.x[k] != given->x[k])
      return cli_lines_fail(lines, "--complete: these are not the operands that `halfulp vectors` gives here");
  return CLI_OK;
}

static int judge(const vectors_rules *rules, const expected *e, const vectors *v, cli_lines *lines,
                 vectors_verdict *sum) {
  vectors_line read;
  char text[80];
  if (!vectors_read(v, lines->line, &read)) return cli_lines_fail(lines, read.wrong);
  if (read.fields != vectors_given(v) + 2 && !(rules->no_flags && read.fields == vectors_given(v) + 1))
    return cli_lines_fail(lines, "not as many fields as operands, a result and flags are");
  if (check_operands(e, v, lines, &read.c, sum->cases)) return CLI_BAD;
  vectors_case want = read.c;
  vectors_solve(v, lines->number - 1, &want);
  vectors_answer right = {want.z, want.flags, NULL};
  vectors_answer given = {read.c.z, read.c.flags, read.unknown ? read.result : NULL};
  int open = !rules->fixed_nan_fma && vectors_is_nan_fma(v, want.x);
  vectors_judge(sum, rules, &v->z, lines->number, operands_text(text, v, &want), right, given, open);
  return CLI_OK;
}

static int answer(const vectors *v, cli_lines *lines, int json, int first) {
  vectors_line read;
  if (!vectors_read(v, lines->line, &read)) return cli_lines_fail(lines, read.wrong);
  if (read.fields < v->op->operands) return cli_lines_fail(lines, "fewer fields than the operation has operands");
  vectors_solve(v, lines->number - 1, &read.c);
  print_case(v, &read.c, json, first);
  return CLI_OK;
}

/* Returns how many of the cases that there must be are missing; all of one kind are counted. */
static uint64_t missing(const state *s, uint64_t all, uint64_t cases) {
  uint64_t wanted = s->cases ? s->cases : s->complete ? all : 0;
  return cases < wanted ? wanted - cases : 0;
}

static int too_many(const state *s, const char *path, uint64_t cases) {
  if (!s->cases || cases <= s->cases) return CLI_OK;
  return cli_fail(path, "%llu cases; --cases asks for %llu", (unsigned long long)cases, (unsigned long long)s->cases);
}

static vectors_rules rules_of(const state *s, void (*explain)(const void *, unsigned long, const char *),
                              const explained *context) {
  vectors_rules rules = s->rules;
  rules.json = s->numeric.json;
  rules.context = context;
  if (s->explain) rules.explain = explain;
  return rules;
}

static int judge_lines(const state *s, const vectors *v, const char *id, const char *path) {
  cli_lines lines;
  vectors_verdict sum;
  expected e = {.complete = s->complete};
  int next, status = CLI_OK;
  explained context = {v, NULL, NULL, s->numeric.json};
  vectors_rules rules = rules_of(s, explain_case, &context);
  if (vectors_judge_open(&sum, &rules) || (s->complete && vectors_source_open(&e.source, v, (int)s->level)) ||
      cli_lines_open(&lines, path))
    return CLI_BAD;
  while (status == CLI_OK && (next = cli_lines_next(&lines)) != 0)
    status = next < 0 ? -next : judge(&rules, &e, v, &lines, &sum);
  cli_lines_close(&lines);
  if (s->complete) vectors_source_close(&e.source);
  if (status == CLI_OK) status = too_many(s, path, sum.cases);
  return vectors_report(&sum, &rules, id, path, status, missing(s, e.source.count, sum.cases));
}

static int answer_lines(const vectors *v, const char *path, int json) {
  cli_lines lines;
  int next, status = CLI_OK, first = 1;
  if (cli_lines_open(&lines, path)) return CLI_BAD;
  while (status == CLI_OK && !ferror(stdout) && (next = cli_lines_next(&lines)) != 0) {
    status = next < 0 ? -next : answer(v, &lines, json, first);
    if (status == CLI_OK) first = 0;
  }
  if (json) printf(first ? "[]\n" : "]\n");
  cli_lines_close(&lines);
  return status;
}

/* ---- what is asked for ---- */

/* Chooses the types of an operation's operands and of its result. */
static int choose_types(const state *s, vectors *v) {
  const char *given[] = {s->fa, s->fb, s->fc}, *last = s->from;
  for (int k = 0; k < VECTORS_OPERANDS; k++) {
    const char *text = given[k] ? given[k] : s->from;
    if (k >= v->op->operands && given[k])
      return cli_fail(NULL, "--f%c: %s has no operand %c", 'a' + k, v->op->name, 'A' + k);
    if (k >= v->op->operands) continue;
    if (!text) return cli_fail(NULL, "no format given; use -f FORMAT, or --fa, --fb, --fc for each operand");
    if (vectors_read_type(&v->x[k], text)) return CLI_BAD;
    if (!last) last = text;
    /* Operands of several formats leave that of the result open. */
    if (!s->from && k && !vectors_same_type(&v->x[k], &v->x[0])) last = NULL;
  }
  if (v->op->kind == VECTORS_RELATION) return v->z.kind = VECTORS_TRUTH, CLI_OK;
  if (!s->fd && !last) return cli_fail(NULL, "operands of several formats: give the result's by --fd FORMAT");
  if (vectors_read_type(&v->z, s->fd ? s->fd : last)) return CLI_BAD;
  v->z.integer.invalid = (uint8_t)s->integer;
  return CLI_OK;
}

/* Chooses the operation and the formats. */
static int choose(const state *s, const char *name, vectors *v) {
  v->op = vectors_find(name);
  if (!v->op) return cli_fail(NULL, "'%s' is no operation; see `halfulp vectors --help`", name);
  if (s->accum || s->n) return cli_fail(NULL, "--accum and --elements belong to dot");
  if (choose_types(s, v) || vectors_check(v)) return CLI_BAD;
  v->mode = s->numeric.mode;
  v->stream = s->numeric.stream;
  v->words = s->words;
  v->joined = s->joined;
  if (s->words && !v->mode.bits) return cli_fail(NULL, "--words: the rounding is not stochastic");
  return CLI_OK;
}

/* Chooses the model and the elements of dot. */
static int choose_dot(const state *s, vectors_dot *v) {
  int named;
  const char *const given[] = {s->fa, s->fb, s->fd};
  hu_element *const element[] = {&v->dot.a, &v->dot.b, &v->dot.d};
  if (!s->accum) return cli_fail(NULL, "dot: no model given; use --accum MODEL");
  if (s->from || s->fc) return cli_fail(NULL, "dot: use --fa, --fb and --fd for its formats");
  if (cli_dot_model(&v->dot, "--accum", s->accum, &named)) return CLI_BAD;
  for (int i = 0; i < 3; i++) {
    if (!given[i] && !named)
      return cli_fail(NULL, "dot: '%s' leaves the elements open; use --fa, --fb and --fd", s->accum);
    if (given[i] && cli_read_element(element[i], given[i])) return CLI_BAD;
  }
  if (cli_dot_taken(&v->dot, s->accum)) return CLI_BAD;
  v->dot.mode = s->numeric.mode;
  v->dot.words = s->words;
  v->n = s->n ? s->n : named ? v->dot.depth : 4;
  v->stream = s->numeric.stream;
  v->joined = s->joined;
  if (v->n % v->dot.depth)
    return cli_fail(NULL, "--elements: not a multiple of the instruction's K, %zu", v->dot.depth);
  if (s->words && !v->dot.mode.bits && !v->dot.accum.mode.bits)
    return cli_fail(NULL, "--words: no rounding is stochastic");
  return CLI_OK;
}

static int judge_dot(const state *s, const char *path) {
  vectors_dot v = {0};
  vectors_verdict sum;
  cli_lines lines;
  explained context = {NULL, &v, s->accum, s->numeric.json};
  vectors_rules rules = rules_of(s, explain_dot_case, &context);
  if (choose_dot(s, &v) || vectors_judge_open(&sum, &rules) || cli_lines_open(&lines, path)) return CLI_BAD;
  int status = vectors_dot_judge(&v, &rules, &lines, s->complete ? (int)s->level : 0, &sum);
  cli_lines_close(&lines);
  if (status == CLI_OK) status = too_many(s, path, sum.cases);
  return vectors_report(&sum, &rules, "dot", path, status, missing(s, vectors_dot_cases((int)s->level), sum.cases));
}

static int print_count(const char *id, uint64_t cases, int json) {
  if (json)
    printf("{\"id\": \"%s\", \"cases\": %llu}\n", id, (unsigned long long)cases);
  else
    printf("%llu\n", (unsigned long long)cases);
  return CLI_OK;
}

static int generate_dot(const state *s) {
  vectors_dot v = {0};
  if (choose_dot(s, &v)) return CLI_BAD;
  v.json = s->numeric.json;
  if (!s->count) return vectors_dot_generate(&v, (int)s->level);
  return print_count("dot", vectors_dot_cases((int)s->level), s->numeric.json);
}

static int count_cases(const vectors *v, int level, int json) {
  vectors_source source;
  if (vectors_source_open(&source, v, level)) return CLI_BAD;
  print_count(v->op->name, source.count, json);
  vectors_source_close(&source);
  return CLI_OK;
}

/* ---- the four modes ---- */

static int judge_op(const state *s, const char *name, const char *path) {
  vectors v = {0};
  if (!strcmp(name, "dot")) return judge_dot(s, path);
  return choose(s, name, &v) ? CLI_BAD : judge_lines(s, &v, name, path);
}

static int generate_op(const state *s, const char *name) {
  vectors v = {0};
  int json = s->numeric.json;
  if (s->joined && json) return cli_fail(NULL, "vectors: --joined is about lines; leave it or --json out");
  if (!strcmp(name, "dot")) return generate_dot(s);
  if (choose(s, name, &v)) return CLI_BAD;
  return s->count ? count_cases(&v, (int)s->level, json) : generate(&v, (int)s->level, json);
}

/* Runs or judges a function. path: NULL where no file was given; made: the operands are made here. */
static int testfloat(const state *s, const char *name, const char *path, int made) {
  vectors v = {0};
  if (!vectors_find_testfloat(&v, name) || (v.x[0].kind != VECTORS_CODE && v.z.kind != VECTORS_CODE))
    return cli_fail(NULL, "'%s' is no function of f16, bf16 or f32; see `halfulp vectors --help`", name);
  v.mode = s->numeric.mode;
  v.stream = s->numeric.stream;
  v.quiet_integral = s->notexact;
  v.z.integer.invalid = (uint8_t)s->integer;
  if (made && (path || s->check))
    return cli_fail(NULL, "vectors: --level makes the operands; with --testfloat it goes with no FILE and no --check");
  if (made) return generate(&v, (int)s->level, s->numeric.json);
  if (!path) path = "-";
  return s->check ? judge_lines(s, &v, name, path) : answer_lines(&v, path, s->numeric.json);
}

int cli_vectors(int argc, char **argv) {
  state s = {.rules.first = 20};
  char **operands;
  int count, status = cli_parse(&command, &s, argc, argv, &operands, &count);
  if (status >= 0) return status;
  int mode = 2 * s.testfloat + s.check, made = s.level != 0;
  const char *path = count > 1 ? operands[1] : NULL;
  if (cli_mode_check(&command, mode, mode_names)) return CLI_BAD;
  if (!made) s.level = 1;
  if (s.testfloat) return testfloat(&s, operands[0], path, made);
  if (s.check) return judge_op(&s, operands[0], path ? path : "-");
  if (path) return cli_fail(NULL, "vectors: '%s': a file is read by --check or --testfloat only", path);
  return generate_op(&s, operands[0]);
}
