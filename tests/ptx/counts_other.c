/* SPDX-License-Identifier: MIT */
/* tests/ptx/counts_other.c - calls whose instructions are counted (counts.c): conversions, arithmetic and functions,
 * number systems, packing, the Hadamard transform, S2FP8, exact sums, products of scaled tensors. */
#include <stdlib.h>
#include <string.h>

#include "gpu/base/memory.h"
#include "tests/ptx/counts.h"

enum { MANY = 1 << 16, SOME = 1 << 14, FEW = 1 << 10, EDGE = 128, DEPTH = 256 };

static hu_format named(const char *name) {
  hu_format f;
  if (hu_format_find(&f, name) != HU_OK) exit(2);
  return f;
}

/* n codes of numbers of both signs, of most orders of magnitude but the highest. */
static void *codes(size_t n, unsigned bits) {
  const size_t size = bits / 8;
  uint8_t *x = malloc(n * size);
  uint64_t s = 1;
  for (size_t i = 0; x && i < n * size; i++) {
    s = s * 6364136223846793005u + 1442695040888963407u;
    x[i] = (uint8_t)(s >> 56) & (i % size == size - 1 ? 0xB7 : 0xFF);
  }
  void *p = room(n * size);
  if (!x || hui_memory_put(p, x, n * size) != HU_OK) exit(2);
  free(x);
  return p;
}

/* ---- elements ---- */

static hu_status encode64(size_t n) {
  double *x = malloc(n * sizeof *x);
  void *p = room(n * sizeof *x);
  for (size_t i = 0; x && i < n; i++) x[i] = ((double)(i * 2654435761u % 65536) - 32768) / 8192;
  if (!x || hui_memory_put(p, x, n * sizeof *x) != HU_OK) return HU_E_MEMORY;
  free(x);
  return hu_encode64_n(n, room(n), 1, p, 1, named("float8_e4m3fn"), plain_mode(), counts_there(NULL), new_events());
}

static hu_status convert(size_t n) {
  return hu_convert_n(n, room(n), 1, named("float8_e4m3fn"), codes(n, 16), 1, named("binary16"), plain_mode(),
                      counts_there(NULL), new_events());
}

/* Operation op of arrays of binary16 or bfloat16. */
static hu_status operate(int op, size_t n, const char *name, const hu_view *x) {
  hu_how how = hu_how_of(plain_mode(), counts_there(NULL), new_events());
  hu_output to = hu_codes_out(room(2 * n), 1, named(name));
  return hu_apply(op, n, &to, x, &how);
}

static hu_status add(size_t n) {
  hu_view x[2] = {hu_codes(codes(n, 16), 1, named("binary16")), hu_codes(codes(n, 16), 1, named("binary16"))};
  return operate(HU_OP_ADD, n, "binary16", x);
}

static hu_status multiply_add(size_t n) {
  hu_view one = hu_codes(codes(n, 16), 1, named("binary16")), x[3] = {one, one, one};
  return operate(HU_OP_FMA, n, "binary16", x);
}

static hu_status divide(size_t n) {
  uint16_t *codes_of_two = codes(2 * n, 16);
  hu_view x[2] = {hu_codes(codes_of_two, 1, named("binary16")), hu_codes(codes_of_two + n, 1, named("binary16"))};
  return operate(HU_OP_DIV, n, "binary16", x);
}

static hu_status exponential(size_t n) {
  hu_view x = hu_codes(codes(n, 16), 1, named("bfloat16"));
  return operate(HU_OP_EXP, n, "bfloat16", &x);
}

static hu_status posit_encode(size_t n) {
  return hu_number_encode_n(n, room(2 * n), 1, values(n, 1), 1, hu_number_posit(16, 2), plain_mode(),
                            counts_there(NULL), new_events());
}

static hu_status posit_decode(size_t n) {
  return hu_number_decode_n(n, room(4 * n), 1, codes(n, 8), 1, hu_number_posit(8, 2), counts_there(NULL));
}

static hu_status pack(size_t n) { return hu_pack_n(n, room(n / 2), codes(n, 8), 4, counts_there(NULL)); }
static hu_status unpack(size_t n) { return hu_unpack_n(n, room(n), codes(n / 2, 8), 4, counts_there(NULL)); }

/* ---- scaled tensors ---- */

static hu_scaling scaling_of(const char *text) {
  hu_scaling d;
  if (hu_scaling_parse(&d, text, NULL) != HU_OK) exit(2);
  return d;
}

static hu_status scaled_pack(size_t n) {
  hu_scaling d = scaling_of("mxfp4");
  return hu_scaled_pack(n / 512, 512, room(n / 2), codes(n, 8), 512, &d, counts_there(NULL));
}

static hu_status scaled_unpack(size_t n) {
  hu_scaling d = scaling_of("mxfp4");
  return hu_scaled_unpack(n / 512, 512, room(n), 512, codes(n / 2, 8), &d, counts_there(NULL));
}

static hu_status hadamard(size_t n, unsigned axis) {
  hu_hadamard h;
  memset(&h, 0, sizeof h);
  h.n = 32;
  h.axis = (uint8_t)axis;
  h.signs = HU_HADAMARD_SIGNS_STREAM;
  return hu_hadamard_forward(n / 512, 512, room(4 * n), 512, values(n, 1), 512, &h, counts_there(NULL));
}

static hu_status hadamard_rows(size_t n) { return hadamard(n, HU_HADAMARD_ALONG_ROWS); }
static hu_status hadamard_columns(size_t n) { return hadamard(n, HU_HADAMARD_ALONG_COLUMNS); }

/* Sums of nothing; and a scale in device memory. */
static hu_s2fp8_sums *s2fp8_sums(void) {
  hu_s2fp8_sums *sums = room(sizeof *sums), none;
  memset(&none, 0, sizeof none);
  if (hui_memory_put(sums, &none, sizeof none) != HU_OK) exit(2);
  return sums;
}

static hu_s2fp8_scale *s2fp8_scale(const hu_s2fp8 *kind) {
  hu_s2fp8_scale *scale = room(sizeof *scale), made;
  if (hu_s2fp8_scale_from(&made, -((int64_t)3 << 38), (int64_t)1 << 40, kind) != HU_OK) exit(2);
  if (hui_memory_put(scale, &made, sizeof made) != HU_OK) exit(2);
  return scale;
}

static hu_status s2fp8_sum(size_t n) { return hu_s2fp8_sum_n(n, values(n, 1), 1, s2fp8_sums(), counts_there(NULL)); }

static hu_status s2fp8_encode(size_t n) {
  hu_s2fp8 kind = hu_s2fp8_of(named("float8_e5m2"));
  return hu_s2fp8_encode_n(n, room(n), 1, values(n, 1), 1, &kind, s2fp8_scale(&kind), plain_mode(),
                           counts_there(room(HU_DEVICE_S2FP8_WORK)), new_events());
}

static hu_status s2fp8_decode(size_t n) {
  hu_s2fp8 kind = hu_s2fp8_of(named("float8_e5m2"));
  return hu_s2fp8_decode_n(n, room(4 * n), 1, codes(n, 8), 1, &kind, s2fp8_scale(&kind),
                           counts_there(room(HU_DEVICE_S2FP8_WORK)));
}

static hu_scaled tensor_of(const hu_scaling *d, size_t rows, size_t cols) {
  hu_scaled_sizes n = hu_scaled_sizes_of(rows, cols, d);
  hu_scaled z = {codes(rows * cols, 8), cols, values(n.scales / 4 + 1, 1), n.block_cols, NULL};
  return z;
}

/* Runs of 128, a factor made in binary32 for each. */
static hu_status scaled_product(size_t n) {
  (void)n;
  static hu_scaling rows, squares;
  hu_accum fp32;
  rows = scaling_of("dsv3_1x128");
  squares = scaling_of("dsv3_128x128");
  if (hu_accum_parse(&fp32, "fp32", NULL) != HU_OK) return HU_E_ACCUM;
  hu_scaled a = tensor_of(&rows, EDGE, DEPTH), b = tensor_of(&squares, DEPTH, EDGE);
  hu_scaled_sum sum = hu_scaled_sum_parts(fp32, fp32, HU_SCALED_FACTOR_ROUNDED);
  hu_product x = {.m = EDGE, .n = EDGE, .k = DEPTH, .sum = &sum};
  hu_how how = {plain_mode(), counts_there(NULL), new_events()};
  x.a = hu_scaled_matrix(&a, &rows);
  x.b = hu_scaled_matrix(&b, &squares);
  x.d = hu_matrix_floats_out(room(EDGE * EDGE * sizeof(float)), EDGE);
  x.bytes = hu_multiply_space(&x, how.exec);
  x.space = room(x.bytes + 64);
  return hu_multiply(&x, &how);
}

/* ---- exact sums ---- */

static uint64_t *sums_of(size_t n, hu_sum_range range) {
  size_t bytes = n * (1 + range.words) * sizeof(uint64_t);
  void *zeros = calloc(1, bytes);
  uint64_t *sums = room(bytes);
  if (!zeros || hui_memory_put(sums, zeros, bytes) != HU_OK) exit(2);
  free(zeros);
  return sums;
}

static hu_status sum_add(size_t n) {
  hu_format f = named("bfloat16");
  hu_sum_range range = hu_sum_range_of(f);
  return hu_sum_add_n(n, sums_of(n, range), range, hu_codes(codes(n, 16), 1, f), counts_there(NULL));
}

static hu_status sum_merge(size_t n) {
  hu_sum_range range = hu_sum_range_of(named("bfloat16"));
  return hu_sum_merge_n(n, sums_of(n, range), range, sums_of(n, range), counts_there(NULL));
}

static hu_status sum_round(size_t n) {
  hu_format f = named("bfloat16");
  hu_sum_range range = hu_sum_range_of(f);
  return hu_sum_round_n(n, hu_codes_out(room(2 * n), 1, f), sums_of(n, range), range,
                        &(hu_how){plain_mode(), counts_there(NULL), new_events()});
}

static hu_status sum_total(size_t n) {
  hu_sum *sum = room(sizeof *sum), none;
  memset(&none, 0, sizeof none);
  hu_status s = hui_memory_put(sum, &none, sizeof none);
  return s == HU_OK ? hu_sum_add_all(sum, n, hu_codes(codes(n, 16), 1, named("bfloat16")), counts_there(NULL)) : s;
}

/* ---- all of them ---- */

static const struct {
  const char *name;
  size_t count; /* fewer of what takes long */
  hu_status (*run)(size_t n);
} cases[] = {{"encode64 e4m3fn", SOME, encode64},
             {"convert binary16 to e4m3fn", SOME, convert},
             {"add binary16", SOME, add},
             {"fma binary16", SOME, multiply_add},
             {"div binary16", SOME, divide},
             {"exp bfloat16", FEW, exponential},
             {"encode posit16", SOME, posit_encode},
             {"decode posit8", MANY, posit_decode},
             {"pack 4 bits", MANY, pack},
             {"unpack 4 bits", MANY, unpack},
             {"pack mxfp4", MANY, scaled_pack},
             {"unpack mxfp4", MANY, scaled_unpack},
             {"hadamard rows of 32", MANY, hadamard_rows},
             {"hadamard columns of 32", MANY, hadamard_columns},
             {"s2fp8 sums", MANY, s2fp8_sum},
             {"s2fp8 encode", MANY, s2fp8_encode},
             {"s2fp8 decode", MANY, s2fp8_decode},
             {"sum add bfloat16", SOME, sum_add},
             {"sum merge bfloat16", SOME, sum_merge},
             {"sum round bfloat16", SOME, sum_round},
             {"sum total bfloat16", MANY, sum_total},
             {"gemm scaled by parts", (size_t)EDGE *EDGE *DEPTH, scaled_product}};

hu_status run_other(const char *name, size_t *count) {
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    if (strcmp(name, cases[i].name) != 0) continue;
    *count = cases[i].count;
    return cases[i].run(cases[i].count);
  }
  return HU_E_NAME;
}
