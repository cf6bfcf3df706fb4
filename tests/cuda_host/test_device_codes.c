/* SPDX-License-Identifier: MIT */
/* Every device call that reads codes, given one that is none, in each of its operands: hu_device_synchronize says so,
 * once, and the results are those of its lowest bits. Right codes, integers that repeat their sign and what lies
 * between rows are nothing to tell of. */
#include "halfulp/device.h"
#include "halfulp/number.h"
#include "halfulp/formats/ocp.h"
#include "halfulp/formats/other.h"
#include "tests/cuda_host/twin.h"

enum { N = 5000, M = 3, COLS = 70, K = 64, ROOMS = 24, RESULTS = 2 };
static const hu_mode rne;

/* One call: which operand is wrong (-1: none), and the device memory that it has. */
typedef struct job {
  int wrong, operands;
  uint32_t code; /* the wrong one, or a right one in its place */
  void *buffer[ROOMS];
  int rooms;
  void *result[RESULTS];
  size_t bytes[RESULTS];
  int results;
} job;

static void *buffer(job *j, const void *from, size_t bytes) {
  void *p = hui_memory_new(bytes);
  assert_non_null(p);
  assert_true(j->rooms < ROOMS);
  j->buffer[j->rooms++] = p;
  if (from) assert_int_equal(hui_memory_put(p, from, bytes), HU_OK);
  return p;
}

/* Codes of one byte, rows `ld` apart; between them bytes of ones. Of the wrong operand one in the last row is wrong. */
static const void *codes(job *j, size_t rows, size_t cols, size_t ld) {
  static uint8_t x[1 << 16];
  size_t bytes = (rows - 1) * ld + cols;
  int wrong = j->operands++ == j->wrong;
  assert_true(bytes <= sizeof x);
  memset(x, 0xFF, bytes);
  for (size_t i = 0; i < rows; i++) memset(x + i * ld, 2, cols);
  if (wrong) x[(rows - 1) * ld + cols / 2] = (uint8_t)j->code;
  return buffer(j, x, bytes);
}

static const void *array(job *j) { return codes(j, 1, N, N); }

/* What the call writes, all 0 before. */
static void *result(job *j, size_t bytes) {
  static const uint8_t zero[N * 8 * 24];
  assert_true(bytes <= sizeof zero && j->results < RESULTS);
  j->bytes[j->results] = bytes;
  return j->result[j->results++] = buffer(j, zero, bytes);
}
static void *out(job *j) { return result(j, N * 8); }
static hu_format fp4(void) { return hu_float4_e2m1fn(); }

/* ---- arrays ---- */

static hu_status decode(job *j) { return hu_decode_n(N, out(j), 1, array(j), 1, fp4(), twin_at(NULL, NULL, NULL)); }
static hu_status decode64(job *j) { return hu_decode64_n(N, out(j), 1, array(j), 1, fp4(), twin_at(NULL, NULL, NULL)); }
static hu_status convert(job *j) {
  return hu_convert_n(N, out(j), 1, fp4(), array(j), 1, fp4(), rne, twin_at(NULL, NULL, NULL), NULL);
}
static hu_status pack(job *j) { return hu_pack_n(N, out(j), array(j), 4, twin_at(NULL, NULL, NULL)); }
static hu_status backwards(job *j) {
  const uint8_t *x = codes(j, 1, N, N);
  return hu_decode_n(N / 2, out(j), 1, x + N - 2, -2, fp4(), twin_at(NULL, NULL, NULL));
}

/* An operation of arrays of codes. */
static hu_status operate(job *j, int op) {
  hu_operation operation = hu_operation_at((size_t)op);
  hu_view x[HU_OPERANDS_MAX];
  for (int i = 0; i < operation.operands; i++) x[i] = hu_codes(array(j), 1, fp4());
  void *z = out(j);
  hu_output to = operation.result == HU_RESULT_INT8 ? hu_int8_out(z, 1) : hu_codes_out(z, 1, fp4());
  hu_how how = hu_how_of(rne, twin_at(NULL, NULL, NULL), NULL);
  return hu_apply(op, N, &to, x, &how);
}
static hu_status add(job *j) { return operate(j, HU_OP_ADD); }
static hu_status root(job *j) { return operate(j, HU_OP_SQRT); }
static hu_status fma_of(job *j) { return operate(j, HU_OP_FMA); }
static hu_status remainder_of(job *j) { return operate(j, HU_OP_REMAINDER); }
static hu_status compare(job *j) { return operate(j, HU_OP_COMPARE); }
static hu_status class_of(job *j) { return operate(j, HU_OP_CLASS); }
static hu_status integral(job *j) { return operate(j, HU_OP_INTEGRAL); }
static hu_status gelu(job *j) { return operate(j, HU_OP_GELU); }
static hu_status power(job *j) { return operate(j, HU_OP_POW); }

static hu_number unsigned4(void) { return hu_number_fixed(0, 4, 0, HU_FIXED_SATURATE); }
static hu_number signed4(void) { return hu_number_fixed(1, 3, 0, HU_FIXED_SATURATE); }
static hu_status number(job *j) {
  return hu_number_decode_n(N, out(j), 1, array(j), 1, unsigned4(), twin_at(NULL, NULL, NULL));
}
static hu_status number64(job *j) {
  return hu_number_decode64_n(N, out(j), 1, array(j), 1, signed4(), twin_at(NULL, NULL, NULL));
}
static hu_status number_convert(job *j) {
  return hu_number_convert_n(N, out(j), 1, signed4(), array(j), 1, signed4(), rne, twin_at(NULL, NULL, NULL), NULL);
}

static hu_status add_to_sums(job *j) {
  hu_sum_range range = hu_sum_range_of(fp4());
  return hu_sum_add_n(N, result(j, N * 8 * (1 + range.words)), range, hu_codes(array(j), 1, fp4()),
                      twin_at(NULL, NULL, NULL));
}
static hu_status add_products(job *j) {
  hu_sum_range range = hu_sum_range_of_product(fp4(), fp4());
  const void *a = array(j), *b = array(j);
  uint64_t *sums = result(j, N * 8 * (1 + range.words));
  return hu_sum_add_product_n(N, sums, range, hu_codes(a, 1, fp4()), hu_codes(b, 1, fp4()), twin_at(NULL, NULL, NULL));
}
static hu_status add_all(job *j) {
  return hu_sum_add_all(result(j, sizeof(hu_sum)), N, hu_codes(array(j), 1, fp4()), twin_at(NULL, NULL, NULL));
}
static hu_status add_dot(job *j) {
  const void *a = array(j), *b = array(j);
  return hu_sum_add_dot(result(j, sizeof(hu_sum)), N, hu_codes(a, 1, fp4()), hu_codes(b, 1, fp4()),
                        twin_at(NULL, NULL, NULL));
}

/* ---- products ---- */

static hu_view matrix(job *j, hu_format format, size_t rows, size_t cols, int transposed) {
  size_t ld = (transposed ? rows : cols) + 3;
  hu_view z = hu_matrix_codes(codes(j, transposed ? cols : rows, transposed ? rows : cols, ld), ld, format);
  return transposed ? hu_transposed(z) : z;
}

static hu_output values(job *j) {
  hu_output result = hu_matrix_floats_out(out(j), M);
  return result;
}

static hu_accum model(const char *text) {
  hu_accum x;
  assert_int_equal(hu_accum_parse(&x, text, NULL), HU_OK);
  return x;
}

static hu_status gemm(job *j) {
  hu_view a = matrix(j, fp4(), M, K, 0), b = matrix(j, fp4(), K, M, 1), c = matrix(j, fp4(), M, M, 0);
  hu_accum exact = model("exact");
  hu_output result = values(j);
  return hu_gemm(M, M, K, &result, &a, &b, &c, &exact, &(hu_how){rne, twin_at(NULL, NULL, NULL), NULL});
}

static hu_status gemm_scaled(job *j) {
  hu_accum unit = model("nv.blackwell.nvfp4.b16.ue4m3");
  hu_view a = matrix(j, fp4(), M, K, 0), b = matrix(j, fp4(), K, M, 1);
  hu_view sa = matrix(j, hu_ue4m3(), M, K / 16, 0), sb = matrix(j, hu_ue4m3(), K / 16, M, 1);
  hu_output result = values(j);
  return hu_multiply(
      &(hu_product){.m = M, .n = M, .k = K, .d = result, .a = a, .b = b, .sa = sa, .sb = sb, .accum = &unit},
      &(hu_how){rne, twin_at(NULL, NULL, NULL), NULL});
}

/* M dot products of elements of one type, and C of it where it is a format. */
static hu_status dots(job *j, hu_type type, hu_type to, const char *text) {
  hu_accum accum = model(text);
  hu_view view = hu_view_of(NULL, 1, type);
  hu_product x = hu_product_of_dot(K, hu_output_of(NULL, 1, to), view, view, &accum);
  hu_how how = hu_how_of(rne, twin_at(NULL, NULL, NULL), NULL);
  x.m = M;
  x.d.row = 1;
  x.a.row = x.b.row = K + 1;
  x.a.data = codes(j, M, K, K + 1);
  x.b.data = codes(j, M, K, K + 1);
  x.c = view;
  x.c.row = 2;
  if (type.kind == HU_TYPE_CODES) x.c.data = codes(j, M, 1, 2);
  x.d.data = out(j);
  return hu_dot(&x, &how);
}

static hu_status dot(job *j) { return dots(j, hu_type_codes(fp4()), hu_type_codes(hu_format_ieee(8, 23, 0)), "exact"); }

static hu_status dot_of_integers(job *j) {
  return dots(j, hu_type_plain(HU_TYPE_INT4), hu_type_plain(HU_TYPE_INT32), "int32");
}

/* ---- scaled tensors ---- */

static hu_scaling scaling(const char *text) {
  hu_scaling scaling;
  assert_int_equal(hu_scaling_parse(&scaling, text, NULL), HU_OK);
  return scaling;
}

static hu_scaled tensor(job *j, const hu_scaling *scaling, size_t rows, size_t cols) {
  hu_scaled_sizes n = hu_scaled_sizes_of(rows, cols, scaling);
  hu_scaled x = {NULL, cols + 3, NULL, n.block_cols + 1, NULL};
  x.codes = (void *)(uintptr_t)codes(j, rows, cols, x.ld);
  x.scales = (void *)(uintptr_t)codes(j, n.block_rows, n.block_cols, x.lds);
  return x;
}

static const char four[] = "scaled(float4_e2m1fn;scale=ue4m3;block=1x16;rule=ratio)";

static hu_status scaled_decode(job *j) {
  hu_scaling of_operand = scaling(four);
  hu_scaled x = tensor(j, &of_operand, M, COLS);
  return hu_scaled_decode(M, COLS, out(j), COLS, &x, &of_operand, twin_at(NULL, NULL, NULL));
}

static hu_status scaled_pack(job *j) {
  hu_scaling of_operand = scaling("nvint4");
  return hu_scaled_pack(M, COLS, out(j), codes(j, M, COLS, COLS + 3), COLS + 3, &of_operand, twin_at(NULL, NULL, NULL));
}

static hu_status scaled_product(job *j, hu_scaled_sum sum) {
  hu_scaling of_operand = scaling(four);
  hu_scaled a = tensor(j, &of_operand, M, K), b = tensor(j, &of_operand, M, K);
  hu_product x = {.m = M, .n = M, .k = K, .sum = &sum};
  x.a = hu_scaled_matrix(&a, &of_operand);
  x.b = hu_transposed(hu_scaled_matrix(&b, &of_operand));
  x.d = values(j);
  x.bytes = hu_multiply_space(&x, twin_at(NULL, NULL, NULL));
  x.space = (void *)(((uintptr_t)buffer(j, NULL, x.bytes + 64) + 63) / 64 * 64);
  return hu_multiply(&x, &(hu_how){rne, twin_at(NULL, NULL, NULL), NULL});
}

static hu_status parts(job *j) {
  return scaled_product(j, hu_scaled_sum_parts(model("fp32"), model("fp32"), HU_SCALED_FACTOR_EXACT));
}
static hu_status unit(job *j) { return scaled_product(j, hu_scaled_sum_unit(model("nv.blackwell.nvfp4.b16.ue4m3"))); }
static hu_status decoded(job *j) { return scaled_product(j, hu_scaled_sum_decoded(model("fp32"))); }

static const hu_s2fp8_scale *scale_of(job *j, const hu_s2fp8 *kind) {
  hu_s2fp8_scale scale;
  assert_int_equal(hu_s2fp8_scale_from(&scale, 0, (int64_t)1 << 40, kind), HU_OK);
  return buffer(j, &scale, sizeof scale);
}

static hu_status s2fp8_decode(job *j) {
  hu_s2fp8 kind = hu_s2fp8_of(fp4());
  void *work = buffer(j, NULL, HU_DEVICE_S2FP8_WORK);
  return hu_s2fp8_decode_n(N, out(j), 1, array(j), 1, &kind, scale_of(j, &kind), twin_at(NULL, work, NULL));
}

static hu_status s2fp8_gemm(job *j) {
  hu_s2fp8 kind = hu_s2fp8_of(fp4());
  const hu_s2fp8_scale *scale = scale_of(j, &kind);
  hu_accum fp32 = model("fp32");
  hu_scaled a = {(void *)(uintptr_t)codes(j, M, K, K + 3), K + 3, (void *)(uintptr_t)scale, 0, NULL},
            b = {(void *)(uintptr_t)codes(j, M, K, K + 3), K + 3, (void *)(uintptr_t)scale, 0, NULL};
  hu_product x = {.m = M, .n = M, .k = K, .accum = &fp32};
  x.a = hu_s2fp8_matrix(&a, &kind);
  x.b = hu_transposed(hu_s2fp8_matrix(&b, &kind));
  x.d = values(j);
  x.bytes = hu_multiply_space(&x, twin_at(NULL, NULL, NULL));
  x.space = buffer(j, NULL, x.bytes);
  return hu_multiply(&x, &(hu_how){rne, twin_at(NULL, NULL, NULL), NULL});
}

/* ---- all of them ---- */

static const struct {
  const char *name;
  hu_status (*call)(job *j);
  int operands, is_signed; /* is_signed: code 0xF9 is a negative integer */
} calls[] = {{"decode_n", decode, 1, 0},
             {"decode64_n", decode64, 1, 0},
             {"convert_n", convert, 1, 0},
             {"pack_n", pack, 1, 0},
             {"decode_n, backwards", backwards, 1, 0},
             {"add_n", add, 2, 0},
             {"sqrt_n", root, 1, 0},
             {"fma_n", fma_of, 3, 0},
             {"remainder", remainder_of, 2, 0},
             {"compare_n", compare, 2, 0},
             {"class_n", class_of, 1, 0},
             {"round_to_integral_n", integral, 1, 0},
             {"gelu_n", gelu, 1, 0},
             {"pow_n", power, 2, 0},
             {"number_decode_n", number, 1, 0},
             {"number_decode64_n", number64, 1, 1},
             {"number_convert_n", number_convert, 1, 1},
             {"sum_add_n", add_to_sums, 1, 0},
             {"sum_add_product_n", add_products, 2, 0},
             {"sum_add_all", add_all, 1, 0},
             {"sum_add_dot", add_dot, 2, 0},
             {"gemm", gemm, 3, 0},
             {"gemm_scaled", gemm_scaled, 4, 0},
             {"dot_n", dot, 3, 0},
             {"dot_n of integers", dot_of_integers, 2, 1},
             {"scaled_decode", scaled_decode, 2, 0},
             {"scaled_pack", scaled_pack, 1, 1},
             {"scaled_gemm, parts", parts, 4, 0},
             {"scaled_gemm, unit", unit, 4, 0},
             {"scaled_gemm, decoded", decoded, 4, 0},
             {"s2fp8_decode_n", s2fp8_decode, 1, 0},
             {"s2fp8_gemm", s2fp8_gemm, 2, 0}};

static void forget(job *j) {
  while (j->rooms) hui_memory_free(j->buffer[--j->rooms]);
}

static job expect(size_t c, int operand, uint32_t code, hu_status expected) {
  job j;
  memset(&j, 0, sizeof j);
  j.wrong = operand;
  j.code = code;
  hu_status status = calls[c].call(&j);
  if (status != HU_OK) fail_msg("%s: %s", calls[c].name, hu_status_name(status));
  assert_int_equal(j.operands, calls[c].operands);
  status = hu_device_synchronize(NULL);
  if (status != expected)
    fail_msg("%s, operand %d, code %x: %s", calls[c].name, operand, (unsigned)code, hu_status_name(status));
  assert_int_equal(hu_device_synchronize(NULL), HU_OK); /* told once */
  return j;
}

/* The same results for a code as for its lowest bits. Operands have four of them, or seven, of which the codes that are
 * tried there have the upper three 0. */
static void expect_lowest(size_t c, int operand, uint32_t code, hu_status expected) {
  static uint8_t x[N * 8 * 24], y[N * 8 * 24];
  job wide = expect(c, operand, code, expected), lowest = expect(c, operand, code & 0xF, HU_OK);
  assert_true(wide.results > 0);
  for (int k = 0; k < wide.results; k++) {
    assert_int_equal(hui_memory_get(x, wide.result[k], wide.bytes[k]), HU_OK);
    assert_int_equal(hui_memory_get(y, lowest.result[k], wide.bytes[k]), HU_OK);
    if (memcmp(x, y, wide.bytes[k])) fail_msg("%s, operand %d, code %x: other results", calls[c].name, operand, code);
  }
  forget(&wide);
  forget(&lowest);
}

static void test_calls(void **state) {
  (void)state;
  twin_default_stream();
  for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
    job right = expect(c, -1, 0, HU_OK);
    forget(&right);
    for (int k = 0; k < calls[c].operands; k++) {
      expect_lowest(c, k, 0x82, HU_E_CODE);
      expect_lowest(c, k, 0x8B, HU_E_CODE);
      if (calls[c].is_signed) {
        expect_lowest(c, k, 0xF9, HU_OK);
      } else {
        job negative = expect(c, k, 0xF9, HU_E_CODE);
        forget(&negative);
      }
    }
  }
}

/* One wrong code of rows that the product of a row of zeros has nothing else of. */
static hu_status look_at_rows(const void *a, size_t rows, size_t cols, size_t ld, hu_format format) {
  static const float zero[256];
  job j;
  memset(&j, 0, sizeof j);
  hu_view x = hu_matrix_codes(a, ld, format);
  hu_view y = hu_matrix_floats(buffer(&j, zero, sizeof zero), 1);
  hu_output result = hu_matrix_floats_out(buffer(&j, NULL, rows * 4), 1);
  hu_accum exact = model("exact");
  assert_true(cols <= 256);
  assert_int_equal(
      hu_gemm(rows, 1, cols, &result, &x, &y, NULL, &exact, &(hu_how){rne, twin_at(NULL, NULL, NULL), NULL}), HU_OK);
  hu_status status = hu_device_synchronize(NULL);
  forget(&j);
  return status;
}

/* Rows that begin at multiples of four bytes, with and without codes beyond the last word of each; those between rows
 * have all bits set. */
static void test_rows(void **state) {
  (void)state;
  enum { ROWS = 5, LD = 72 };
  const struct {
    hu_format f;
    size_t size;
  } kinds[] = {{fp4(), 1}, {hu_format_ieee(5, 6, 0), 2}, {hu_format_ieee(8, 15, 0), 4}};
  twin_default_stream();
  for (size_t k = 0; k < 3; k++) {
    unsigned width = 1u + kinds[k].f.e + kinds[k].f.m;
    for (size_t cols = 64; cols <= 67; cols++) {
      t_twin twin = twin_new(ROWS * LD * kinds[k].size);
      memset(twin.host, 0xFF, twin.bytes);
      for (size_t i = 0; i < ROWS * LD; i++)
        if (i % LD < cols) t_put(twin.host, kinds[k].size, (ptrdiff_t)i, 2);
      twin_put(&twin);
      assert_int_equal(look_at_rows(twin.device, ROWS, cols, LD, kinds[k].f), HU_OK);
      for (size_t i = 0; i < ROWS; i++) {
        const size_t at[] = {0, 1, 62, 63, cols - 1};
        for (size_t p = 0; p < sizeof at / sizeof *at; p++) {
          t_put(twin.host, kinds[k].size, (ptrdiff_t)(i * LD + at[p]), 2 | 1u << width);
          twin_put(&twin);
          if (look_at_rows(twin.device, ROWS, cols, LD, kinds[k].f) != HU_E_CODE)
            fail_msg("%u bits: nothing is wrong at (%zu, %zu) of %zu columns", width, i, at[p], cols);
          t_put(twin.host, kinds[k].size, (ptrdiff_t)(i * LD + at[p]), 2);
        }
      }
      twin_put(&twin);
      /* One row's ld says nothing. */
      assert_int_equal(look_at_rows(twin.device, 1, cols, PTRDIFF_MAX, kinds[k].f), HU_OK);
      twin_free(&twin);
    }
  }
}

/* Arrays of several pieces. */
static void test_long(void **state) {
  (void)state;
  enum { LONG = 40003 };
  const hu_format kinds[] = {fp4(), hu_format_ieee(5, 6, 0), hu_format_ieee(8, 15, 0)};
  twin_default_stream();
  for (size_t k = 0; k < 3; k++) {
    unsigned width = 1u + kinds[k].e + kinds[k].m;
    size_t size = (size_t)1 << k;
    const size_t at[] = {0, 4095, 4096, 16383, 16384, LONG - 4, LONG - 1};
    t_twin twin = twin_new(LONG * size), z = twin_new(LONG * 4);
    for (size_t i = 0; i < LONG; i++) t_put(twin.host, size, (ptrdiff_t)i, 2);
    for (size_t p = 0; p <= sizeof at / sizeof *at; p++) {
      int wrong = p < sizeof at / sizeof *at;
      if (wrong) t_put(twin.host, size, (ptrdiff_t)at[p], 1u << width);
      twin_put(&twin);
      assert_int_equal(
          hu_decode_n(LONG, (float *)(void *)z.device, 1, twin.device, 1, kinds[k], twin_at(NULL, NULL, NULL)), HU_OK);
      hu_status status = hu_device_synchronize(NULL);
      if (status != (wrong ? HU_E_CODE : HU_OK)) fail_msg("%u bits, number %zu: %s", width, p, hu_status_name(status));
      if (wrong) t_put(twin.host, size, (ptrdiff_t)at[p], 2);
    }
    twin_free(&twin);
    twin_free(&z);
  }
}

/* Each place of short arrays, from an aligned address on and from the next one. */
static void test_places(void **state) {
  (void)state;
  twin_default_stream();
  for (size_t n = 1; n <= 9; n++) {
    for (size_t at = 0; at < n; at++) {
      job j;
      uint8_t x[10] = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
      uint16_t y[10] = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
      memset(&j, 0, sizeof j);
      x[at + 1] = 0x12;
      y[at] = 0x1002;
      const uint8_t *dx = buffer(&j, x, sizeof x);
      void *z = out(&j);
      for (size_t k = 0; k < 2; k++) {
        assert_int_equal(hu_decode_n(n, z, 1, dx + k, 1, fp4(), twin_at(NULL, NULL, NULL)), HU_OK);
        assert_int_equal(hu_device_synchronize(NULL), at + 1 < n + k ? HU_E_CODE : HU_OK);
      }
      hu_format twelve = hu_format_ieee(5, 6, 0);
      assert_int_equal(hu_decode_n(n, z, 1, buffer(&j, y, sizeof y), 1, twelve, twin_at(NULL, NULL, NULL)), HU_OK);
      assert_int_equal(hu_device_synchronize(NULL), HU_E_CODE);
      forget(&j);
    }
  }
}

/* Formats that fill their storage, host arrays, streams. */
static void test_others(void **state) {
  (void)state;
  job j;
  uint8_t x[4] = {2, 2, 0x12, 2};
  float z[4];
  memset(&j, 0, sizeof j);
  twin_default_stream();
  void *dx = buffer(&j, x, sizeof x), *dz = buffer(&j, NULL, sizeof z);
  assert_int_equal(hu_decode_n(4, dz, 1, dx, 1, hu_float8_e4m3fn(), twin_at(NULL, NULL, NULL)), HU_OK);
  assert_int_equal(hu_device_synchronize(NULL), HU_OK);
  void *stream = twin_stream();
  assert_int_equal(hu_decode_n(4, dz, 1, dx, 1, fp4(), twin_at(NULL, NULL, stream)), HU_OK);
  assert_int_equal(hu_device_synchronize(stream), HU_E_CODE);
  assert_int_equal(hui_memory_get(z, dz, sizeof z), HU_OK);
  assert_true(z[2] == z[1]); /* the lowest bits' */
  twin_default_stream();
  hu_view a = hu_matrix_codes(x, 2, fp4());
  hu_output result = hu_matrix_floats_out(z, 2);
  hu_accum exact = model("exact");
  z[0] = 7;
  const hu_exec copied = {.where = hu_cuda_host()};
  assert_int_equal(hu_gemm(2, 2, 2, &result, &a, &a, NULL, &exact, &(hu_how){rne, &copied, NULL}), HU_E_CODE);
  assert_true(z[0] == 7);
  forget(&j);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_calls), cmocka_unit_test(test_rows),
                                     cmocka_unit_test(test_long), cmocka_unit_test(test_places),
                                     cmocka_unit_test(test_others)};
  int skip = twin_skip("codes");
  return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
