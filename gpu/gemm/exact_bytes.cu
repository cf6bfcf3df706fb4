/* SPDX-License-Identifier: MIT */
/* gpu/gemm/exact_bytes.cu - the model `exact` of formats whose numbers are integers of at most 42 bits times one power
 * of two, such as the 8-bit formats and binary16, by the device's matrix instructions for signed bytes
 * (mma.m16n8k32.s32.s8.s8.s32). They also take codes of 8 bits whose sums binary64 would hold.
 *
 * A number is V 2^low, low = emin - m, V = sum of digit[d] 2^(7 d), each digit a signed byte of at most 127 with V's
 * sign; D digits hold 7 D bits. So a product is the sum of D^2 products of digits, and those with the same weight 2^(7
 * w), w = d + e, go into one sum of 32 bits: at most D products for each k, each below 2^14, so that 2^14 terms of k
 * stay below D 2^28 < 2^31, D <= 6. After as many, and at the end, the sums go into a number of 128 bits: below 2^84
 * for each k, it holds 2^43 of them. These are integers, so that every order gives the same sum, also that of an
 * instruction, which never saturates here. C is added at the end, exactly (hui_long_add keeps what a rounding sees). An
 * infinity or a NaN counts as 0 in the sum and marks its row or column; the kinds and signs of terms decide marked
 * elements, and sums of zero.
 *
 * Codes of 8 bits are looked up in a table of digits in shared memory; codes of 16 bits with the sign on top and
 * gradual subnormals become digits by shifts; all others go through hui_unpack.
 *
 * Limit, for compute capability 9.0. A slab of 32 k gives each of the eight warps 4096 products by D^2 instructions of
 * the matrix unit and 6 D loads of their operands from shared memory, and each thread four elements of A and of B to
 * make digits of. With all that, the PTX has 1.5 instructions for a product with D = 3 (e4m3), 1.9 with D = 5 (e5m2),
 * 4.6 with D = 6 (binary16, whose digits take some 60 for an element), of which a multiprocessor starts 128 lanes per
 * clock; and 530 for each element of D. The machine code has one IMMA.16832.S8.S8 for each matrix instruction, of which
 * a multiprocessor of an H200 does one per clock (the 1979 TOPS of its data sheet): 9, 25 and 36 clocks for a slab and
 * warp, so that the unit would allow 455, 164 and 114 products per clock. Issue slots are the bound: 85, 67 and 28
 * products, with 132 multiprocessors at 1.98 GHz 44, 35 and 15 TFLOP/s. Memory is no limit: a slab has 1/16 element for
 * a product. */
#include "gpu/gemm/gemm.cuh"

#include "emu/core/accum_step.h"

enum { HU_BYTES_SIDE = 32, HU_BYTES_QUADS = 8, HU_BYTES_OFTEN = 1 << 14 };
enum { HU_BYTES_DEPTH = 4 * HU_BYTES_QUADS };
/* The lanes of a warp read four quads of eight lines at once, from different banks with 8 words more than banks. */
enum { HU_BYTES_PITCH = HU_BYTES_SIDE + 8 };

/* Digits of a slab: [digit][quad][line]. A word has those of four neighbours along k. */
template <int D>
struct hu_bytes_slab {
  uint32_t word[D][HU_BYTES_QUADS][HU_BYTES_PITCH];
  uint32_t special; /* a bit for each line */
};

/* The digits of one number, a byte each, the lowest first. The highest byte is 1 for an infinity or a NaN. */
template <int D>
struct alignas(D > 3 ? 8 : 4) hui_bytes_digits {
  static_assert(D == 3 || D == 5 || D == 6, "a byte is left for the mark");
  static const int last = D > 3 ? 1 : 0;
  uint32_t word[last + 1];
};

/* Makes four digits of an integer below 2^28. */
HU_DEVICE uint32_t hui_bytes_four(uint32_t integer, bool minus) {
  uint32_t x = (integer & 0x3FFF) | (integer & 0x0FFFC000) << 2;
  x = (x & 0x007F007F) | (x & 0x3F803F80) << 1;
  return minus ? (0x80808080 - x) ^ 0x80808080 : x; /* each byte negated: none borrows from the next */
}

template <int D>
HU_DEVICE hui_bytes_digits<D> hui_bytes_digits_of(uint64_t integer, bool minus, bool special) {
  hui_bytes_digits<D> z;
  z.word[0] = hui_bytes_four((uint32_t)integer & 0x0FFFFFFF, minus);
  if (D > 3) z.word[z.last] = hui_bytes_four((uint32_t)(integer >> 28), minus);
  z.word[z.last] |= special ? 1u << 24 : 0;
  return z;
}

/* Returns |x| / 2^low, an integer: where x is read from a binary32 pattern, digits that the shift drops are zeros. */
HU_DEVICE uint64_t hui_bytes_integer(hu_num x, int32_t low) {
  if (x.kind != HU_KIND_FINITE) return 0;
  return x.exp >= low ? x.sig << (x.exp - low) : x.sig >> (low - x.exp);
}

/* Makes the digits of any code. It is called, not inlined: it is long, and few codes take it. */
template <int D>
static __device__ __noinline__ hui_bytes_digits<D> hui_bytes_unpacked(const hu_device_matrix &x, int32_t low,
                                                                      uint32_t raw) {
  hu_num n = x.size ? hui_unpack(&x.spec, raw) : hui_unpack32(raw);
  return hui_bytes_digits_of<D>(hui_bytes_integer(n, low), n.sign != 0, n.kind > HU_KIND_FINITE);
}

/* The digits of all codes of 8 bits, and of 0. */
enum { HU_BYTES_CODES = 256, HU_BYTES_TABLE = HU_BYTES_CODES + 1 };

template <int D>
HU_DEVICE void hui_bytes_fill(hui_bytes_digits<D> *table, const hu_device_matrix &x, int32_t low) {
  if (threadIdx.x == 0) table[HU_BYTES_CODES] = hui_bytes_digits_of<D>(0, false, false);
  if (x.size == 1) table[threadIdx.x] = hui_bytes_unpacked<D>(x, low, threadIdx.x);
}

/* Four neighbours along k of a line, as they lie in memory. From number `in` on they are outside of the matrix: 0, or
 * HU_BYTES_CODES instead of a code of 8 bits. */
typedef struct hu_bytes_quad {
  uint32_t raw[4];
  uint32_t in;
} hu_bytes_quad;

/* Finds the quad of a slab that this thread fetches: neighbouring threads have neighbours in memory. */
HU_DEVICE void hui_bytes_place(const hu_device_matrix &x, int *line, int *quad) {
  int thread = (int)threadIdx.x;
  *line = x.along ? thread / HU_BYTES_QUADS : thread % HU_BYTES_SIDE;
  *quad = x.along ? thread % HU_BYTES_QUADS : thread / HU_BYTES_SIDE;
}

/* Where that quad of the next slab lies, and whether all of it exists wherever the slab is whole along k. */
typedef struct hu_bytes_track {
  const uint8_t *at;
  bool inside;
} hu_bytes_track;

HU_DEVICE size_t hui_bytes_each(const hu_device_matrix &x) { return x.size ? x.size : sizeof(float); }

HU_DEVICE hu_bytes_track hui_bytes_start(const hu_device_matrix &x, size_t line0, size_t lines) {
  hu_bytes_track track;
  int line, quad;
  hui_bytes_place(x, &line, &quad);
  size_t at = line0 + line;
  track.at = (const uint8_t *)x.data + (at * x.line_step + 4 * quad * x.step) * hui_bytes_each(x);
  track.inside = at < lines;
  return track;
}

/* Loads a quad that is inside the matrix. */
HU_DEVICE hu_bytes_quad hui_bytes_whole(const hu_device_matrix &x, const uint8_t *at) {
  hu_bytes_quad quad;
  quad.in = 4;
  if (x.along && x.quads && x.size == 1) {
    uint32_t four = *(const uint32_t *)(const void *)at;
#pragma unroll
    for (int i = 0; i < 4; i++) quad.raw[i] = four >> (8 * i) & 0xFF;
  } else if (x.along && x.quads && x.size == 2) {
    hu_four<uint16_t> four = *(const hu_four<uint16_t> *)(const void *)at;
#pragma unroll
    for (int i = 0; i < 4; i++) quad.raw[i] = four.value[i];
  } else if (x.size == 1) {
#pragma unroll
    for (size_t i = 0; i < 4; i++) quad.raw[i] = at[i * x.step];
  } else if (x.size == 2) {
#pragma unroll
    for (size_t i = 0; i < 4; i++) quad.raw[i] = ((const uint16_t *)(const void *)at)[i * x.step];
  } else {
#pragma unroll
    for (size_t i = 0; i < 4; i++) quad.raw[i] = ((const uint32_t *)(const void *)at)[i * x.step];
  }
  return quad;
}

HU_DEVICE hu_bytes_quad hui_bytes_fetch(const hu_device_matrix &x, hu_bytes_track &track, size_t line0, size_t lines,
                                        size_t p0, size_t k) {
  hu_bytes_quad four;
  if (track.inside && p0 + HU_BYTES_DEPTH <= k) {
    four = hui_bytes_whole(x, track.at);
  } else {
    int line, quad;
    hui_bytes_place(x, &line, &quad);
    size_t at = line0 + line, term = p0 + 4 * quad;
    four.in = at >= lines || term >= k ? 0 : k - term < 4 ? (uint32_t)(k - term) : 4;
#pragma unroll 1
    for (uint32_t i = 0; i < 4; i++) {
      uint32_t raw = x.size == 1 ? HU_BYTES_CODES : 0;
      if (i < four.in) raw = hui_matrix_raw(x, at * x.line_step + (term + i) * x.step);
#pragma unroll
      for (uint32_t j = 0; j < 4; j++) four.raw[j] = i == j ? raw : four.raw[j];
    }
  }
  track.at += HU_BYTES_DEPTH * x.step * hui_bytes_each(x);
  return four;
}

/* Makes the digits of codes of 16 bits with x.plain. V is the fraction, with the leading digit in all binades except
 * the lowest, shifted by the binade. Returns false where a code is not that of a finite number. */
template <int D>
HU_DEVICE bool hui_bytes_shifted(const hu_device_matrix &x, const hu_bytes_quad &quad, hui_bytes_digits<D> z[4]) {
  uint32_t m = 23u - x.plain_shift, one = 1u << m;
  bool finite = true;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    uint32_t magnitude = quad.raw[i] & x.plain_mask, field = magnitude >> m, part = magnitude & (one - 1);
    finite = finite && magnitude <= x.plain_most;
    uint64_t integer = field ? (uint64_t)(part | one) << ((field - 1) & 63) : part;
    z[i] = hui_bytes_digits_of<D>(integer, (quad.raw[i] & 0x8000) != 0, false);
  }
  return finite;
}

template <int D>
HU_DEVICE void hui_bytes_convert(const hu_device_matrix &x, const hui_bytes_digits<D> *table, int32_t low,
                                 const hu_bytes_quad &quad, hui_bytes_digits<D> z[4]) {
  if (x.size == 1) {
#pragma unroll
    for (int i = 0; i < 4; i++) z[i] = table[quad.raw[i]];
    return;
  }
  if (x.plain && hui_bytes_shifted<D>(x, quad, z)) return;
#pragma unroll 1
  for (uint32_t i = 0; i < 4; i++) {
    uint32_t raw = i == 0 ? quad.raw[0] : i == 1 ? quad.raw[1] : i == 2 ? quad.raw[2] : quad.raw[3];
    hui_bytes_digits<D> digits = hui_bytes_digits_of<D>(0, false, false);
    if (i < quad.in) digits = hui_bytes_unpacked<D>(x, low, raw);
#pragma unroll
    for (uint32_t j = 0; j < 4; j++) z[j] = i == j ? digits : z[j];
  }
}

/* Makes a word of bytes 0 of four words, and a word of bytes 1; upper: of bytes 2 and 3. */
HU_DEVICE void hui_bytes_turn(uint32_t a, uint32_t b, uint32_t c, uint32_t d, int upper, uint32_t z[2]) {
  uint32_t ab = __byte_perm(a, b, upper ? 0x7362 : 0x5140), cd = __byte_perm(c, d, upper ? 0x7362 : 0x5140);
  z[0] = __byte_perm(ab, cd, 0x5410);
  z[1] = __byte_perm(ab, cd, 0x7632);
}

/* Stores a quad's digits into the slab. */
template <int D>
HU_DEVICE void hui_bytes_put(hu_bytes_slab<D> &z, const hu_device_matrix &x, const hui_bytes_digits<D> *table,
                             int32_t low, const hu_bytes_quad &four) {
  hui_bytes_digits<D> digits[4];
  int line, quad;
  hui_bytes_place(x, &line, &quad);
  hui_bytes_convert<D>(x, table, low, four, digits);
#pragma unroll
  for (int pair = 0; 2 * pair < D; pair++) {
    uint32_t turned[2];
    int word = pair / 2;
    hui_bytes_turn(digits[0].word[word], digits[1].word[word], digits[2].word[word], digits[3].word[word], pair % 2,
                   turned);
    z.word[2 * pair][quad][line] = turned[0];
    if (2 * pair + 1 < D) z.word[2 * pair + 1][quad][line] = turned[1];
  }
  const int last = hui_bytes_digits<D>::last;
  uint32_t marks = (digits[0].word[last] | digits[1].word[last] | digits[2].word[last] | digits[3].word[last]) >> 24;
  if (marks) atomicOr(&z.special, 1u << line);
}

/* A signed number of 128 bits. */
typedef struct hu_wide_sum {
  uint64_t low;
  int64_t high;
} hu_wide_sum;

/* sum += addend 2^at, at < 78. */
HU_DEVICE void hui_wide_sum_add(hu_wide_sum *sum, int32_t addend, int at) {
  int64_t x = addend;
  uint64_t low = at < 64 ? (uint64_t)x << at : 0;
  int64_t high = at == 0 ? x >> 63 : at < 64 ? x >> (64 - at) : (int64_t)((uint64_t)x << (at - 64));
  sum->low += low;
  sum->high = (int64_t)((uint64_t)sum->high + (uint64_t)high + (sum->low < low));
}

HU_DEVICE hu_long hui_wide_sum_number(hu_wide_sum sum, int32_t exp) {
  hu_long z = hui_long_special(sum.high || sum.low ? HU_KIND_FINITE : HU_KIND_ZERO, sum.high < 0);
  z.hi = (uint64_t)sum.high;
  z.lo = sum.low;
  if (z.sign) {
    z.lo = 0 - z.lo;
    z.hi = ~z.hi + (z.lo == 0);
  }
  z.exp = exp;
  return z;
}

/* Decides a sum by its terms, where some of them are infinities or NaN, or all products and C add up to zero. */
static __device__ __noinline__ hu_num hui_bytes_special(const hu_gemm_args &args, size_t i, size_t j, hu_num x,
                                                        uint32_t *made) {
  const uint32_t flags = hui_sum_flags(args, i, j), both = HU_TERM_INF | HU_TERM_MINUS_INF;
  *made = 0;
  if ((flags & (HU_TERM_NAN | HU_TERM_INVALID)) || (flags & both) == both) {
    *made = !(flags & HU_TERM_NAN);
    return hui_num_special(HU_KIND_NAN, 0);
  }
  if (flags & both) return hui_num_special(HU_KIND_INF, (flags & HU_TERM_MINUS_INF) != 0);
  if (x.kind == HU_KIND_ZERO)
    x.sign = !(flags & HU_TERM_NOT_MINUS_ZERO) || (args.dspec.round == HU_RTN && (flags & HU_TERM_NOT_PLUS_ZERO));
  return x;
}

HU_DEVICE uint32_t hui_bytes_store(const hu_gemm_args &args, size_t i, size_t j, hu_wide_sum sum, bool special) {
  hu_num c = args.c.present ? hui_matrix_num(args.c, i, j) : hui_num_special(HU_KIND_ZERO, 0);
  hu_num x = hui_long_add(hui_wide_sum_number(sum, args.low), hui_long_of(c), 0);
  uint32_t made = 0, minus = c.kind == HU_KIND_ZERO && c.sign;
  if (x.kind == HU_KIND_ZERO) x.sign = 0; /* unless all terms are -0, or the rounding is toward negative */
  if (special || x.kind > HU_KIND_FINITE || (x.kind == HU_KIND_ZERO && (minus || args.dspec.round == HU_RTN)))
    x = hui_bytes_special(args, i, j, x, &made);
  return hui_gemm_store(args, i, j, x, made);
}

/* Adds the sums of 32 bits to those of 128, and empties them. */
template <int D>
HU_DEVICE void hui_bytes_settle(int32_t (&acc)[2 * D - 1][4], hu_wide_sum (&sum)[4]) {
#pragma unroll
  for (int i = 0; i < 4; i++) {
#pragma unroll
    for (int weight = 0; weight < 2 * D - 1; weight++) {
      hui_wide_sum_add(&sum[i], acc[weight][i], 7 * weight);
      acc[weight][i] = 0;
    }
  }
}

/* Return row and column of the tile of sum i of this thread, i = 0 to 3. A warp has 16 rows and 8 columns; which of
 * them a lane has is the instruction's layout of results (PTX ISA, "Matrix Fragments for mma.m16n8k32"). */
HU_DEVICE int hui_bytes_row(int i) {
  int thread = (int)threadIdx.x;
  return thread / 128 * 16 + thread % 32 / 4 + i / 2 * 8;
}
HU_DEVICE int hui_bytes_column(int i) {
  int thread = (int)threadIdx.x;
  return thread / 32 % 4 * 8 + thread % 4 * 2 + i % 2;
}

/* Adds the products of a slab: one instruction for each pair of digits makes 16 x 8 sums of 32 products each. */
template <int D>
HU_DEVICE void hui_bytes_products(const hu_bytes_slab<D> &a, const hu_bytes_slab<D> &b, int32_t (&acc)[2 * D - 1][4]) {
#if defined(__CUDA_ARCH__)
  int lane = (int)threadIdx.x % 32, quad = lane % 4, row = hui_bytes_row(0),
      column = hui_bytes_column(0) / 8 * 8 + lane / 4;
  uint32_t words_b[D][2];
#pragma unroll
  for (int digit_b = 0; digit_b < D; digit_b++) {
    words_b[digit_b][0] = b.word[digit_b][quad][column];
    words_b[digit_b][1] = b.word[digit_b][quad + 4][column];
  }
#pragma unroll
  for (int digit_a = 0; digit_a < D; digit_a++) {
    uint32_t words_a[4] = {a.word[digit_a][quad][row], a.word[digit_a][quad][row + 8], a.word[digit_a][quad + 4][row],
                           a.word[digit_a][quad + 4][row + 8]};
#pragma unroll
    for (int digit_b = 0; digit_b < D; digit_b++) {
      int32_t(&c)[4] = acc[digit_a + digit_b];
      asm volatile(
          "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
          "%3};"
          : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
          : "r"(words_a[0]), "r"(words_a[1]), "r"(words_a[2]), "r"(words_a[3]), "r"(words_b[digit_b][0]),
            "r"(words_b[digit_b][1]));
    }
  }
#else
  for (int sum = 0; sum < 4; sum++) {
    for (int i = 0; i < D * D * HU_BYTES_QUADS; i++) {
      int digit_a = i / HU_BYTES_QUADS / D, digit_b = i / HU_BYTES_QUADS % D, four = i % HU_BYTES_QUADS;
      int32_t &c = acc[digit_a + digit_b][sum];
      c = __dp4a((int)a.word[digit_a][four][hui_bytes_row(sum)], (int)b.word[digit_b][four][hui_bytes_column(sum)], c);
    }
  }
#endif
}

/* Blocks of threads that a multiprocessor holds at once. With two, ptxas spills for compute capability 10.0. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
#define HU_BYTES_BLOCKS (D == 3 ? 2 : 1)
#else
#define HU_BYTES_BLOCKS 2
#endif

template <int D>
HU_KERNEL __launch_bounds__(HU_THREADS, HU_BYTES_BLOCKS)
    hui_gemm_bytes_kernel(const __grid_constant__ hu_gemm_args args, int32_t low_a, int32_t low_b) {
  __shared__ hu_bytes_slab<D> a, b;
  __shared__ hui_bytes_digits<D> table_a[HU_BYTES_TABLE], table_b[HU_BYTES_TABLE];
  __shared__ unsigned long long sums[HU_EVENT_KINDS];
  size_t down = (args.m + HU_BYTES_SIDE - 1) / HU_BYTES_SIDE, across = (args.n + HU_BYTES_SIDE - 1) / HU_BYTES_SIDE;
  hu_counts counts;
  hui_counts_clear(&counts);
  hui_bytes_fill<D>(table_a, args.a, low_a);
  hui_bytes_fill<D>(table_b, args.b, low_b);
  for (size_t tile = blockIdx.x; tile < down * across; tile += gridDim.x) {
    size_t row0 = tile / across * HU_BYTES_SIDE, col0 = tile % across * HU_BYTES_SIDE;
    int32_t acc[2 * D - 1][4] = {};
    hu_wide_sum sum[4] = {};
    hu_bytes_track ta = hui_bytes_start(args.a, row0, args.m), tb = hui_bytes_start(args.b, col0, args.n);
    hu_bytes_quad qa = hui_bytes_fetch(args.a, ta, row0, args.m, 0, args.k),
                  qb = hui_bytes_fetch(args.b, tb, col0, args.n, 0, args.k);
    __syncthreads();
    if (threadIdx.x == 0) a.special = b.special = 0;
    for (size_t p0 = 0; p0 < args.k; p0 += HU_BYTES_DEPTH) {
      __syncthreads();
      hui_bytes_put<D>(a, args.a, table_a, low_a, qa);
      hui_bytes_put<D>(b, args.b, table_b, low_b, qb);
      __syncthreads();
      if (p0 + HU_BYTES_DEPTH < args.k) { /* loads that run while the products are made */
        qa = hui_bytes_fetch(args.a, ta, row0, args.m, p0 + HU_BYTES_DEPTH, args.k);
        qb = hui_bytes_fetch(args.b, tb, col0, args.n, p0 + HU_BYTES_DEPTH, args.k);
      }
      hui_bytes_products<D>(a, b, acc);
      if ((p0 + HU_BYTES_DEPTH) % HU_BYTES_OFTEN == 0) hui_bytes_settle<D>(acc, sum);
    }
    hui_bytes_settle<D>(acc, sum);
#pragma unroll 1
    for (int i = 0; i < 4; i++) {
      int y = hui_bytes_row(i), x = hui_bytes_column(i);
      hu_wide_sum own = i == 0 ? sum[0] : i == 1 ? sum[1] : i == 2 ? sum[2] : sum[3];
      bool special = args.k && ((a.special >> y & 1) || (b.special >> x & 1));
      if (row0 + y >= args.m || col0 + x >= args.n) continue;
      uint32_t events = hui_bytes_store(args, row0 + y, col0 + x, own, special);
      if (args.events) hui_counts_add(&counts, events);
    }
  }
  if (args.events) hui_counts_flush(&counts, args.events, sums);
}

/* Returns the bits of the integers that numbers of the format are. */
static inline int32_t hui_bytes_bits(const hu_spec &spec) { return spec.emax + 1 - (spec.emin - spec.m); }

int hui_gemm_bytes_serve(const hu_gemm_args *args) {
  return args->a.size == 1 && args->b.size == 1 && hui_bytes_bits(args->a.spec) <= 21 &&
         hui_bytes_bits(args->b.spec) <= 21;
}

hu_status hui_gemm_launch_bytes(const hu_gemm_args *args, void *stream) {
  size_t down = (args->m - 1) / HU_BYTES_SIDE + 1, across = (args->n - 1) / HU_BYTES_SIDE + 1;
  size_t tiles = across > SIZE_MAX / down ? SIZE_MAX : down * across;
  int32_t low_a = args->a.spec.emin - args->a.spec.m, low_b = args->b.spec.emin - args->b.spec.m;
  int32_t bits_a = hui_bytes_bits(args->a.spec), bits_b = hui_bytes_bits(args->b.spec),
          bits = bits_a > bits_b ? bits_a : bits_b;
  hu_gemm_args own = *args;
  own.low = low_a + low_b;
  auto kernel = bits <= 21   ? hui_gemm_bytes_kernel<3>
                : bits <= 35 ? hui_gemm_bytes_kernel<5>
                             : hui_gemm_bytes_kernel<6>;
  HU_LAUNCH(kernel, hui_grid_size(tiles, 64), 0, stream, own, low_a, low_b);
  return hui_launched();
}
