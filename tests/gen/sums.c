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

static int is_stored(const t_sum *s) {
  const char *const names[] = {s->fa, s->fb, s->fc ? s->fc : s->fa, s->fz};
  for (int i = 0; i < 4; i++)
    if (!golden_format_named(names[i]).exchanged) return 0;
  return 1;
}

static void list(t_text *t, const uint32_t *codes, size_t n) {
  text_add(t, " ");
  if (n == 0) text_add(t, "-");
  for (size_t i = 0; i < n; i++) text_add(t, "%s%x", i ? "," : "", codes[i]);
}

static void line(t_text *t, unsigned *count, const t_sum *s, int exactly, unsigned round) {
  hu_format fc = format_of(s->fc ? s->fc : s->fa);
  hu_mode mode;
  uint32_t code, events;
  memset(&mode, 0, sizeof mode);
  mode.round = (uint8_t)round;
  hu_status status =
      (exactly ? hu_oracle_dot : hu_oracle_dot_fp32)(&code, &events, format_of(s->fz), mode, 0, s->n, format_of(s->fa),
                                                     s->a, format_of(s->fb), s->b, s->fc ? &fc : NULL, s->c);
  if (status != HU_OK) abort();
  text_add(t, "%s %s %s %s %s %s %zu", exactly ? "exact" : "fp32", rounds[round], s->fa, s->fb, s->fc ? s->fc : "-",
           s->fz, s->n);
  list(t, s->a, s->n);
  list(t, s->b, s->n);
  text_add(t, s->fc ? " %x" : " -", s->c);
  text_add(t, " %x %x\n", code, events);
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

static uint32_t finite_code(t_random *r, hu_format f) {
  for (;;) {
    uint32_t code = t_next32(r) & (uint32_t)((UINT64_C(1) << (f.sign + f.e + f.m)) - 1);
    double v;
    if (hu_oracle_decode64(&v, f, code) != HU_OK) abort();
    if (v - v == 0) return code;
  }
}

static void random_sum(t_random *r, t_sum *s) {
  static const char *const in[] = {"float8_e4m3fn", "float8_e5m2",    "fp_4_3_4_finite", "fp_5_2_0_finite",
                                   "float4_e2m1fn", "float6_e3m2fn",  "bfloat16",        "binary16",
                                   "binary8p4se",   "float8_e8m0fnu", "binary32"};
  static const char *const out[] = {"float8_e4m3fn", "float8_e5m2",     "bfloat16",  "binary16",
                                    "binary32",      "fp_6_9_0_finite", "dlfloat16", "ue5m3"};
  unsigned n_in = sizeof in / sizeof in[0], n_out = sizeof out / sizeof out[0];
  s->fa = in[t_below(r, n_in)];
  s->fb = in[t_below(r, n_in)];
  s->fc = t_below(r, 3) ? in[t_below(r, n_in)] : NULL;
  s->fz = out[t_below(r, n_out)];
  s->n = 1 + t_below(r, t_below(r, 4) ? 6 : TERMS);
  for (size_t i = 0; i < s->n; i++) {
    s->a[i] = finite_code(r, format_of(s->fa));
    s->b[i] = finite_code(r, format_of(s->fb));
  }
  s->c = s->fc ? finite_code(r, format_of(s->fc)) : 0;
  /* In half of the cases the second half of the terms cancels the first, so that low bits decide. */
  size_t half = s->n / 2;
  if (t_below(r, 2) && strcmp(s->fa, "float8_e8m0fnu") != 0)
    for (size_t i = 0; i < half; i++) {
      hu_format f = format_of(s->fa);
      s->a[half + i] = s->a[i] ^ 1u << (f.e + f.m);
      s->b[half + i] = s->b[i];
      double v;
      if (hu_oracle_decode64(&v, f, s->a[half + i]) != HU_OK) abort();
      if (v != v) s->a[half + i] = s->a[i]; /* the NaN at the place of -0 */
    }
}

void golden_sums(t_text *t, int stored) {
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
    t_sum s;
    random_sum(&random, &s);
    if (stored && !is_stored(&s)) continue;
    for (int exactly = 1; exactly >= 0; exactly--) line(&body, &count, &s, exactly, i % 8);
  }
  text_add(t,
           "# halfulp golden file: c + sum of a[i] b[i], rounded once at the end\n"
           "# SPDX-License-Identifier: MIT\n"
           "# made by tests/gen (the MPFR oracle), not by the emulator; regenerate with: ninja regenerate-golden\n"
           "# line: MODEL MODE FA FB FC FZ N A,... B,... C CODE EVENTS, see README.md here\n");
  text_add(t, "# count: %u\n%s", count, body.at);
  text_free(&body);
}
