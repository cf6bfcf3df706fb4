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

static int set_nan_result(state *asked, const char *value) {
  static const char *const names[] = {"any", "quiet", "canonical"};
  for (int i = 0; i < 3; i++)
    if (!strcmp(value, names[i])) return asked->rules.nan_result = i, CLI_OK;
  return cli_fail(NULL, "--nan-result: '%s' is not one of any quiet canonical", value);
}

static int set_nan_fma(state *asked, const char *value) {
  asked->rules.fixed_nan_fma = strcmp(value, "any") != 0;
  if (!asked->rules.fixed_nan_fma || hu_mode_nan_fma_parse(&asked->numeric.mode, value) == HU_OK) return CLI_OK;
  return cli_fail(NULL, "--nan-fma: '%s' is not one of any quiet invalid", value);
}

static int set_integer(state *asked, const char *value) {
  static const char *const names[] = {"riscv", "arm", "x86"};
  for (int i = 0; i < 3; i++)
    if (!strcmp(value, names[i])) return asked->integer = i, CLI_OK;
  return cli_fail(NULL, "--integer: '%s' is not one of riscv arm x86", value);
}

static int set(void *context, int key, const char *value) {
  state *asked = context;
  if (key == 'f') return asked->from = value, CLI_OK;
  int shared = cli_set_numeric(&asked->numeric, key, value);
  if (shared) return shared > 0 ? CLI_OK : CLI_BAD;
  switch (key) {
    case KEY_LEVEL: return cli_read_u64(&asked->level, "--level", value, 1, 2);
    case KEY_FIRST: return cli_read_u64(&asked->rules.first, "--first", value, 0, UINT64_MAX);
    case KEY_CASES: return cli_read_u64(&asked->cases, "--cases", value, 1, UINT64_MAX);
    case KEY_NAN_RESULT: return set_nan_result(asked, value);
    case KEY_NAN_FMA: return set_nan_fma(asked, value);
    case KEY_INTEGER: return set_integer(asked, value);
    case KEY_CHECK: asked->check = 1; break;
    case KEY_TESTFLOAT: asked->testfloat = 1; break;
    case KEY_EXPLAIN: asked->explain = 1; break;
    case KEY_NOTEXACT: asked->notexact = 1; break;
    case KEY_WORDS: asked->words = 1; break;
    case KEY_JOINED: asked->joined = 1; break;
    case KEY_COUNT: asked->count = 1; break;
    case KEY_COMPLETE: asked->complete = 1; break;
    case KEY_ACCUM: asked->accum = value; break;
    case KEY_FA: asked->fa = value; break;
    case KEY_FB: asked->fb = value; break;
    case KEY_FC: asked->fc = value; break;
    case KEY_FD: asked->fd = value; break;
    case KEY_ELEMENTS: return cli_read_u64(&asked->n, "--elements", value, 1, 4096);
    default: asked->rules.no_flags = 1; break;
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

/* The details of --help behind the names of the operations. */
static const char details[] =
    " (a NaN is invalid for lt, le and eq_signaling); or dot, whose operands are A B C [SCALES_A SCALES_B] as\n"
    "`halfulp mma` reads them.\n"
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
    "ui64_to_bf16. It reads FILE, too; with --level it makes the operands itself.";
enum { DETAILS_MAX = 4096 };

static const cli_command command = {
    "vectors",
    "OP [FILE]",
    "Generate operands, results and flags of an operation in Berkeley TestFloat's text form, or judge or answer such "
    "lines",
    "", /* see details_text */
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

static const char *operands_text(char text[80], const vectors *test, const vectors_case *instance) {
  size_t at = 0;
  for (int k = 0; k < test->op.operands; k++)
    at += (size_t)snprintf(text + at, 80 - at, "%s%0*llX", k ? " " : "", (int)vectors_digits(&test->x[k]),
                           (unsigned long long)instance->x[k]);
  if (test->words) snprintf(text + at, 80 - at, " %08X", instance->word);
  return text;
}

static void print_case(const vectors *test, const vectors_case *instance, int json, int first) {
  char text[80];
  if (json)
    vectors_json_case(first, operands_text(text, test, instance), &test->z, instance->z, instance->flags);
  else
    vectors_print(test, instance);
}

static int generate(const vectors *test, int level, int json) {
  vectors_source source;
  vectors_case instance = {0};
  if (vectors_source_open(&source, test, level)) return CLI_BAD;
  for (uint64_t i = 0; vectors_source_case(&source, i, &instance) && !ferror(stdout); i++) {
    instance.word = vectors_word(test, i);
    vectors_solve(test, i, &instance);
    print_case(test, &instance, json, i == 0);
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

static int check_operands(const expected *due, const vectors *test, cli_lines *lines, const vectors_case *given,
                          uint64_t i) {
  vectors_case want = {0};
  if (!due->complete) return CLI_OK;
  if (!vectors_source_case(&due->source, i, &want))
    return cli_lines_fail(lines, "--complete: more lines than `halfulp vectors` gives");
  for (int k = 0; k < test->op.operands; k++)
    if (want.x[k] != given->x[k])
      return cli_lines_fail(lines, "--complete: these are not the operands that `halfulp vectors` gives here");
  return CLI_OK;
}

static int judge(const vectors_rules *rules, const expected *due, const vectors *test, cli_lines *lines,
                 vectors_verdict *sum) {
  vectors_line read;
  char text[80];
  if (!vectors_read(test, lines->line, &read)) return cli_lines_fail(lines, read.wrong);
  if (read.fields != vectors_given(test) + 2 && !(rules->no_flags && read.fields == vectors_given(test) + 1))
    return cli_lines_fail(lines, "not as many fields as operands, a result and flags are");
  if (check_operands(due, test, lines, &read.c, sum->cases)) return CLI_BAD;
  vectors_case want = read.c;
  vectors_solve(test, lines->number - 1, &want);
  vectors_answer right = {want.z, want.flags, NULL};
  vectors_answer given = {read.c.z, read.c.flags, read.unknown ? read.result : NULL};
  int open = !rules->fixed_nan_fma && vectors_is_nan_fma(test, want.x);
  vectors_judge(sum, rules, &test->z, lines->number, operands_text(text, test, &want), right, given, open);
  return CLI_OK;
}

static int answer(const vectors *test, cli_lines *lines, int json, int first) {
  vectors_line read;
  if (!vectors_read(test, lines->line, &read)) return cli_lines_fail(lines, read.wrong);
  if (read.fields < test->op.operands) return cli_lines_fail(lines, "fewer fields than the operation has operands");
  vectors_solve(test, lines->number - 1, &read.c);
  print_case(test, &read.c, json, first);
  return CLI_OK;
}

/* Returns how many of the cases that there must be are missing; all of one kind are counted. */
static uint64_t missing(const state *asked, uint64_t all, uint64_t cases) {
  uint64_t due = asked->cases ? asked->cases : asked->complete ? all : 0;
  return cases < due ? due - cases : 0;
}

static int too_many(const state *asked, const char *path, uint64_t cases) {
  if (!asked->cases || cases <= asked->cases) return CLI_OK;
  return cli_fail(path, "%llu cases; --cases asks for %llu", (unsigned long long)cases,
                  (unsigned long long)asked->cases);
}

static vectors_rules rules_of(const state *asked, void (*explain)(const void *, unsigned long, const char *),
                              const explained *context) {
  vectors_rules rules = asked->rules;
  rules.json = asked->numeric.json;
  rules.context = context;
  if (asked->explain) rules.explain = explain;
  return rules;
}

static int judge_lines(const state *asked, const vectors *test, const char *id, const char *path) {
  cli_lines lines;
  vectors_verdict sum;
  expected due = {.complete = asked->complete};
  int next, status = CLI_OK;
  explained context = {test, NULL, NULL, asked->numeric.json};
  vectors_rules rules = rules_of(asked, explain_case, &context);
  if (vectors_judge_open(&sum, &rules) ||
      (asked->complete && vectors_source_open(&due.source, test, (int)asked->level)) || cli_lines_open(&lines, path))
    return CLI_BAD;
  while (status == CLI_OK && (next = cli_lines_next(&lines)) != 0)
    status = next < 0 ? -next : judge(&rules, &due, test, &lines, &sum);
  cli_lines_close(&lines);
  if (asked->complete) vectors_source_close(&due.source);
  if (status == CLI_OK) status = too_many(asked, path, sum.cases);
  return vectors_report(&sum, &rules, id, path, status, missing(asked, due.source.count, sum.cases));
}

static int answer_lines(const vectors *test, const char *path, int json) {
  cli_lines lines;
  int next, status = CLI_OK, first = 1;
  if (cli_lines_open(&lines, path)) return CLI_BAD;
  while (status == CLI_OK && !ferror(stdout) && (next = cli_lines_next(&lines)) != 0) {
    status = next < 0 ? -next : answer(test, &lines, json, first);
    if (status == CLI_OK) first = 0;
  }
  if (json) printf(first ? "[]\n" : "]\n");
  cli_lines_close(&lines);
  return status;
}

/* ---- what is asked for ---- */

/* Chooses the types of an operation's operands and of its result. */
static int choose_types(const state *asked, vectors *test) {
  const char *given[] = {asked->fa, asked->fb, asked->fc}, *last = asked->from;
  for (int k = 0; k < VECTORS_OPERANDS; k++) {
    const char *text = given[k] ? given[k] : asked->from;
    if (k >= test->op.operands && given[k])
      return cli_fail(NULL, "--f%c: %s has no operand %c", 'a' + k, test->op.name, 'A' + k);
    if (k >= test->op.operands) continue;
    if (!text) return cli_fail(NULL, "no format given; use -f FORMAT, or --fa, --fb, --fc for each operand");
    if (vectors_read_type(&test->x[k], text)) return CLI_BAD;
    if (!last) last = text;
    /* Operands of several formats leave that of the result open. */
    if (!asked->from && k && !vectors_same_type(&test->x[k], &test->x[0])) last = NULL;
  }
  if (test->op.kind == VECTORS_RELATION) return test->z.kind = VECTORS_TRUTH, CLI_OK;
  if (!asked->fd && !last) return cli_fail(NULL, "operands of several formats: give the result's by --fd FORMAT");
  if (vectors_read_type(&test->z, asked->fd ? asked->fd : last)) return CLI_BAD;
  test->z.integer.invalid = (uint8_t)asked->integer;
  return CLI_OK;
}

/* Chooses the operation and the formats. */
static int choose(const state *asked, const char *name, vectors *test) {
  if (!vectors_find(&test->op, name)) return cli_fail(NULL, "'%s' is no operation; see `halfulp vectors --help`", name);
  if (asked->accum || asked->n) return cli_fail(NULL, "--accum and --elements belong to dot");
  if (choose_types(asked, test) || vectors_check(test)) return CLI_BAD;
  test->mode = asked->numeric.mode;
  test->stream = asked->numeric.stream;
  test->words = asked->words;
  test->joined = asked->joined;
  if (asked->words && !test->mode.bits) return cli_fail(NULL, "--words: the rounding is not stochastic");
  return CLI_OK;
}

/* Chooses the model and the elements of dot. */
static int choose_dot(const state *asked, vectors_dot *test) {
  int named;
  const char *const given[] = {asked->fa, asked->fb, asked->fd};
  hu_type *const element[] = {&test->dot.a, &test->dot.b, &test->dot.result};
  if (!asked->accum) return cli_fail(NULL, "dot: no model given; use --accum MODEL");
  if (asked->from || asked->fc) return cli_fail(NULL, "dot: use --fa, --fb and --fd for its formats");
  if (cli_dot_model(&test->dot, "--accum", asked->accum, &named)) return CLI_BAD;
  for (int i = 0; i < 3; i++) {
    if (!given[i] && !named)
      return cli_fail(NULL, "dot: '%s' leaves the elements open; use --fa, --fb and --fd", asked->accum);
    if (given[i] && cli_read_element(element[i], given[i])) return CLI_BAD;
  }
  if (cli_dot_taken(&test->dot, asked->accum)) return CLI_BAD;
  test->dot.mode = asked->numeric.mode;
  test->dot.words = asked->words;
  test->n = asked->n ? asked->n : named ? test->dot.depth : 4;
  test->stream = asked->numeric.stream;
  test->joined = asked->joined;
  if (test->n % test->dot.depth)
    return cli_fail(NULL, "--elements: not a multiple of the instruction's K, %zu", test->dot.depth);
  if (asked->words && !test->dot.mode.bits && !test->dot.accum.mode.bits)
    return cli_fail(NULL, "--words: no rounding is stochastic");
  return CLI_OK;
}

static int judge_dot(const state *asked, const char *path) {
  vectors_dot test = {0};
  vectors_verdict sum;
  cli_lines lines;
  explained context = {NULL, &test, asked->accum, asked->numeric.json};
  vectors_rules rules = rules_of(asked, explain_dot_case, &context);
  if (choose_dot(asked, &test) || vectors_judge_open(&sum, &rules) || cli_lines_open(&lines, path)) return CLI_BAD;
  int status = vectors_dot_judge(&test, &rules, &lines, asked->complete ? (int)asked->level : 0, &sum);
  cli_lines_close(&lines);
  if (status == CLI_OK) status = too_many(asked, path, sum.cases);
  return vectors_report(&sum, &rules, "dot", path, status,
                        missing(asked, vectors_dot_cases((int)asked->level), sum.cases));
}

static int print_count(const char *id, uint64_t cases, int json) {
  if (json)
    cli_json(stdout, "{'id': ?, 'cases': ?}\n", JSON(id), JSON(cases));
  else
    printf("%llu\n", (unsigned long long)cases);
  return CLI_OK;
}

static int generate_dot(const state *asked) {
  vectors_dot test = {0};
  if (choose_dot(asked, &test)) return CLI_BAD;
  test.json = asked->numeric.json;
  if (!asked->count) return vectors_dot_generate(&test, (int)asked->level);
  return print_count("dot", vectors_dot_cases((int)asked->level), asked->numeric.json);
}

static int count_cases(const vectors *test, int level, int json) {
  vectors_source source;
  if (vectors_source_open(&source, test, level)) return CLI_BAD;
  print_count(test->op.name, source.count, json);
  vectors_source_close(&source);
  return CLI_OK;
}

/* ---- the four modes ---- */

static int judge_op(const state *asked, const char *name, const char *path) {
  vectors test = {0};
  if (!strcmp(name, "dot")) return judge_dot(asked, path);
  return choose(asked, name, &test) ? CLI_BAD : judge_lines(asked, &test, name, path);
}

static int generate_op(const state *asked, const char *name) {
  vectors test = {0};
  int json = asked->numeric.json;
  if (asked->joined && json) return cli_fail(NULL, "vectors: --joined is about lines; leave it or --json out");
  if (!strcmp(name, "dot")) return generate_dot(asked);
  if (choose(asked, name, &test)) return CLI_BAD;
  return asked->count ? count_cases(&test, (int)asked->level, json) : generate(&test, (int)asked->level, json);
}

/* Runs or judges a function. path: NULL where no file was given; made: the operands are made here. */
static int testfloat(const state *asked, const char *name, const char *path, int made) {
  vectors test = {0};
  if (!vectors_find_testfloat(&test, name) || (test.x[0].kind != VECTORS_CODE && test.z.kind != VECTORS_CODE))
    return cli_fail(NULL, "'%s' is no function of f16, bf16 or f32; see `halfulp vectors --help`", name);
  test.mode = asked->numeric.mode;
  test.stream = asked->numeric.stream;
  test.quiet_integral = asked->notexact;
  test.z.integer.invalid = (uint8_t)asked->integer;
  if (made && (path || asked->check))
    return cli_fail(NULL, "vectors: --level makes the operands; with --testfloat it goes with no FILE and no --check");
  if (made) return generate(&test, (int)asked->level, asked->numeric.json);
  if (!path) path = "-";
  return asked->check ? judge_lines(asked, &test, name, path) : answer_lines(&test, path, asked->numeric.json);
}

/* Returns the text of --help, made in `said`. */
static const char *details_text(char said[DETAILS_MAX]) {
  size_t n = (size_t)snprintf(said, DETAILS_MAX, "OP is");
  n += vectors_names(said + n, DETAILS_MAX - n, 0);
  n += (size_t)snprintf(said + n, DETAILS_MAX - n, "; a relation:");
  n += vectors_names(said + n, DETAILS_MAX - n, 1);
  snprintf(said + n, DETAILS_MAX - n, "%s", details);
  return said;
}

int cli_vectors(int argc, char **argv) {
  state asked = {.rules.first = 20};
  char **operands, said[DETAILS_MAX];
  cli_command shown = command;
  shown.details = details_text(said);
  int count, status = cli_parse(&shown, &asked, argc, argv, &operands, &count);
  if (status >= 0) return status;
  int mode = 2 * asked.testfloat + asked.check, made = asked.level != 0;
  const char *path = count > 1 ? operands[1] : NULL;
  if (cli_mode_check(&command, mode, mode_names)) return CLI_BAD;
  if (!made) asked.level = 1;
  if (asked.testfloat) return testfloat(&asked, operands[0], path, made);
  if (asked.check) return judge_op(&asked, operands[0], path ? path : "-");
  if (path) return cli_fail(NULL, "vectors: '%s': a file is read by --check or --testfloat only", path);
  return generate_op(&asked, operands[0]);
}
