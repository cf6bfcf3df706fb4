/* SPDX-License-Identifier: MIT */
/* Matrix instructions of a CUDA device as products of matrices, for `halfulp identify --gemm --library`. A product is
 * computed tile by tile; D of one instruction is C of the next along k. m must be a multiple of 64, n of 8, and k of
 * the instruction's k. Rows are contiguous, and elements are codes; those of TF32 are patterns of binary32. */
#include <halfulp/device.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct product {
  size_t m, n, k;
  const char *a, *b, *c;
  char *d;
} product;

static void stop(const char *instruction, const char *why) {
  fprintf(stderr, "%s: %s\n", instruction, why);
  exit(2);
}

static void *room(size_t bytes) {
  void *p = malloc(bytes);
  if (!p) stop("device.so", "not enough memory");
  return p;
}

/* Whether the digits are those of the named format. Units differ from it in their NaN. */
static int has_digits(hu_format f, const char *name) {
  hu_format named;
  if (hu_format_find(&named, name) != HU_OK) stop(name, "no format has this name");
  return f.e == named.e && f.m == named.m;
}

/* The number of the instruction with these formats among those of the device. */
static size_t find(hu_device_mma *t, const char *instruction, const char *a, const char *b, const char *c) {
  for (size_t i = 0;; i++) {
    hu_status s = hu_device_mma_at(t, i);
    if (s == HU_E_NAME) stop(instruction, "this device has no such instruction");
    if (s != HU_OK) stop(instruction, hu_status_text(s));
    if (strcmp(t->instruction, instruction) == 0 && has_digits(t->a.format, a) && has_digits(t->b.format, b) &&
        has_digits(t->c.format, c))
      return i;
  }
}

/* A tile of C or D from the matrix, or into it. */
static void take_c(char *tile, const char *x, size_t columns, const hu_device_mma *t, size_t size) {
  for (size_t i = 0; i < t->m; i++) memcpy(tile + i * t->n * size, x + i * columns * size, t->n * size);
}

static void put_d(char *x, const char *tile, size_t columns, const hu_device_mma *t, size_t size) {
  for (size_t i = 0; i < t->m; i++) memcpy(x + i * columns * size, tile + i * t->n * size, t->n * size);
}

/* Tile (i, j) of step k: rows of A, columns of B. */
static void take_a(char *tile, const product *p, size_t i, size_t k, const hu_device_mma *t, size_t size) {
  for (size_t r = 0; r < t->m; r++)
    memcpy(tile + r * t->k * size, p->a + ((i * t->m + r) * p->k + k) * size, t->k * size);
}

static void take_b(char *tile, const product *p, size_t j, size_t k, const hu_device_mma *t, size_t size) {
  for (size_t column = 0; column < t->n; column++) {
    for (size_t r = 0; r < t->k; r++)
      memcpy(tile + (column * t->k + r) * size, p->b + ((k + r) * p->n + j * t->n + column) * size, size);
  }
}

static void multiply(const product *p, const char *instruction, const char *fa, const char *fb, const char *fc) {
  hu_device_mma t;
  size_t number = find(&t, instruction, fa, fb, fc), across = p->n / t.n, tiles = p->m / t.m * across;
  size_t size_a = hu_type_size(t.a), size_b = hu_type_size(t.b), size_c = hu_type_size(t.c);
  size_t one_a = t.m * t.k * size_a, one_b = t.n * t.k * size_b, one_c = t.m * t.n * size_c;
  if (p->m % t.m || p->n % t.n || p->k % t.k) stop(instruction, "m, n and k must be multiples of the instruction's");
  char *a = room(tiles * one_a), *b = room(tiles * one_b), *c = room(tiles * one_c), *d = room(tiles * one_c);
  for (size_t i = 0; i < tiles; i++)
    take_c(c + i * one_c, p->c + (i / across * t.m * p->n + i % across * t.n) * size_c, p->n, &t, size_c);
  for (size_t k = 0; k < p->k; k += t.k) {
    for (size_t i = 0; i < tiles; i++) {
      take_a(a + i * one_a, p, i / across, k, &t, size_a);
      take_b(b + i * one_b, p, i % across, k, &t, size_b);
    }
    hu_status s = hu_device_mma_run(number, tiles, d, a, b, c);
    if (s != HU_OK) stop(instruction, hu_status_text(s));
    memcpy(c, d, tiles * one_c);
  }
  for (size_t i = 0; i < tiles; i++)
    put_d(p->d + (i / across * t.m * p->n + i % across * t.n) * size_c, c + i * one_c, p->n, &t, size_c);
  free(a);
  free(b);
  free(c);
  free(d);
}

typedef void gemm(size_t m, size_t n, size_t k, const void *a, const void *b, const void *c, void *d);

#define INSTRUCTION(name, text, fa, fb, fc)                                                       \
  gemm name;                                                                                      \
  void name(size_t m, size_t n, size_t k, const void *a, const void *b, const void *c, void *d) { \
    product p = {m, n, k, a, b, c, d};                                                            \
    multiply(&p, text, fa, fb, fc);                                                               \
  }

/* clang-format off */
INSTRUCTION(mma_f16_f32_k16, "mma.sync.m16n8k16", "binary16", "binary16", "binary32")
INSTRUCTION(mma_f16_f32_k8, "mma.sync.m16n8k8", "binary16", "binary16", "binary32")
INSTRUCTION(mma_f16_f16_k16, "mma.sync.m16n8k16", "binary16", "binary16", "binary16")
INSTRUCTION(mma_f16_f16_k8, "mma.sync.m16n8k8", "binary16", "binary16", "binary16")
INSTRUCTION(mma_bf16_k16, "mma.sync.m16n8k16", "bfloat16", "bfloat16", "binary32")
INSTRUCTION(mma_bf16_k8, "mma.sync.m16n8k8", "bfloat16", "bfloat16", "binary32")
INSTRUCTION(mma_tf32_k8, "mma.sync.m16n8k8", "binary32", "binary32", "binary32")
INSTRUCTION(mma_tf32_k4, "mma.sync.m16n8k4", "binary32", "binary32", "binary32")
INSTRUCTION(mma_e4m3_f32, "mma.sync.m16n8k32", "float8_e4m3fn", "float8_e4m3fn", "binary32")
INSTRUCTION(mma_e5m2_f32, "mma.sync.m16n8k32", "float8_e5m2", "float8_e5m2", "binary32")
INSTRUCTION(mma_e4m3_f16, "mma.sync.m16n8k32", "float8_e4m3fn", "float8_e4m3fn", "binary16")
INSTRUCTION(mma_e5m2_f16, "mma.sync.m16n8k32", "float8_e5m2", "float8_e5m2", "binary16")
INSTRUCTION(wgmma_f16_f32, "wgmma.m64n8k16", "binary16", "binary16", "binary32")
INSTRUCTION(wgmma_f16_f16, "wgmma.m64n8k16", "binary16", "binary16", "binary16")
INSTRUCTION(wgmma_bf16, "wgmma.m64n8k16", "bfloat16", "bfloat16", "binary32")
INSTRUCTION(wgmma_tf32, "wgmma.m64n8k8", "binary32", "binary32", "binary32")
INSTRUCTION(wgmma_e4m3_f32, "wgmma.m64n8k32", "float8_e4m3fn", "float8_e4m3fn", "binary32")
INSTRUCTION(wgmma_e5m2_f32, "wgmma.m64n8k32", "float8_e5m2", "float8_e5m2", "binary32")
INSTRUCTION(wgmma_e4m3_f16, "wgmma.m64n8k32", "float8_e4m3fn", "float8_e4m3fn", "binary16")
INSTRUCTION(wgmma_e5m2_f16, "wgmma.m64n8k32", "float8_e5m2", "float8_e5m2", "binary16")
/* clang-format on */
