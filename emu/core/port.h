/* SPDX-License-Identifier: MIT */
/* emu/core/port.h - the only file that knows compilers. Every feature macro is 0 or 1. */
#ifndef HALFULP_EMU_CORE_PORT_H
#define HALFULP_EMU_CORE_PORT_H

#include <stdint.h>
#include <string.h>

/* 1 in the sources as one file (scripts/amalgamate.py) and with -Dportable=true: what users compile with their programs
 * copies and inlines less, and has no kernels that need compiler flags of their own. Results are the same. */
#ifndef HU_PORTABLE
#define HU_PORTABLE 0
#endif

/* HU_FN decorates every function of the integer core: inline in C and C++, both sides in CUDA. */
#if defined(__CUDACC__)
#define HU_FN static __host__ __device__ __forceinline__
#elif HU_PORTABLE && (defined(__GNUC__) || defined(__clang__))
#define HU_FN static inline __attribute__((unused))
#elif defined(__GNUC__) || defined(__clang__)
#define HU_FN static inline __attribute__((always_inline, unused))
#else
#define HU_FN static inline
#endif

/* HU_OUTLINE: the same for functions that are long and seldom run: called, not inlined. */
#if defined(__CUDACC__)
#define HU_OUTLINE static __host__ __device__ __noinline__ __attribute__((unused))
#elif defined(__GNUC__) || defined(__clang__)
#define HU_OUTLINE static __attribute__((noinline, unused))
#else
#define HU_OUTLINE static
#endif

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define HU_X86 1
#else
#define HU_X86 0
#endif

/* Kernels for AVX2 and AVX-512: sources compiled with flags of their own. */
#define HU_X86_LEVELS (HU_X86 && !HU_PORTABLE)

/* Kernels for NEON, which every 64-bit Arm processor has: sources compiled for a level of their own. */
#if defined(__AARCH64EL__) && (defined(__GNUC__) || defined(__clang__))
#define HU_ARM_LEVELS (!HU_PORTABLE)
#else
#define HU_ARM_LEVELS 0
#endif

/* Before a loop of few turns whose arrays should live in registers. */
#if defined(__clang__)
#define HU_UNROLL _Pragma("unroll")
#elif defined(__GNUC__) && defined(__OPTIMIZE__)
#define HU_UNROLL _Pragma("GCC unroll 16")
#else
#define HU_UNROLL
#endif

#if defined(__GNUC__) || defined(__clang__)
#define HU_LIKELY(c) __builtin_expect(!!(c), 1)
#define HU_UNLIKELY(c) __builtin_expect(!!(c), 0)
#define HU_NOINLINE __attribute__((noinline))
#else
#define HU_LIKELY(c) (c)
#define HU_UNLIKELY(c) (c)
#define HU_NOINLINE
#endif

/* Leading zeros of x != 0. */
HU_FN int32_t hui_clz64(uint64_t x) {
#if defined(__CUDA_ARCH__)
  return __clzll((long long)x);
#elif defined(__GNUC__) || defined(__clang__)
  return __builtin_clzll(x);
#else
  int32_t n = 0;
  while (!(x >> 63)) {
    x <<= 1;
    n++;
  }
  return n;
#endif
}

/* Returns the upper half of a b. */
HU_FN uint64_t hui_mul_high64(uint64_t a, uint64_t b) {
#if defined(__CUDA_ARCH__)
  return __umul64hi(a, b);
#elif defined(__SIZEOF_INT128__)
  __extension__ typedef unsigned __int128 wide;
  return (uint64_t)((wide)a * b >> 64);
#else
  uint64_t al = a & 0xFFFFFFFFu, ah = a >> 32, bl = b & 0xFFFFFFFFu, bh = b >> 32;
  uint64_t middle = ah * bl + (al * bl >> 32), other = al * bh + (middle & 0xFFFFFFFFu);
  return ah * bh + (middle >> 32) + (other >> 32);
#endif
}

#endif
