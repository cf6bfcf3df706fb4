/* SPDX-License-Identifier: MIT */
/* Texts of scaled tensors, both ways; descriptions refused; sizes; the packed layout; misuse of the calls. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <stdlib.h>
#include <string.h>

#include "tests/support/cmocka.h"

#include <sys/mman.h>
#include <unistd.h>

#include "tests/scaled/compare.h"
#include "tests/support/levels.h"

static hu_scaling parsed(const char *text) {
  hu_scaling scaling;
  assert_int_equal(hu_scaling_parse(&scaling, text, NULL), HU_OK);
  return scaling;
}

static void there_and_back(const hu_scaling *scaling) {
  char text[HU_SCALING_TEXT_MAX], again[HU_SCALING_TEXT_MAX], cut[24];
  hu_scaling back;
  size_t n = hu_scaling_text(text, sizeof text, scaling);
  assert_true(n > 0 && n < sizeof text);
  assert_int_equal(hu_scaling_parse(&back, text, NULL), HU_OK);
  assert_memory_equal(&back, scaling, sizeof back);
  assert_int_equal(hu_scaling_text(again, sizeof again, &back), n);
  assert_string_equal(again, text);
  assert_int_equal(hu_scaling_text(cut, sizeof cut, scaling), n);
  assert_memory_equal(cut, text, sizeof cut - 1);
  assert_int_equal(cut[sizeof cut - 1], 0);
}

static void test_texts(void **state) {
  (void)state;
  t_random random = {t_seed("scaled-text", 5)};
  for (size_t i = 0; i < hu_scaling_count(); i++) {
    hu_scaling_entry entry = hu_scaling_at(i);
    hu_scaling scaling = parsed(entry.name), same = parsed(entry.text);
    assert_memory_equal(&scaling, &same, sizeof scaling);
    assert_true(strlen(entry.source) > 5 && entry.open);
    there_and_back(&scaling);
  }
  assert_null(hu_scaling_at(hu_scaling_count()).name);
  for (int i = 0; i < 3000; i++) {
    hu_scaling scaling = random_scaling(&random);
    scaling.pad = t_below(&random, 2) != 0;
    there_and_back(&scaling);
  }
  static const char *const canonical[][2] = {
      {"mxfp8_e4m3", "scaled(float8_e4m3fn;scale=float8_e8m0fnu;block=1x32;rule=floor)"},
      {"nvfp4", "scaled(float4_e2m1fn;scale=ue4m3;block=1x16;rule=ratio;steps=multiply;tensor;zero=zero)"},
      {"scaled(e4m3fn;amin=0x38d1b717;zero=one;block=*x1;scale=fp32;rule=ratio;round=rtp;pad)",
       "scaled(float8_e4m3fn;scale=binary32;block=*x1;rule=ratio;round=rtp;zero=one;amin=0x38d1b717;pad)"},
      {"bfp(3,8,16)",
       "scaled(fp(0,3,0):finite;scale=fp(8,0,0):finite,unsigned,zero=none,nosub;block=1x16;rule=floor;special="
       "element)"}};
  for (size_t i = 0; i < 4; i++) {
    char text[HU_SCALING_TEXT_MAX];
    hu_scaling scaling = parsed(canonical[i][0]);
    hu_scaling_text(text, sizeof text, &scaling);
    assert_string_equal(text, canonical[i][1]);
  }
}

static void test_wrong_texts(void **state) {
  (void)state;
#define MX "scaled(float8_e4m3fn;scale=float8_e8m0fnu;block=1x32;rule=floor"
#define NV "scaled(float4_e2m1fn;scale=ue4m3;block="
  static const struct {
    const char *text;
    hu_status status;
    size_t where;
  } rows[] = {
      {"", HU_E_TEXT, 0},
      {"mxfp9", HU_E_NAME, 0},
      {"mxfp8_e4m3;pad", HU_E_TEXT, 0},
      {"scaled(", HU_E_TEXT, 7},
      {"scaled(nobody;scale=e8m0;block=1x32;rule=floor)", HU_E_NAME, 7},
      {"scaled(e4m3fn;scale=nobody;block=1x32;rule=floor)", HU_E_NAME, 20},
      {"scaled(e4m3fn;scale=fp(8,x,0);block=1x32;rule=floor)", HU_E_TEXT, 25},
      {"scaled(e4m3fn;scale=e8m0;block=1x32)", HU_E_TEXT, 35},
      {"scaled(e4m3fn;scale=e8m0;block=0x32;rule=floor)", HU_E_TEXT, 31},
      {"scaled(e4m3fn;scale=e8m0;block=1x2147483648;rule=floor)", HU_E_TEXT, 33},
      {"scaled(e4m3fn;scale=e8m0;block=1,32;rule=floor)", HU_E_TEXT, 32},
      {"scaled(e4m3fn;scale=e8m0;block=1x32;rule=flor)", HU_E_TEXT, 41},
      {MX ";rule=ceil)", HU_E_TEXT, 64},
      {MX ";amin=0x00000000)", HU_E_TEXT, 71},
      {MX ";amin=0x7f800000)", HU_E_TEXT, 71},
      {MX ";amin=0x3F800000)", HU_E_TEXT, 71},
      {MX ";round=sra:4)", HU_E_TEXT, 70},
      {MX ";tensorial)", HU_E_TEXT, 70},
      {MX ") ", HU_E_TEXT, 64},
      {MX, HU_E_TEXT, 63},
      {MX ";tensor)", HU_E_SCALING, 0},
      {MX ";zero=zero)", HU_E_SCALING, 0},
      {MX ";code=twos)", HU_E_SCALING, 0},
      {MX ";steps=divide)", HU_E_SCALING, 0},
      {MX ";round=rtp)", HU_E_SCALING, 0},
      {"scaled(ue4m3;scale=e8m0;block=1x32;rule=floor)", HU_E_SCALING, 0},
      {"scaled(e4m3fn;scale=ue4m3;block=1x32;rule=ratio;steps=encode)", HU_E_SCALING, 0},
      {"scaled(bfloat16;scale=binary32;block=1x32;rule=ratio;tensor)", HU_E_SCALING, 0},
      {"scaled(e4m3fn;scale=fp(5,0,0):finite,unsigned;block=1x32;rule=floor)", HU_E_SCALING, 0},
      {NV "1x16;rule=4over6;steps=multiply;tensor)", HU_E_TEXT, 49},
      {NV "1x16;rule=4over6_mse;steps=multiply;tensor=448)", HU_E_TEXT, 81},
      {NV "1x16;rule=4over6_mse;steps=multiply)", HU_E_SCALING, 0},
      {NV "1x16;rule=4over6_mse;tensor)", HU_E_SCALING, 0},
      {NV "1x17;rule=4over6_mse;steps=multiply;tensor)", HU_E_SCALING, 0},
      {NV "17x16;rule=4over6_mse;steps=multiply;tensor)", HU_E_SCALING, 0},
      {NV "*x16;rule=4over6_mse;steps=multiply;tensor)", HU_E_SCALING, 0},
      {NV "1x16;rule=sweep_mse;tensor)", HU_E_SCALING, 0},
      {NV "1x16;rule=sweep_mse;steps=encode;tensor)", HU_E_SCALING, 0},
      {NV "1x16;rule=sweep_mse;steps=divide;tensor=256)", HU_E_SCALING, 0},
      {NV "1x16;rule=ratio;steps=multiply;tensor=256)", HU_E_SCALING, 0},
      {"scaled(float6_e2m3fn;scale=ue4m3;block=1x16;rule=4over6_mse;steps=multiply;tensor)", HU_E_SCALING, 0},
      {"scaled(float4_e2m1fn;scale=ue5m3;block=1x16;rule=4over6_mse;steps=multiply;tensor)", HU_E_SCALING, 0},
      {"scaled(float4_e2m1fn;scale=ue4m3;block=1x16;rule=intfloat_mse;steps=multiply;tensor)", HU_E_SCALING, 0},
      {"scaled(float8_e4m3fn;scale=float8_e4m3fn;block=1x16;rule=intfloat_mse;steps=multiply;tensor)", HU_E_SCALING, 0},
      {"scaled(float4_e2m1fn;scale=float8_e4m3fn;block=1x16;rule=intfloat_mse;steps=divide;tensor)", HU_E_SCALING, 0},
      {"scaled(float4_e2m1fn;scale=float8_e4m3fn;block=1x16;rule=intfloat_mse;steps=multiply)", HU_E_SCALING, 0},
      {"scaled(float4_e2m1fn;scale=float8_e4m3fn;block=1x16;rule=intfloat_mse;steps=multiply;tensor=256)", HU_E_SCALING,
       0},
      {"scaled(float4_e2m1fn;scale=float8_e4m3fn;block=1x17;rule=intfloat_mse;steps=multiply;tensor)", HU_E_SCALING, 0},
      {"scaled(float4_e2m1fn;scale=float8_e4m3fn;block=1x16;rule=;steps=multiply;tensor)", HU_E_TEXT, 57},
      {"bfp(3,8)", HU_E_TEXT, 7},
      {"bfp(0,8,16)", HU_E_TEXT, 4},
      {"bfp(3,11,16)", HU_E_TEXT, 6},
      {"bfp(3,8,16)x", HU_E_TEXT, 11}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    hu_scaling scaling, before;
    size_t where = 999;
    memset(&scaling, 0xA5, sizeof scaling);
    before = scaling;
    hu_status status = hu_scaling_parse(&scaling, rows[i].text, &where);
    if (status != rows[i].status || where != rows[i].where) {
      print_message("%s: %s at %zu\n", rows[i].text, hu_status_name(status), where);
    }
    assert_int_equal(status, rows[i].status);
    assert_int_equal(where, rows[i].where);
    assert_memory_equal(&scaling, &before, sizeof scaling);
  }
  assert_int_equal(hu_scaling_parse(NULL, "mxfp4", NULL), HU_E_NULL);
}

static void test_checks(void **state) {
  (void)state;
  const hu_scaling good = parsed("mxfp8_e4m3");
  for (unsigned i = 0; i < 12; i++) {
    hu_scaling scaling = good;
    char text[8];
    const char *why = NULL;
    if (i == 0) scaling.rule = HU_SCALE_RULES;
    if (i == 1) scaling.steps = HU_STEPS_COUNT;
    if (i == 2) scaling.tensor = 3;
    if (i == 3) scaling.pad = 2;
    if (i == 4) scaling.coding = 2;
    if (i == 5) scaling.special = 3;
    if (i == 6) scaling.blank = 3;
    if (i == 7) scaling.amin = 0x7F800000;
    if (i == 8) scaling.rows = 0x80000000;
    if (i == 9) scaling.element.m = 31;
    if (i == 10) scaling.scale.e = 12;
    if (i == 11) scaling.round = HU_RTP;
    assert_int_equal(hu_scaling_check(&scaling, &why), i == 9 || i == 10 ? HU_E_FORMAT : HU_E_SCALING);
    assert_non_null(why);
    assert_int_equal(hu_scaling_text(text, sizeof text, &scaling), 0);
  }
}

static void test_sizes(void **state) {
  (void)state;
  hu_scaling mx4 = parsed("mxfp4"), mx6 = parsed("mxfp6_e3m2"), ds = parsed("dsv3_128x128");
  hu_scaled_sizes n = hu_scaled_sizes_of(3, 33, &mx4);
  assert_int_equal(n.block_rows, 3);
  assert_int_equal(n.block_cols, 2);
  assert_int_equal(n.codes, 99);
  assert_int_equal(n.scales, 6);
  assert_int_equal(n.packed_row, 17);
  assert_int_equal(n.packed, 51);
  mx4.pad = 1;
  n = hu_scaled_sizes_of(3, 33, &mx4);
  assert_int_equal(n.packed_row, 32);
  assert_int_equal(n.packed, 96);
  n = hu_scaled_sizes_of(2, 64, &mx6);
  assert_int_equal(n.packed, 96);
  n = hu_scaled_sizes_of(129, 256, &ds);
  assert_int_equal(n.block_rows * n.block_cols, 4);
  assert_int_equal(n.scales, 16);
  ds.pad = 1;
  assert_int_equal(hu_scaled_sizes_of(129, 200, &ds).packed, 65536);
  assert_true(hu_scaled_sizes_of(SIZE_MAX / 2, 8, &ds).codes == SIZE_MAX);
  ds.rule = 99;
  assert_int_equal(hu_scaled_sizes_of(4, 4, &ds).block_rows, 0);
}

/* Layouts as docs/scaled.md section 7 has them, bit by bit. */
static void test_packing(void **state) {
  (void)state;
  t_random random = {t_seed("scaled-pack", 6)};
  static uint8_t codes[4096], packed[8192], back[4096];
  for (int i = 0; i < 400; i++) {
    hu_scaling scaling = random_scaling(&random);
    scaling.pad = t_below(&random, 2) != 0;
    unsigned width = 1u + scaling.element.e + scaling.element.m;
    size_t rows = 1 + t_below(&random, 6), cols = 1 + t_below(&random, 40), ld = cols + t_below(&random, 3);
    hu_scaled_sizes n = hu_scaled_sizes_of(rows, cols, &scaling);
    for (size_t k = 0; k < sizeof codes; k++) codes[k] = (uint8_t)t_next32(&random);
    for (size_t k = 0; k < rows * cols && width <= 8; k++) {
      uint32_t code =
          scaling.coding == HU_CODING_TWOS ? t_random_integer(&random, width) : t_random_code(&random, scaling.element);
      codes[k / cols * ld + k % cols] = (uint8_t)code;
    }
    if (width > 8) {
      assert_int_equal(hu_scaled_pack(rows, cols, packed, codes, ld, &scaling, NULL), HU_E_SHAPE);
      continue;
    }
    if (n.packed > sizeof packed - 64) continue;
    memset(packed, 0xA5, sizeof packed);
    assert_int_equal(hu_scaled_pack(rows, cols, packed, codes, ld, &scaling, NULL), HU_OK);
    for (size_t bit = 0; bit < n.packed * 8; bit++) {
      size_t row = bit / (n.packed_row * 8), in_row = bit % (n.packed_row * 8), col = in_row / width;
      unsigned expected = row < rows && col < cols ? codes[row * ld + col] >> (in_row % width) & 1 : 0;
      assert_int_equal(packed[bit / 8] >> (bit % 8) & 1, expected);
    }
    for (size_t k = n.packed; k < n.packed + 32; k++) assert_int_equal(packed[k], 0xA5);
    assert_int_equal(hu_scaled_unpack(rows, cols, back, ld, packed, &scaling, NULL), HU_OK);
    for (size_t k = 0; k < rows * cols; k++) {
      size_t at = k / cols * ld + k % cols;
      assert_int_equal(back[at], codes[at] & ((1u << width) - 1));
    }
  }
}

/* ---- misuse ---- */

typedef struct bench {
  float x[64], z[64], tensor, amax;
  uint32_t codes[64], scales[64];
  hu_scaled_stats stats[8];
  hu_events events;
} bench;

static void test_errors(void **state) {
  (void)state;
  static bench b, before;
  hu_scaling mx = parsed("mxfp8_e4m3"), nv = parsed("nvfp4"), all = parsed("fp8_tensor"), bad = mx;
  hu_mode rne = {0}, wrong = {0};
  float inf = t_float(0x7F800000), below = -1;
  wrong.round = 99;
  bad.rule = 99;
  t_fill_pattern(&b, sizeof b);
  before = b;
  hu_scaled z = {b.codes, 32, b.scales, 1, NULL};
#define ENCODE(status, rows, cols, zz, xx, ldx, d, mode, amax) \
  assert_int_equal(hu_scaled_encode(rows, cols, zz, xx, ldx, d, mode, amax, b.stats, NULL, &b.events), status)
  ENCODE(HU_E_NULL, 2, 32, &z, b.x, 32, NULL, rne, NULL);
  ENCODE(HU_E_NULL, 2, 32, NULL, b.x, 32, &mx, rne, NULL);
  ENCODE(HU_E_NULL, 2, 32, &z, NULL, 32, &mx, rne, NULL);
  ENCODE(HU_E_SHAPE, 2, 32, &z, b.x, 32, &nv, rne, NULL); /* two scales a row */
  ENCODE(HU_E_NULL, 2, 16, &z, b.x, 32, &nv, rne, NULL);  /* no tensor scale */
  ENCODE(HU_E_SCALING, 2, 32, &z, b.x, 32, &bad, rne, NULL);
  ENCODE(HU_E_MODE, 2, 32, &z, b.x, 32, &mx, wrong, NULL);
  ENCODE(HU_E_SHAPE, 2, 32, &z, b.x, 31, &mx, rne, NULL);
  ENCODE(HU_E_SHAPE, 2, 33, &z, b.x, 40, &mx, rne, NULL);
  ENCODE(HU_E_SHAPE, SIZE_MAX / 2, 32, &z, b.x, 32, &mx, rne, NULL);
  ENCODE(HU_E_ALIGN, 1, 32, &z, (float *)(void *)((char *)b.x + 1), 32, &mx, rne, NULL);
  ENCODE(HU_E_SCALING, 2, 32, &z, b.x, 32, &mx, rne, &b.amax);
  ENCODE(HU_E_SCALING, 2, 32, &z, b.x, 32, &all, rne, &inf);
  ENCODE(HU_E_SCALING, 2, 32, &z, b.x, 32, &all, rne, &below);
  hu_scaled over = z;
  over.codes = b.x;
  ENCODE(HU_E_OVERLAP, 2, 32, &over, b.x, 32, &mx, rne, NULL);
  over = z;
  over.scales = b.codes;
  ENCODE(HU_E_OVERLAP, 2, 32, &over, b.x, 32, &mx, rne, NULL);
  over = z;
  over.scales = NULL;
  ENCODE(HU_E_NULL, 2, 32, &over, b.x, 32, &mx, rne, NULL);
  over = z;
  over.lds = 0;
  ENCODE(HU_E_SHAPE, 2, 32, &over, b.x, 32, &mx, rne, NULL);
  assert_int_equal(hu_scaled_quantize(2, 32, b.x + 1, 32, b.x, 32, &mx, rne, NULL, NULL, NULL, NULL), HU_E_OVERLAP);
  assert_int_equal(hu_scaled_quantize(1, 32, b.x, 33, b.x, 32, &mx, rne, NULL, NULL, NULL, NULL), HU_E_OVERLAP);
  assert_int_equal(hu_scaled_quantize(1, 32, NULL, 32, b.x, 32, &mx, rne, NULL, NULL, NULL, NULL), HU_E_NULL);
  assert_int_equal(hu_scaled_decode(2, 32, (float *)(void *)b.codes, 32, &z, &mx, NULL), HU_E_OVERLAP);
  assert_int_equal(hu_scaled_decode(2, 32, b.z, 31, &z, &mx, NULL), HU_E_SHAPE);
  assert_int_equal(hu_scaled_decode(2, 32, NULL, 32, &z, &mx, NULL), HU_E_NULL);
  assert_memory_equal(&b, &before, sizeof b);
}

static void test_empty(void **state) {
  (void)state;
  hu_scaling mx = parsed("mxfp8_e4m3"), nv = parsed("nvfp4");
  hu_mode rne = {0};
  float tensor = 7, amax = 2688;
  hu_scaled z = {NULL, 0, NULL, 0, NULL};
  assert_int_equal(hu_scaled_encode(0, 5, &z, NULL, 5, &mx, rne, NULL, NULL, NULL, NULL), HU_OK);
  assert_int_equal(hu_scaled_encode(5, 0, &z, NULL, 0, &nv, rne, NULL, NULL, NULL, NULL), HU_E_NULL);
  z.tensor = &tensor;
  assert_int_equal(hu_scaled_encode(5, 0, &z, NULL, 0, &nv, rne, NULL, NULL, NULL, NULL), HU_OK);
  assert_true(t_same32(tensor, 1));
  tensor = 7;
  assert_int_equal(hu_scaled_encode(0, 0, &z, NULL, 0, &nv, rne, &amax, NULL, NULL, NULL), HU_OK);
  assert_true(t_same32(tensor, 1));
  assert_int_equal(hu_scaled_quantize(0, 3, NULL, 3, NULL, 3, &nv, rne, NULL, NULL, NULL, NULL), HU_OK);
  assert_int_equal(hu_scaled_decode(3, 0, NULL, 0, &z, &nv, NULL), HU_OK);
}

/* Two pages, the second one not to be touched: the end of the first, n bytes before it. */
static void *at_page_end(size_t n) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  uint8_t *p = mmap(NULL, 5 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(p != MAP_FAILED);
  assert_int_equal(mprotect(p + 4 * page, page, PROT_NONE), 0);
  return p + 4 * page - n;
}

static void test_page_ends(void **state) {
  (void)state;
  t_random random = {t_seed("scaled-pages", 7)};
  hu_mode rne = {0};
  for (size_t i = 0; i < hu_scaling_count(); i++) {
    hu_scaling scaling = parsed(hu_scaling_at(i).name);
    for (size_t cols = 1; cols < 70; cols += 1 + cols / 4) {
      size_t rows = 3;
      hu_scaled_sizes n = hu_scaled_sizes_of(rows, cols, &scaling);
      float *x = at_page_end(rows * cols * 4), *v = at_page_end(rows * cols * 4), t;
      hu_scaled z = {at_page_end(n.codes), cols, at_page_end(n.scales), n.block_cols, scaling.tensor ? &t : NULL};
      for (size_t k = 0; k < rows * cols; k++) x[k] = t_float(0x3F000000 + (t_next32(&random) & 0x807FFFFF));
      assert_int_equal(hu_scaled_encode(rows, cols, &z, x, cols, &scaling, rne, NULL, NULL, NULL, NULL), HU_OK);
      assert_int_equal(hu_scaled_decode(rows, cols, v, cols, &z, &scaling, NULL), HU_OK);
      assert_int_equal(hu_scaled_quantize(rows, cols, x, cols, x, cols, &scaling, rne, NULL, NULL, NULL, NULL), HU_OK);
      assert_memory_equal(x, v, rows * cols * 4);
    }
  }
}

/* Large enough for parts: every number of threads and level makes what one thread of the core makes. Where
 * HU_TEST_COUNT asks for a part, each scaling has two of the five runs, another pair in the next. */
static void test_threads(void **state) {
  (void)state;
  t_random random = {t_seed("scaled-threads", 8)};
  enum { ROWS = 130, COLS = 700, ALL = ROWS * COLS };
  static float x[ALL], z[2][ALL];
  static uint8_t codes[2][2 * ALL], scales[2][4 * ALL];
  static hu_scaled_stats stats[2][ALL];
  for (size_t i = 0; i < hu_scaling_count(); i++) {
    hu_scaling scaling = parsed(hu_scaling_at(i).name);
    hu_mode mode = i % 4 == 3 ? t_stochastic(HU_SRA, 1 + t_below(&random, 32)) : t_mode((unsigned)i % T_DETERMINISTIC);
    hu_exec plain = {1, UINT32_MAX, {t_next64(&random), t_next64(&random)}, {0}};
    hu_scaled_sizes n = hu_scaled_sizes_of(ROWS, COLS, &scaling);
    float t[2] = {0, 0};
    for (size_t k = 0; k < ALL; k++) {
      x[k] = t_float((uint32_t)t_between(&random, 110, 130) << 23 | (t_next32(&random) & 0x807FFFFF));
    }
    if (i % 3 == 0) x[t_below(&random, ALL)] = t_float(0x7F800000);
    for (uint32_t run = 0; run < 6; run++) {
      int w = run > 0;
      if (run && t_part(100) < 100 && (run + i) % 5 != 0 && (run + i) % 5 != 2) continue;
      hu_exec exec = plain;
      hu_events ev[2] = {{0}, {0}};
      hu_scaled s = {codes[w], COLS, scales[w], n.block_cols, scaling.tensor ? &t[w] : NULL};
      if (run) {
        exec.threads = run;
        exec.levels_off = run == 3 ? t_levels_off(t_levels() / 2) : run == 4 ? t_levels_off(t_levels() - 2) : 0;
      }
      assert_int_equal(
          hu_scaled_encode(ROWS, COLS, &s, x, COLS, &scaling, mode, NULL, run == 5 ? NULL : stats[w], &exec, &ev[0]),
          HU_OK);
      assert_int_equal(hu_scaled_decode(ROWS, COLS, z[w], COLS, &s, &scaling, &exec), HU_OK);
      if (run) {
        assert_memory_equal(codes[0], codes[1], n.codes);
        assert_memory_equal(scales[0], scales[1], n.scales);
        assert_memory_equal(z[0], z[1], sizeof z[0]);
        assert_memory_equal(stats[0], stats[1], n.block_rows * n.block_cols * sizeof **stats);
        assert_true(t_same32(t[0], t[1]));
      }
      memset(z[1], 0xA5, sizeof z[1]);
      assert_int_equal(hu_scaled_quantize(ROWS, COLS, z[1], COLS, x, COLS, &scaling, mode, NULL, NULL, &exec, &ev[1]),
                       HU_OK);
      assert_memory_equal(z[0], z[1], sizeof z[0]);
      assert_true(t_same_events(&ev[0], &ev[1]));
    }
  }
}

/* Types and strides of views, which the calls with an argument for each part never give wrong. */
static void test_views(void **state) {
  (void)state;
  enum { ROWS = 2, COLS = 32 };
  static const uint8_t makes[] = {HU_TYPE_SCALED,        HU_TYPE_SCALED_ROWS,        HU_TYPE_HIF4,
                                  HU_TYPE_SCALED_VALUES, HU_TYPE_SCALED_ROWS_VALUES, HU_TYPE_HIF4_VALUES};
  float x[ROWS * COLS] = {0}, y[ROWS * COLS], t[ROWS];
  uint8_t codes[ROWS * COLS], scales[4 * ROWS * 2], blank[sizeof codes];
  hu_hif4 kind = hu_hif4_usual();
  hu_scaling nvfp4 = parsed("nvfp4");
  hu_scaled place = {codes, COLS, scales, 2, t};
  hu_view from = hu_matrix_floats(x, COLS), bad = from;
  memset(codes, 9, sizeof codes);
  memset(blank, 9, sizeof blank);
  for (size_t i = 0; i < sizeof makes; i++) {
    int stored = makes[i] <= HU_TYPE_HIF4, hif4 = i % 3 == 2;
    hu_type type = hif4 ? hu_type_hif4(makes[i], &kind) : hu_type_scaled(makes[i], &nvfp4);
    hu_output to = stored ? hu_scaled_out(&place, type) : hu_matrix_out_of(y, COLS, type), wrong = to;
    assert_int_equal(hu_scaled_apply(ROWS, COLS, NULL, &from, NULL, NULL), HU_E_NULL);
    assert_int_equal(hu_scaled_apply(ROWS, COLS, &to, NULL, NULL, NULL), HU_E_NULL);
    wrong.data = NULL;
    assert_int_equal(hu_scaled_apply(ROWS, COLS, &wrong, &from, NULL, NULL), HU_E_NULL);
    wrong = to, wrong.type.number = NULL;
    assert_int_equal(hu_scaled_apply(ROWS, COLS, &wrong, &from, NULL, NULL), HU_E_NULL);
    wrong = to, wrong.type.reserved = 1;
    assert_int_equal(hu_scaled_apply(ROWS, COLS, &wrong, &from, NULL, NULL), HU_E_FORMAT);
    wrong = to, wrong.stride = 0, wrong.row = 1;
    assert_int_equal(hu_scaled_apply(ROWS, COLS, &wrong, &from, NULL, NULL), HU_E_SHAPE);
    wrong = to, wrong.type.kind = HU_TYPE_CODES;
    assert_int_equal(hu_scaled_apply(ROWS, COLS, &wrong, &from, NULL, NULL), HU_E_FORMAT);
    bad = from, bad.type.kind = HU_TYPE_VALUES32;
    assert_int_equal(hu_scaled_apply(ROWS, COLS, &to, &bad, NULL, NULL), HU_E_FORMAT);
    bad = from, bad.stride = 2;
    assert_int_equal(hu_scaled_apply(ROWS, COLS, &to, &bad, NULL, NULL), HU_E_SHAPE);
    bad = from, bad.row = -COLS;
    assert_int_equal(hu_scaled_apply(ROWS, COLS, &to, &bad, NULL, NULL), HU_E_SHAPE);
    assert_memory_equal(codes, blank, sizeof codes);
    hu_view read = hu_view_of(&place, 1, type);
    hu_output values = hu_matrix_floats_out(y, COLS);
    values.stride = 0;
    assert_int_equal(hu_scaled_apply(ROWS, COLS, &values, &read, NULL, NULL), stored ? HU_E_SHAPE : HU_E_FORMAT);
    assert_int_equal(hu_scaled_apply(ROWS, COLS, &to, &from, NULL, NULL), HU_OK); /* how NULL: to nearest even */
    memset(codes, 9, sizeof codes);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_texts),   cmocka_unit_test(test_wrong_texts), cmocka_unit_test(test_checks),
      cmocka_unit_test(test_sizes),   cmocka_unit_test(test_packing),     cmocka_unit_test(test_errors),
      cmocka_unit_test(test_threads), cmocka_unit_test(test_empty),       cmocka_unit_test(test_page_ends),
      cmocka_unit_test(test_views),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
