/* SPDX-License-Identifier: MIT */
/* emu/simd/level.h - what one level of vector instructions has: a table of kernels per family. A call asks once for its
 * level (hui_level_for) and takes its family's table; where that is NULL, the call computes value by value in the core,
 * or, for products, through the loops that every processor runs. To add a level: CONTRIBUTING.md. */
#ifndef HALFULP_EMU_SIMD_LEVEL_H
#define HALFULP_EMU_SIMD_LEVEL_H

#include <stddef.h>

#include "halfulp/array.h"

typedef struct hu_level {
  const char *name; /* as hu_level_name() says */
  uint32_t bits;    /* HU_LEVEL_ bits: a call that switches one of them off does without this level; 0: no vectors */
  const struct hu_kernels *convert;             /* simd/convert.h */
  const struct hu_wide_arith *wide;             /* arith/wide.h */
  const struct hu_function_kernels *function;   /* arith/function_lanes.h */
  const struct hu_hadamard_lanes *hadamard;     /* hadamard/lanes.h */
  const struct hu_number_lanes *number;         /* number/lanes.h */
  const struct hu_scaled_lanes *scaled_rows;    /* scaled/rows.h */
  const struct hu_scaled_strips *scaled_strips; /* scaled/strip.h */
  const struct hu_scaled_values *scaled_values; /* scaled/values.h */
  const struct hu_s2_lanes *s2fp8;              /* s2fp8/lanes.h */
  const struct hu_s2_bytes *s2fp8_bytes;        /* the same header; NULL except for VBMI */
  /* Of levels with fused multiply-adds; NULL otherwise. */
  const struct hu_gemm_kernels *gemm;       /* gemm/tiles/kernels.h */
  const struct hu_seq_kernels *seq;         /* gemm/seq.h */
  const struct hu_modes_kernels *seq_modes; /* gemm/seq_modes.h */
  const struct hu_unfused_kernels *unfused; /* gemm/unfused.h */
  const struct hu_unit_kernels *unit;       /* gemm/unit.h */
  const struct hu_scaled_join *join;        /* scaled_gemm/join.h */
} hu_level;

/* The best level that this build has, this processor can run and the call allows; never NULL. exec may be NULL. */
const hu_level *hui_level_for(const hu_exec *exec);

/* Instructions that only some processors of a level have, for products and operations of low precision, and an order of
 * addresses that is for some. Each stands for itself: a processor may have any of them. */
typedef struct hu_extension {
  const char *name;
  uint32_t bits; /* HU_LEVEL_ bits: the level's and, above it, its own; one switched off: it is not used */
  /* NULL: the compiler does not know the instructions, the build leaves the level out, or no run on a processor that
   * has them is recorded yet and Meson's option `unconfirmed_units` does not ask for them. */
  int (*runs)(void);
  const struct hu_pair_kernels *pairs;      /* gemm/tiles/pairs.h; NULL: another's */
  const struct hu_pair_kernels *pair_tiles; /* the same header; likewise */
  const struct hu_short_kernels *shorts;    /* gemm/tiles/short.h; likewise */
  const struct hu_byte_tiles *byte_tiles;   /* the same header; likewise */
  const struct hu_half_kernels *halves;     /* gemm/tiles/half.h; likewise */
  const struct hu_half_arith *half_arith;   /* arith/half.h; likewise, with the one before */
  const struct hu_streams *streams;         /* array/streams.h; likewise */
} hu_extension;

/* The tables of all extensions that a call may use; NULL: none. exec may be NULL. */
typedef struct hu_extensions {
  const struct hu_pair_kernels *pairs, *pair_tiles;
  const struct hu_short_kernels *shorts;
  const struct hu_byte_tiles *byte_tiles;
  const struct hu_half_kernels *halves;
  const struct hu_half_arith *half_arith;
} hu_extensions;
hu_extensions hui_extensions_for(const hu_exec *exec);
/* The order of addresses that a call may use; NULL: from the first element to the last. No other extension is looked
 * for: a look for AMX asks Linux for tiles for the whole process (gemm.h). */
const struct hu_streams *hui_streams_for(const hu_exec *exec);
/* Return their own bits, for hu_levels(); the name of one of them, or NULL. */
uint32_t hui_extension_bits(void);
const char *hui_extension_name(uint32_t level);

#endif
