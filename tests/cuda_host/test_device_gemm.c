/* SPDX-License-Identifier: MIT */
/* hu_device_gemm against hu_gemm: both models, random formats, storages, transposes, paddings, sizes around the tiles'
 * edges, special values, in place; whole buffers and events are compared. */
#include "tests/cuda_host/twin.h"

#include "gpu/gemm/choose.h"

typedef struct t_matrix {
  t_twin bytes;
  size_t at, ld, rows, cols; /* as stored */
  hu_operand cpu, device;
} t_matrix;

static size_t size_of(hu_format f, uint8_t storage) {
  return storage == HU_STORAGE_VALUES ? sizeof(float) : hu_limits_of(f).storage / 8;
}

/* A code of f: any (1), one of the lowest binade (2), the largest one (3), or one near one (0), so that sums neither
 * overflow nor drown. */
static uint32_t draw_code(t_random *r, hu_format f, int wild) {
  hu_limits l = hu_limits_of(f);
  uint32_t code = t_random_code(r, f);
  if (wild == 2) return (code & ((1u << t_between(r, 1, f.m)) - 1)) | (t_below(r, 2) ? 0 : l.sign_mask);
  if (wild == 3) return l.max_code;
  if (wild && t_below(r, 4) == 0) {
    uint32_t special[4] = {0, l.sign_mask, l.has_nan && t_below(r, 8) == 0 ? l.nan_code : l.max_code,
                           l.inf_code != HU_NO_CODE ? l.inf_code : l.min_code};
    return special[t_below(r, 4)] ^ (t_below(r, 2) ? l.sign_mask : 0);
  }
  if (wild) return code;
  uint32_t one = hu_encode(f, t_mode(HU_RNE), 1.0f, 0, NULL), near = t_below(r, 2u << f.m);
  uint32_t magnitude = one + near <= l.max_code ? one + near : t_below(r, l.max_code + 1);
  return magnitude | (t_below(r, 2) ? l.sign_mask : 0);
}

static t_matrix draw_matrix(t_random *r, size_t rows, size_t cols, hu_format f, uint8_t storage, int transposed,
                            int wild) {
  t_matrix z;
  memset(&z, 0, sizeof z);
  z.rows = transposed ? cols : rows;
  z.cols = transposed ? rows : cols;
  z.ld = z.cols + (t_below(r, 2) ? t_below(r, 5) : (4 - z.cols % 4) % 4);
  size_t size = size_of(f, storage);
  z.at = t_below(r, 2) ? 0 : t_below(r, 5) * size;
  z.bytes = twin_new(z.at + (z.rows * z.ld + 4) * size);
  for (size_t i = 0; i < z.rows; i++) {
    for (size_t j = 0; j < z.cols; j++) {
      uint32_t u = draw_code(r, f, wild);
      if (storage == HU_STORAGE_VALUES) u = t_bits32(hu_decode(f, u));
      memcpy(z.bytes.host + z.at + (i * z.ld + j) * size, &u, size);
    }
  }
  hu_operand x = {z.bytes.host + z.at, z.ld, f, storage, (uint8_t)transposed};
  z.cpu = z.device = x;
  z.device.data = z.bytes.device + z.at;
  twin_put(&z.bytes);
  return z;
}

typedef struct test_case {
  size_t m, n, k;
  hu_format f[4]; /* a b c d */
  uint8_t storage[4];
  int wild, with_c, in_place;
  hu_accum accum;
  hu_mode mode;
  hu_exec exec;
} test_case;

static void describe(const test_case *t, const char *what) {
  char text[4][T_FORMAT_TEXT], mode[T_MODE_TEXT];
  for (int i = 0; i < 4; i++) (void)t_format_text(text[i], t->f[i]);
  print_error("%s: m %zu n %zu k %zu %s c %d in place %d wild %d storage %d %d %d %d %s\n a %s\n b %s\n c %s\n d %s\n",
              what, t->m, t->n, t->k, t->accum.kind == HU_ACCUM_FP32 ? "fp32" : "exact", t->with_c, t->in_place,
              t->wild, t->storage[0], t->storage[1], t->storage[2], t->storage[3], t_mode_text(mode, t->mode), text[0],
              text[1], text[2], text[3]);
}

static void run_case(t_random *r, const test_case *t) {
  t_matrix a = draw_matrix(r, t->m, t->k, t->f[0], t->storage[0], (int)t_below(r, 2), t->wild);
  t_matrix b = draw_matrix(r, t->k, t->n, t->f[1], t->storage[1], (int)t_below(r, 2), t->wild);
  t_matrix c = draw_matrix(r, t->m, t->n, t->f[2], t->storage[2], t->in_place ? 0 : (int)t_below(r, 2), t->wild);
  t_matrix d = draw_matrix(r, t->m, t->n, t->f[3], t->storage[3], 0, 0);
  const t_matrix *out = t->in_place ? &c : &d;
  t_twin e = twin_new(sizeof(hu_events));
  memset(e.host, 0, e.bytes);
  twin_put(&e);
  hu_result cpu_d = {out->bytes.host + out->at, out->ld, t->f[3], t->storage[3]}, device_d = cpu_d;
  device_d.data = out->bytes.device + out->at;
  hu_status cpu = hu_gemm(t->m, t->n, t->k, &cpu_d, &a.cpu, &b.cpu, t->with_c ? &c.cpu : NULL, &t->accum, t->mode,
                          &t->exec, (hu_events *)(void *)e.host);
  hu_status device = hu_device_gemm(t->m, t->n, t->k, &device_d, &a.device, &b.device, t->with_c ? &c.device : NULL,
                                    &t->accum, t->mode, &t->exec, (hu_events *)(void *)e.device, twin_stream());
  if (cpu != HU_OK || device != HU_OK) {
    print_error("cpu %s, device %s\n", hu_status_name(cpu), hu_status_name(device));
    describe(t, "refused");
    fail();
  }
  size_t at = twin_differs(&out->bytes), eat = twin_differs(&e);
  if (at < out->bytes.bytes || eat < e.bytes) {
    const uint64_t *wanted = (const uint64_t *)(void *)e.host, *got = (const uint64_t *)(void *)e.back;
    print_error("first byte %zu of %zu; events on the CPU and on the device:\n", at, out->bytes.bytes);
    for (size_t i = 0; i < sizeof(hu_events) / 8; i++) print_error(" %zu/%zu", (size_t)wanted[i], (size_t)got[i]);
    print_error("\n");
    describe(t, "differs");
    fail();
  }
  assert_int_equal(twin_differs(&a.bytes), a.bytes.bytes);
  assert_int_equal(twin_differs(&b.bytes), b.bytes.bytes);
  twin_free(&a.bytes);
  twin_free(&b.bytes);
  twin_free(&c.bytes);
  twin_free(&d.bytes);
  twin_free(&e);
}

static hu_format draw_format(t_random *r, int fits) {
  static const char *const usual[] = {"binary32",      "binary16",    "bfloat16",
                                      "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn"};
  for (;;) {
    hu_format f;
    if (t_below(r, 2)) {
      f = t_random_format(r, 2, t_below(r, 3) ? 12 : 32);
    } else {
      assert_int_equal(hu_format_find(&f, usual[t_below(r, 6)]), HU_OK);
    }
    if (!fits || hu_format_fits_binary32(f)) return f;
  }
}

static test_case draw_case(t_random *r, uint32_t kind) {
  test_case t;
  memset(&t, 0, sizeof t);
  t.accum.kind = kind;
  t.wild = t_below(r, 3) == 0;
  t.with_c = t_below(r, 3) != 0;
  for (int i = 0; i < 4; i++) {
    t.f[i] = draw_format(r, kind == HU_ACCUM_FP32 && i < 3);
    t.storage[i] = (uint8_t)(hu_format_fits_binary32(t.f[i]) && t_below(r, 2) ? HU_STORAGE_VALUES : HU_STORAGE_CODES);
  }
  t.in_place = t.with_c && t_below(r, 4) == 0;
  if (t.in_place) {
    t.f[3] = t.f[2];
    t.storage[3] = t.storage[2];
  }
  t.mode = t_below(r, 2) ? t_mode(t_below(r, 8)) : t_random_mode(r);
  t.exec.stream.key = t_next64(r);
  t.exec.stream.counter = t_next64(r);
  return t;
}

static void sweep(const char *name, uint32_t kind, int cases, uint32_t most) {
  t_random r = {t_seed(name, 30)};
  size_t products = 0;
  for (unsigned i = 0; i < t_part((unsigned)cases); i++) {
    test_case t = draw_case(&r, kind);
    t.m = t_below(&r, 6) ? 1 + t_below(&r, most) : 0;
    t.n = t_below(&r, 6) ? 1 + t_below(&r, most) : 1;
    t.k = t_below(&r, 6) ? t_below(&r, 50) : t_below(&r, 3);
    run_case(&r, &t);
    products += t.m * t.n * t.k;
  }
  print_message("%d products of matrices, %zu multiplications\n", cases, products);
}

static void fp32_model(void **state) {
  (void)state;
  sweep("fp32_model", HU_ACCUM_FP32, 60, 150);
}

static void exact_model(void **state) {
  (void)state;
  sweep("exact_model", HU_ACCUM_EXACT, 160, 16);
}

/* Formats small enough for binary64 sums: the tiled kernel. */
static void exact_in_binary64(void **state) {
  (void)state;
  t_random r = {t_seed("exact_in_binary64", 31)};
  int cases = 0;
  while (cases < 50) {
    test_case t = draw_case(&r, HU_ACCUM_EXACT);
    for (int i = 0; i < 3; i++) {
      if (t_below(&r, 2)) t.f[i] = t_random_format(&r, 2, 8);
      t.storage[i] =
          (uint8_t)(hu_format_fits_binary32(t.f[i]) && t_below(&r, 2) ? HU_STORAGE_VALUES : HU_STORAGE_CODES);
    }
    t.in_place = 0;
    t.m = t_below(&r, 100);
    t.n = t_below(&r, 100);
    t.k = t_below(&r, 60);
    if (!hu_gemm_exact64(t.k, t.f[0], t.f[1], t.with_c ? &t.f[2] : NULL)) continue;
    run_case(&r, &t);
    cases++;
  }
}

/* Codes of 8 bits whose sums binary64 holds, and which are multiplied as bytes nevertheless: several slabs and tiles,
 * in any order in memory. */
static void few_digits(t_random *r) {
  static const char *const names[] = {"float8_e4m3fn", "float8_e4m3fnuz", "float8_e3m4", "fp(4,3,0)", "float4_e2m1fn"};
  for (unsigned i = 0; i < t_part(20); i++) {
    test_case t = draw_case(r, HU_ACCUM_EXACT);
    for (int j = 0; j < 2; j++) {
      assert_int_equal(hu_format_parse(&t.f[j], names[i < 4 ? 0 : t_below(r, 5)], NULL), HU_OK);
      t.storage[j] = HU_STORAGE_CODES;
    }
    t.f[2] = t.f[0];
    t.storage[2] = HU_STORAGE_CODES;
    t.in_place = 0;
    t.m = 1 + t_below(r, 70);
    t.n = 1 + t_below(r, 70);
    t.k = 1 + t_below(r, 140);
    run_case(r, &t);
  }
}

/* Formats whose sums are wider than binary64, and whose numbers have few enough digits for products of bytes; and sums
 * of more terms than 32 bits hold, of the largest numbers. */
static void exact_in_bytes(void **state) {
  static const char *const usual[] = {"float8_e5m2", "binary16", "float8_e5m2fnuz", "fp(5,12,0)", "float8_e4m3fn"};
  t_random r = {t_seed("exact_in_bytes", 34)};
  unsigned cases = 0;
  (void)state;
  while (cases < t_part(60)) {
    test_case t = draw_case(&r, HU_ACCUM_EXACT);
    for (int i = 0; i < 2; i++) {
      t.f[i] = t_random_format(&r, 2, 20);
      if (t_below(&r, 2)) assert_int_equal(hu_format_parse(&t.f[i], usual[t_below(&r, 5)], NULL), HU_OK);
      t.storage[i] =
          (uint8_t)(hu_format_fits_binary32(t.f[i]) && t_below(&r, 2) ? HU_STORAGE_VALUES : HU_STORAGE_CODES);
    }
    t.m = t_below(&r, 50);
    t.n = t_below(&r, 50);
    t.k = t_below(&r, 4) ? t_below(&r, 80) : t_below(&r, 3);
    if (hui_gemm_choose_way(t.k, t.f[0], t.f[1], t.with_c ? &t.f[2] : NULL, &t.accum) != HU_GEMM_WAY_BYTES) continue;
    run_case(&r, &t);
    cases++;
  }
  few_digits(&r);
  test_case t = draw_case(&r, HU_ACCUM_EXACT);
  t.f[0] = t.f[1] = hu_format_ieee(2, 28, 0);
  t.storage[0] = t.storage[1] = HU_STORAGE_CODES;
  memset(&t.mode, 0, sizeof t.mode);
  t.f[3] = hu_format_ieee(8, 23, 0); /* what a sum loses by passing 2^31 is 2^-16 of the result */
  t.storage[3] = HU_STORAGE_VALUES;
  t.with_c = t.in_place = 0;
  t.m = t.n = 1;
  t.k = 60000;
  t.wild = 3;
  assert_int_equal(hui_gemm_choose_way(t.k, t.f[0], t.f[1], NULL, &t.accum), HU_GEMM_WAY_BYTES);
  run_case(&r, &t);
}

/* The widest sums there are: every slot of the wide integer. */
static void widest_formats(void **state) {
  (void)state;
  static const int e[4][3] = {{11, 20, 0}, {11, 20, 28}, {10, 21, 500}, {8, 23, 0}};
  t_random r = {t_seed("widest_formats", 32)};
  for (int i = 0; i < 32; i++) {
    test_case t = draw_case(&r, HU_ACCUM_EXACT);
    for (int j = 0; j < 3; j++) {
      const int *p = e[(i + j * (i / 4)) & 3];
      t.f[j] = hu_format_ieee((unsigned)p[0], (unsigned)p[1], p[2]);
      assert_int_equal(hu_format_check(t.f[j], NULL), HU_OK);
      t.storage[j] = HU_STORAGE_CODES;
    }
    t.in_place = 0;
    t.wild = 1 + (i & 1);
    if (t.wild == 2) { /* sums that end in the lowest limbs, and a result that holds them */
      t.f[0] = t.f[1] = t.f[2] = hu_format_finite(8, 23, 0);
      t.f[3] = hu_format_ieee(11, 20, 0);
      t.storage[3] = HU_STORAGE_CODES;
    }
    t.m = t_below(&r, 5);
    t.n = t_below(&r, 5);
    t.k = t.wild == 2 ? 1 + t_below(&r, 4) : t_below(&r, 70);
    run_case(&r, &t);
  }
}

static void on_host_arrays(void **state) {
  (void)state;
  t_random r = {t_seed("on_host_arrays", 33)};
  for (int i = 0; i < 12; i++) {
    test_case t = draw_case(&r, i & 1 ? HU_ACCUM_FP32 : HU_ACCUM_EXACT);
    t.m = t_below(&r, 20);
    t.n = t_below(&r, 20);
    t.k = t_below(&r, 20);
    t_matrix a = draw_matrix(&r, t.m, t.k, t.f[0], t.storage[0], 0, t.wild);
    t_matrix b = draw_matrix(&r, t.k, t.n, t.f[1], t.storage[1], 1, t.wild);
    t_matrix d = draw_matrix(&r, t.m, t.n, t.f[3], t.storage[3], 0, 0);
    uint8_t *z = malloc(d.bytes.bytes);
    assert_non_null(z);
    memcpy(z, d.bytes.host, d.bytes.bytes);
    hu_events ev[2];
    memset(ev, 3, sizeof ev);
    hu_result dz = {d.bytes.host + d.at, d.ld, t.f[3], t.storage[3]}, dd = dz;
    dd.data = z + d.at;
    assert_int_equal(hu_gemm(t.m, t.n, t.k, &dz, &a.cpu, &b.cpu, NULL, &t.accum, t.mode, &t.exec, &ev[0]), HU_OK);
    twin_default_stream();
    assert_int_equal(hu_device_host_gemm(t.m, t.n, t.k, &dd, &a.cpu, &b.cpu, NULL, &t.accum, t.mode, &t.exec, &ev[1]),
                     HU_OK);
    assert_memory_equal(z, d.bytes.host, d.bytes.bytes);
    assert_memory_equal(&ev[0], &ev[1], sizeof ev[0]);
    free(z);
    twin_free(&a.bytes);
    twin_free(&b.bytes);
    twin_free(&d.bytes);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fp32_model),     cmocka_unit_test(exact_model),    cmocka_unit_test(exact_in_binary64),
      cmocka_unit_test(exact_in_bytes), cmocka_unit_test(widest_formats), cmocka_unit_test(on_host_arrays),
  };
  int skip = twin_skip("device matrix products");
  return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
