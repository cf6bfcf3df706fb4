/* SPDX-License-Identifier: MIT */
/* The device's scaled tensors against the CPU's: presets and drawn descriptions, modes, shapes, places, given amax;
 * codes, scales, values, statistics and events, whole buffers; layouts; golden files; misuse gets the same answer.
 *
 *   test_*_scaled [FOLDER [CASES]]     FOLDER: tests/golden */
#include "tests/cuda_host/scaled/problem.h"

#include "tests/scaled/draw.h"
#include "tests/scaled/golden.h"

/* Any codes and scales; the tensor's scale stays. */
static void decode_any(t_random *random, t_problem *problem) {
  for (int k = CODES; k <= SCALES; k++) {
    uint8_t *z = problem->t[k].host;
    for (size_t i = 0; i < problem->t[k].bytes; i++) z[i] = (uint8_t)t_next32(random);
    size_t size = k == SCALES ? hu_scaled_sizes_of(1, 1, &problem->d).scale_bytes : 0;
    if (k == CODES)
      twin_keep(&problem->t[k], hu_scaled_sizes_of(1, 1, &problem->d).code_bytes,
                hu_limits_of(problem->d.element).width);
    if (k == SCALES) twin_keep(&problem->t[k], size, hu_limits_of(problem->d.scale).width);
    for (size_t i = 0; size == 4 && i + 4 <= problem->t[k].bytes; i += 4)
      z[i + 3] = (uint8_t)(0x38 + t_below(random, 16));
  }
  decode(problem, "decode of any codes");
}

static void run(t_random *random, hu_scaling scaling, hu_mode mode, size_t rows, size_t cols, const float *x,
                int apart) {
  t_problem problem = problem_new(random, scaling, mode, rows, cols, apart);
  float given = t_float(t_bits32(x[0]) & 0x7FFFFFFF);
  problem.given = (scaling.tensor || (scaling.rows == 0 && scaling.cols == 0)) && t_below(random, 3) == 0 &&
                  t_bits32(given) < 0x7F800000;
  memcpy(problem.t[AMAX].host, &given, sizeof given);
  set_x(&problem, x);
  encode(&problem);
  decode(&problem, "decode");
  quantize(&problem, 0);
  decode_any(random, &problem);
  quantize(&problem, 1);
  problem_free(&problem);
}

static long cases = 700;

static void drawn(void **state) {
  (void)state;
  t_random random = {t_seed("device_scaled", 51)};
  static float x[1 << 15];
  size_t elements = 0;
  cases = (long)t_part((unsigned)cases);
  for (long i = 0; i < cases; i++) {
    hu_scaling scaling = i % 4 ? random_scaling(&random) : random_formulas(&random);
    hu_mode mode = t_random_mode(&random);
    if (t_below(&random, 2)) memset(&mode, 0, sizeof mode);
    size_t rows = 1 + t_below(&random, 7),
           cols = t_below(&random, 30) ? 1 + t_below(&random, 200) : 1 + t_below(&random, 2100);
    random_matrix(&random, rows * cols, x, &scaling);
    run(&random, scaling, mode, rows, cols, x, (int)t_below(&random, 2));
    elements += rows * cols;
  }
  print_message("%zu elements in %ld tensors\n", elements, cases);
}

/* Every preset, larger, with each kind of mode. */
static void presets(void **state) {
  (void)state;
  t_random random = {t_seed("device_scaled_presets", 52)};
  enum { ROWS = 9, COLS = 1100 };
  static float x[ROWS * COLS];
  for (size_t i = 0; i < hu_scaling_count(); i++) {
    hu_scaling scaling = parsed(hu_scaling_at(i).name);
    /* A sweep rounds a block for each of 126 scales: in a part of the cases a few rows do. */
    const unsigned most = scaling.rule == HU_SCALE_SWEEP_MSE && t_part(100) < 100 ? 1 + t_part(ROWS) : ROWS;
    for (unsigned k = 0; k < 4; k++) {
      if (t_part(100) < 10 && k != i % 4) continue; /* one of the four */
      hu_mode mode = k == 3   ? t_stochastic(HU_SRA + (unsigned)i % 3, 1 + t_below(&random, 32))
                     : k == 2 ? t_mode(t_below(&random, T_DETERMINISTIC))
                              : t_mode(HU_RNE);
      ordinary(&random, ROWS * COLS, x, k == 1);
      unsigned rows = most < ROWS ? most : ROWS - k, cols = k == 0 ? 1024 : COLS - t_below(&random, 60);
      if (t_part(100) < 10) { /* under the interpreter of PTX */
        rows = scaling.rule == HU_SCALE_SWEEP_MSE ? 1 : 3;
        cols = scaling.rule == HU_SCALE_SWEEP_MSE ? cols / 8 : cols / 2;
      }
      run(&random, scaling, mode, rows, cols, x, k > 1);
    }
  }
  print_message("%zu presets\n", hu_scaling_count());
}

/* Blocks that go over more than one block of threads, and a thread's, a warp's. */
static void shapes(void **state) {
  (void)state;
  t_random random = {t_seed("device_scaled_shapes", 53)};
  static const struct {
    const char *block;
    size_t rows, cols;
  } of[] = {{"*x*", 3, 7001},  {"*x*", 170, 100},   {"1x*", 2, 17000},     {"*x1", 17000, 2},     {"*x1", 300, 70},
            {"8x1", 100, 33},  {"2x4", 21, 30},     {"128x128", 150, 300}, {"130x200", 131, 401}, {"1x8", 5, 203},
            {"24x24", 50, 70}, {"1x4000", 3, 9001}, {"*x3", 6000, 4}};
  static const char *const kinds[] = {"float8_e4m3fn;scale=float8_e8m0fnu;rule=rceil;block=",
                                      "float4_e2m1fn;scale=ue4m3;rule=ratio;steps=multiply;tensor;zero=zero;block=",
                                      "float8_e5m2;scale=binary32;rule=ratio;special=saturate;zero=one;block="};
  static float x[120000];
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    for (size_t k = 0; k < 3; k++) {
      char text[160];
      snprintf(text, sizeof text, "scaled(%s%s)", kinds[k], of[i].block);
      assert_true(of[i].rows * of[i].cols <= sizeof x / sizeof *x);
      ordinary(&random, of[i].rows * of[i].cols, x, i % 2 == 1);
      run(&random, parsed(text), i % 4 == 3 ? t_stochastic(HU_SRB, 7) : t_mode(HU_RNE), of[i].rows, of[i].cols, x,
          k == 1);
    }
  }
  print_message("%zu shapes\n", sizeof of / sizeof *of);
}

/* Elements so small that max / amax is 0 in binary32: the encode scale is the smallest number then. */
static void smallest_encode_scale(void **state) {
  (void)state;
  t_random random = {t_seed("device_scaled_smallest", 56)};
  static float x[4 * 96];
  for (size_t i = 0; i < 4 * 96; i++)
    x[i] = t_float((uint32_t)t_between(&random, 200, 254) << 23 | (t_next32(&random) & 0x807FFFFF));
  for (size_t i = 0; i < 4 * 96; i += 32) x[i] = 0x1.fffffep127f;
  run(&random, parsed("scaled(fp(5,2,45):finite;scale=binary32;block=1x32;rule=ratio;steps=encode)"), t_mode(HU_RNE), 4,
      96, x, 0);
}

/* An amax that no call of the CPU takes. */
static void odd_amax(void **state) {
  (void)state;
  t_random random = {t_seed("device_scaled_amax", 54)};
  static const uint32_t patterns[][2] = {{0xC0800000, 0x40800000}, {0x7F800000, 0x7F7FFFFF}, {0x7FC00000, 0x7F7FFFFF}};
  static float x[64 * 3];
  const char *const texts[] = {"nvfp4", "fp8_tensor"};
  for (size_t i = 0; i < 6; i++) {
    ordinary(&random, 64 * 3, x, 0);
    t_problem problem = problem_new(&random, parsed(texts[i % 2]), t_mode(HU_RNE), 3, 64, 0);
    problem.given = 1;
    set_x(&problem, x);
    memcpy(problem.t[AMAX].host, &patterns[i / 2][1], 4);
    put_all(&problem);
    assert_int_equal(hui_memory_put(problem.t[AMAX].device, &patterns[i / 2][0], 4), HU_OK);
    t_places places = places_of(&problem, 0), gaps = places_of(&problem, 1);
    hu_status cpu = hu_scaled_encode(3, 64, &places.codes, places.x, problem.ldx, &problem.d, problem.mode, places.amax,
                                     places.stats, &problem.exec, places.events);
    hu_status device = hu_scaled_encode(3, 64, &gaps.codes, gaps.x, problem.ldx, &problem.d, problem.mode, gaps.amax,
                                        gaps.stats, twin_there_with(&problem.exec, gaps.work), gaps.events);
    memcpy(problem.t[AMAX].host, &patterns[i / 2][0], 4);
    check(&problem, "encode", cpu, device);
    problem_free(&problem);
  }
}

static void layouts(void **state) {
  (void)state;
  t_random random = {t_seed("device_scaled_pack", 55)};
  size_t made = 0;
  for (unsigned i = 0; i < t_part(300); i++) {
    hu_scaling scaling = random_scaling(&random);
    scaling.pad = t_below(&random, 2) != 0;
    size_t rows = 1 + t_below(&random, 9), cols = 1 + t_below(&random, 90), ld = cols + t_below(&random, 5);
    hu_scaled_sizes n = hu_scaled_sizes_of(rows, cols, &scaling);
    if (n.packed > 1 << 16) continue;
    t_twin wide = twin_new(rows * ld + 8), dense = twin_new(n.packed + 8), back = twin_new(rows * ld + 8);
    for (size_t k = 0; k < wide.bytes; k++) wide.host[k] = (uint8_t)t_next32(&random);
    if (hu_limits_of(scaling.element).width <= 8) twin_keep(&wide, 1, hu_limits_of(scaling.element).width);
    twin_put(&wide);
    twin_put(&dense);
    twin_put(&back);
    hu_status cpu = hu_scaled_pack(rows, cols, dense.host, wide.host, ld, &scaling, NULL);
    assert_int_equal(hu_scaled_pack(rows, cols, dense.device, wide.device, ld, &scaling, twin_there(NULL)), cpu);
    assert_int_equal(twin_differs(&dense), dense.bytes);
    hu_status cpu_back = hu_scaled_unpack(rows, cols, back.host, ld, dense.host, &scaling, NULL);
    assert_int_equal(hu_scaled_unpack(rows, cols, back.device, ld, dense.device, &scaling, twin_there(NULL)), cpu_back);
    assert_int_equal(twin_differs(&back), back.bytes);
    made += cpu == HU_OK;
    twin_free(&wide);
    twin_free(&dense);
    twin_free(&back);
  }
  assert_true(t_part(100) < 100 || (made > 100));
  print_message("%zu layouts\n", made);
}

/* ---- golden files ---- */

static int golden_holds(const t_golden *golden) {
  t_random random = {1};
  t_problem problem = problem_new(&random, golden->scaling, t_mode(HU_RNE), golden->rows, golden->cols, 0);
  problem.stats = problem.events = 0;
  set_x(&problem, golden->x);
  hu_scaled_sizes n = hu_scaled_sizes_of(golden->rows, golden->cols, &golden->scaling);
  put_all(&problem);
  t_places places = places_of(&problem, 1);
  int ok = hu_scaled_encode(golden->rows, golden->cols, &places.codes, places.x, problem.ldx, &problem.d, problem.mode,
                            NULL, NULL, twin_there_with(NULL, places.work), NULL) == HU_OK;
  for (int i = CODES; i <= TENSOR; i++) twin_get(&problem.t[i]);
  for (size_t i = 0; i < n.block_rows * n.block_cols; i++)
    ok &= t_get(problem.t[SCALES].back, n.scale_bytes, (ptrdiff_t)i) == golden->scales[i];
  for (size_t i = 0; i < golden->rows * golden->cols; i++)
    ok &= t_get(problem.t[CODES].back, n.code_bytes, (ptrdiff_t)i) == golden->codes[i];
  if (golden->has_tensor) ok &= memcmp(problem.t[TENSOR].back, &golden->tensor, 4) == 0;
  problem_free(&problem);
  return ok;
}

/* So long that each thread comes round more often than its counts of a byte hold; every element is inexact. */
static void long_row(void **state) {
  (void)state;
  static const char *const formats[] = {"mxfp8_e4m3", "nvfp4"};
  t_random random = {t_seed("device_scaled_long_row", 57)};
  size_t n = t_part(1 << 20) / 64 * 64;
  float *x = malloc(n * sizeof *x);
  assert_non_null(x);
  for (size_t i = 0; i < n; i++) x[i] = t_float(0x3F800001 | t_next32(&random) >> 10);
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    t_problem problem = problem_new(&random, parsed(formats[i]), t_mode(HU_RNE), 1, n, 0);
    set_x(&problem, x);
    encode(&problem);
    quantize(&problem, 0);
    problem_free(&problem);
  }
  free(x);
}

/* Numbers of few digits, some a step of binary32 off: exact ones, ties, and what is beside them. Blocks of 32 of one
 * order of magnitude, some of zeros or with specials. */
static void few_digits(t_random *random, size_t n, float *x, unsigned lowest, unsigned highest) {
  for (size_t i = 0; i < n; i += 32) {
    int order = t_between(random, (int)lowest, (int)highest);
    unsigned digits = 2 + t_below(random, 5), kind = t_below(random, 12);
    for (size_t j = i; j < i + 32; j++) {
      int e = order - (int)t_below(random, t_below(random, 4) ? 6 : 20);
      uint32_t u = (uint32_t)(e < 0 ? 0 : e) << 23 | (t_next32(random) & 0x007FFFFF & ~(0x7FFFFFu >> digits));
      u += t_below(random, 4) == 0 ? t_below(random, 3) - 1 : 0;
      x[j] = kind == 0 ? 0 : t_float((u & 0x7FFFFFFF) | (t_next32(random) & 0x80000000));
      if (kind == 1 && t_below(random, 32) == 0) x[j] = t_float(0x7F800000 | t_below(random, 2));
    }
  }
}

/* Rows that lie one after another, for the kernels of 8 and of 512 neighbours: the edges of ranges, every number of
 * random digits, both kinds of tininess, scales near the ends of theirs. */
static void neighbours(void **state) {
  (void)state;
  static const char *const formats[] = {"mxfp8_e4m3",
                                        "mxfp8_e5m2",
                                        "mxfp6_e2m3",
                                        "mxfp4",
                                        "mxint8",
                                        "nvfp4_te",
                                        "scaled(float6_e2m3fn;scale=float8_e8m0fnu;rule=rceil;block=1x16)",
                                        "scaled(fp(4,3,9):finite;scale=float8_e8m0fnu;rule=rceil;block=1x64)"};
  enum { COLS = 2048 };
  t_random random = {t_seed("device_scaled_neighbours", 58)};
  static float x[COLS];
  unsigned n = t_part(64) > 8 ? t_part(64) : 8;
  size_t cols = n > 8 ? COLS : COLS / 2; /* under the interpreter of PTX */
  for (unsigned k = 0; k < n * (sizeof formats / sizeof *formats); k++) {
    hu_mode mode = k / 8 % 2 ? t_stochastic(HU_SRA, 1 + k / 16 % 32) : t_mode(HU_RNE);
    if (k / 8 % 4 == 2) mode.tiny = HU_TINY_BEFORE;
    t_problem problem = problem_new(&random, parsed(formats[k % 8]), mode, 1, cols, 0);
    problem.stats = 0;
    problem.events = k / 8 % 8 < 6;
    if (mode.round == HU_SRA) problem.events = k / 8 % 8 == 7;
    if (k / 8 % 3) problem.exec.stream.counter &= ~(uint64_t)3;
    if (k / 8 % 5 == 4)
      few_digits(&random, cols, x, 0, 254);
    else
      few_digits(&random, cols, x, 100, 140);
    set_x(&problem, x);
    encode(&problem);
    quantize(&problem, 0);
    problem_free(&problem);
  }
}

static void golden_files(void **state) {
  static const char *const files[] = {"scaled/model.txt", "scaled/published.txt"};
  for (size_t i = 0; i < 2; i++) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", (const char *)*state, files[i]);
    int n = golden_replay(path, golden_holds);
    assert_true(n > 0);
    print_message("%s: %d tensors, golden lines\n", files[i], n);
  }
}

/* ---- misuse ---- */

typedef struct misuse {
  size_t rows, cols, ldx, ldz, ld, lds;
  hu_scaling d;
  hu_mode mode;
  ptrdiff_t x, z, codes, scales, tensor, amax, stats, events, work; /* places in one buffer; negative: NULL */
} misuse;

static void *at(uint8_t *base, ptrdiff_t place) { return place < 0 ? NULL : base + place; }

/* Encode, quantize and decode on buffers that nobody may write. expected: of encode, quantize, decode. */
static void refused(const t_twin *twin, const misuse *m, hu_status status, hu_status second, hu_status d) {
  for (int device = 0; device < 2; device++) {
    uint8_t *b = device ? twin->device : twin->host;
    hu_scaled z = {at(b, m->codes), m->ld, at(b, m->scales), m->lds, at(b, m->tensor)};
    float *x = at(b, m->x), *v = at(b, m->z), *amax = at(b, m->amax);
    hu_scaled_stats *stats = at(b, m->stats);
    hu_events *events = at(b, m->events);
    if (!device) {
      assert_int_equal(hu_scaled_encode(m->rows, m->cols, &z, x, m->ldx, &m->d, m->mode, amax, stats, NULL, NULL),
                       status);
      assert_int_equal(
          hu_scaled_quantize(m->rows, m->cols, v, m->ldz, x, m->ldx, &m->d, m->mode, amax, stats, NULL, NULL), second);
      assert_int_equal(hu_scaled_decode(m->rows, m->cols, v, m->ldz, &z, &m->d, NULL), d);
      continue;
    }
    void *work = at(b, m->work);
    assert_int_equal(hu_scaled_encode(m->rows, m->cols, &z, x, m->ldx, &m->d, m->mode, amax, stats,
                                      twin_there_with(NULL, work), events),
                     status);
    assert_int_equal(hu_scaled_quantize(m->rows, m->cols, v, m->ldz, x, m->ldx, &m->d, m->mode, amax, stats,
                                        twin_there_with(NULL, work), events),
                     second);
    assert_int_equal(hu_scaled_decode(m->rows, m->cols, v, m->ldz, &z, &m->d, twin_there(NULL)), d);
  }
  assert_int_equal(twin_differs(twin), twin->bytes);
}

/* The device's own: events and work. */
static void refused_there(const t_twin *twin, const misuse *m, hu_status expected) {
  uint8_t *b = twin->device;
  hu_scaled z = {at(b, m->codes), m->ld, at(b, m->scales), m->lds, at(b, m->tensor)};
  hu_events *events = at(b, m->events);
  assert_int_equal(hu_scaled_encode(m->rows, m->cols, &z, at(b, m->x), m->ldx, &m->d, m->mode, at(b, m->amax),
                                    at(b, m->stats), twin_there_with(NULL, at(b, m->work)), events),
                   expected);
  assert_int_equal(hu_scaled_quantize(m->rows, m->cols, at(b, m->z), m->ldz, at(b, m->x), m->ldx, &m->d, m->mode,
                                      at(b, m->amax), at(b, m->stats), twin_there_with(NULL, at(b, m->work)), events),
                   expected);
  assert_int_equal(twin_differs(twin), twin->bytes);
}

static void refusals(void **state) {
  (void)state;
  t_twin twin = twin_new(8192);
  twin_put(&twin);
  hu_scaling mx = parsed("mxfp8_e4m3"), nv = parsed("nvfp4"), all = parsed("fp8_tensor"), bad = mx;
  bad.rule = 99;
  const misuse good = {2, 32, 32, 32, 32, 1, mx, t_mode(HU_RNE), 0, 1024, 2048, 3072, 4096, -1, -1, 4608, 5120};
  misuse m = good;
  m = good, m.d = bad, refused(&twin, &m, HU_E_SCALING, HU_E_SCALING, HU_E_SCALING);
  m = good, m.d.element.e = 12, refused(&twin, &m, HU_E_FORMAT, HU_E_FORMAT, HU_E_FORMAT);
  m = good, m.rows = 0, m.mode.round = 99, refused(&twin, &m, HU_E_MODE, HU_E_MODE, HU_OK);
  m = good, m.codes = -1, m.z = -1, refused(&twin, &m, HU_E_NULL, HU_E_NULL, HU_E_NULL);
  m = good, m.lds = 0, m.ldz = 31, refused(&twin, &m, HU_E_SHAPE, HU_E_SHAPE, HU_E_SHAPE);
  m = good, m.rows = SIZE_MAX / 2, refused(&twin, &m, HU_E_SHAPE, HU_E_SHAPE, HU_E_SHAPE);
  m = good, m.x = 2, m.scales = 0, m.z = 1025, refused(&twin, &m, HU_E_ALIGN, HU_E_ALIGN, HU_E_ALIGN);
  m = good, m.codes = 0, m.z = 4, refused(&twin, &m, HU_E_OVERLAP, HU_E_OVERLAP, HU_E_OVERLAP);
  m = good, m.amax = 4200, m.z = -1, refused(&twin, &m, HU_E_SCALING, HU_E_NULL, HU_E_NULL);
  m = good, m.d = nv, m.lds = 2, m.tensor = -1, m.z = -1, refused(&twin, &m, HU_E_NULL, HU_E_NULL, HU_E_NULL);
  m = good, m.d = all, m.amax = 4098, m.z = -1, refused(&twin, &m, HU_E_ALIGN, HU_E_NULL, HU_E_NULL);
  m = good, m.events = 4612, refused_there(&twin, &m, HU_E_ALIGN);
  m = good, m.d = nv, m.lds = 2, m.work = -1, refused_there(&twin, &m, HU_E_NULL);
  m = good, m.d = nv, m.lds = 2, m.work = 5124, refused_there(&twin, &m, HU_E_ALIGN);
  assert_int_equal(hu_scaled_encode(2, 32, NULL, NULL, 32, &mx, good.mode, NULL, NULL, twin_there(NULL), NULL),
                   HU_E_NULL);
  assert_int_equal(hu_scaled_decode(2, 32, NULL, 32, NULL, &mx, twin_there(NULL)), HU_E_NULL);
  assert_int_equal(hu_scaled_pack(2, 32, NULL, twin.device, 32, &mx, twin_there(NULL)), HU_E_NULL);
  assert_int_equal(hu_scaled_unpack(2, 32, twin.device, 31, twin.device + 512, &mx, twin_there(NULL)), HU_E_SHAPE);
  assert_int_equal(twin_differs(&twin), twin.bytes);
  twin_free(&twin);
}

static void sizes(void **state) {
  (void)state;
  hu_scaling mx = parsed("mxfp8_e4m3"), nv = parsed("nvfp4"), all = parsed("fp8_tensor"), bad = mx;
  bad.rule = 99;
  assert_int_equal(hu_scaled_work_size(4096, 4096, &mx, twin_at(NULL, NULL, NULL)), 0);
  assert_int_equal(hu_scaled_work_size(128, 128, &all, twin_at(NULL, NULL, NULL)), 0);
  assert_true(hu_scaled_work_size(128, 129, &all, twin_at(NULL, NULL, NULL)) >= 16);
  assert_true(hu_scaled_work_size(1, 1, &nv, twin_at(NULL, NULL, NULL)) >= 16);
  assert_int_equal(hu_scaled_work_size(0, 5, &nv, twin_at(NULL, NULL, NULL)), 0);
  assert_int_equal(hu_scaled_work_size(5, 5, &bad, twin_at(NULL, NULL, NULL)), 0);
}

/* The second level of an empty tensor is written. */
static void empty(void **state) {
  (void)state;
  hu_scaling nv = parsed("nvfp4"), mx = parsed("mxfp4");
  t_twin twin = twin_new(8), amax = twin_new(4);
  float given = 5376;
  hu_scaled host = {NULL, 0, NULL, 0, (float *)(void *)twin.host}, z = {NULL, 0, NULL, 0, (float *)(void *)twin.device};
  memcpy(amax.host, &given, sizeof given);
  for (int k = 0; k < 2; k++) {
    twin_put(&twin);
    twin_put(&amax);
    const float *a = k ? (float *)(void *)amax.host : NULL, *b = k ? (float *)(void *)amax.device : NULL;
    assert_int_equal(hu_scaled_encode(0, 5, &host, NULL, 5, &nv, t_mode(0), a, NULL, NULL, NULL), HU_OK);
    assert_int_equal(hu_scaled_encode(0, 5, &z, NULL, 5, &nv, t_mode(0), b, NULL, twin_there(NULL), NULL), HU_OK);
    assert_int_equal(twin_differs(&twin), twin.bytes);
  }
  assert_int_equal(hu_scaled_encode(3, 0, &z, NULL, 0, &mx, t_mode(0), NULL, NULL, twin_there(NULL), NULL), HU_OK);
  assert_int_equal(hu_scaled_quantize(0, 3, NULL, 3, NULL, 3, &nv, t_mode(0), NULL, NULL, twin_there(NULL), NULL),
                   HU_OK);
  assert_int_equal(hu_scaled_decode(3, 0, NULL, 0, &z, &nv, twin_there(NULL)), HU_OK);
  assert_int_equal(twin_differs(&twin), twin.bytes);
  twin_free(&twin);
  twin_free(&amax);
}

int main(int argc, char **argv) {
  char *folder = argc > 1 ? argv[1] : (char *)".";
  if (argc > 2) cases = strtol(argv[2], NULL, 10);
  const struct CMUnitTest tests[] = {cmocka_unit_test(drawn),
                                     cmocka_unit_test(presets),
                                     cmocka_unit_test(shapes),
                                     cmocka_unit_test(smallest_encode_scale),
                                     cmocka_unit_test(odd_amax),
                                     cmocka_unit_test(layouts),
                                     cmocka_unit_test_prestate(golden_files, folder),
                                     cmocka_unit_test(long_row),
                                     cmocka_unit_test(neighbours),
                                     cmocka_unit_test(refusals),
                                     cmocka_unit_test(sizes),
                                     cmocka_unit_test(empty)};
  int skip = twin_skip("device scaled tensors");
  return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
