/* SPDX-License-Identifier: MIT */
/* emu/gemm/tiles/neon.c - inner loops in NEON: tiles of 8 rows by three vectors, 24 accumulators in registers. */
#include "emu/gemm/tiles/kernels.h"
#include "emu/gemm/tiles/wide_carries.h"
#include "emu/gemm/tiles/wide_bins.h"

#if HU_ARM_LEVELS
#include <arm_neon.h>

#define NEON_FN static inline __attribute__((always_inline))
#define NEON_V 3 /* vectors of a tile's row */

/* Adds to row i of a tile the products of lane `lane` of x; the instruction takes a constant only. */
#define NEON_ROW(fma, i, x, lane) \
  z[i][0] = fma(z[i][0], b0, x, lane), z[i][1] = fma(z[i][1], b1, x, lane), z[i][2] = fma(z[i][2], b2, x, lane)

NEON_FN void tile32(size_t kc, const float *a, const float *b, float *acc, int fresh) {
  float32x4_t z[HU_GEMM_MR][NEON_V];
  HU_UNROLL
  for (int i = 0; i < HU_GEMM_MR; i++) {
    HU_UNROLL
    for (int j = 0; j < NEON_V; j++) z[i][j] = fresh ? vdupq_n_f32(0) : vld1q_f32(acc + i * HU_GEMM32_NR + 4 * j);
  }
  for (size_t k = 0; k < kc; k++) {
    float32x4_t b0 = vld1q_f32(b), b1 = vld1q_f32(b + 4), b2 = vld1q_f32(b + 8);
    float32x4_t x = vld1q_f32(a), y = vld1q_f32(a + 4);
    NEON_ROW(vfmaq_laneq_f32, 0, x, 0);
    NEON_ROW(vfmaq_laneq_f32, 1, x, 1);
    NEON_ROW(vfmaq_laneq_f32, 2, x, 2);
    NEON_ROW(vfmaq_laneq_f32, 3, x, 3);
    NEON_ROW(vfmaq_laneq_f32, 4, y, 0);
    NEON_ROW(vfmaq_laneq_f32, 5, y, 1);
    NEON_ROW(vfmaq_laneq_f32, 6, y, 2);
    NEON_ROW(vfmaq_laneq_f32, 7, y, 3);
    a += HU_GEMM_MR;
    b += HU_GEMM32_NR;
  }
  HU_UNROLL
  for (int i = 0; i < HU_GEMM_MR; i++) {
    HU_UNROLL
    for (int j = 0; j < NEON_V; j++) vst1q_f32(acc + i * HU_GEMM32_NR + 4 * j, z[i][j]);
  }
}

static void fma32(size_t rows, size_t cols, size_t kc, const float *a, const float *b, float *acc, int fresh,
                  hu_ahead *ahead) {
  for (size_t j = 0; j < cols; j += 4 * NEON_V) {
    size_t panel = j / HU_GEMM32_NR * HU_GEMM32_NR, in = j % HU_GEMM32_NR;
    const float *y = b + panel * HU_GEMM32_KC + in;
    float *z = acc + panel * HU_GEMM32_MB + in;
    for (size_t i = 0; i < rows; i += HU_GEMM_MR) {
      for (int k = 0; k < 4; k++) hui_fetch_line(ahead);
      tile32(kc, a + i * HU_GEMM32_KC, y, z + i * HU_GEMM32_NR, fresh);
    }
  }
}

NEON_FN void tile64(size_t kc, const double *a, const double *b, double *acc, int fresh) {
  float64x2_t z[HU_GEMM_MR][NEON_V];
  HU_UNROLL
  for (int i = 0; i < HU_GEMM_MR; i++) {
    HU_UNROLL
    for (int j = 0; j < NEON_V; j++) z[i][j] = fresh ? vdupq_n_f64(0) : vld1q_f64(acc + i * HU_GEMM64_NR + 2 * j);
  }
  for (size_t k = 0; k < kc; k++) {
    float64x2_t b0 = vld1q_f64(b), b1 = vld1q_f64(b + 2), b2 = vld1q_f64(b + 4);
    float64x2_t x0 = vld1q_f64(a), x1 = vld1q_f64(a + 2), x2 = vld1q_f64(a + 4), x3 = vld1q_f64(a + 6);
    NEON_ROW(vfmaq_laneq_f64, 0, x0, 0);
    NEON_ROW(vfmaq_laneq_f64, 1, x0, 1);
    NEON_ROW(vfmaq_laneq_f64, 2, x1, 0);
    NEON_ROW(vfmaq_laneq_f64, 3, x1, 1);
    NEON_ROW(vfmaq_laneq_f64, 4, x2, 0);
    NEON_ROW(vfmaq_laneq_f64, 5, x2, 1);
    NEON_ROW(vfmaq_laneq_f64, 6, x3, 0);
    NEON_ROW(vfmaq_laneq_f64, 7, x3, 1);
    a += HU_GEMM_MR;
    b += HU_GEMM64_NR;
  }
  HU_UNROLL
  for (int i = 0; i < HU_GEMM_MR; i++) {
    HU_UNROLL
    for (int j = 0; j < NEON_V; j++) vst1q_f64(acc + i * HU_GEMM64_NR + 2 * j, z[i][j]);
  }
}

static void sum64(size_t rows, size_t cols, size_t kc, const double *a, const double *b, double *acc, int fresh,
                  hu_ahead *ahead) {
  for (size_t j = 0; j < cols; j += 2 * NEON_V) {
    size_t panel = j / HU_GEMM64_NR * HU_GEMM64_NR, in = j % HU_GEMM64_NR;
    const double *y = b + panel * HU_GEMM64_KC + in;
    double *z = acc + panel * HU_GEMM64_MB + in;
    for (size_t i = 0; i < rows; i += HU_GEMM_MR) {
      for (int k = 0; k < 4; k++) hui_fetch_line(ahead);
      tile64(kc, a + i * HU_GEMM64_KC, y, z + i * HU_GEMM64_NR, fresh);
    }
  }
}

/* ---- packing ---- */

static void copy(size_t n, float *z, const float *x) { memcpy(z, x, n * sizeof *z); }

NEON_FN void widen4(double *z, float32x4_t x) {
  vst1q_f64(z, vcvt_f64_f32(vget_low_f32(x)));
  vst1q_f64(z + 2, vcvt_high_f64_f32(x));
}

static void widen(size_t n, double *z, const float *x) {
  size_t i = 0;
  for (; i + 4 <= n; i += 4) widen4(z + i, vld1q_f32(x + i));
  for (; i < n; i++) z[i] = (double)x[i];
}

/* z[c] = column c of the 4 x 4 square at x. Every other row's pairs change places, then these. */
NEON_FN void turn4(float32x4_t z[4], const float *x, size_t ldx) {
  float32x4_t r0 = vld1q_f32(x), r1 = vld1q_f32(x + ldx), r2 = vld1q_f32(x + 2 * ldx), r3 = vld1q_f32(x + 3 * ldx);
  float32x4_t even = vzip1q_f32(r0, r2), odd = vzip1q_f32(r1, r3);
  float32x4_t even_high = vzip2q_f32(r0, r2), odd_high = vzip2q_f32(r1, r3);
  z[0] = vzip1q_f32(even, odd);
  z[1] = vzip2q_f32(even, odd);
  z[2] = vzip1q_f32(even_high, odd_high);
  z[3] = vzip2q_f32(even_high, odd_high);
}

static void transpose32(size_t n, float *z, size_t ldz, const float *x, size_t ldx) {
  size_t c = 0;
  for (; c + 4 <= n; c += 4) {
    for (size_t j = 0; j < HU_GEMM_MR; j += 4) {
      float32x4_t columns[4];
      turn4(columns, x + j * ldx + c, ldx);
      for (size_t i = 0; i < 4; i++) vst1q_f32(z + (c + i) * ldz + j, columns[i]);
    }
  }
  for (; c < n; c++) {
    for (size_t i = 0; i < HU_GEMM_MR; i++) z[c * ldz + i] = x[i * ldx + c];
  }
}

static void transpose64(size_t n, double *z, size_t ldz, const float *x, size_t ldx) {
  size_t c = 0;
  for (; c + 4 <= n; c += 4) {
    for (size_t j = 0; j < HU_GEMM_MR; j += 4) {
      float32x4_t columns[4];
      turn4(columns, x + j * ldx + c, ldx);
      for (size_t i = 0; i < 4; i++) widen4(z + (c + i) * ldz + j, columns[i]);
    }
  }
  for (; c < n; c++) {
    for (size_t i = 0; i < HU_GEMM_MR; i++) z[c * ldz + i] = (double)x[i * ldx + c];
  }
}

static void spread32(size_t panels, float *z, const float *x) {
  for (size_t panel = 0; panel < panels; panel++)
    copy(HU_GEMM32_NR, z + panel * (HU_GEMM32_NR * HU_GEMM32_KC), x + panel * HU_GEMM32_NR);
}

static void spread64(size_t panels, double *z, const float *x) {
  for (size_t panel = 0; panel < panels; panel++, z += HU_GEMM64_NR * HU_GEMM64_KC, x += HU_GEMM64_NR) {
    for (size_t i = 0; i < HU_GEMM64_NR; i += 4) widen4(z + i, vld1q_f32(x + i));
  }
}

/* ---- from binary64 to binary32 ---- */

typedef struct narrowed {
  uint64x2_t same, edge; /* same: less one a lane that did not change */
} narrowed;

NEON_FN float32x2_t narrow2(narrowed *n, float64x2_t value) {
  const float64x2_t lo = vdupq_n_f64(0x1p-125), hi = vdupq_n_f64(0x1p127);
  float32x2_t single = vcvt_f32_f64(value);
  n->same = vaddq_u64(n->same, vceqq_f64(vcvt_f64_f32(single), value));
  uint64x2_t within = vandq_u64(vcageq_f64(value, lo), vcaleq_f64(value, hi));
  n->edge = vornq_u64(n->edge, vorrq_u64(within, vceqzq_f64(value)));
  return single;
}

static size_t narrow(size_t n, float *z, const double *x) {
  narrowed state = {vdupq_n_u64(0), vdupq_n_u64(0)};
  size_t i = 0, counted = n + (n & 1);
  for (; i + 4 <= n; i += 4) {
    float32x2_t low = narrow2(&state, vld1q_f64(x + i)), high = narrow2(&state, vld1q_f64(x + i + 2));
    vst1q_f32(z + i, vcombine_f32(low, high));
  }
  for (; i + 2 <= n; i += 2) vst1_f32(z + i, narrow2(&state, vld1q_f64(x + i)));
  if (i < n) z[i] = vget_lane_f32(narrow2(&state, vcombine_f64(vld1_f64(x + i), vdup_n_f64(0))), 0);
  return vmaxvq_u32((uint32x4_t)state.edge) ? SIZE_MAX : counted + vaddvq_u64(state.same);
}

/* ---- wide sums ---- */

/* One shift by a signed count does both directions; by 64 it gives 0. Counts are bounded, for it looks at their lowest
 * byte alone. */
NEON_FN float64x2_t digit2(uint64x2_t bits, uint64x2_t sig, int64x2_t up, uint64x2_t mask) {
  float64x2_t digit = vcvtq_f64_u64(vandq_u64(vshlq_u64(sig, up), mask));
  return (float64x2_t)vorrq_u64((uint64x2_t)digit, vandq_u64(bits, vdupq_n_u64((uint64_t)1 << 63)));
}

NEON_FN uint64x2_t significand2(uint64x2_t bits, uint64x2_t finite, uint64x2_t normal) {
  const uint64x2_t fraction = vdupq_n_u64(0xFFFFFFFFFFFFF), hidden = vdupq_n_u64(0x10000000000000);
  return vandq_u64(finite, vorrq_u64(vandq_u64(bits, fraction), vandq_u64(normal, hidden)));
}

/* All ones in the lanes of 64 bits whose lanes of 32 bits have them. */
NEON_FN uint64x2_t low_mask(uint32x4_t m) { return (uint64x2_t)vmovl_s32((int32x2_t)vget_low_u32(m)); }
NEON_FN uint64x2_t high_mask(uint32x4_t m) { return (uint64x2_t)vmovl_high_s32((int32x4_t)m); }

static void cut(const hu_wide_cut *rule, size_t kc, const double *x, double *digits) {
  const uint64x2_t mask = vdupq_n_u64(((uint64_t)1 << rule->width) - 1);
  const int32x4_t first = vdupq_n_s32(1075 + rule->low + rule->first * rule->width), step = vdupq_n_s32(rule->width);
  const int32x4_t most = vdupq_n_s32(64), least = vdupq_n_s32(-64);
  for (size_t j = 0; j < kc * (HU_WIDE_COLS / 4); j++) {
    uint64x2_t u0 = vld1q_u64((const uint64_t *)(const void *)(x + 4 * j));
    uint64x2_t u1 = vld1q_u64((const uint64_t *)(const void *)(x + 4 * j + 2));
    uint32x4_t field = vcombine_u32(vshrn_n_u64(u0, 32), vshrn_n_u64(u1, 32));
    field = vandq_u32(vshrq_n_u32(field, 20), vdupq_n_u32(0x7FF));
    uint32x4_t below = vceqzq_u32(field), normal = vmvnq_u32(below);
    uint32x4_t finite = vcltq_u32(field, vdupq_n_u32(0x7FF));
    uint64x2_t sig0 = significand2(u0, low_mask(finite), low_mask(normal));
    uint64x2_t sig1 = significand2(u1, high_mask(finite), high_mask(normal));
    /* Field 0 has the last place of field 1. */
    int32x4_t up = vsubq_s32((int32x4_t)vsubq_u32(field, below), first);
    double *z = digits + (j / 4 * (size_t)rule->count) * HU_WIDE_COLS + j % 4 * 4;
    for (int32_t k = 0; k < rule->count; k++, z += HU_WIDE_COLS) {
      int32x4_t by = vmaxq_s32(vminq_s32(up, most), least);
      vst1q_f64(z, digit2(u0, sig0, vmovl_s32(vget_low_s32(by)), mask));
      vst1q_f64(z + 2, digit2(u1, sig1, vmovl_high_s32(by), mask));
      up = vsubq_s32(up, step);
    }
  }
}

NEON_FN void add_to(int64_t *bins, const float64x2_t sum[4]) {
  HU_UNROLL
  for (size_t c = 0; c < 4; c++) vst1q_s64(bins + 2 * c, vaddq_s64(vld1q_s64(bins + 2 * c), vcvtq_s64_f64(sum[c])));
}

/* Adds two digits, eight columns: sixteen sums. */
NEON_FN void wide_pair(const hu_wide_row *row, size_t first, size_t past, size_t step, const int count, const int cut,
                       const double *digits, int64_t *bins) {
  float64x2_t lo[2][4], hi[2][4];
  HU_UNROLL
  for (int j = 0; j < count; j++) {
    HU_UNROLL
    for (int c = 0; c < 4; c++) lo[j][c] = hi[j][c] = vdupq_n_f64(0);
  }
  for (size_t i = first; i < past; i++) {
    const double *at = digits + row->k[i] * step;
    float64x2_t x = vld1q_dup_f64(row->lo + i), y = cut ? vld1q_dup_f64(row->hi + i) : x;
    HU_UNROLL
    for (int j = 0; j < count; j++) {
      HU_UNROLL
      for (int c = 0; c < 4; c++) {
        float64x2_t digit = vld1q_f64(at + j * HU_WIDE_COLS + 2 * c);
        lo[j][c] = vfmaq_f64(lo[j][c], x, digit);
        if (cut) hi[j][c] = vfmaq_f64(hi[j][c], y, digit);
      }
    }
  }
  HU_UNROLL
  for (int j = 0; j < count; j++) {
    add_to(bins + j * HU_WIDE_COLS, lo[j]);
    if (cut) add_to(bins + (j + 1) * HU_WIDE_COLS, hi[j]);
  }
}

#include "emu/gemm/tiles/wide_group.h"

/* Adds by groups, of which no sum passes 2^53. */
static void wide(const hu_wide_row *row, size_t count, const double *digits, int64_t *bins) {
  for (size_t group = 0; group < row->groups; group++) {
    wide_group(row, row->first[group], row->first[group + 1], count, digits, bins + row->bin[group] * HU_WIDE_COLS);
  }
}

static void to_bins(const hu_bin_rule *rule, size_t n, const double *x, int spread, int64_t *y, uint16_t *at) {
  hui_bin_all(rule, n, x, spread, y, at);
}

static void propagate_carries(int32_t width, size_t bins, int64_t *z) { hui_propagate_carries(width, bins, z); }

static void join(int32_t width, size_t bins, int64_t *z) { hui_join(width, bins, z); }

const hu_gemm_kernels hu_gemm_neon = {fma32,    sum64,  copy, widen, transpose32, transpose64,       spread32,
                                      spread64, narrow, cut,  wide,  to_bins,     propagate_carries, join};
#endif
