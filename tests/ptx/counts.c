/* SPDX-License-Identifier: MIT */
/* Runs one call on up to 2^17 elements, or on one product of matrices, by the interpreter, which counts its
 * instructions (HU_PTX_COUNTS). Prints the elements, or the products of elements.
 *
 * usage: ptx_counts CASE     exit code 2: no such case, or the call failed */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/base/memory.h"
#include "tests/ptx/counts.h"

enum { SIDE = 512, COUNT = SIDE * SIDE / 2, DEPTH = 256, EDGE = 128, FEW = 32 };

const hu_exec *counts_there(void *work) {
  static hu_exec there;
  there.where = hu_cuda(NULL);
  there.where.work = work;
  return &there;
}

hu_mode plain_mode(void) {
  hu_mode m;
  memset(&m, 0, sizeof m);
  return m;
}

void *values(size_t n, float factor) {
  float *x = malloc(n * sizeof *x);
  uint64_t s = 1;
  for (size_t i = 0; x && i < n; i++) {
    int32_t sum = 0;
    s = s * 6364136223846793005u + 1442695040888963407u;
    for (int j = 0; j < 4; j++) sum += (int32_t)((s >> (16 * j)) & 0xFFFF) - 32768;
    x[i] = (float)sum / 32768 * factor;
  }
  void *p = hui_memory_new(n * sizeof *x);
  if (!x || !p || hui_memory_put(p, x, n * sizeof *x) != HU_OK) exit(2);
  free(x);
  return p;
}

void *room(size_t bytes) {
  void *p = hui_memory_new(bytes);
  if (!p) exit(2);
  return p;
}

hu_events *new_events(void) {
  hu_events *events = room(sizeof *events), none;
  memset(&none, 0, sizeof none);
  if (hui_memory_put(events, &none, sizeof none) != HU_OK) exit(2);
  return events;
}

typedef struct element_case {
  const char *name, *format;
  char what; /* q, e, d: quantize, encode, decode */
  int events;
  unsigned round;
  float factor;
} element_case;

static const element_case elements[] = {{"quantize e4m3fn", "float8_e4m3fn", 'q', 0, HU_RNE, 1},
                                        {"quantize bfloat16", "bfloat16", 'q', 0, HU_RNE, 1},
                                        {"encode e4m3fn", "float8_e4m3fn", 'e', 1, HU_RNE, 1},
                                        {"encode e4m3fn small", "float8_e4m3fn", 'e', 1, HU_RNE, 0.017f},
                                        {"encode binary16", "binary16", 'e', 1, HU_RNE, 1},
                                        {"encode e4m3fn sra", "float8_e4m3fn", 'e', 0, HU_SRA, 1},
                                        {"encode e4m3fn sra, from word 1 on", "float8_e4m3fn", 'e', 0, HU_SRA, 1},
                                        {"encode e4m3fn rtz", "float8_e4m3fn", 'e', 1, HU_RTZ, 1},
                                        {"decode e4m3fn", "float8_e4m3fn", 'd', 0, HU_RNE, 1},
                                        {"decode binary16", "binary16", 'd', 0, HU_RNE, 1},
                                        {"decode bfloat16", "bfloat16", 'd', 0, HU_RNE, 1}};

static hu_status run_elements(const element_case *t) {
  hu_format f;
  hu_mode mode = plain_mode();
  hu_status s = hu_format_find(&f, t->format);
  float *x = values(COUNT, t->factor), *z = room(COUNT * sizeof *z);
  hu_events *events = t->events ? new_events() : NULL;
  hu_exec exec;
  mode.round = (uint8_t)t->round;
  if (t->round == HU_SRA) mode.bits = 32;
  if (s != HU_OK) return s;
  if (t->what == 'q') return hu_quantize_n(COUNT, z, 1, x, 1, f, mode, counts_there(NULL), events);
  /* Fours of elements that do not begin with a block of four random words. */
  memset(&exec, 0, sizeof exec);
  exec.stream.counter = strstr(t->name, "from word 1") != NULL;
  exec.where = hu_cuda(NULL);
  if (t->what == 'e') return hu_encode_n(COUNT, z, 1, x, 1, f, mode, &exec, events);
  /* Decoded without being encoded: codes of finite numbers, which are most, are enough to count. */
  s = hui_memory_put(z, memset(calloc(COUNT, 4), 0x31, COUNT * 4), COUNT * 4);
  return s == HU_OK ? hu_decode_n(COUNT, x, 1, z, 1, f, counts_there(NULL)) : s;
}

typedef struct scaled_case {
  const char *name, *scaling;
  char what; /* e, q, d; g: encode with the amax of the tensor given */
  int events, stochastic;
} scaled_case;

#define COLUMNS_8 "scaled(float8_e4m3fn;scale=float8_e8m0fnu;rule=floor;block=8x1)"
#define SQUARES_32 "scaled(float8_e4m3fn;scale=float8_e8m0fnu;rule=floor;block=32x32)"
#define ROWS_4096 "scaled(float8_e4m3fn;scale=binary32;rule=ratio;steps=divide;block=1x4096)"

static const scaled_case scaled[] = {{"encode mxfp8_e4m3", "mxfp8_e4m3", 'e', 0, 0},
                                     {"encode mxfp4", "mxfp4", 'e', 0, 0},
                                     {"encode mxfp8_e4m3 events", "mxfp8_e4m3", 'e', 1, 0},
                                     {"encode mxfp8_e4m3 sra", "mxfp8_e4m3", 'e', 0, 1},
                                     {"quantize mxfp8_e4m3", "mxfp8_e4m3", 'q', 0, 0},
                                     {"encode nvfp4_te", "nvfp4_te", 'g', 0, 0},
                                     {"encode nvfp4_te events", "nvfp4_te", 'g', 1, 0},
                                     {"encode nvfp4_te sra", "nvfp4_te", 'g', 0, 1},
                                     {"encode nvfp4_te, two reads", "nvfp4_te", 'e', 0, 0},
                                     {"encode dsv3_1x128", "dsv3_1x128", 'e', 0, 0},
                                     {"encode dsv3_128x128", "dsv3_128x128", 'e', 0, 0},
                                     {"encode dsv3_128x128 events", "dsv3_128x128", 'e', 1, 0},
                                     {"encode dsv3_128x128 sra", "dsv3_128x128", 'e', 0, 1},
                                     {"quantize dsv3_128x128", "dsv3_128x128", 'q', 0, 0},
                                     {"encode deepgemm_128x128", "deepgemm_128x128", 'e', 0, 0},
                                     {"encode 1x4096", ROWS_4096, 'e', 0, 0},
                                     {"encode fp8_tensor", "fp8_tensor", 'g', 0, 0},
                                     {"encode fp8_tensor, two reads", "fp8_tensor", 'e', 0, 0},
                                     {"encode 32x32", SQUARES_32, 'e', 0, 0},
                                     {"encode 8x1", COLUMNS_8, 'e', 0, 0},
                                     {"decode mxfp8_e4m3", "mxfp8_e4m3", 'd', 0, 0},
                                     {"decode nvfp4_te", "nvfp4_te", 'd', 0, 0},
                                     {"decode dsv3_1x128", "dsv3_1x128", 'd', 0, 0},
                                     {"decode dsv3_128x128", "dsv3_128x128", 'd', 0, 0}};

static hu_status run_scaled(const scaled_case *t) {
  const int wide = strcmp(t->scaling, ROWS_4096) == 0;
  const size_t rows = wide ? COUNT / 4096 : SIDE / 2, cols = wide ? 4096 : SIDE;
  hu_scaling d;
  hu_mode mode = plain_mode();
  hu_status s = hu_scaling_parse(&d, t->scaling, NULL);
  if (s != HU_OK) return s;
  hu_scaled_sizes sizes = hu_scaled_sizes_of(rows, cols, &d);
  float *x = values(COUNT, 1), *z = room(COUNT * sizeof *z), *amax = values(1, 1);
  hu_events *events = t->events ? new_events() : NULL;
  uint8_t *codes = room(sizes.codes), *scales = room(sizes.scales), *empty = calloc(1, sizes.codes + sizes.scales);
  hu_scaled q = {codes, cols, scales, sizes.block_cols, d.tensor ? room(sizeof(float)) : NULL};
  void *work = room(hu_scaled_work_size(rows, cols, &d, counts_there(NULL)) + 8);
  if (t->stochastic) mode.round = HU_SRA, mode.bits = 32;
  if (t->what == 'q')
    return hu_scaled_quantize(rows, cols, z, cols, x, cols, &d, mode, NULL, NULL, counts_there(work), events);
  if (t->what != 'd')
    return hu_scaled_encode(rows, cols, &q, x, cols, &d, mode, t->what == 'g' ? amax : NULL, NULL, counts_there(work),
                            events);
  s = empty ? hui_memory_put(codes, empty, sizes.codes) : HU_E_MEMORY;
  if (s == HU_OK) s = hui_memory_put(scales, empty, sizes.scales);
  free(empty);
  return s == HU_OK ? hu_scaled_decode(rows, cols, z, cols, &q, &d, counts_there(NULL)) : s;
}

/* FEW rows and columns for kernels that take hundreds of instructions. LARGE and DEEP: two tiles of 128 x 128, which a
 * device of one multiprocessor (HU_PTX_SMS=1) takes as it takes those of 4096^3, and one that is split into tiles of
 * 64 x 64 as those of 1024^3 are; four times as deep, so that loading and storing weigh less. */
enum { LARGE = 1000, DEEP };
typedef struct product_case {
  const char *name, *model, *format;
  size_t edge;
} product_case;

static const product_case products[] = {
    {"gemm fp32 of values, 4096^3", "fp32", "binary32", LARGE},
    {"gemm fp32 of e4m3fn, 4096^3", "fp32", "float8_e4m3fn", LARGE},
    {"gemm fp32 of binary16, 4096^3", "fp32", "binary16", LARGE},
    {"gemm fp32 of values, 1024^3", "fp32", "binary32", DEEP},
    {"gemm fp32 of e4m3fn, 1024^3", "fp32", "float8_e4m3fn", DEEP},
    {"gemm fp32 of binary16, 1024^3", "fp32", "binary16", DEEP},
    {"gemm exact of e2m1fn", "exact", "float4_e2m1fn", EDGE},
    {"gemm exact of e4m3fn", "exact", "float8_e4m3fn", DEEP},
    {"gemm exact of e5m2", "exact", "float8_e5m2", DEEP},
    {"gemm exact of binary16", "exact", "binary16", DEEP},
    {"gemm exact of bfloat16", "exact", "bfloat16", FEW},
    {"gemm seq(binary16)", "seq(binary16)", "binary16", EDGE},
    {"gemm seq(fp(6,9,0))", "seq(fp(6,9,0))", "binary16", EDGE},
    {"gemm seq2(binary32)", "seq2(binary32)", "binary16", EDGE},
    {"gemm seq2(binary16)", "seq2(binary16)", "binary16", EDGE},
    {"gemm chunk(64,binary16,binary32)", "chunk(64,binary16,binary32)", "float8_e5m2", EDGE},
    {"gemm pairwise(binary32)", "pairwise(binary32)", "binary16", EDGE},
    {"gemm pairwise(binary16)", "pairwise(binary16)", "binary16", EDGE},
    {"gemm strided(binary32)", "strided(binary32)", "binary16", EDGE},
    {"gemm kahan(binary32)", "kahan(binary32)", "binary16", EDGE},
    {"gemm kahan(binary16)", "kahan(binary16)", "binary16", EDGE},
    {"gemm neumaier(bfloat16)", "neumaier(bfloat16)", "bfloat16", EDGE},
    {"gemm nv.hopper.f16.f32", "nv.hopper.f16.f32", "binary16", EDGE},
    {"gemm amd.cdna3.f16", "amd.cdna3.f16", "binary16", EDGE},
    {"gemm nv.blackwell.mxfp8.e4m3", "nv.blackwell.mxfp8.e4m3", "float8_e4m3fn", EDGE},
    {"gemm nv.blackwell.nvfp4", "nv.blackwell.nvfp4.b16.ue4m3", "float4_e2m1fn", EDGE},
    {"gemm block(align), sra", "block(align,l=16,f=25,emin=-133,round=sra:8)", "binary16", EDGE},
    {"gemm seq(dlfloat16)", "seq(dlfloat16)", "binary16", FEW}};

/* `bytes` bytes of a value on the device. */
static void *filled(size_t bytes, int value) {
  void *x = malloc(bytes + 1), *p = room(bytes + 1);
  if (!x || hui_memory_put(p, memset(x, value, bytes + 1), bytes + 1) != HU_OK) exit(2);
  free(x);
  return p;
}

/* Rows, columns and depth. */
typedef struct product_shape {
  size_t m, n, k;
} product_shape;

static product_shape shape_of(const product_case *t) {
  product_shape usual = {t->edge, t->edge, DEPTH}, large = {2 * EDGE, EDGE, 4 * DEPTH}, deep = {EDGE, EDGE, 4 * DEPTH};
  return t->edge == LARGE ? large : t->edge == DEEP ? deep : usual;
}

static hu_status multiply(const hu_accum *accum, product_shape p, const hu_output *d, const hu_view *a,
                          const hu_view *b) {
  if (!hu_accum_is_scaled(accum))
    return hu_gemm(p.m, p.n, p.k, d, a, b, NULL, accum, &(hu_how){plain_mode(), counts_there(NULL), NULL});
  size_t count = p.k / accum->block.every;
  void *ones = filled(p.m * count, accum->block.scale.m ? 0x38 : 0x7F);
  hu_view sa = hu_matrix_codes(ones, count, accum->block.scale), sb = hu_matrix_codes(ones, p.n, accum->block.scale);
  return hu_multiply(
      &(hu_product){.m = p.m, .n = p.n, .k = p.k, .d = *d, .a = *a, .b = *b, .sa = sa, .sb = sb, .accum = accum},
      &(hu_how){plain_mode(), counts_there(NULL), NULL});
}

/* Codes of numbers between 1/2 and 2, or these numbers where the format is binary32. */
static void *codes_of(hu_format f, size_t count) {
  hu_limits l = hu_limits_of(f);
  const size_t bytes = l.storage / 8;
  uint8_t *codes = calloc(count, bytes);
  void *p = room(count * bytes);
  for (size_t i = 0; codes && i < count; i++) {
    uint32_t code = ((uint32_t)(l.bias - 1) << f.m) + (uint32_t)(i * 2654435761u >> 20) % (2u << f.m);
    for (size_t k = 0; k < bytes; k++) codes[bytes * i + k] = (uint8_t)(code >> 8 * k);
  }
  if (!codes || hui_memory_put(p, codes, count * bytes) != HU_OK) exit(2);
  free(codes);
  return p;
}

static hu_status run_product(const product_case *t) {
  hu_format f;
  hu_accum accum;
  const product_shape p = shape_of(t);
  hu_status s = hu_format_find(&f, t->format);
  if (s == HU_OK) s = hu_accum_parse(&accum, t->model, NULL);
  if (s != HU_OK) return s;
  const uint8_t storage = f.m == 23 ? HU_TYPE_VALUES32 : HU_TYPE_CODES;
  hu_view a = hu_matrix_of(codes_of(f, p.m * p.k), p.k, hu_type_values(storage, f)),
          b = hu_matrix_of(codes_of(f, p.k * p.n), p.n, hu_type_values(storage, f));
  hu_output d = hu_matrix_floats_out(room(p.m * p.n * sizeof(float)), p.n);
  return multiply(&accum, p, &d, &a, &b);
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "";
  hu_status s = HU_E_NAME;
  size_t count = COUNT;
  for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++)
    if (strcmp(name, elements[i].name) == 0) s = run_elements(&elements[i]);
  for (size_t i = 0; i < sizeof scaled / sizeof scaled[0]; i++)
    if (strcmp(name, scaled[i].name) == 0) s = run_scaled(&scaled[i]);
  for (size_t i = 0; i < sizeof products / sizeof products[0]; i++) {
    if (strcmp(name, products[i].name) != 0) continue;
    s = run_product(&products[i]);
    product_shape p = shape_of(&products[i]);
    count = p.m * p.n * p.k;
  }
  if (s == HU_E_NAME) s = run_other(name, &count);
  if (s == HU_OK) s = hui_memory_wait();
  if (s != HU_OK) fprintf(stderr, "ptx_counts: %s: %s\n", name, hu_status_text(s));
  printf("%zu\n", count);
  return s == HU_OK ? 0 : 2;
}
