/* SPDX-License-Identifier: MIT */
/* Draws tensors that tell the rules of quantizers apart, for test suites of other programs.
 *
 *   quantizer_probe [FOLDER]
 *
 * A tensor has two rows of 32 binary32 numbers: two blocks of NVFP4 each. Of 100 that are drawn, the one that
 * separates most rules is kept, until each two rules give other codes, scales or tensor scales somewhere, or many draws
 * have separated no more. With FOLDER it writes quantizer-probe.npy there, the tensors, and quantizer-probe.csv,
 * what each rule makes of each. Exit code 1: two rules that are not known to be the same were not separated. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/scaled.h"
#include "tests/support/support.h"

enum { ROWS = 2, COLS = 32, N = ROWS * COLS, RULES = 256, TENSORS = 64, CANDIDATES = 100, IDLE = 60 };

typedef struct named_rule {
  const char *name;
  hu_scaling scaling;
  uint32_t class;
} named_rule;

typedef struct made_answer {
  uint32_t codes[N], scales[N];
  float tensor;
  size_t blocks;
} made_answer;

/* Rules whose texts differ and which give the same codes and scales for every tensor. */
static const char *const same[][2] = {
    {"sglang.fp8.group.ue8m0", "tensorrt.fp8.group.ue8m0"}, /* 1 / (448 / A) and A (1/448) go up to the same power */
    {"torchao.mxfp4.rceil", "triton_kernels.mxfp4"},        /* so do A (1/6) and A / 6 */
    {"deepgemm_1x128", "deepgemm.ue8m0"},                   /* with A from 1e-4 on no exponent is at an end */
    {"compressed-tensors.fp8.tensor", "compressed-tensors.fp8.block"}, /* tensors here are one block of 128 x 128 */
    {"compressed-tensors.fp8.tensor.bf16", "compressed-tensors.fp8.block.bf16"},
    {"compressed-tensors.fp8.tensor.f16", "compressed-tensors.fp8.block.f16"},
};

static named_rule rules[RULES];
static size_t count;
static float kept[TENSORS][N];
static size_t tensors;

static made_answer answer_of(const named_rule *rule, const float *x) {
  static uint8_t codes[4 * N], scales[4 * N];
  made_answer answer;
  hu_mode rne = {0};
  memset(&answer, 0, sizeof answer);
  hu_scaled_sizes sizes = hu_scaled_sizes_of(ROWS, COLS, &rule->scaling);
  hu_scaled z = {codes, COLS, scales, sizes.block_cols, rule->scaling.tensor ? &answer.tensor : NULL};
  if (hu_scaled_encode(ROWS, COLS, &z, x, COLS, &rule->scaling, rne, NULL, NULL, NULL, NULL) != HU_OK) abort();
  answer.blocks = sizes.block_rows * sizes.block_cols;
  for (size_t i = 0; i < N; i++) answer.codes[i] = (uint32_t)t_get(codes, sizes.code_bytes, (ptrdiff_t)i);
  for (size_t i = 0; i < answer.blocks; i++)
    answer.scales[i] = (uint32_t)t_get(scales, sizes.scale_bytes, (ptrdiff_t)i);
  return answer;
}

static uint64_t digest(uint64_t hash, const void *data, size_t n) {
  for (size_t i = 0; i < n; i++) hash = (hash ^ ((const uint8_t *)data)[i]) * 0x100000001B3u;
  return hash;
}

/* ---- drawn tensors ---- */

static float number(t_random *random, uint32_t field, uint32_t digits) {
  uint32_t bits = t_next32(random) & 0x7FFFFF & ~((1u << (23 - digits)) - 1);
  return t_float(field << 23 | bits);
}

/* A number at or beside a quotient that a rule rounds: M times a power of two, or times a number between two of
 * bfloat16's. */
static float beside(t_random *random) {
  static const float most[] = {6, 448, 2688, 57344};
  uint32_t bits = (2 + t_below(random, 240)) << 23;
  if (t_below(random, 4) == 0) bits = t_below(random, 2) ? 0x00400000 : 0x00800000; /* 2^-127, 2^-126 */
  if (t_below(random, 2)) bits |= t_below(random, 128) << 16 | 0x8000;
  float a = t_float(bits) * most[t_below(random, 4)];
  return a < 0x1p127f ? t_float(t_bits32(a) + t_below(random, 5) - 2) : 1;
}

static void draw(t_random *random, float *x) {
  static const uint32_t digits_of[] = {4, 7, 7, 8, 23}, fields[] = {127, 127, 127, 127, 1, 8, 15, 100, 200, 250};
  uint32_t digits = digits_of[t_below(random, 5)], top = fields[t_below(random, 10)], apart = t_below(random, 4);
  uint32_t second = apart == 3 && top > 24 ? top - t_below(random, 24) : top > 2 ? top - t_below(random, 3) : top;
  int zeros = t_below(random, 6) == 0, ties = t_below(random, 3) == 0;
  for (size_t i = 0; i < N; i++) {
    uint32_t base = i / 16 % 2 ? second : top, less = t_below(random, 9);
    x[i] = number(random, base > less ? base - less : 0, digits);
    if (ties) x[i] = t_float(base << 23) * (float)t_below(random, 33) / 16;
    if ((i / 16 % 2 && zeros) || t_below(random, 12) == 0) x[i] = 0;
    if (t_below(random, 2)) x[i] = -x[i];
  }
  x[0] = number(random, top, digits);
  if (!zeros) x[16] = number(random, second, digits);
  uint32_t kind = t_below(random, 6), small = 1 + t_below(random, 300);
  for (size_t i = 0; i < N && kind < 2; i++) {
    if (kind == 0) x[i] = t_float(t_below(random, small)); /* scales that round to 0 */
    if (kind == 1 && i % 16 == 0) x[i] = beside(random);
    if (kind == 1 && i % 16) x[i] = x[i - i % 16] * (float)t_below(random, 65) / 64;
  }
}

/* ---- which rules a tensor separates ---- */

static uint64_t mark_of(const named_rule *rule, const float *x) {
  made_answer answer = answer_of(rule, x);
  return digest(digest(0xCBF29CE484222325u, &rule->class, sizeof rule->class), &answer, sizeof answer);
}

/* Gives rules with the same mark a class; returns how many classes there are. */
static uint32_t classes(const float *x, uint32_t *class) {
  uint64_t mark[RULES];
  uint32_t made = 0;
  for (size_t i = 0; i < count; i++) {
    size_t k = 0;
    mark[i] = mark_of(&rules[i], x);
    while (mark[k] != mark[i]) k++;
    class[i] = k < i ? class[k] : made++;
  }
  return made;
}

static void find(t_random *random) {
  uint32_t best[RULES], class[RULES], have = 0;
  for (unsigned idle = 0; idle < IDLE && tensors < TENSORS;) {
    uint32_t most = have;
    for (unsigned i = 0; i < CANDIDATES; i++) {
      float x[N];
      draw(random, x);
      uint32_t now = classes(x, class);
      if (now <= most) continue;
      most = now;
      memcpy(best, class, sizeof best);
      memcpy(kept[tensors], x, sizeof x);
    }
    idle = most > have ? 0 : idle + 1;
    if (most == have) continue;
    have = most;
    for (size_t i = 0; i < count; i++) rules[i].class = best[i];
    tensors++;
  }
}

/* ---- what is said, and written ---- */

static int known_same(const named_rule *a, const named_rule *b) {
  if (memcmp(&a->scaling, &b->scaling, sizeof a->scaling) == 0) return 1;
  for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
    if (strcmp(a->name, same[i][0]) == 0 && strcmp(b->name, same[i][1]) == 0) return 1;
    if (strcmp(b->name, same[i][0]) == 0 && strcmp(a->name, same[i][1]) == 0) return 1;
  }
  return 0;
}

static int report(void) {
  size_t wrong = 0, pairs = 0;
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < i; k++) {
      if (rules[i].class != rules[k].class)
        pairs++;
      else if (!known_same(&rules[i], &rules[k]))
        wrong += (size_t)(printf("not separated: %s, %s\n", rules[k].name, rules[i].name) > 0);
    }
  }
  printf("%zu rules, %zu pairs separated by %zu tensors of %d numbers, %zu bytes; %zu pairs are not\n", count, pairs,
         tensors, N, tensors * sizeof kept[0], wrong);
  return wrong != 0;
}

static FILE *opened(const char *folder, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  if (!file) perror(path);
  return file;
}

static int write_tensors(const char *folder) {
  char head[128];
  FILE *file = opened(folder, "quantizer-probe.npy");
  if (!file) return 1;
  memset(head, ' ', sizeof head);
  memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10);
  int n = snprintf(head + 10, 100, "{'descr': '<f4', 'fortran_order': False, 'shape': (%zu, %d, %d), }", tensors, ROWS,
                   COLS);
  head[10 + n] = ' ';
  head[127] = '\n';
  int fine =
      fwrite(head, 1, sizeof head, file) == sizeof head && fwrite(kept, sizeof kept[0], tensors, file) == tensors;
  return fclose(file) != 0 || !fine;
}

static int write_answers(const char *folder) {
  FILE *file = opened(folder, "quantizer-probe.csv");
  if (!file) return 1;
  fprintf(file, "rule,tensor,tensor_scale,scales,codes\n");
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < tensors; k++) {
      made_answer z = answer_of(&rules[i], kept[k]);
      fprintf(file, "%s,%zu,%08x,", rules[i].name, k, (unsigned)t_bits32(z.tensor));
      for (size_t j = 0; j < z.blocks; j++) fprintf(file, "%s%x", j ? " " : "", (unsigned)z.scales[j]);
      fprintf(file, ",");
      for (size_t j = 0; j < N; j++) fprintf(file, "%s%x", j ? " " : "", (unsigned)z.codes[j]);
      fprintf(file, "\n");
    }
  }
  int fine = !ferror(file);
  return fclose(file) != 0 || !fine;
}

static void take(hu_scaling_entry entry) {
  named_rule *rule = &rules[count];
  if (!*entry.text) return;
  if (count == RULES || hu_scaling_parse(&rule->scaling, entry.text, NULL) != HU_OK) abort();
  rule->name = entry.name;
  count++;
}

int main(int argc, char **argv) {
  t_random random = {t_seed("quantizer_probe", 7)};
  for (size_t i = 0; i < hu_scaling_count(); i++) take(hu_scaling_at(i));
  for (size_t i = 0; i < hu_scaling_rule_count(); i++) take(hu_scaling_rule_at(i));
  for (size_t i = 0; i < count; i++) { /* other formats: other rules, whatever the codes are */
    size_t k = 0;
    while (!hu_format_equal(rules[k].scaling.element, rules[i].scaling.element) ||
           !hu_format_equal(rules[k].scaling.scale, rules[i].scaling.scale))
      k++;
    rules[i].class = (uint32_t)k;
  }
  find(&random);
  int wrong = report();
  if (argc > 1) wrong |= write_tensors(argv[1]) | write_answers(argv[1]);
  return wrong;
}
