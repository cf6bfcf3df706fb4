/* SPDX-License-Identifier: MIT */
/* Formulas of scaled tensors (docs/scaled.md section 4.4) and the rules of programs: texts, the same bits as `steps`,
 * and published triples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "halfulp/scalar.h"
#include "halfulp/scaled.h"
#include "tests/scaled/draw.h"
#include "tests/support/support.h"

enum { MOST = 2048 };

typedef struct made {
  uint8_t codes[4 * MOST];
  uint32_t scales[MOST], values[MOST], back[MOST];
  hu_scaled_stats stats[MOST];
  float tensor;
  hu_events events;
} made;

static hu_scaling parsed(const char *text) {
  hu_scaling scaling;
  size_t where = 0;
  hu_status status = hu_scaling_parse(&scaling, text, &where);
  if (status != HU_OK) fail_msg("%s: %d at %zu", text, (int)status, where);
  return scaling;
}

static uint32_t scale_at(const made *z, const hu_scaling *scaling, size_t i) {
  return (uint32_t)t_get(z->scales, hu_scaled_sizes_of(1, 1, scaling).scale_bytes, (ptrdiff_t)i);
}

/* Makes a tensor by each of the calls. */
static void make_in(made *z, size_t rows, size_t cols, const float *x, const hu_scaling *scaling, hu_mode mode,
                    const hu_exec *exec) {
  memset(z, 0, sizeof *z);
  hu_scaled_sizes sizes = hu_scaled_sizes_of(rows, cols, scaling);
  hu_scaled to = {z->codes, cols, z->scales, sizes.block_cols, scaling->tensor ? &z->tensor : NULL};
  assert_int_equal(hu_scaled_encode(rows, cols, &to, x, cols, scaling, mode, NULL, z->stats, exec, &z->events), HU_OK);
  assert_int_equal(hu_scaled_decode(rows, cols, (float *)(void *)z->values, cols, &to, scaling, exec), HU_OK);
  assert_int_equal(
      hu_scaled_quantize(rows, cols, (float *)(void *)z->back, cols, x, cols, scaling, mode, NULL, NULL, exec, NULL),
      HU_OK);
  assert_memory_equal(z->values, z->back, rows * cols * 4);
}

static void make(made *z, size_t rows, size_t cols, const float *x, const hu_scaling *scaling, const hu_exec *exec) {
  make_in(z, rows, cols, x, scaling, (hu_mode){0}, exec);
}

static void texts(void **state) {
  (void)state;
  size_t with = 0;
  for (size_t i = 0; i < hu_scaling_rule_count(); i++) {
    hu_scaling_entry entry = hu_scaling_rule_at(i);
    hu_scaling scaling, again;
    char text[HU_SCALING_TEXT_MAX];
    assert_true(*entry.name && *entry.source && (*entry.text || *entry.open));
    if (!*entry.text) {
      assert_int_equal(hu_scaling_parse(&scaling, entry.name, NULL), HU_E_SCALING);
      continue;
    }
    scaling = parsed(entry.name);
    assert_true(hu_scaling_text(text, sizeof text, &scaling) < sizeof text);
    again = parsed(text);
    assert_memory_equal(&again, &scaling, sizeof scaling);
    with++;
  }
  assert_null(hu_scaling_rule_at(hu_scaling_rule_count()).name);
  printf("rules: %zu with a text, %zu with a reason\n", with, hu_scaling_rule_count() - with);
}

/* Texts that are wrong, the offset of what is, and the status. */
static void wrong_texts(void **state) {
  (void)state;
#define HEAD "scaled(float4_e2m1fn;scale=ue4m3;block=1x16;"
  enum { AT = sizeof HEAD - 1 };
  static const struct {
    const char *text;
    size_t where;
    hu_status status;
  } rows[] = {
      {HEAD "s=A/6)", AT + 5, HU_E_TEXT},                                                        /* no x */
      {HEAD "rule=ratio;s=A/6;x=x/s)", AT + 22, HU_E_TEXT},                                      /* both */
      {HEAD "s=A/;x=x/s)", AT + 4, HU_E_TEXT},                                                   /* no operand */
      {HEAD "s=max(A);x=x/s)", AT + 7, HU_E_TEXT},                                               /* one argument */
      {HEAD "s=A/0;x=x/s)", AT + 4, HU_E_TEXT},                                                  /* no such number */
      {HEAD "s=A*0x7f800000;x=x/s)", AT + 14, HU_E_TEXT},                                        /* infinity */
      {HEAD "s=A/T;x=x/s)", 0, HU_E_SCALING},                                                    /* one level */
      {HEAD "S=2688/T;s=A/6*S;x=x/(s/S))", 0, HU_E_SCALING},                                     /* v is missing */
      {HEAD "S=2688/t;t=1/S;s=A/6*S;x=x/s)", 0, HU_E_SCALING},                                   /* a circle */
      {HEAD "s=A/6;x=s)", 0, HU_E_SCALING},                                                      /* not of x */
      {HEAD "s=A/6;x=x/s;v=s)", 0, HU_E_SCALING},                                                /* not of P */
      {HEAD "s=x/6;x=x/s)", 0, HU_E_SCALING},                                                    /* x in s */
      {HEAD "rule=ratio;zero=formula)", 0, HU_E_SCALING},                                        /* no formula */
      {"scaled(float8_e4m3fnuz;scale=ue4m3;block=1x16;rule=ratio;minus=none)", 0, HU_E_SCALING}, /* no -0 */
      {HEAD "s=A*A*A*A*A*A*A*A*A*A*A*A*A*A*A*A*A*A*A*A*A*A*A*A*A*A*A*A*A*A*A*A*A*A;x=x/s)", AT + 67, HU_E_TEXT},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    hu_scaling scaling;
    size_t where = 99;
    assert_int_equal(hu_scaling_parse(&scaling, rows[i].text, &where), rows[i].status);
    if (where != rows[i].where) fail_msg("%s: %zu, not %zu", rows[i].text, where, rows[i].where);
  }
}

/* Records that hu_scaling_check must refuse. */
static void wrong_records(void **state) {
  (void)state;
  const hu_scaling good = parsed("torchao.nvfp4.cuda");
  assert_int_equal(hu_scaling_check(&good, NULL), HU_OK);
  for (size_t i = 0; i < HU_FORMULA_BYTES; i++) {
    for (unsigned op = 0; op < 256; op++) { /* any byte: refused or not, but read whole */
      hu_scaling bad = good;
      bad.formulas.code[i] = (uint8_t)op;
      char text[HU_SCALING_TEXT_MAX];
      hu_scaling again;
      if (hu_scaling_check(&bad, NULL) != HU_OK) continue;
      hu_scaling_text(text, sizeof text, &bad);
      again = parsed(text);
      if (memcmp(&again.formulas.number, &bad.formulas.number, sizeof bad.formulas.number) == 0)
        assert_memory_equal(&again, &bad, sizeof bad);
    }
  }
  hu_scaling bad = good;
  bad.formulas.number[0] = 0x7F800000;
  assert_int_equal(hu_scaling_check(&bad, NULL), HU_E_SCALING);
  bad = good;
  bad.formulas.number[7] = 1;
  assert_int_equal(hu_scaling_check(&bad, NULL), HU_E_SCALING);
  bad = good;
  bad.tensor = 0;
  assert_int_equal(hu_scaling_check(&bad, NULL), HU_E_SCALING);
  bad = good;
  memset(bad.formulas.code, HU_FORMULA_A, sizeof bad.formulas.code);
  assert_int_equal(hu_scaling_check(&bad, NULL), HU_E_SCALING);
}

/* The steps of section 4 as formulas. A zero block and a scale of 0 are apart: there formulas say what happens. */
static const char *const pairs[][2] = {
    {"rule=ratio;steps=divide;zero=one", "s=A/448;x=and(s,x/s);zero=one"},
    {"rule=ratio;steps=multiply;zero=one", "s=A/448;x=x*and(s,1/s);zero=one"},
    {"rule=ratio;steps=encode;zero=one", "s=1/(448/A);x=x*(448/A);zero=one"},
    {"rule=ratio;steps=divide;tensor;zero=zero", "t=T/200704;s=A/448/t;x=and(s*t,x/(s*t));zero=zero"},
    {"rule=ratio;steps=multiply;tensor;zero=zero", "S=200704/T;t=1/S;s=A/448*S;x=x*and(s*t,1/(s*t));zero=zero"},
    {"rule=ratio;steps=encode;tensor;zero=zero", "S=200704/T;t=1/S;s=A*(S*(1/448));x=x*and(s*t,1/(s*t));zero=zero"},
    {"rule=ratio;steps=reciprocal;tensor;zero=zero", "S=1/t;t=T/200704;s=A/448/t;x=x*and(s*t,S/s);zero=zero"},
};

static void same_as_steps(void **state) {
  (void)state;
  static made a, b;
  static float x[MOST];
  t_random random = {t_seed("formulas", 1)};
  uint64_t elements = 0;
  for (size_t i = 0; i < 400; i++) {
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
      char text[2][256];
      const char *scale = k < 3 ? "binary32" : "ue4m3";
      unsigned side = 1u << t_below(&random, 8);
      for (size_t j = 0; j < 2; j++)
        snprintf(text[j], sizeof text[j], "scaled(float8_e4m3fn;scale=%s;block=1x%u;special=%s;%s)", scale, side,
                 i % 3 == 0 && k < 3 ? "element" : "saturate", pairs[k][j]);
      hu_scaling steps = parsed(text[0]), formulas = parsed(text[1]);
      hu_exec exec = {0};
      if (i % 2) exec.levels_off = ~0u;
      size_t rows = 1 + t_below(&random, 8), cols = 1 + t_below(&random, MOST / 8);
      random_matrix(&random, rows * cols, x, &steps);
      if (i % 4 == 1) /* blocks much smaller than the tensor's amax make scales of 0 */
        for (size_t j = 0; j < rows * cols; j++) x[j] = j % 3 ? x[j] : x[j] * 0x1p-30f;
      make(&a, rows, cols, x, &steps, &exec);
      make(&b, rows, cols, x, &formulas, &exec);
      if (memcmp(a.codes, b.codes, sizeof a.codes) || memcmp(a.scales, b.scales, sizeof a.scales) ||
          memcmp(&a.tensor, &b.tensor, 4) || memcmp(a.values, b.values, sizeof a.values))
        fail_msg("%s and %s differ in case %zu", text[0], text[1], i);
      elements += rows * cols;
    }
  }
  printf("%llu elements by steps and by formulas\n", (unsigned long long)elements);
}

/* The kernels and the core, and texts, for drawn formulas. */
static void ways(void **state) {
  (void)state;
  static made a, b;
  static float x[MOST];
  t_random random = {t_seed("rules", 1)};
  for (size_t i = 0; i < 4000; i++) {
    hu_scaling scaling = random_formulas(&random);
    char text[HU_SCALING_TEXT_MAX];
    hu_scaling_text(text, sizeof text, &scaling);
    hu_scaling again = parsed(text);
    assert_memory_equal(&again, &scaling, sizeof scaling);
    hu_exec core = {0};
    core.levels_off = ~0u;
    size_t rows = 1 + t_below(&random, 4), cols = 1 + t_below(&random, MOST / 4);
    random_matrix(&random, rows * cols, x, &scaling);
    hu_mode mode = i % 2 ? t_random_mode(&random) : (hu_mode){0};
    make_in(&a, rows, cols, x, &scaling, mode, NULL);
    make_in(&b, rows, cols, x, &scaling, mode, &core);
    if (memcmp(&a, &b, sizeof a)) fail_msg("%s: case %zu", text, i);
  }
}

/* Signs of zeros under rules of powers of two, of ratios and of formulas, by kernels and by the core. */
static void minus_zero(void **state) {
  (void)state;
  static const char *const minus[] = {"kept", "none", "own", "all"};
  static const char *const rest[] = {
      "scale=float8_e8m0fnu;block=1x32;rule=floor", "scale=binary32;block=1x32;rule=ratio;steps=multiply",
      "scale=binary32;block=*x*;rule=ratio;steps=divide", "scale=ue4m3;block=1x32;s=A/6;x=x*(1/s)"};
  static const uint8_t codes[4][4] = {{0, 8, 0, 8}, {0, 0, 0, 0}, {0, 0, 0, 8}, {8, 8, 8, 8}};
  float x[64] = {0}; /* 0, -0, a small number and its negative, which round to zero beside 6 */
  for (size_t i = 0; i < 60; i++) x[i] = i % 4 == 0 ? 0 : i % 4 == 1 ? -0.0f : i % 4 == 2 ? 0x1p-6f : -0x1p-6f;
  x[31] = x[62] = 6;
  for (size_t rule = 0; rule < 4; rule++) {
    for (size_t i = 0; i < 4; i++) {
      for (size_t core = 0; core < 2; core++) {
        static made z;
        char text[160];
        hu_exec exec = {0};
        if (core) exec.levels_off = ~0u;
        snprintf(text, sizeof text, "scaled(float4_e2m1fn;minus=%s;%s)", minus[i], rest[rule]);
        hu_scaling scaling = parsed(text);
        make(&z, 1, 64, x, &scaling, &exec);
        for (size_t k = 0; k < 4; k++)
          if (z.codes[k] != codes[i][k] || z.codes[40 + k] != codes[i][k]) fail_msg("%s: code %zu", text, k);
      }
    }
  }
}

/* ---- published numbers ---- */

static double value_of(hu_format format, uint32_t code) { return hu_decode64(format, code); }

/* A tensor of two blocks, T in the first, A and x in the second; the scale of that and the number of x's code. */
static void triples(void **state) {
  (void)state;
  static const float triple[6][3] = {{1.53125f, 1.3671875f, 0.1640625f},  {1.984375f, 0.408203125f, 0.248046875f},
                                     {1.03125f, 0.6640625f, 0.38671875f}, {1.125f, 0.5078125f, 0.15234375f},
                                     {1.75f, 0.484375f, 0.080078125f},    {1.96875f, 1.1953125f, 0.50390625f}};
  static const struct {
    const char *name;
    double answer[12];
  } rows[] = {
      {"nvfp4_te", {416, .5, 96, 3, 288, 3, 208, 1.5, 128, 1, 288, 2}},
      {"te.nvfp4.zeros", {416, .5, 96, 3, 288, 3, 208, 1.5, 128, 1, 288, 2}},
      {"nvfp4", {384, 1, 96, 3, 288, 3, 208, 1.5, 128, 1, 256, 3}},
      {"nvfp4_torchao18", {384, 1, 96, 4, 288, 3, 208, 1.5, 120, 1, 256, 3}},
      {"torchao.nvfp4.cpu", {384, 1, 96, 4, 288, 3, 208, 1.5, 120, 1, 256, 3}},
      {"torchao.nvfp4.cuda", {384, .5, 96, 4, 288, 3, 208, 1.5, 128, 1, 256, 3}},
      {"nvfp4_torchao", {384, 1, 96, 4, 288, 4, 208, 1.5, 120, 1, 256, 3}},
      {"modelopt.nvfp4.cpu", {384, 1, 96, 4, 288, 4, 208, 1.5, 128, 1, 256, 3}},
      {"modelopt.nvfp4.cuda", {384, .5, 96, 3, 288, 4, 208, 1.5, 128, 1, 256, 3}},
      {"vllm.nvfp4.emulation", {416, .5, 96, 3, 288, 3, 208, 1.5, 128, 1, 256, 3}},
      {"vllm.nvfp4.emulation.triton", {416, .5, 96, 4, 288, 3, 208, 1.5, 128, 1, 256, 3}},
      {"compressed-tensors.nvfp4.cpu", {384, 1, 96, 3, 288, 4, 208, 1.5, 128, 1, 256, 3}},
      {"compressed-tensors.nvfp4.cuda", {416, .5, 96, 3, 288, 4, 208, 1.5, 128, 1, 256, 3}},
      {"compressed-tensors.nvfp4.bf16", {384, 1, 88, 4, 288, 4, 208, 1.5, 120, 1, 256, 3}},
      {"compressed-tensors.nvfp4.bf16.both", {384, .5, 88, 4, 288, 4, 208, 2, 120, 1, 288, 2}},
      {"mlx.nvfp4.gpu", {384, 1, 96, 4, 288, 3, 208, 1.5, 128, 1, 256, 3}},
      {"mlx.nvfp4.cpu", {384, 1, 96, 3, 288, 4, 208, 2, 128, 1, 256, 3}},
      {"te.nvfp4.fast", {416, .5, 96, 4, 288, 4, 208, 2, 128, 1, 288, 2}},
      {"cutlass.nvfp4", {416, .5, 96, 4, 288, 3, 208, 2, 128, 1, 288, 2}},
      {"quartet2.nvfp4", {384, .5, 96, 3, 288, 3, 208, 1.5, 128, 1, 256, 3}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    hu_scaling scaling = parsed(rows[i].name);
    for (size_t k = 0; k < 6; k++) {
      static made z;
      float x[32] = {0};
      x[0] = triple[k][0];
      x[16] = triple[k][1];
      x[17] = triple[k][2];
      make(&z, 1, 32, x, &scaling, NULL);
      double s = value_of(scaling.scale, scale_at(&z, &scaling, 1)), code = value_of(scaling.element, z.codes[17]);
      if (s != rows[i].answer[2 * k] || code != rows[i].answer[2 * k + 1])
        fail_msg("%s, triple %zu: %g %g", rows[i].name, k, s, code);
    }
  }
}

/* FP8 with one level: D, R, E, P, R2, D2; a pattern of the scale and the number of x's code. */
static void one_level(void **state) {
  (void)state;
#define ONE "scaled(float8_e4m3fn;scale=binary32;block=1x128;"
  static const char *const names[6] = {
      ONE "rule=ratio;steps=divide)", "deepgemm.cpu", "te.block.float8", "sglang.fp8.group", "deepgemm.cuda",
      ONE "s=A*(1/448);x=x/s)"};
  static const struct {
    float a, x;
    uint32_t scale[6];
    double code[6];
  } rows[] = {
      {1.53125f,
       0.1982421875f,
       {0x3b600000, 0x3b600000, 0x3b5fffff, 0x3b600001, 0x3b600001, 0x3b600001},
       {56, 60, 60, 60, 56, 56}},
      {1.59375f,
       0.59765625f,
       {0x3b692492, 0x3b692492, 0x3b692492, 0x3b692493, 0x3b692493, 0x3b692493},
       {160, 176, 176, 176, 160, 160}},
      {1.421875f,
       0.2412109375f,
       {0x3b500000, 0x3b500000, 0x3b4fffff, 0x3b500001, 0x3b500001, 0x3b500001},
       {80, 80, 80, 80, 72, 72}},
      {1.1875f,
       0.22265625f,
       {0x3b2db6db, 0x3b2db6db, 0x3b2db6dc, 0x3b2db6dc, 0x3b2db6dc, 0x3b2db6dc},
       {80, 88, 80, 80, 80, 80}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (size_t k = 0; k < 6; k++) {
      static made z;
      hu_scaling scaling = parsed(names[k]);
      float x[2] = {rows[i].a, rows[i].x};
      make(&z, 1, 2, x, &scaling, NULL);
      if (z.scales[0] != rows[i].scale[k] || value_of(scaling.element, z.codes[1]) != rows[i].code[k])
        fail_msg("%s, row %zu: %08x %g", names[k], i, (unsigned)z.scales[0], value_of(scaling.element, z.codes[1]));
    }
  }
}

/* Exponents of the scales of MX, E2M1 and E4M3, of eight amax. */
static void exponents(void **state) {
  (void)state;
  static const float amax[8] = {1, 0x1.000002p0f, 1.375f, 1.5f, 0x1.800002p0f, 1.75f, 0x1.c00002p0f, 1.9375f};
  static const struct {
    const char *name;
    int answer[8];
  } rows[] = {
      {"compressed-tensors.mxfp8", {-8, -8, -8, -8, -8, -7, -7, -7}},
      {"compressed-tensors.mxfp4", {-2, -2, -2, -2, -2, -1, -1, -1}},
      {"torchao.mxfp4.rceil", {-2, -2, -2, -2, -1, -1, -1, -1}},
      {"te.mxfp8", {-8, -8, -8, -8, -8, -8, -7, -7}},
      {"triton_kernels.mxfp4.down", {-3, -3, -3, -2, -2, -2, -2, -2}},
      {"mlx.mxfp4.gpu", {-3, -3, -2, -2, -2, -2, -2, -2}},
      {"mlx.mxfp8.gpu", {-9, -9, -8, -8, -8, -8, -8, -8}},
      {"ggml.mxfp4.cuda", {-2, -2, -2, -1, -1, -1, -1, -1}},
      {"vllm.mxfp8.fallback", {0, 0, 0, 0, 0, 0, 0, 0}},
      {"trainium.mxfp8", {-7, -7, -7, -7, -7, -7, -7, -7}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    hu_scaling scaling = parsed(rows[i].name);
    for (size_t k = 0; k < 8; k++) {
      static made z;
      make(&z, 1, 1, &amax[k], &scaling, NULL);
      if ((int)scale_at(&z, &scaling, 0) - 127 != rows[i].answer[k])
        fail_msg("%s: 2^%d for %a", rows[i].name, (int)scale_at(&z, &scaling, 0) - 127, (double)amax[k]);
    }
  }
}

/* Operations on numbers beside their thresholds, worked by hand: by lanes and by the core. */
static void operations(void **state) {
  (void)state;
  static const struct {
    const char *formula;
    uint32_t amax, answer;
  } rows[] = {
      {"bf(A)", 0x3F808000, 0x3F800000},
      {"bf(A)", 0x3F818000, 0x3F820000},
      {"bf(A)", 0x7F7FFFFF, 0x7F7F0000},
      {"h(A)", 0x3F801000, 0x3F800000},
      {"h(A)", 0x3F803000, 0x3F804000},
      {"h(A)", 0x33000000, 0},
      {"h(A)", 0x33000001, 0x33800000},
      {"h(A)", 0x4F000000, 0x477FE000},
      {"hz(A)", 0x3F803FFF, 0x3F802000},
      {"near(A)", 0x3FB504F3, 0x3F800000},
      {"near(A)", 0x3FB504F4, 0x40000000},
      {"near(A)", 0x00000003, 0x00000004},
      {"up(A)", 0x3F800001, 0x40000000},
      {"up(A)", 0x00000003, 0x00000004},
      {"up(A)", 0x7F7FFFFF, 0x7F000000},
      {"down(A)", 0x3FFFFFFF, 0x3F800000},
      {"even1(A)", 0x3FDFFFFF, 0x3F800000},
      {"even1(A)", 0x3FE00000, 0x40000000},
      {"A/(A*0x00000001)", 0x3E000000, 0x7F7FFFFF},
      {"A*A", 0x7F000000, 0x7F7FFFFF},
      {"A*A", 0x00800000, 0},
      {"or(A*A,3)", 0x00800000, 0x40400000},
      {"and(A*A,3)", 0x00800000, 0},
      {"and(A,3)", 0x00800000, 0x40400000},
      {"max(A,3)", 0x3F800000, 0x40400000},
      {"min(A,3)", 0x3F800000, 0x3F800000},
      {"1/(A+2)", 0x3F800000, 0x3EAAAAAB},
  };
  const hu_exec core = {.levels_off = ~0u};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    static made z;
    char text[160];
    float x[2];
    memcpy(&x[0], &rows[i].amax, sizeof x[0]);
    x[1] = x[0]; /* two blocks, since one alone is the core's */
    snprintf(text, sizeof text, "scaled(float8_e4m3fn;scale=binary32;block=1x1;s=%s;x=x/s)", rows[i].formula);
    hu_scaling scaling = parsed(text);
    for (int way = 0; way < 2; way++) {
      make(&z, 1, 2, x, &scaling, way ? &core : NULL);
      if (scale_at(&z, &scaling, 0) != rows[i].answer)
        fail_msg("%s of %08x: %08x", rows[i].formula, (unsigned)rows[i].amax, (unsigned)scale_at(&z, &scaling, 0));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(texts),         cmocka_unit_test(wrong_texts), cmocka_unit_test(wrong_records),
      cmocka_unit_test(triples),       cmocka_unit_test(one_level),   cmocka_unit_test(exponents),
      cmocka_unit_test(same_as_steps), cmocka_unit_test(ways),        cmocka_unit_test(minus_zero),
      cmocka_unit_test(operations),
  };
  return cmocka_run_group_tests_name("scaled-formulas", tests, NULL, NULL);
}
