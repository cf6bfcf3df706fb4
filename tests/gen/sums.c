/* SPDX-License-Identifier: MIT */
/* tests/gen/sums.c - golden sums of products: one element of a matrix product, exact and in binary32. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/oracle.h"
#include "tests/gen/golden.h"
#include "tests/support/random.h"

enum { TERMS = 40 };

typedef struct t_sum {
  const char *fa, *fb, *fc, *fz; /* fc NULL: no c */
  size_t n;
  uint32_t a[TERMS], b[TERMS], c;
} t_sum;

static const char *const rounds[] = {"rne", "rna", "rnz", "rtz", "rtp", "rtn", "raz", "rto"};

static hu_format format_of(const char *name) { return golden_format_named(name).format; }

static int is_stored(const t_sum *sum) {
  const char *const names[] = {sum->fa, sum->fb, sum->fc ? sum->fc : sum->fa, sum->fz};
  for (int i = 0; i < 4; i++)
    if (!golden_format_named(names[i]).exchanged) return 0;
  return 1;
}

static void list(t_text *text, const uint32_t *codes, size_t n) {
  text_add(text, " ");
  if (n == 0) text_add(text, "-");
  for (size_t i = 0; i < n; i++) text_add(text, "%s%x", i ? "," : "", codes[i]);
}

static void line(t_text *text, unsigned *count, const t_sum *sum, int exactly, unsigned round) {
  hu_oracle_code c = {format_of(sum->fc ? sum->fc : sum->fa), sum->c};
  hu_oracle_terms terms = {sum->n, format_of(sum->fa), sum->a, format_of(sum->fb), sum->b, sum->fc ? &c : NULL};
  hu_mode mode;
  uint32_t code, events;
  memset(&mode, 0, sizeof mode);
  mode.round = (uint8_t)round;
  hu_status status =
      (exactly ? hu_oracle_dot : hu_oracle_dot_fp32)(&code, &events, format_of(sum->fz), mode, 0, &terms);
  if (status != HU_OK) abort();
  text_add(text, "%s %s %s %s %s %s %zu", exactly ? "exact" : "fp32", rounds[round], sum->fa, sum->fb,
           sum->fc ? sum->fc : "-", sum->fz, sum->n);
  list(text, sum->a, sum->n);
  list(text, sum->b, sum->n);
  text_add(text, sum->fc ? " %x" : " -", sum->c);
  text_add(text, " %x %x\n", code, events);
  (*count)++;
}

/* E5M2: 3c 1, bc -1, 7b 57344, 7c infinity, 7f NaN, 01 2^-16, 80 -0. */
static const t_sum special[] = {
    {"float8_e5m2", "float8_e5m2", NULL, "float8_e5m2", 0, {0}, {0}, 0},
    {"float8_e5m2", "float8_e5m2", "float8_e5m2", "float8_e5m2", 0, {0}, {0}, 0x80},
    {"float8_e5m2", "float8_e5m2", NULL, "float8_e5m2", 1, {0x80}, {0x3C}, 0},
    {"float8_e5m2", "float8_e5m2", "float8_e5m2", "float8_e5m2", 1, {0x80}, {0x3C}, 0x80},
    {"float8_e5m2", "float8_e5m2", "float8_e5m2", "float8_e5m2", 1, {0x00}, {0x3C}, 0x00},
    {"float8_e5m2", "float8_e5m2", "float8_e5m2", "float8_e5m2", 2, {0x3C, 0xBC}, {0x3C, 0x3C}, 0x80},
    {"float8_e5m2", "float8_e5m2", NULL, "float8_e5m2", 1, {0x7C}, {0x00}, 0},
    {"float8_e5m2", "float8_e5m2", "float8_e5m2", "float8_e5m2", 1, {0x7C}, {0x3C}, 0xFC},
    {"float8_e5m2", "float8_e5m2", "float8_e5m2", "float8_e5m2", 1, {0xFC}, {0x3C}, 0x3C},
    {"float8_e5m2", "float8_e5m2", NULL, "float4_e2m1fn", 1, {0x7C}, {0x80}, 0},
    {"float8_e5m2", "float8_e5m2", NULL, "float8_e5m2", 2, {0x7C, 0x7F}, {0x00, 0x3C}, 0},
    {"float8_e5m2", "float8_e5m2", NULL, "float8_e4m3fn", 3, {0x7B, 0x01, 0xFB}, {0x7B, 0x01, 0x7B}, 0},
    {"float8_e5m2", "float8_e5m2", NULL, "float8_e5m2", 3, {0x7B, 0xFB, 0x01}, {0x7B, 0x7B, 0x01}, 0},
};

static uint32_t finite_code(t_random *random, hu_format format) {
  for (;;) {
    uint32_t code = t_next32(random) & (uint32_t)((UINT64_C(1) << (format.sign + format.e + format.m)) - 1);
    double v;
    if (hu_oracle_decode64(&v, format, code) != HU_OK) abort();
    if (v - v == 0) return code;
  }
}

static void random_sum(t_random *random, t_sum *sum) {
  static const char *const in[] = {"float8_e4m3fn", "float8_e5m2",    "fp_4_3_4_finite", "fp_5_2_0_finite",
                                   "float4_e2m1fn", "float6_e3m2fn",  "bfloat16",        "binary16",
                                   "binary8p4se",   "float8_e8m0fnu", "binary32"};
  static const char *const out[] = {"float8_e4m3fn", "float8_e5m2",     "bfloat16",  "binary16",
                                    "binary32",      "fp_6_9_0_finite", "dlfloat16", "ue5m3"};
  unsigned n_in = sizeof in / sizeof in[0], n_out = sizeof out / sizeof out[0];
  sum->fa = in[t_below(random, n_in)];
  sum->fb = in[t_below(random, n_in)];
  sum->fc = t_below(random, 3) ? in[t_below(random, n_in)] : NULL;
  sum->fz = out[t_below(random, n_out)];
  sum->n = 1 + t_below(random, t_below(random, 4) ? 6 : TERMS);
  for (size_t i = 0; i < sum->n; i++) {
    sum->a[i] = finite_code(random, format_of(sum->fa));
    sum->b[i] = finite_code(random, format_of(sum->fb));
  }
  sum->c = sum->fc ? finite_code(random, format_of(sum->fc)) : 0;
  /* In half of the cases the second half of the terms cancels the first, so that low bits decide. */
  size_t half = sum->n / 2;
  if (t_below(random, 2) && strcmp(sum->fa, "float8_e8m0fnu") != 0)
    for (size_t i = 0; i < half; i++) {
      hu_format format = format_of(sum->fa);
      sum->a[half + i] = sum->a[i] ^ 1u << (format.e + format.m);
      sum->b[half + i] = sum->b[i];
      double v;
      if (hu_oracle_decode64(&v, format, sum->a[half + i]) != HU_OK) abort();
      if (v != v) sum->a[half + i] = sum->a[i]; /* the NaN at the place of -0 */
    }
}

void golden_sums(t_text *text, int stored) {
  t_text body = {NULL, 0, 0};
  unsigned count = 0;
  t_random random = {5};
  for (size_t i = 0; i < golden_format_count(); i++) {
    if (stored && !golden_format_at(i).exchanged) continue;
    text_add(&body, "format ");
    golden_format_line(&body, golden_format_at(i));
  }
  text_add(&body, "## zeros and their signs, infinities, NaNs, cancellation of the largest terms\n");
  for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
    for (unsigned round = 0; round < 8; round++)
      for (int exactly = 1; exactly >= 0; exactly--) line(&body, &count, &special[i], exactly, round);
  text_add(&body,
           "## random codes, half of them with terms that cancel; the two models differ where binary32 "
           "rounds on the way\n");
  for (unsigned i = 0; i < 600; i++) {
    t_sum sum;
    random_sum(&random, &sum);
    if (stored && !is_stored(&sum)) continue;
    for (int exactly = 1; exactly >= 0; exactly--) line(&body, &count, &sum, exactly, i % 8);
  }
  text_add(text,
           "# halfulp golden file: c + sum of a[i] b[i], rounded once at the end\n"
           "# SPDX-License-Identifier: MIT\n"
           "# made by tests/gen (the MPFR oracle), not by the emulator; regenerate with: ninja regenerate-golden\n"
           "# line: MODEL MODE FA FB FC FZ N A,... B,... C CODE EVENTS, see README.md here\n");
  text_add(text, "# count: %u\n%s", count, body.at);
  text_free(&body);
}
