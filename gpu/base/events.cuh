/* SPDX-License-Identifier: MIT */
/* gpu/base/events.cuh - event counts, of threads in registers, of blocks in shared memory; then one atomic per
 * event. */
#ifndef HALFULP_GPU_EVENTS_CUH
#define HALFULP_GPU_EVENTS_CUH

#include "gpu/base/launch.cuh"
#include "halfulp/mode.h"

#define HU_EVENT_KINDS 10

/* Counts of up to 255 elements: events 0..3 and 4..7 as four counts of a byte each, 8 and 9 as two. */
typedef struct hu_tally {
  uint32_t low, high, last;
} hu_tally;

/* Add One to *n where a and b, neither of them NaN, differ; where a < b: a comparison and an addition under it. */
template <uint32_t One>
HU_DEVICE void hui_add_if_differ(uint32_t *n, float a, float b) {
#if defined(__CUDA_ARCH__)
  asm("{\n\t.reg .pred p;\n\tsetp.neu.f32 p, %1, %2;\n\t@p add.u32 %0, %0, %3;\n\t}"
      : "+r"(*n)
      : "f"(a), "f"(b), "n"(One));
#else
  if (a != b) *n += One;
#endif
}

template <uint32_t One>
HU_DEVICE void hui_add_if_below(uint32_t *n, uint32_t a, uint32_t b) {
#if defined(__CUDA_ARCH__)
  asm("{\n\t.reg .pred p;\n\tsetp.lt.u32 p, %1, %2;\n\t@p add.u32 %0, %0, %3;\n\t}"
      : "+r"(*n)
      : "r"(a), "r"(b), "n"(One));
#else
  if (a < b) *n += One;
#endif
}

/* A thread's totals stay far below 2^32: the grid grows with the work. */
typedef struct hu_counts {
  hu_tally some;
  uint32_t since; /* elements that hui_counts_add has added to `some` */
  uint32_t total[HU_EVENT_KINDS];
} hu_counts;

HU_DEVICE void hui_tally_clear(hu_tally *tally) {
  tally->low = 0;
  tally->high = 0;
  tally->last = 0;
}

/* Multiplying four bits by 0x204081 puts copies 7 places apart, so bit i arrives at place 8 i. */
HU_DEVICE void hui_tally_add(hu_tally *tally, uint32_t events) {
  tally->low += ((events & 15) * 0x204081u) & 0x01010101u;
  tally->high += (((events >> 4) & 15) * 0x204081u) & 0x01010101u;
  tally->last += ((events >> 8 & 1) | (events << 7 & 0x10000));
}

HU_DEVICE void hui_counts_clear(hu_counts *counts) {
  hui_tally_clear(&counts->some);
  counts->since = 0;
#pragma unroll
  for (int i = 0; i < HU_EVENT_KINDS; i++) counts->total[i] = 0;
}

HU_DEVICE void hui_counts_add_up(hu_counts *counts) {
#pragma unroll
  for (int i = 0; i < 4; i++) {
    counts->total[i] += (counts->some.low >> (8 * i)) & 0xFF;
    counts->total[4 + i] += (counts->some.high >> (8 * i)) & 0xFF;
  }
  counts->total[8] += counts->some.last & 0xFF;
  counts->total[9] += counts->some.last >> 16;
  hui_tally_clear(&counts->some);
  counts->since = 0;
}

/* Adds the events of one element. */
HU_DEVICE void hui_counts_add(hu_counts *counts, uint32_t events) {
  hui_tally_add(&counts->some, events);
  if (++counts->since == 255) hui_counts_add_up(counts);
}

/* Adds the counts of all threads of the block to *events, also what was added to counts->some alone. Every thread of
 * the block must call it; `sums` is shared. Each thread adds its own counts, since after calls that diverge the lanes
 * of a warp need not be together, and a sum over the warp would miss some. The low 16 digits are added apart from the
 * rest, so that both stay below 2^32 for 256 threads. */
HU_DEVICE void hui_counts_flush(hu_counts *counts, hu_events *events, unsigned long long sums[HU_EVENT_KINDS]) {
  unsigned int *part = (unsigned int *)(void *)sums;
  hui_counts_add_up(counts);
  if (threadIdx.x < 2 * HU_EVENT_KINDS) part[threadIdx.x] = 0;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < HU_EVENT_KINDS; i++) {
    if (counts->total[i] == 0) continue;
    uint32_t low = counts->total[i] & 0xFFFF, high = counts->total[i] >> 16;
    if (low) atomicAdd(&part[2 * i], low);
    if (high) atomicAdd(&part[2 * i + 1], high);
  }
  __syncthreads();
  if (threadIdx.x < HU_EVENT_KINDS) {
    unsigned long long sum = part[2 * threadIdx.x] + ((unsigned long long)part[2 * threadIdx.x + 1] << 16);
    /* hu_events is ten 64-bit counts in the order of the event bits. */
    if (sum) atomicAdd((unsigned long long *)events + threadIdx.x, sum);
  }
}

#endif
