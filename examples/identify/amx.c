/* SPDX-License-Identifier: MIT */
/* A matrix instruction of AMX, element (0, 0) of its tile: TDPBF16PS, 32 products of bfloat16 and C for each; with --s8
 * TDPBSSD, 64 products of s8. With --has: exit code 0 if this processor has them and the kernel lets a program use
 * them. */
#define _GNU_SOURCE
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "line.h"

enum { ROW = 64, ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };

/* Tiles 0 (C and D, one row of one element), 1 (A, one row of 64 bytes) and 2 (B, a row for each four bytes of A). */
static const struct {
  uint8_t palette, start, zero[14];
  uint16_t bytes[16];
  uint8_t rows[16];
} __attribute__((packed)) shape = {1, 0, {0}, {4, ROW, 4}, {1, 1, ROW / 4}};

/* D = C + A B; multiply takes the numbers of tiles as constants. */
#define TILES(multiply, a, b, d) \
  do {                           \
    _tile_loadconfig(&shape);    \
    _tile_loadd(0, d, 4);        \
    _tile_loadd(1, a, ROW);      \
    _tile_loadd(2, b, 4);        \
    multiply(0, 1, 2);           \
    _tile_stored(0, d, 4);       \
  } while (0)

__attribute__((target("amx-tile,amx-bf16"))) static void multiply_bf16(const uint8_t *a, const uint8_t *b,
                                                                       uint32_t *d) {
  TILES(_tile_dpbf16ps, a, b, d);
}

__attribute__((target("amx-tile,amx-int8"))) static void multiply_s8(const uint8_t *a, const uint8_t *b, uint32_t *d) {
  TILES(_tile_dpbssd, a, b, d);
}

/* A row of A lies as it is; of B element k of a column stands in row k / 2 (k / 4) of the tile, which a column of four
 * bytes makes the same bytes. */
static uint32_t dot_bf16(size_t n, const void *a, const void *b, uint32_t c) {
  for (size_t k = 0; k < n; k += ROW / 2) multiply_bf16((const uint8_t *)a + 2 * k, (const uint8_t *)b + 2 * k, &c);
  return c;
}

static uint32_t dot_s8(size_t n, const void *a, const void *b, uint32_t c) {
  for (size_t k = 0; k < n; k += ROW) multiply_s8((const uint8_t *)a + k, (const uint8_t *)b + k, &c);
  return c;
}

/* Leaf 7: AMX-BF16 is bit 22 of EDX, AMX-TILE bit 24, AMX-INT8 bit 25. The kernel gives tiles to programs that ask. */
static int has_amx(void) {
  unsigned a, b, c, d, all = 1u << 22 | 1u << 24 | 1u << 25;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & all) != all) return 0;
  return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}

int main(int argc, char **argv) {
  int has = has_amx();
  if (argc > 1 && strcmp(argv[1], "--has") == 0) return !has;
  if (!has) fprintf(stderr, "this processor has no AMX, or the kernel does not let a program use it\n");
  int s8 = argc > 1 && strcmp(argv[1], "--s8") == 0;
  return !has ? 2 : s8 ? line_answer(dot_s8, 1, ROW) : line_answer(dot_bf16, 2, ROW / 2);
}
