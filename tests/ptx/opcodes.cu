/* SPDX-License-Identifier: MIT */
/* tests/ptx/opcodes.cu - one kernel for each kind of instruction, written in PTX, against what the CPU says. */
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <vector>

enum { COUNT = 2048 };

/* ---- values as 64 bits ---- */

template <class T>
__host__ __device__ static T value(uint64_t bits) {
  T x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
template <class T>
__host__ __device__ static uint64_t bits(T x) {
  uint64_t z = 0;
  memcpy(&z, &x, sizeof x);
  return z;
}

struct Case {
  const char *name;
  void (*start)(const uint64_t *a, const uint64_t *b, const uint64_t *c, uint64_t *d);
  uint64_t (*expected)(uint64_t a, uint64_t b, uint64_t c);
};
static std::vector<Case> &cases() {
  static std::vector<Case> all;
  return all;
}
struct Add {
  explicit Add(const Case &c) { cases().push_back(c); }
};

/* PTX has %0 for the result of type D and %1, %2, %3 for values of types A, B, C; EXPECTED is of a, b, c. The letters
 * are those of asm: h, r, l, f, d. */
#define CASE(NAME, PTX, DL, D, AL, A, BL, B, CL, C, EXPECTED)                                                  \
  static __global__ void NAME##_kernel(const uint64_t *a, const uint64_t *b, const uint64_t *c, uint64_t *d) { \
    unsigned k = blockIdx.x * blockDim.x + threadIdx.x;                                                        \
    A x = value<A>(a[k]);                                                                                      \
    B y = value<B>(b[k]);                                                                                      \
    C w = value<C>(c[k]);                                                                                      \
    D z;                                                                                                       \
    asm volatile(PTX : "=" #DL(z) : #AL(x), #BL(y), #CL(w));                                                   \
    d[k] = bits(z);                                                                                            \
  }                                                                                                            \
  static void NAME##_start(const uint64_t *a, const uint64_t *b, const uint64_t *c, uint64_t *d) {             \
    NAME##_kernel<<<COUNT / 128, 128>>>(a, b, c, d);                                                           \
  }                                                                                                            \
  static uint64_t NAME##_expected(uint64_t a_, uint64_t b_, uint64_t c_) {                                     \
    A a = value<A>(a_);                                                                                        \
    B b = value<B>(b_);                                                                                        \
    C c = value<C>(c_);                                                                                        \
    (void)a, (void)b, (void)c;                                                                                 \
    return bits((D)(EXPECTED));                                                                                \
  }                                                                                                            \
  static Add NAME##_add({#NAME, NAME##_start, NAME##_expected});
#define CASE32(NAME, PTX, EXPECTED) CASE(NAME, PTX, r, uint32_t, r, uint32_t, r, uint32_t, r, uint32_t, EXPECTED)
#define CASES32(NAME, PTX, EXPECTED) CASE(NAME, PTX, r, int32_t, r, int32_t, r, int32_t, r, int32_t, EXPECTED)
#define CASE64(NAME, PTX, EXPECTED) CASE(NAME, PTX, l, uint64_t, l, uint64_t, l, uint64_t, l, uint64_t, EXPECTED)
#define CASES64(NAME, PTX, EXPECTED) CASE(NAME, PTX, l, int64_t, l, int64_t, l, int64_t, l, int64_t, EXPECTED)
#define CASE16(NAME, PTX, EXPECTED) CASE(NAME, PTX, h, uint16_t, h, uint16_t, h, uint16_t, h, uint16_t, EXPECTED)
#define CASEF(NAME, PTX, EXPECTED) CASE(NAME, PTX, f, float, f, float, f, float, f, float, EXPECTED)
#define CASED(NAME, PTX, EXPECTED) CASE(NAME, PTX, d, double, d, double, d, double, d, double, EXPECTED)

/* ---- integers ---- */

CASE32(add_u32, "add.u32 %0, %1, %2;", a + b)
CASE16(sub_u16, "sub.u16 %0, %1, %2;", a - b)
CASE64(sub_u64, "sub.u64 %0, %1, %2;", a - b)
CASE16(mul_lo_u16, "mul.lo.u16 %0, %1, %2;", (uint32_t)a *b)
CASE32(mul_lo_u32, "mul.lo.u32 %0, %1, %2;", a *b)
CASE64(mul_lo_u64, "mul.lo.u64 %0, %1, %2;", a *b)
CASE32(mul_hi_u32, "mul.hi.u32 %0, %1, %2;", ((uint64_t)a * b) >> 32)
CASES32(mul_hi_s32, "mul.hi.s32 %0, %1, %2;", ((int64_t)a * b) >> 32)
CASE64(mul_hi_u64, "mul.hi.u64 %0, %1, %2;", ((unsigned __int128)a * b) >> 64)
CASES64(mul_hi_s64, "mul.hi.s64 %0, %1, %2;", ((__int128)a * b) >> 64)
CASE(mul_wide_u16, "mul.wide.u16 %0, %1, %2;", r, uint32_t, h, uint16_t, h, uint16_t, h, uint16_t, (uint32_t)a *b)
CASE(mul_wide_u32, "mul.wide.u32 %0, %1, %2;", l, uint64_t, r, uint32_t, r, uint32_t, r, uint32_t, (uint64_t)a *b)
CASE(mul_wide_s32, "mul.wide.s32 %0, %1, %2;", l, int64_t, r, int32_t, r, int32_t, r, int32_t, (int64_t)a *b)
CASE32(mad_lo_u32, "mad.lo.u32 %0, %1, %2, %3;", a *b + c)
CASE64(mad_lo_u64, "mad.lo.u64 %0, %1, %2, %3;", a *b + c)
CASE32(dp4a_s32, "dp4a.s32.s32 %0, %1, %2, %3;",
       c + (uint32_t)((int8_t)a * (int8_t)b) + (uint32_t)((int8_t)(a >> 8) * (int8_t)(b >> 8)) +
           (uint32_t)((int8_t)(a >> 16) * (int8_t)(b >> 16)) +
           (uint32_t)((int32_t)a >> 24) * (uint32_t)((int32_t)b >> 24))
CASE32(mad_hi_u32, "mad.hi.u32 %0, %1, %2, %3;", (((uint64_t)a * b) >> 32) + c)
CASE(mad_wide_u32, "mad.wide.u32 %0, %1, %2, %3;", l, uint64_t, r, uint32_t, r, uint32_t, l, uint64_t,
     (uint64_t)a *b + c)
CASE32(div_u32, "div.u32 %0, %1, %2;", b ? a / b : ~0u)
CASES32(div_s32, "{ .reg .s32 t; or.b32 t, %2, 1; div.s32 %0, %1, t; }",
        (b | 1) == -1 ? (int32_t)(0u - (uint32_t)a) : a / (b | 1))
CASE32(rem_u32, "{ .reg .u32 t; or.b32 t, %2, 1; rem.u32 %0, %1, t; }", a % (b | 1))
CASE64(div_u64, "{ .reg .u64 t; or.b64 t, %2, 1; div.u64 %0, %1, t; }", a / (b | 1))
CASES64(rem_s64, "{ .reg .s64 t; or.b64 t, %2, 3; rem.s64 %0, %1, t; }", (b | 3) == -1 ? 0 : a % (b | 3))
CASES32(min_s32, "min.s32 %0, %1, %2;", a < b ? a : b)
CASE32(max_u32, "max.u32 %0, %1, %2;", a > b ? a : b)
CASES64(max_s64, "max.s64 %0, %1, %2;", a > b ? a : b)
CASES32(neg_s32, "neg.s32 %0, %1;", (int32_t)(0u - (uint32_t)a))
CASES64(abs_s64, "abs.s64 %0, %1;", (int64_t)(a < 0 ? 0 - (uint64_t)a : (uint64_t)a))

/* ---- bits ---- */

CASE16(xor_b16, "xor.b16 %0, %1, %2;", a ^ b)
CASE64(and_b64, "and.b64 %0, %1, %2;", a &b)
CASE32(or_b32, "or.b32 %0, %1, %2;", a | b)
CASE32(not_b32, "not.b32 %0, %1;", ~a)
static uint64_t shifted_left(uint64_t a, uint64_t n) { return n > 63 ? 0 : a << n; }
static uint64_t shifted_right(uint64_t a, uint64_t n) { return n > 63 ? 0 : a >> n; }
static int64_t shifted_signed(int64_t a, uint64_t n) { return a >> (n > 63 ? 63 : n); }
CASE32(shl_b32, "{ .reg .u32 t; and.b32 t, %2, 63; shl.b32 %0, %1, t; }", shifted_left(a, b & 63))
CASE(shl_b64, "{ .reg .u32 t; and.b32 t, %2, 127; shl.b64 %0, %1, t; }", l, uint64_t, l, uint64_t, r, uint32_t, r,
     uint32_t, shifted_left(a, b & 127))
CASE(shr_u64, "{ .reg .u32 t; and.b32 t, %2, 127; shr.u64 %0, %1, t; }", l, uint64_t, l, uint64_t, r, uint32_t, r,
     uint32_t, shifted_right(a, b & 127))
CASES32(shr_s32, "{ .reg .u32 t; and.b32 t, %2, 63; shr.s32 %0, %1, t; }", shifted_signed(a, b & 63))
CASE32(shr_u32, "shr.u32 %0, %1, %2;", shifted_right(a, b))
CASE32(shf_l_wrap, "shf.l.wrap.b32 %0, %1, %2, %3;", ((uint64_t)b << 32 | a) << (c & 31) >> 32)
CASE32(shf_r_wrap, "shf.r.wrap.b32 %0, %1, %2, %3;", ((uint64_t)b << 32 | a) >> (c & 31))
CASE32(shf_l_clamp, "shf.l.clamp.b32 %0, %1, %2, %3;", c >= 32 ? a : ((uint64_t)b << 32 | a) << c >> 32)
CASE32(shf_r_clamp, "shf.r.clamp.b32 %0, %1, %2, %3;", c >= 32 ? b : ((uint64_t)b << 32 | a) >> c)
CASE32(clz_b32, "clz.b32 %0, %1;", a ? __builtin_clz(a) : 32)
CASE(clz_b64, "clz.b64 %0, %1;", r, uint32_t, l, uint64_t, l, uint64_t, l, uint64_t, a ? __builtin_clzll(a) : 64)
CASE32(popc_b32, "popc.b32 %0, %1;", __builtin_popcount(a))
CASE(popc_b64, "popc.b64 %0, %1;", r, uint32_t, l, uint64_t, l, uint64_t, l, uint64_t, __builtin_popcountll(a))
CASE(bfind_u64, "bfind.u64 %0, %1;", r, uint32_t, l, uint64_t, l, uint64_t, l, uint64_t,
     a ? 63 - __builtin_clzll(a) : -1)
CASES32(bfind_s32, "bfind.s32 %0, %1;", (a < 0 ? ~a : a) ? 31 - __builtin_clz(a < 0 ? ~a : a) : -1)
CASE32(bfind_shiftamt, "bfind.shiftamt.u32 %0, %1;", a ? __builtin_clz(a) : -1)
static uint64_t reversed(uint64_t a, int n) {
  uint64_t z = 0;
  for (int k = 0; k < n; k++) z = z << 1 | (a >> k & 1);
  return z;
}
CASE32(brev_b32, "brev.b32 %0, %1;", reversed(a, 32))
CASE64(brev_b64, "brev.b64 %0, %1;", reversed(a, 64))
static uint64_t field(uint64_t a, uint32_t from, uint32_t length) {
  return length == 0 || from > 63 ? 0 : a >> from & (length > 63 ? ~0ull : (1ull << length) - 1);
}
CASE32(bfe_u32, "{ .reg .u32 s, t; and.b32 s, %2, 31; and.b32 t, %3, 63; bfe.u32 %0, %1, s, t; }",
       field(a, b & 31, c & 63))
CASES32(bfe_s32, "{ .reg .u32 s, t; and.b32 s, %2, 15; and.b32 t, %3, 15; bfe.s32 %0, %1, s, t; }",
        (c & 15) == 0 ? 0 : (int32_t)((uint32_t)a << (32 - (b & 15) - (c & 15))) >> (32 - (c & 15)))
CASE(bfe_u64, "{ .reg .u32 s, t; and.b32 s, %2, 63; and.b32 t, %3, 127; bfe.u64 %0, %1, s, t; }", l, uint64_t, l,
     uint64_t, r, uint32_t, r, uint32_t, field(a, b & 63, c & 127))
CASE32(bfi_b32, "{ .reg .u32 t; and.b32 t, %3, 31; bfi.b32 %0, %1, %2, t, 7; }",
       (b & ~(uint32_t)(127ull << (c & 31))) | (uint32_t)((uint64_t)(a & 127) << (c & 31)))
CASE64(bfi_b64, "bfi.b64 %0, %1, %2, 20, 33;", (b & ~(((1ull << 33) - 1) << 20)) | (a & ((1ull << 33) - 1)) << 20)
static uint32_t permuted(uint32_t a, uint32_t b, uint32_t c) {
  uint8_t from[8], to[4];
  memcpy(from, &a, 4);
  memcpy(from + 4, &b, 4);
  for (int k = 0; k < 4; k++) {
    uint8_t byte = from[c >> (4 * k) & 7];
    to[k] = c >> (4 * k + 3) & 1 ? (byte >> 7 ? 255 : 0) : byte;
  }
  memcpy(&c, to, 4);
  return c;
}
CASE32(prmt_b32, "prmt.b32 %0, %1, %2, %3;", permuted(a, b, c))
CASE32(lop3_b32, "lop3.b32 %0, %1, %2, %3, 0xD0;", (a & b) | (~c & a))
CASE32(selp_b32, "{ .reg .pred p; setp.lt.u32 p, %1, %2; selp.b32 %0, %2, %3, p; }", a < b ? b : c)
CASE32(pred,
       "{ .reg .pred p, q; setp.lt.s32 p, %1, %2; setp.hi.u32 q, %2, %3; xor.pred p, p, q; not.pred q, p; or.pred q, "
       "q, p; and.pred p, p, q; selp.u32 %0, 1, 0, p; }",
       ((int32_t)a < (int32_t)b) != (b > c))
CASE32(setp_two,
       "{ .reg .pred p, q; .reg .u32 t; setp.eq.u32 p|q, %1, %1; selp.u32 t, 4, 0, q; @p add.u32 t, t, 3; @!p add.u32 "
       "t, t, 8; mov.u32 %0, t; }",
       3)
CASE64(pack, "{ .reg .b32 t, u; mov.b64 {t, u}, %1; mov.b64 %0, {u, t}; }", a >> 32 | a << 32)
CASE32(pack16, "{ .reg .b16 t, u; mov.b32 {t, u}, %1; mov.b32 %0, {u, t}; }", a >> 16 | a << 16)

/* ---- conversions of integers ---- */

CASE(cvt_s64_s32, "cvt.s64.s32 %0, %1;", l, int64_t, r, int32_t, r, int32_t, r, int32_t, a)
CASE(cvt_u64_u16, "cvt.u64.u16 %0, %1;", l, uint64_t, h, uint16_t, h, uint16_t, h, uint16_t, a)
CASE(cvt_s32_s8, "cvt.s32.s8 %0, %1;", r, int32_t, r, int32_t, r, int32_t, r, int32_t, (int8_t)a)
CASE(cvt_u16_u64, "cvt.u16.u64 %0, %1;", h, uint16_t, l, uint64_t, l, uint64_t, l, uint64_t, a)
CASE(cvt_u32_u8, "cvt.u32.u8 %0, %1;", r, uint32_t, h, uint16_t, h, uint16_t, h, uint16_t, a & 255)

/* ---- binary32: sums and products of drawn values are exact in long double, and rounded here by comparing ---- */

static float canonical(float x) { return x == x ? x : value<float>(0x7FFFFFFFu); }
static float rounded(long double x, int direction) { /* 0 nearest, 1 to zero, 2 down, 3 up */
  float z = (float)x;
  if (direction == 0 || x != x || isinf(x)) return canonical(z);
  bool down = direction == 2 || (direction == 1 && x > 0), up = direction == 3 || (direction == 1 && x < 0);
  if (down && (long double)z > x) z = nextafterf(z, -INFINITY);
  if (up && (long double)z < x) z = nextafterf(z, INFINITY);
  return z;
}
/* A sum of zero is -0 downwards, if not both terms are +0. */
static float sum(long double a, long double b, int direction) {
  if (a + b != 0) return rounded(a + b, direction);
  bool minus = direction == 2 ? signbit(a) || signbit(b) : signbit(a) && signbit(b);
  return minus ? -0.0f : 0.0f;
}
#define CASE_ROUNDED(SUFFIX, DIRECTION)                                                                                \
  CASEF(add_##SUFFIX, "add." #SUFFIX ".f32 %0, %1, %2;", sum(a, b, DIRECTION))                                         \
  CASEF(sub_##SUFFIX, "sub." #SUFFIX ".f32 %0, %1, %2;", sum(a, -b, DIRECTION))                                        \
  CASEF(mul_##SUFFIX, "mul." #SUFFIX ".f32 %0, %1, %2;", rounded((long double)a *b, DIRECTION))                        \
  CASEF(fma_##SUFFIX, "fma." #SUFFIX ".f32 %0, %1, %2, %3;", sum((long double)a *b, c, DIRECTION))                     \
  CASE(cvt_##SUFFIX##_f32_s32, "cvt." #SUFFIX ".f32.s32 %0, %1;", f, float, r, int32_t, r, int32_t, r, int32_t,        \
       rounded(a, DIRECTION))                                                                                          \
  CASE(cvt_##SUFFIX##_f32_u64, "cvt." #SUFFIX ".f32.u64 %0, %1;", f, float, l, uint64_t, l, uint64_t, l, uint64_t,     \
       rounded(a, DIRECTION))                                                                                          \
  CASE(cvt_##SUFFIX##_f32_f64,                                                                                         \
       "{ .reg .f64 t, u; cvt.f64.f32 t, %1; cvt.f64.f32 u, %2; mul.rn.f64 t, t, u; cvt." #SUFFIX ".f32.f64 %0, t; }", \
       f, float, f, float, f, float, f, float, rounded((long double)a *b, DIRECTION))
CASE_ROUNDED(rn, 0)
CASE_ROUNDED(rz, 1)
CASE_ROUNDED(rm, 2)
CASE_ROUNDED(rp, 3)
CASEF(div_rn, "div.rn.f32 %0, %1, %2;", canonical(a / b))
CASEF(sqrt_rn, "sqrt.rn.f32 %0, %1;", canonical(sqrtf(a)))
CASEF(rcp_rn, "rcp.rn.f32 %0, %1;", canonical(1 / a))
CASEF(min_f32, "min.f32 %0, %1, %2;",
      canonical(a != a   ? b
                : b != b ? a
                : a == b ? (signbit(a) ? a : b)
                : a < b  ? a
                         : b))
CASEF(max_f32, "max.f32 %0, %1, %2;",
      canonical(a != a   ? b
                : b != b ? a
                : a == b ? (signbit(a) ? b : a)
                : a > b  ? a
                         : b))
CASEF(max_nan_f32, "max.NaN.f32 %0, %1, %2;",
      canonical(a != a || b != b ? a + b
                : a == b         ? (signbit(a) ? b : a)
                : a > b          ? a
                                 : b))
CASEF(abs_f32, "abs.f32 %0, %1;", canonical(fabsf(a)))
CASEF(neg_f32, "neg.f32 %0, %1;", canonical(-a))
CASEF(mov_f32, "mov.f32 %0, %1;", a)
CASE(setp_f32,
     "{ .reg .pred p; .reg .u32 t; mov.u32 %0, 0; setp.eq.f32 p, %1, %2; @p add.u32 %0, %0, 1; setp.neu.f32 p, %1, %2; "
     "@p add.u32 %0, %0, 2; "
     "setp.lt.f32 p, %1, %2; @p add.u32 %0, %0, 4; setp.geu.f32 p, %1, %2; @p add.u32 %0, %0, 8; setp.nan.f32 p, %1, "
     "%2; @p add.u32 %0, %0, 16; "
     "setp.ne.f32 p, %1, %2; @p add.u32 %0, %0, 32; setp.num.f32 p, %1, %2; @p add.u32 %0, %0, 64; }",
     r, uint32_t, f, float, f, float, f, float,
     (a == b) + 2 * (a != b) + 4 * (a < b) + 8 * !(a < b) + 16 * (a != a || b != b) + 32 * (a < b || a > b) +
         64 * (a == a && b == b))
static int64_t integer_of(double x, int64_t least, int64_t most, int64_t nan) {
  return x != x                       ? nan
         : x >= 9223372036854775808.0 ? most
         : x <= (double)least         ? least
         : (int64_t)x >= most         ? most
                                      : (int64_t)x;
}
CASE(cvt_rzi_s32_f32, "cvt.rzi.s32.f32 %0, %1;", r, int32_t, f, float, f, float, f, float,
     integer_of(truncf(a), INT32_MIN, INT32_MAX, 0))
CASE(cvt_rni_s32_f32, "cvt.rni.s32.f32 %0, %1;", r, int32_t, f, float, f, float, f, float,
     integer_of(nearbyintf(a), INT32_MIN, INT32_MAX, 0))
CASE(cvt_rmi_u32_f32, "cvt.rmi.u32.f32 %0, %1;", r, uint32_t, f, float, f, float, f, float,
     integer_of(floorf(a), 0, UINT32_MAX, 0))
CASE(cvt_rpi_s64_f32, "cvt.rpi.s64.f32 %0, %1;", l, int64_t, f, float, f, float, f, float,
     integer_of(ceilf(a), INT64_MIN, INT64_MAX, INT64_MIN))
CASEF(cvt_rmi_f32_f32, "cvt.rmi.f32.f32 %0, %1;", canonical(floorf(a)))

/* ---- binary64: the last digit in each direction, and NaN ---- */

static double canonical64(double x) { return x == x ? x : value<double>(0xFFF8000000000000u); }
CASED(add_rn_f64, "add.rn.f64 %0, %1, %2;", canonical64(a + b))
CASED(mul_rn_f64, "mul.rn.f64 %0, %1, %2;", canonical64(a *b))
CASED(fma_rn_f64, "fma.rn.f64 %0, %1, %2, %3;", canonical64(fma(a, b, c)))
CASED(div_rn_f64, "div.rn.f64 %0, %1, %2;", canonical64(a / b))
CASED(sqrt_rn_f64, "sqrt.rn.f64 %0, %1;", canonical64(sqrt(a)))
#define CASE_LAST(SUFFIX, PLUS, MINUS)                                                                             \
  CASED(add_##SUFFIX##_f64, "add." #SUFFIX ".f64 %0, 0d3FF0000000000000, 0d3C00000000000000;", 1 + PLUS)           \
  CASED(sub_##SUFFIX##_f64, "sub." #SUFFIX ".f64 %0, 0dBFF0000000000000, 0d3C00000000000000;", -1 - MINUS)         \
  CASED(fma_##SUFFIX##_f64, "fma." #SUFFIX ".f64 %0, 0d3C00000000000000, 0d3FF0000000000000, 0d3FF0000000000000;", \
        1 + PLUS)
CASE_LAST(rz, 0, 0)
CASE_LAST(rm, 0, 0x1p-52)
CASE_LAST(rp, 0x1p-52, 0)
CASE(cvt_rzi_s64_f64, "{ .reg .f64 t; cvt.f64.f32 t, %1; cvt.rzi.s64.f64 %0, t; }", l, int64_t, f, float, f, float, f,
     float, integer_of(truncf(a), INT64_MIN, INT64_MAX, INT64_MIN))
CASE(cvt_f64_s32, "cvt.rn.f64.s32 %0, %1;", d, double, r, int32_t, r, int32_t, r, int32_t, a)

/* ---- binary16 and bfloat16 ---- */

/* Rounding to nearest by trying codes: the nearest value, the even code of two. */
static long double half_value(uint16_t code, int digits, int bits, int least) {
  int exponent = code >> (digits - 1) & ((1 << bits) - 1), rest = code & ((1 << (digits - 1)) - 1);
  long double z = exponent ? ldexpl(rest + (1 << (digits - 1)), exponent - 1 + least - digits + 1)
                           : ldexpl(rest, least - digits + 1);
  if (exponent == (1 << bits) - 1) z = rest ? (long double)NAN : (long double)INFINITY;
  return code >> 15 ? -z : z;
}
static uint16_t half_code(long double x, int digits, int bits, int least) {
  if (x != x) return 0x7FFF;
  uint16_t sign = signbit(x) ? 0x8000 : 0, low = 0, high = (uint16_t)(((1 << bits) - 1) << (digits - 1));
  if (signbit(x)) x = -x;
  if (isinf(x)) return sign | high;
  while (high - low > 1) { /* low's value <= x < high's */
    uint16_t middle = (uint16_t)((low + high) / 2);
    (half_value(middle, digits, bits, least) <= x ? low : high) = middle;
  }
  long double below = half_value(low, digits, bits, least), above = half_value(high, digits, bits, least);
  if (isinf(above)) above = below + (below - half_value(low - 1, digits, bits, least));
  long double d = (x - below) - (above - x);
  return sign | (d < 0 || (d == 0 && low % 2 == 0) ? low : high);
}
#define F16(CODE) half_value(CODE, 11, 5, -14)
#define BF16(CODE) half_value(CODE, 8, 8, -126)
#define TO_F16(X) half_code(X, 11, 5, -14)
#define TO_BF16(X) half_code(X, 8, 8, -126)
#define PAIR(TO, OF, EXPRESSION_LOW, EXPRESSION_HIGH) ((uint32_t)TO(EXPRESSION_HIGH) << 16 | TO(EXPRESSION_LOW))
#define LOW(X) (uint16_t)(X)
#define HIGH(X) (uint16_t)((X) >> 16)
CASE16(fma_f16, "fma.rn.f16 %0, %1, %2, %3;", TO_F16(F16(a) * F16(b) + F16(c)))
CASE16(add_f16, "add.rn.f16 %0, %1, %2;", TO_F16(F16(a) + F16(b)))
CASE16(mul_bf16, "mul.rn.bf16 %0, %1, %2;", TO_BF16(BF16(a) * BF16(b)))
CASE32(fma_f16x2, "fma.rn.f16x2 %0, %1, %2, %3;",
       PAIR(TO_F16, F16, F16(LOW(a)) * F16(LOW(b)) + F16(LOW(c)), F16(HIGH(a)) * F16(HIGH(b)) + F16(HIGH(c))))
/* Exponents near each other, so that the exact sum fits in a long double. */
#define NEAR(X) (((X)&0x83FF83FFu) | 0x3C003C00u)
CASE32(fma_bf16x2,
       "{ .reg .b32 x, y, w; and.b32 x, %1, 0x83FF83FF; or.b32 x, x, 0x3C003C00; and.b32 y, %2, 0x83FF83FF; or.b32 y, "
       "y, 0x3C003C00; "
       "and.b32 w, %3, 0x83FF83FF; or.b32 w, w, 0x3C003C00; fma.rn.bf16x2 %0, x, y, w; }",
       PAIR(TO_BF16, BF16, BF16(LOW(NEAR(a))) * BF16(LOW(NEAR(b))) + BF16(LOW(NEAR(c))),
            BF16(HIGH(NEAR(a))) * BF16(HIGH(NEAR(b))) + BF16(HIGH(NEAR(c)))))
CASE(cvt_f16_f32, "cvt.rn.f16.f32 %0, %1;", h, uint16_t, f, float, f, float, f, float, TO_F16(a))
CASE(cvt_bf16x2_f32, "cvt.rn.bf16x2.f32 %0, %1, %2;", r, uint32_t, f, float, f, float, f, float,
     (uint32_t)TO_BF16(a) << 16 | TO_BF16(b))
CASE(cvt_f32_f16, "cvt.f32.f16 %0, %1;", f, float, h, uint16_t, h, uint16_t, h, uint16_t, canonical((float)F16(a)))

/* ---- inputs ---- */

static uint64_t draw(void) {
  static uint64_t s = 42;
  s += 0x9E3779B97F4A7C15u;
  uint64_t z = (s ^ s >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}
/* Any bits, small numbers, and values of binary32 with few digits and exponents near 0, or special ones. */
static uint64_t input(int k) {
  static const uint64_t special[] = {0,           1,           0x80000000u,         0x7F800000u,
                                     0xFF800000u, 0x7FC00001u, 0xFFFFFFFFu,         0x3F800000u,
                                     ~0ull,       1ull << 63,  0x7FF0000000000000u, 0x7F800001u};
  uint64_t r = draw();
  if (k % 8 == 0) return special[r % 12];
  if (k % 8 == 1) return r % 64;
  if (k % 8 == 2) return r;
  return (r & 0xFFFFFFFF80007FF0u) | (r % 32 + 112) << 23;
}
static bool is_float(const char *name) { return strstr(name, "_r") || strstr(name, "_f32"); }

/* Of binary32 only what is exact in a long double: a sum of values far apart is not. */
static bool exact(const char *name, uint64_t a, uint64_t b, uint64_t c) {
  if (!is_float(name) || strstr(name, "f64")) return true;
  for (uint64_t x : {a, b, c}) {
    float f = value<float>(x);
    if (f == f && !isinf(f) && f != 0 && !(fabsf(f) > 0x1p-17f && fabsf(f) < 0x1p+18f)) return false;
  }
  return true;
}

extern int check_groups(void); /* opcodes_memory.cu */

int main(void) {
  static uint64_t h[4][COUNT];
  uint64_t *d[4];
  int wrong = 0;
  for (int n = 0; n < 4; n++) {
    for (int k = 0; k < COUNT; k++) h[n][k] = input(k / (n == 0 ? 1 : n == 1 ? 8 : 64));
    if (cudaMalloc((void **)&d[n], sizeof h[n]) != cudaSuccess) return 1;
    cudaMemcpy(d[n], h[n], sizeof h[n], cudaMemcpyHostToDevice);
  }
  for (const Case &c : cases()) {
    int compared = 0;
    c.start(d[0], d[1], d[2], d[3]);
    cudaMemcpy(h[3], d[3], sizeof h[3], cudaMemcpyDeviceToHost);
    for (int k = 0; k < COUNT; k++) {
      if (!exact(c.name, h[0][k], h[1][k], h[2][k])) continue;
      uint64_t expected = c.expected(h[0][k], h[1][k], h[2][k]);
      compared++;
      if (expected == h[3][k]) continue;
      fprintf(stderr, "%s of %llx, %llx, %llx: %llx instead of %llx\n", c.name, (unsigned long long)h[0][k],
              (unsigned long long)h[1][k], (unsigned long long)h[2][k], (unsigned long long)h[3][k],
              (unsigned long long)expected);
      wrong++;
      break;
    }
    if (compared < 100) {
      fprintf(stderr, "%s: only %d compared\n", c.name, compared);
      wrong++;
    }
  }
  printf("%zu instructions\n", cases().size());
  return wrong || check_groups() ? 1 : 0;
}
