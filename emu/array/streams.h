/* SPDX-License-Identifier: MIT */
/* emu/array/streams.h - another order of addresses for large arrays: four pages side by side instead of one after
 * another, for processors whose memory is faster in that order. hui_streams_for() (emu/simd/level.h) says whether a
 * call may use it; any other call goes from its first element to its last.
 *
 * A kernel is too short a call for a few hundred bytes of one page: it would set the rounding direction, load its
 * constants and wait for its stores each time. So a kernel makes the values of four whole pages in a block that stays
 * in the caches, one element after another as ever; and the loop that copies this block to its place goes through the
 * pages in turn, and asks meanwhile for the operands of the next block in the same order. So all that memory sees has
 * that order, and each element is computed as in any other call: by its number, which says what it reads, where it
 * goes and which random word it draws. */
#ifndef HALFULP_EMU_ARRAY_STREAMS_H
#define HALFULP_EMU_ARRAY_STREAMS_H

#include <stddef.h>
#include <stdint.h>

enum {
  HU_STREAMS_PAGE = 1024,     /* elements of binary32: 4 KiB */
  HU_STREAMS_BLOCK = 4096,    /* four pages */
  HU_STREAMS_TURN = 64,       /* elements of one page before it is the next one's turn: 256 bytes */
  HU_STREAMS_LEAST = 1 << 22, /* elements of an array that is large */
};

/* A part of a call, of contiguous elements. x and z, of element 0, do not overlap; one of them may be NULL. */
typedef struct hu_streams_part {
  const uint32_t *x; /* binary32 operands; NULL: the operands are codes, which are not asked for */
  uint32_t *z;       /* binary32 results; NULL: the results are codes, which the kernel puts in their place */
  /* Computes n elements from `first` on. z: where binary32 results go; where codes go `run` knows. */
  void (*run)(void *context, size_t first, size_t n, uint32_t *z);
  void *context;
} hu_streams_part;

typedef struct hu_streams {
  /* Runs elements first ... first + n - 1, each once. */
  void (*walk)(const hu_streams_part *part, size_t first, size_t n);
  /* For calls whose results go to memory otherwise: asks for the block of operands that is next. */
  void (*ask)(const uint32_t *x);
} hu_streams;

#endif
