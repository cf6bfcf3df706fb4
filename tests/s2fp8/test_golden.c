/* SPDX-License-Identifier: MIT */
/* Golden tensors: read from a file and held against the calls, or written by the model (--write).
 *
 *   test_s2fp8_golden FILE | test_s2fp8_golden --write
 *
 * Lines: `kind TEXT MODE`, `x` with binary32 patterns, `scale` mu m alpha beta (units, patterns), `codes`, `values`. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/s2fp8/model.h"
#include "tests/support/support.h"

enum { MOST = 64, LINE = 4096 };

static const char *const kinds[] = {"s2fp8 rne",
                                    "s2fp8 rtp",
                                    "s2fp8 raz",
                                    "s2fp8(float8_e5m2) rto",
                                    "s2fp8(float8_e4m3fn) rne",
                                    "s2fp8(fp(5,2,0):finite;target=14) rna",
                                    "s2fp8(float4_e2m1fn) rne",
                                    "s2fp8(binary8p4se;special=element) rtz",
                                    "s2fp8(bfloat16;target=15) rne",
                                    "s2fp8(ue4m3) rtn"};

static void stop(const char *why) {
  fprintf(stderr, "test_s2fp8_golden: %s\n", why);
  exit(1);
}

static void parse_head(const char *text, hu_s2fp8 *kind, hu_mode *mode) {
  char word[256], round[16];
  memset(mode, 0, sizeof *mode);
  if (sscanf(text, "%255s %15s", word, round) != 2 || hu_s2fp8_parse(kind, word, NULL) != HU_OK ||
      hu_mode_round_parse(mode, round) != HU_OK) {
    stop(text);
  }
}

static void put_words(const char *name, size_t n, const uint32_t *u) {
  printf("%s", name);
  for (size_t i = 0; i < n; i++) printf(" %x", u[i]);
  printf("\n");
}

static void write_one(t_random *r, const char *head, unsigned what) {
  hu_s2fp8 kind;
  hu_mode mode;
  model_stats m;
  float x[MOST];
  uint32_t u[MOST], codes[MOST], values[MOST];
  size_t n = 24;
  int at = t_between(r, -60, 40), width = what == 2 ? 1 : what == 1 ? 60 : 12;
  parse_head(head, &kind, &mode);
  for (size_t i = 0; i < n; i++) {
    u[i] = (uint32_t)(127 + at + (int)t_below(r, (uint32_t)width)) << 23 | (t_next32(r) & 0x807FFFFF);
    if (what == 2) u[i] = (uint32_t)(127 + at) << 23;
    if (what == 3) u[i] &= 0xFF800000;
    if (what == 4) u[i] &= 0x80000FFF; /* subnormal */
    if (t_below(r, 12) == 0) u[i] &= 0x80000000;
    if (what == 1 && i == 5) u[i] = 0xFF800000;
    if (what == 1 && i == 6) u[i] = 0x7FC00001;
    x[i] = t_float(u[i]);
  }
  mpz_init(m.sum);
  model_look(&m, n, x, (int)hu_s2fp8_target(&kind));
  model_map map = {kind, (int)hu_s2fp8_target(&kind), m.mu, m.m};
  for (size_t i = 0; i < n; i++) {
    uint32_t events;
    codes[i] = model_code(&map, mode, x[i], 0, &events);
    float v = model_value(&map, codes[i]);
    values[i] = v != v ? 0x7FC00000 : t_bits32(v);
  }
  printf("kind %s\n", head);
  put_words("x", n, u);
  printf("scale %lld %lld %x %x\n", (long long)m.mu, (long long)m.m, t_bits32(m.alpha), t_bits32(m.beta));
  put_words("codes", n, codes);
  put_words("values", n, values);
  mpz_clear(m.sum);
}

static size_t read_words(const char *line, uint32_t *u) {
  size_t n = 0;
  int used;
  for (line = strchr(line, ' '); line && n < MOST && sscanf(line, " %x%n", &u[n], &used) == 1; line += used) n++;
  return n;
}

typedef struct tensor {
  hu_s2fp8 kind;
  hu_mode mode;
  size_t n;
  uint32_t x[MOST], codes[MOST], values[MOST];
  long long mu, m;
  uint32_t alpha, beta;
} tensor;

static int check(const tensor *t) {
  hu_s2fp8_sums sums = {0};
  hu_s2fp8_scale s;
  float x[MOST], z[MOST];
  uint32_t codes[MOST];
  size_t size = hu_limits_of(t->kind.element).storage / 8;
  for (size_t i = 0; i < t->n; i++) x[i] = t_float(t->x[i]);
  if (hu_s2fp8_sum_n(t->n, x, 1, &sums, NULL) != HU_OK || hu_s2fp8_scale_of(&s, &sums, &t->kind) != HU_OK) return 0;
  if (s.mu != t->mu || s.m != t->m || t_bits32(s.alpha) != t->alpha || t_bits32(s.beta) != t->beta) return 0;
  if (hu_s2fp8_encode_n(t->n, codes, 1, x, 1, &t->kind, &s, t->mode, NULL, NULL) != HU_OK) return 0;
  if (hu_s2fp8_truncate_n(t->n, z, 1, x, 1, &t->kind, t->mode, NULL, NULL, NULL, NULL) != HU_OK) return 0;
  for (size_t i = 0; i < t->n; i++) {
    if (t_get(codes, size, (ptrdiff_t)i) != t->codes[i] || t_bits32(z[i]) != t->values[i]) return 0;
  }
  return 1;
}

static int replay(const char *path) {
  static char line[LINE];
  tensor t;
  unsigned tensors = 0, wrong = 0;
  FILE *file = fopen(path, "r");
  if (!file) stop(path);
  memset(&t, 0, sizeof t);
  while (fgets(line, sizeof line, file)) {
    if (strncmp(line, "kind ", 5) == 0) parse_head(line + 5, &t.kind, &t.mode);
    if (strncmp(line, "x ", 2) == 0) t.n = read_words(line, t.x);
    if (strncmp(line, "scale ", 6) == 0 && sscanf(line + 6, "%lld %lld %x %x", &t.mu, &t.m, &t.alpha, &t.beta) != 4) {
      stop(line);
    }
    if (strncmp(line, "codes ", 6) == 0 && read_words(line, t.codes) != t.n) stop(line);
    if (strncmp(line, "values ", 7) != 0) continue;
    if (read_words(line, t.values) != t.n || t.n == 0) stop(line);
    tensors++;
    if (!check(&t)) {
      wrong++;
      printf("tensor %u differs\n", tensors);
    }
  }
  fclose(file);
  printf("%s: %u tensors, %u wrong\n", path, tensors, wrong);
  return tensors < 50 || wrong;
}

int main(int argc, char **argv) {
  t_random r = {20200426};
  if (argc == 2 && strcmp(argv[1], "--write") != 0) return replay(argv[1]);
  printf("# Tensors from the model of tests/s2fp8/model.c: test_s2fp8_golden --write\n");
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    for (unsigned what = 0; what < 6; what++) write_one(&r, kinds[i], what);
  }
  return 0;
}
