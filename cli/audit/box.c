/* SPDX-License-Identifier: MIT */
/* A program that quantizes blocks, as a box: playing it, and finding the rules that it follows. See quantizers.h. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/audit/quantizers.h"
#include "cli/audit/report.h"
#include "cli/base/numbers.h"

/* ---- lines ---- */

static unsigned digits_of(hu_format format) { return (hu_limits_of(format).width + 3) / 4; }

static uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static void print_question(FILE *out, const audit_block *block, int second) {
  for (size_t i = 0; i < block->n; i++) fprintf(out, "%08x", bits_of(block->x[i]));
  if (second) fprintf(out, " %08x", bits_of(block->amax));
  fputc('\n', out);
}

static int read_float(float *z, const char *at) {
  char digits[9] = {0};
  uint64_t bits;
  memcpy(digits, at, 8);
  if (!hex_parse(&bits, digits, 8)) return 0;
  uint32_t pattern = (uint32_t)bits;
  memcpy(z, &pattern, sizeof *z);
  return 1;
}

/* Reads a question; returns NULL, or what is wrong. */
static const char *read_question(audit_block *z, const char *line, int second) {
  const char *blank = strchr(line, ' ');
  size_t n = blank ? (size_t)(blank - line) : strlen(line);
  if (!n || n % 8 || n / 8 > AUDIT_BLOCK) return "no binary32 patterns of 8 hexadecimal digits each";
  z->n = n / 8;
  z->amax = 0;
  for (size_t i = 0; i < z->n; i++)
    if (!read_float(&z->x[i], line + 8 * i)) return "a pattern that is not hexadecimal";
  if (second && (!blank || strlen(blank + 1) != 8 || !read_float(&z->amax, blank + 1)))
    return "no pattern of the tensor's amax behind a blank";
  return second || !blank ? NULL : "more than one block";
}

/* ---- playing the box ---- */

static int answer_line(const cli_lines *lines, audit_block *block, audit_made *made, const audit_rule *rule) {
  const hu_scaling *scaling = &rule->scaling;
  const char *wrong = read_question(block, lines->line, scaling->tensor != 0);
  float copy[AUDIT_BLOCK];
  int column = scaling->cols == 1 && scaling->rows != 1;
  uint32_t most = column ? scaling->rows : scaling->cols;
  if (!wrong && most && block->n > most) wrong = "more elements than a block has";
  if (wrong) return cli_lines_fail(lines, wrong);
  memcpy(copy, block->x, block->n * sizeof *copy);
  if (!audit_rule_apply(made, rule, column ? block->n : 1, column ? 1 : block->n, copy,
                        scaling->tensor ? &block->amax : NULL))
    return cli_lines_fail(lines, "the amax of the tensor is no finite number from 0 up");
  printf("%0*x ", (int)digits_of(scaling->scale), (unsigned)made->scale_codes[0]);
  for (size_t i = 0; i < block->n; i++) printf("%0*x", (int)digits_of(scaling->element), made->codes[i]);
  putchar('\n');
  return CLI_OK;
}

int audit_answer(const char *text) {
  audit_rule rule;
  audit_made made;
  cli_lines lines;
  audit_block *block = cli_alloc(1, sizeof *block);
  int code = block ? audit_rule_read(&rule, text) : CLI_BAD, more = 0;
  if (code == CLI_OK) code = audit_made_alloc(&made, AUDIT_BLOCK, AUDIT_BLOCK);
  if (code == CLI_OK) {
    code = cli_lines_open(&lines, "-");
    while (code == CLI_OK && (more = cli_lines_next(&lines)) == 1) code = answer_line(&lines, block, &made, &rule);
    if (more < 0) code = -more;
    cli_lines_close(&lines);
    audit_made_free(&made);
  }
  free(block);
  return code;
}

/* ---- asking it ---- */

static void become(char *const *command, FILE *in, FILE *out) {
  signal(SIGPIPE, SIG_DFL);
  if (dup2(fileno(in), 0) == 0 && dup2(fileno(out), 1) == 1) execvp(command[0], command);
  fprintf(stderr, "halfulp: %s: %s\n", command[0], strerror(errno));
  _exit(127);
}

/* Runs the command from a file of questions into one of answers. */
static int run_box(char *const *command, FILE *in, FILE *out, uint64_t seconds) {
  int status = 0;
  pid_t done = 0, pid = fork();
  if (pid == 0) become(command, in, out);
  if (pid < 0) return cli_fail(command[0], "%s", strerror(errno));
  for (uint64_t i = 0; i < 100 * seconds && (done = waitpid(pid, &status, WNOHANG)) == 0; i++) {
    struct timespec time = {0, 10000000};
    nanosleep(&time, NULL);
  }
  if (done == 0) {
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    return cli_fail(command[0], "the box did not end within %llu seconds", (unsigned long long)seconds);
  }
  if (WIFSIGNALED(status)) return cli_fail(command[0], "the box ended by signal %d", WTERMSIG(status));
  if (WEXITSTATUS(status)) return cli_fail(command[0], "the box ended with exit status %d", WEXITSTATUS(status));
  return CLI_OK;
}

/* The questions, and what the box said. */
typedef struct asked_box {
  audit_block *blocks;
  uint32_t *scales;
  uint8_t *codes; /* 16 to a question */
  size_t count;
} asked_box;
enum { LONGEST = 16 };

static int take_answer(asked_box *z, size_t i, const char *line, const hu_scaling *scaling) {
  unsigned digits = digits_of(scaling->element), wide = digits_of(scaling->scale);
  char part[8] = {0};
  uint64_t x;
  size_t n = z->blocks[i].n;
  if (strlen(line) != wide + 1 + n * digits || line[wide] != ' ' || !hex_parse(&x, strndupa(line, wide), wide))
    return 0;
  z->scales[i] = (uint32_t)x;
  for (size_t k = 0; k < n; k++) {
    memcpy(part, line + wide + 1 + k * digits, digits);
    if (!hex_parse(&x, part, digits)) return 0;
    z->codes[i * LONGEST + k] = (uint8_t)x;
  }
  return 1;
}

static int read_answers(asked_box *z, FILE *out, const hu_scaling *scaling) {
  char line[512];
  rewind(out);
  for (size_t i = 0; i < z->count; i++) {
    if (!fgets(line, sizeof line, out)) return cli_fail(NULL, "the box answered %zu of %zu questions", i, z->count);
    line[strcspn(line, "\r\n")] = 0;
    if (!take_answer(z, i, line, scaling))
      return cli_fail(
          NULL, "the box answers '%.60s' to question %zu, which is not a scale of %u and %zu codes of %u hex digits",
          line, i + 1, digits_of(scaling->scale), z->blocks[i].n, digits_of(scaling->element));
  }
  return CLI_OK;
}

static int ask_box(asked_box *z, char *const *command, const hu_scaling *scaling, uint64_t seed, uint64_t seconds) {
  uint32_t side = scaling->cols == 1 ? scaling->rows : scaling->cols;
  audit_drawing drawing = {{seed, 0}, 0, side && side < LONGEST ? side : LONGEST};
  FILE *in = cli_scratch_file(), *out = cli_scratch_file();
  int code = in && out ? CLI_OK : cli_fail(NULL, "no temporary file: %s", strerror(errno));
  for (size_t i = 0; i < z->count && code == CLI_OK; i++) {
    audit_draw(&z->blocks[i], &drawing);
    print_question(in, &z->blocks[i], scaling->tensor != 0);
  }
  if (code == CLI_OK && (fflush(in) || ferror(in))) code = cli_fail(NULL, "the questions cannot be written");
  if (code == CLI_OK) rewind(in);
  if (code == CLI_OK) code = run_box(command, in, out, seconds);
  if (code == CLI_OK) code = read_answers(z, out, scaling);
  if (in) fclose(in);
  if (out) fclose(out);
  return code;
}

/* ---- which rules ---- */

static int agrees(const asked_box *z, size_t i, audit_made *made, const audit_rule *rule) {
  const audit_block *block = &z->blocks[i];
  const hu_scaling *scaling = &rule->scaling;
  float copy[LONGEST];
  int column = scaling->cols == 1 && scaling->rows != 1;
  memcpy(copy, block->x, block->n * sizeof *copy);
  return audit_rule_apply(made, rule, column ? block->n : 1, column ? 1 : block->n, copy,
                          scaling->tensor ? &block->amax : NULL) &&
         made->scale_codes[0] == z->scales[i] && !memcmp(made->codes, z->codes + i * LONGEST, block->n);
}

typedef struct box_result {
  audit_rules rules;
  audit_rule nearest;
  size_t failed, first; /* of the nearest: questions, and the first of them */
} box_result;

static int filter(box_result *z, const asked_box *asked) {
  audit_made made;
  size_t left = 0;
  z->failed = SIZE_MAX;
  if (audit_made_alloc(&made, LONGEST, LONGEST)) return CLI_BAD;
  for (size_t i = 0; i < z->rules.count; i++) {
    size_t failed = 0, first = 0;
    for (size_t k = asked->count; k > 0 && failed < z->failed; k--)
      if (!agrees(asked, k - 1, &made, &z->rules.list[i])) failed++, first = k - 1;
    if (failed && failed < z->failed) {
      z->failed = failed;
      z->first = first;
      z->nearest = z->rules.list[i];
    }
    if (!failed) z->rules.list[left++] = z->rules.list[i];
  }
  z->rules.count = left;
  audit_made_free(&made);
  return CLI_OK;
}

static void print_box(const box_result *z, const asked_box *asked, int json) {
  char text[AUDIT_RULE_TEXT];
  if (json) {
    cli_json(stdout, "{'questions': ?, 'rules': [", JSON(asked->count));
    for (size_t i = 0; i < z->rules.count; i++) {
      cli_json(stdout, "?{'rule': ?, ", cli_comma(i == 0), JSON(audit_rule_text(text, &z->rules.list[i])));
      cli_json(stdout, "'text': ?}", JSON(audit_rule_keys(text, &z->rules.list[i])));
    }
    cli_json(stdout, "], 'nearest': ?, 'failed': ?}\n",
             JSON(z->rules.count || z->failed == SIZE_MAX ? NULL : audit_rule_text(text, &z->nearest)),
             JSON(z->rules.count || z->failed == SIZE_MAX ? 0 : z->failed));
    return;
  }
  if (z->rules.count) {
    printf("rule: %s\n", audit_rule_keys(text, &z->rules.list[0]));
    printf("%zu drawn blocks have its scales and codes; so have they of:\n", asked->count);
    for (size_t i = 0; i < z->rules.count; i++) printf("  %s\n", audit_rule_text(text, &z->rules.list[i]));
  } else if (z->failed != SIZE_MAX) {
    const audit_block *block = &asked->blocks[z->first];
    printf("no known rule; the nearest is %s: %zu of %zu drawn blocks are others, the first is\n  ",
           audit_rule_text(text, &z->nearest), z->failed, asked->count);
    print_question(stdout, block, z->nearest.scaling.tensor != 0);
    printf("  the box: %x ", (unsigned)asked->scales[z->first]);
    for (size_t k = 0; k < block->n; k++) printf("%x", asked->codes[z->first * LONGEST + k]);
    putchar('\n');
  } else {
    printf("no known rule can be applied\n");
  }
}

/* Returns a tensor that has the elements, scales and blocks of a rule. */
static audit_tensor like(const hu_scaling *scaling) {
  const size_t many = (size_t)1 << 30;
  return (audit_tensor){.quantized = 1,
                        .scaled = 1,
                        .known = 1,
                        .rows = many,
                        .cols = many,
                        .twos = scaling->coding == HU_CODING_TWOS,
                        .element = scaling->element,
                        .scale = scaling->scale,
                        .block = {scaling->rows ? scaling->rows : many, scaling->cols ? scaling->cols : many},
                        .second = scaling->tensor != 0};
}

int audit_identify(const char *format, char *const *command, uint64_t questions, uint64_t seed, uint64_t seconds,
                   int json) {
  audit_rule rule;
  if (audit_rule_read(&rule, format)) return CLI_BAD;
  audit_tensor x = like(&rule.scaling);
  asked_box asked = {cli_alloc(questions, sizeof *asked.blocks), cli_alloc(questions, sizeof *asked.scales),
                     cli_alloc(questions, LONGEST), questions};
  box_result found = {{NULL, 0, 0}, {.program = ""}, 0, 0};
  int code = asked.blocks && asked.scales && asked.codes ? CLI_OK : CLI_BAD;
  if (code == CLI_OK) code = ask_box(&asked, command, &rule.scaling, seed, seconds);
  audit_rules varied = {NULL, 0, 0};
  if (code == CLI_OK) code = audit_rules_named(&found.rules, &x);
  if (code == CLI_OK) code = audit_rules_varied(&varied, &found.rules, &x);
  if (code == CLI_OK) code = audit_rules_append(&found.rules, &varied);
  audit_rules_free(&varied);
  audit_rules_sort(&found.rules);
  if (code == CLI_OK) code = filter(&found, &asked);
  if (code == CLI_OK) print_box(&found, &asked, json);
  if (code == CLI_OK) code = found.rules.count ? CLI_OK : CLI_DIFFERENT;
  audit_rules_free(&found.rules);
  free(asked.blocks);
  free(asked.scales);
  free(asked.codes);
  return code;
}
