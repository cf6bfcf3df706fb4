/* SPDX-License-Identifier: MIT */
/* emu/gemm/short/side.c - see side.h. */
#include "emu/gemm/short/side.h"

#include <string.h>

#include "emu/core/bits.h"

/* Returns sig 2^exp in units of 2^exponent; 2^31 and more as 2^31. */
static uint32_t units(uint64_t sig, int32_t exp, int32_t exponent) {
  int32_t up = exp - exponent;
  if (sig == 0) return 0;
  return up > hui_clz64(sig) - 33 ? (uint32_t)1 << 31 : (uint32_t)(sig << up);
}

static void set_side(hu_side *z, int32_t exponent, uint32_t most) {
  z->exponent = exponent;
  z->most = most;
  z->scale = hui_float_of_bits(hui_power_bits(-exponent));
}

int hui_side_of_format(hu_side *z, const hu_matrix *x, int32_t digits) {
  const hu_spec *spec = &x->spec;
  hu_num max = hui_unpack(spec, spec->max_code);
  set_side(z, spec->emin - spec->m, units(max.sig, max.exp, spec->emin - spec->m));
  return !spec->has_inf && !spec->has_nan && z->most < (uint32_t)1 << digits;
}

/* By the patterns of the least magnitude but 0 and of the largest; UINT32_MAX and 0 where all are 0. */
static int side_of_range(hu_side *z, const hu_matrix *x, uint32_t least, uint32_t most, int32_t digits) {
  if (most >= 0x7F800000) return 0;
  if (most == 0) return set_side(z, 0, 0), 1;
  int32_t low = (int32_t)(least >> 23) - 127, high = (int32_t)(most >> 23) - 127;
  low = (low < x->spec.emin ? x->spec.emin : low) - x->spec.m;
  if (high - low >= digits) return 0;
  set_side(z, low, ((most & 0x7FFFFF) | 0x800000) >> (23 - (high - low)));
  return 1;
}

int hui_side_of_values(hu_side *z, const hu_short_kernels *kernels, const hu_matrix *x, size_t rows, int32_t digits) {
  enum { PIECE = 512 };
  _Alignas(64) float piece[PIECE + 16];
  uint32_t least = UINT32_MAX, most = 0;
  size_t cols = hui_gemm_stored_cols(x);
  for (size_t i = 0; i < hui_least(rows, hui_gemm_stored_rows(x)); i++) {
    for (size_t j = 0; j < cols; j += PIECE) {
      size_t some = hui_least(cols - j, PIECE);
      hui_gemm_read32(x, i, j, some, piece);
      memset(piece + some, 0, 16 * sizeof *piece);
      kernels->range(hui_up_to(some, 16), piece, &least, &most);
    }
  }
  return side_of_range(z, x, least, most, digits);
}

int hui_side_is_small(const hu_matrix *x) {
  const hu_spec *spec = &x->spec;
  return x->carried && spec->m <= 8 && spec->emin - spec->m >= -100 && spec->emax <= 100 &&
         spec->emax - spec->emin <= 40;
}

void hui_short_add_c(const hu_gemm_call *call, size_t i, size_t j0, size_t n, double *sum) {
  double c[HU_GEMM32_NB];
  if (!call->c.transposed) {
    hui_gemm_read64(&call->c, i, j0, n, c);
  } else {
    for (size_t j = 0; j < n; j++) hui_gemm_read64(&call->c, j0 + j, i, 1, c + j);
  }
  for (size_t j = 0; j < n; j++) {
    int open = sum[j] == 0 && hui_bits_of_double(c[j]) == (uint64_t)1 << 63;
    sum[j] += c[j];
    if (open && hui_gemm_zero_sign(call, i, j0 + j)) sum[j] = c[j];
  }
}

int hui_sides_fit(const hu_side *a, const hu_side *b, size_t k) {
  uint64_t product = (uint64_t)a->most * b->most;
  return product == 0 || k <= ((uint64_t)1 << 53) / product;
}

double hui_side_unit(const hu_side *a, const hu_side *b) {
  return hui_double_of_bits((uint64_t)(a->exponent + b->exponent + 1023) << 52);
}
