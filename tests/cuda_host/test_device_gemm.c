/* SPDX-License-Identifier: MIT */
/* hu_gemm on a device against the CPU's: both models, random formats, storages, transposes, paddings, sizes around the
 * tiles' edges, special values, in place; whole buffers and events are compared. */
#include "tests/cuda_host/twin.h"

#include "gpu/gemm/choose.h"

typedef struct t_matrix {
  t_twin bytes;
  size_t at, ld, rows, cols; /* as stored */
  hu_view cpu, device;
} t_matrix;

static size_t size_of(hu_format format, uint8_t storage) {
  return storage == HU_TYPE_VALUES32 ? sizeof(float) : hu_limits_of(format).storage / 8;
}

/* A code of a format: any (1), one of the lowest binade (2), the largest one (3), or one near one (0), so that sums
 * neither overflow nor drown. */
static uint32_t draw_code(t_random *random, hu_format format, int wild) {
  hu_limits limits = hu_limits_of(format);
  uint32_t code = t_random_code(random, format);
  if (wild == 2)
    return (code & ((1u << t_between(random, 1, format.m)) - 1)) | (t_below(random, 2) ? 0 : limits.sign_mask);
  if (wild == 3) return limits.max_code;
  if (wild && t_below(random, 4) == 0) {
    uint32_t special[4] = {0, limits.sign_mask,
                           limits.has_nan && t_below(random, 8) == 0 ? limits.nan_code : limits.max_code,
                           limits.inf_code != HU_NO_CODE ? limits.inf_code : limits.min_code};
    return special[t_below(random, 4)] ^ (t_below(random, 2) ? limits.sign_mask : 0);
  }
  if (wild) return code;
  uint32_t one = hu_encode(format, t_mode(HU_RNE), 1.0f, 0, NULL), near = t_below(random, 2u << format.m);
  uint32_t magnitude = one + near <= limits.max_code ? one + near : t_below(random, limits.max_code + 1);
  return magnitude | (t_below(random, 2) ? limits.sign_mask : 0);
}

static t_matrix draw_matrix(t_random *random, size_t rows, size_t cols, hu_format format, uint8_t storage,
                            int transposed, int wild) {
  t_matrix z;
  memset(&z, 0, sizeof z);
  z.rows = transposed ? cols : rows;
  z.cols = transposed ? rows : cols;
  z.ld = z.cols + (t_below(random, 2) ? t_below(random, 5) : (4 - z.cols % 4) % 4);
  size_t size = size_of(format, storage);
  z.at = t_below(random, 2) ? 0 : t_below(random, 5) * size;
  z.bytes = twin_new(z.at + (z.rows * z.ld + 4) * size);
  for (size_t i = 0; i < z.rows; i++) {
    for (size_t j = 0; j < z.cols; j++) {
      uint32_t u = draw_code(random, format, wild);
      if (storage == HU_TYPE_VALUES32) u = t_bits32(hu_decode(format, u));
      memcpy(z.bytes.host + z.at + (i * z.ld + j) * size, &u, size);
    }
  }
  hu_view x = hu_matrix_of(z.bytes.host + z.at, z.ld, hu_type_values(storage, format));
  if (transposed) x = hu_transposed(x);
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

static void describe(const test_case *test, const char *what) {
  char text[4][T_FORMAT_TEXT], mode[T_MODE_TEXT];
  for (int i = 0; i < 4; i++) (void)t_format_text(text[i], test->f[i]);
  print_error("%s: m %zu n %zu k %zu %s c %d in place %d wild %d storage %d %d %d %d %s\n a %s\n b %s\n c %s\n d %s\n",
              what, test->m, test->n, test->k, test->accum.kind == HU_ACCUM_FP32 ? "fp32" : "exact", test->with_c,
              test->in_place, test->wild, test->storage[0], test->storage[1], test->storage[2], test->storage[3],
              t_mode_text(mode, test->mode), text[0], text[1], text[2], text[3]);
}

static void run_case(t_random *random, const test_case *test) {
  t_matrix a = draw_matrix(random, test->m, test->k, test->f[0], test->storage[0], (int)t_below(random, 2), test->wild);
  t_matrix b = draw_matrix(random, test->k, test->n, test->f[1], test->storage[1], (int)t_below(random, 2), test->wild);
  t_matrix c = draw_matrix(random, test->m, test->n, test->f[2], test->storage[2],
                           test->in_place ? 0 : (int)t_below(random, 2), test->wild);
  t_matrix matrix = draw_matrix(random, test->m, test->n, test->f[3], test->storage[3], 0, 0);
  const t_matrix *out = test->in_place ? &c : &matrix;
  t_twin twin = twin_new(sizeof(hu_events));
  memset(twin.host, 0, twin.bytes);
  twin_put(&twin);
  hu_output cpu_d = hu_matrix_out_of(out->bytes.host + out->at, out->ld, hu_type_values(test->storage[3], test->f[3])),
            device_d = cpu_d;
  device_d.data = out->bytes.device + out->at;
  hu_status cpu = hu_gemm(test->m, test->n, test->k, &cpu_d, &a.cpu, &b.cpu, test->with_c ? &c.cpu : NULL, &test->accum,
                          &(hu_how){test->mode, &test->exec, (hu_events *)(void *)twin.host});
  hu_status device =
      hu_gemm(test->m, test->n, test->k, &device_d, &a.device, &b.device, test->with_c ? &c.device : NULL, &test->accum,
              &(hu_how){test->mode, twin_there(&test->exec), (hu_events *)(void *)twin.device});
  if (cpu != HU_OK || device != HU_OK) {
    print_error("cpu %s, device %s\n", hu_status_name(cpu), hu_status_name(device));
    describe(test, "refused");
    fail();
  }
  size_t at = twin_differs(&out->bytes), eat = twin_differs(&twin);
  if (at < out->bytes.bytes || eat < twin.bytes) {
    const uint64_t *expected = (const uint64_t *)(void *)twin.host, *got = (const uint64_t *)(void *)twin.back;
    print_error("first byte %zu of %zu; events on the CPU and on the device:\n", at, out->bytes.bytes);
    for (size_t i = 0; i < sizeof(hu_events) / 8; i++) print_error(" %zu/%zu", (size_t)expected[i], (size_t)got[i]);
    print_error("\n");
    describe(test, "differs");
    fail();
  }
  assert_int_equal(twin_differs(&a.bytes), a.bytes.bytes);
  assert_int_equal(twin_differs(&b.bytes), b.bytes.bytes);
  twin_free(&a.bytes);
  twin_free(&b.bytes);
  twin_free(&c.bytes);
  twin_free(&matrix.bytes);
  twin_free(&twin);
}

static hu_format draw_format(t_random *random, int fits) {
  static const char *const usual[] = {"binary32",      "binary16",    "bfloat16",
                                      "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn"};
  for (;;) {
    hu_format format;
    if (t_below(random, 2)) {
      format = t_random_format(random, 2, t_below(random, 3) ? 12 : 32);
    } else {
      assert_int_equal(hu_format_find(&format, usual[t_below(random, 6)]), HU_OK);
    }
    if (!fits || hu_format_fits_binary32(format)) return format;
  }
}

static test_case draw_case(t_random *random, uint32_t kind) {
  test_case test;
  memset(&test, 0, sizeof test);
  test.accum.kind = kind;
  test.wild = t_below(random, 3) == 0;
  test.with_c = t_below(random, 3) != 0;
  for (int i = 0; i < 4; i++) {
    test.f[i] = draw_format(random, kind == HU_ACCUM_FP32 && i < 3);
    test.storage[i] =
        (uint8_t)(hu_format_fits_binary32(test.f[i]) && t_below(random, 2) ? HU_TYPE_VALUES32 : HU_TYPE_CODES);
  }
  test.in_place = test.with_c && t_below(random, 4) == 0;
  if (test.in_place) {
    test.f[3] = test.f[2];
    test.storage[3] = test.storage[2];
  }
  test.mode = t_below(random, 2) ? t_mode(t_below(random, 8)) : t_random_mode(random);
  test.exec.stream.key = t_next64(random);
  test.exec.stream.counter = t_next64(random);
  return test;
}

static void sweep(const char *name, uint32_t kind, int cases, uint32_t most) {
  t_random random = {t_seed(name, 30)};
  size_t products = 0;
  for (unsigned i = 0; i < t_part((unsigned)cases); i++) {
    test_case test = draw_case(&random, kind);
    test.m = t_below(&random, 6) ? 1 + t_below(&random, most) : 0;
    test.n = t_below(&random, 6) ? 1 + t_below(&random, most) : 1;
    test.k = t_below(&random, 6) ? t_below(&random, 50) : t_below(&random, 3);
    run_case(&random, &test);
    products += test.m * test.n * test.k;
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
  t_random random = {t_seed("exact_in_binary64", 31)};
  int cases = 0;
  while (cases < 50) {
    test_case test = draw_case(&random, HU_ACCUM_EXACT);
    for (int i = 0; i < 3; i++) {
      if (t_below(&random, 2)) test.f[i] = t_random_format(&random, 2, 8);
      test.storage[i] =
          (uint8_t)(hu_format_fits_binary32(test.f[i]) && t_below(&random, 2) ? HU_TYPE_VALUES32 : HU_TYPE_CODES);
    }
    test.in_place = 0;
    test.m = t_below(&random, 100);
    test.n = t_below(&random, 100);
    test.k = t_below(&random, 60);
    if (!hu_gemm_exact64(test.k, test.f[0], test.f[1], test.with_c ? &test.f[2] : NULL)) continue;
    run_case(&random, &test);
    cases++;
  }
}

/* Codes of 8 bits whose sums binary64 holds, and which are multiplied as bytes nevertheless: several slabs and tiles,
 * in any order in memory. */
static void few_digits(t_random *random) {
  static const char *const names[] = {"float8_e4m3fn", "float8_e4m3fnuz", "float8_e3m4", "fp(4,3,0)", "float4_e2m1fn"};
  for (unsigned i = 0; i < t_part(20); i++) {
    test_case test = draw_case(random, HU_ACCUM_EXACT);
    for (int j = 0; j < 2; j++) {
      assert_int_equal(hu_format_parse(&test.f[j], names[i < 4 ? 0 : t_below(random, 5)], NULL), HU_OK);
      test.storage[j] = HU_TYPE_CODES;
    }
    test.f[2] = test.f[0];
    test.storage[2] = HU_TYPE_CODES;
    test.in_place = 0;
    test.m = 1 + t_below(random, 70);
    test.n = 1 + t_below(random, 70);
    test.k = 1 + t_below(random, 140);
    run_case(random, &test);
  }
}

/* Formats whose sums are wider than binary64, and whose numbers have few enough digits for products of bytes; and sums
 * of more terms than 32 bits hold, of the largest numbers. */
static void exact_in_bytes(void **state) {
  static const char *const usual[] = {"float8_e5m2", "binary16", "float8_e5m2fnuz", "fp(5,12,0)", "float8_e4m3fn"};
  t_random random = {t_seed("exact_in_bytes", 34)};
  unsigned cases = 0;
  (void)state;
  while (cases < t_part(60)) {
    test_case test = draw_case(&random, HU_ACCUM_EXACT);
    for (int i = 0; i < 2; i++) {
      test.f[i] = t_random_format(&random, 2, 20);
      if (t_below(&random, 2)) assert_int_equal(hu_format_parse(&test.f[i], usual[t_below(&random, 5)], NULL), HU_OK);
      test.storage[i] =
          (uint8_t)(hu_format_fits_binary32(test.f[i]) && t_below(&random, 2) ? HU_TYPE_VALUES32 : HU_TYPE_CODES);
    }
    test.m = t_below(&random, 50);
    test.n = t_below(&random, 50);
    test.k = t_below(&random, 4) ? t_below(&random, 80) : t_below(&random, 3);
    if (hui_gemm_choose_way(test.k, test.f[0], test.f[1], test.with_c ? &test.f[2] : NULL, &test.accum) !=
        HU_GEMM_WAY_BYTES)
      continue;
    run_case(&random, &test);
    cases++;
  }
  few_digits(&random);
  test_case test = draw_case(&random, HU_ACCUM_EXACT);
  test.f[0] = test.f[1] = hu_format_ieee(2, 28, 0);
  test.storage[0] = test.storage[1] = HU_TYPE_CODES;
  memset(&test.mode, 0, sizeof test.mode);
  test.f[3] = hu_format_ieee(8, 23, 0); /* what a sum loses by passing 2^31 is 2^-16 of the result */
  test.storage[3] = HU_TYPE_VALUES32;
  test.with_c = test.in_place = 0;
  test.m = test.n = 1;
  test.k = 60000;
  test.wild = 3;
  assert_int_equal(hui_gemm_choose_way(test.k, test.f[0], test.f[1], NULL, &test.accum), HU_GEMM_WAY_BYTES);
  run_case(&random, &test);
}

/* The widest sums there are: every slot of the wide integer. */
static void widest_formats(void **state) {
  (void)state;
  static const int e[4][3] = {{11, 20, 0}, {11, 20, 28}, {10, 21, 500}, {8, 23, 0}};
  t_random random = {t_seed("widest_formats", 32)};
  for (int i = 0; i < 32; i++) {
    test_case test = draw_case(&random, HU_ACCUM_EXACT);
    for (int j = 0; j < 3; j++) {
      const int *p = e[(i + j * (i / 4)) & 3];
      test.f[j] = hu_format_ieee((unsigned)p[0], (unsigned)p[1], p[2]);
      assert_int_equal(hu_format_check(test.f[j], NULL), HU_OK);
      test.storage[j] = HU_TYPE_CODES;
    }
    test.in_place = 0;
    test.wild = 1 + (i & 1);
    if (test.wild == 2) { /* sums that end in the lowest limbs, and a result that holds them */
      test.f[0] = test.f[1] = test.f[2] = hu_format_finite(8, 23, 0);
      test.f[3] = hu_format_ieee(11, 20, 0);
      test.storage[3] = HU_TYPE_CODES;
    }
    test.m = t_below(&random, 5);
    test.n = t_below(&random, 5);
    test.k = test.wild == 2 ? 1 + t_below(&random, 4) : t_below(&random, 70);
    run_case(&random, &test);
  }
}

static void on_host_arrays(void **state) {
  (void)state;
  t_random random = {t_seed("on_host_arrays", 33)};
  for (int i = 0; i < 12; i++) {
    test_case test = draw_case(&random, i & 1 ? HU_ACCUM_FP32 : HU_ACCUM_EXACT);
    test.m = t_below(&random, 20);
    test.n = t_below(&random, 20);
    test.k = t_below(&random, 20);
    t_matrix a = draw_matrix(&random, test.m, test.k, test.f[0], test.storage[0], 0, test.wild);
    t_matrix b = draw_matrix(&random, test.k, test.n, test.f[1], test.storage[1], 1, test.wild);
    t_matrix matrix = draw_matrix(&random, test.m, test.n, test.f[3], test.storage[3], 0, 0);
    uint8_t *z = malloc(matrix.bytes.bytes);
    assert_non_null(z);
    memcpy(z, matrix.bytes.host, matrix.bytes.bytes);
    hu_events ev[2];
    memset(ev, 3, sizeof ev);
    hu_output dz = hu_matrix_out_of(matrix.bytes.host + matrix.at, matrix.ld,
                                    hu_type_values(test.storage[3], test.f[3])),
              dd = dz;
    dd.data = z + matrix.at;
    assert_int_equal(hu_gemm(test.m, test.n, test.k, &dz, &a.cpu, &b.cpu, NULL, &test.accum,
                             &(hu_how){test.mode, &test.exec, &ev[0]}),
                     HU_OK);
    twin_default_stream();
    hu_exec copied = test.exec;
    copied.where = hu_cuda_host();
    assert_int_equal(
        hu_gemm(test.m, test.n, test.k, &dd, &a.cpu, &b.cpu, NULL, &test.accum, &(hu_how){test.mode, &copied, &ev[1]}),
        HU_OK);
    assert_memory_equal(z, matrix.bytes.host, matrix.bytes.bytes);
    assert_memory_equal(&ev[0], &ev[1], sizeof ev[0]);
    free(z);
    twin_free(&a.bytes);
    twin_free(&b.bytes);
    twin_free(&matrix.bytes);
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
