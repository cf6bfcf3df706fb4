/* SPDX-License-Identifier: MIT */
/* emu/scaled/work.h - the record that quantize.c, scales.c and elements.c share while they make a scaled tensor. A
 * group is a row of blocks whose magnitudes are looked at, whose scales are made and whose elements are rounded before
 * the next group's are, so that its elements come from memory once. Rows of a few short blocks each are a group
 * together.
 *
 *   emu/scaled/quantize.c      the call: what may go fast, groups over threads, the whole matrix as one block
 *   emu/scaled/scales.c        amax, scales, and the path of each block's elements
 *   emu/scaled/formula_lanes.c formulas of many blocks or elements, for scales.c and elements.c
 *   emu/scaled/elements.c      the elements, by their block's path
 *
 * Fast paths of a block, x finite in both; what does not prove exact by them is left to emu/core/scaled.h:
 *   shift        the divisor is 2^e, steps exact. Strips multiply the grid by it (emu/scaled/strip.h). For formats that
 *                strips do not take, lanes divide: e taken from the exponent field is the exact quotient of normal
 *                numbers. An element or quotient that is subnormal counts as 2^-126: so small are both, 34 digits below
 *                the element format's smallest value, that every mode rounds them to the same neighbour with the same
 *                events. Back: every value of the element format times 2^e is a normal binary32 number, and adding e
 *                the exact product.
 *   times, over steps that are binary32 operations: the CPU's own, to nearest, subnormal numbers kept, are those.
 *   by formula   the same for each operation of a formula x that is more than one step; its result goes through the
 *                conversion kernels as a quotient does. */
#ifndef HALFULP_EMU_SCALED_WORK_H
#define HALFULP_EMU_SCALED_WORK_H

#include "emu/array/streams.h"
#include "emu/base/exec.h"
#include "emu/core/bits.h"
#include "emu/scaled/call.h"
#include "emu/core/four_six.h"
#include "emu/scaled/rows.h"
#include "emu/scaled/strip.h"
#include "emu/simd/convert.h"

enum {
  HU_GROUP = HU_STRIP, /* blocks of a group at most */
  HU_POWERS_KEPT = 16,
  HU_CHOICE_CODES = 128 /* positive scales that are tried at most */
};
/* Paths besides those of emu/scaled/strip.h: by emu/core/scaled.h, done already, by the formula x, and into integers
 * of a format with a type for each block. */
enum { HU_BY_CORE = 3, HU_DONE = 4, HU_BY_FORMULA = 5, HU_BY_INTEGERS = 6 };
enum { HU_FORMULA_PIECE = 256 }; /* numbers that a formula is computed for at a time */

typedef struct hu_scaled_work {
  hu_scaled_call call;
  hu_scaled_shape shape;
  hu_scaler scaler;
  hu_four_six four_six;
  hu_lane_constants constants;
  hu_scaled_grid grid;
  const hu_kernels *kernels; /* NULL: the core for every element */
  const hu_scaled_lanes *lanes;
  const hu_scaled_strips *strips; /* NULL: elements through lanes and kernels, in steps */
  const hu_streams *streams;      /* NULL: operands come from memory as they are read */
  hu_scaled_powers powers;
  int has_powers;
  int ratios, scale_is_binary32; /* scales by lanes, a group at a time */
  int formulas;                  /* 1: lanes compute the formula x */
  hu_lane_constants scale_constants;
  hu_lane_constants nearest[2]; /* of the element format, ties away and toward zero, under the policy finite */
  int has_nearest;
  int types; /* 1: lanes make the errors by which types are chosen, and integers (docs/scaled.md section 4.5) */
  hu_lane_constants integer;
  uint32_t to_integer, of_integer; /* g and f */
  int choice;                      /* 1: lanes make the errors of 4over6 and sweep_mse */
  hu_scaled_trial trial;           /* what all of these have in common */
  /* sweep_mse: of the scales 1, 2, ... */
  uint32_t choice_by[HU_CHOICE_CODES + HU_SPREAD], choice_back[HU_CHOICE_CODES + HU_SPREAD];
  float part_factor;     /* steps encode: what amax is multiplied by */
  size_t across, groups; /* blocks in a group, groups side by side */
  size_t together;    /* rows of a group that has whole rows, the blocks of each behind those of the one before; or 0 */
  size_t items, part; /* what is done in parts, and how many of it a part has */
  hu_shared one;      /* the shared scale where a block is the whole matrix */
  uint32_t one_top;   /* the largest finite magnitude there */
  int one_special;    /* are there others? */
  hu_events *counts;  /* one per part */
  uint32_t *tops;     /* one per part: the largest magnitude */
} hu_scaled_work;

typedef struct hu_scaled_group {
  size_t row, last, col, n;              /* its rows, row ... last - 1, and columns */
  size_t count;                          /* blocks */
  hu_scaled_stats *stats;                /* of the first, or NULL */
  uint32_t top[HU_GROUP];                /* the largest magnitude patterns */
  uint32_t codes[HU_GROUP];              /* of the scales */
  uint32_t by[HU_GROUP], back[HU_GROUP]; /* those of hu_scaled_strip */
  uint8_t way[HU_GROUP];
  /* rules of powers of two: scales made before, by the low bits of e */
  hu_shared made[HU_POWERS_KEPT];
  int32_t made_for[HU_POWERS_KEPT];
} hu_scaled_group;

/* Elements of one row. */
typedef struct hu_scaled_span {
  size_t row, col, n;
} hu_scaled_span;

static inline const uint32_t *hui_scaled_x(const hu_scaled_work *work, size_t row, size_t col) {
  return work->call.x + row * work->call.ldx + col;
}
static inline uint8_t *hui_scaled_code(const hu_scaled_work *work, size_t row, size_t col) {
  return (uint8_t *)work->call.codes->codes + (row * work->call.codes->ld + col) * work->shape.code_size;
}
static inline uint8_t *hui_scaled_scale(const hu_scaled_work *work, size_t down, size_t across) {
  return (uint8_t *)work->call.codes->scales + (down * work->call.codes->lds + across) * work->shape.scale_size;
}
/* Rows, columns of block k of a group. */
typedef struct hu_scaled_place {
  size_t row, last, col, n;
} hu_scaled_place;
static inline hu_scaled_place hui_scaled_place_of(const hu_scaled_work *work, const hu_scaled_group *group, size_t k) {
  size_t side = work->shape.side_cols, j = work->together ? k % work->shape.block_cols : k;
  hu_scaled_place place = {group->row, group->last, group->col + j * side,
                           group->n - j * side < side ? group->n - j * side : side};
  if (!work->together) return place;
  place.row += k / work->shape.block_cols;
  place.last = place.row + 1;
  return place;
}
static inline float hui_float_of_num(hu_num x) { return hui_float_of_bits(hui_pack32(x)); }

/* ---- emu/scaled/formula_lanes.c ---- */

/* Rounds y into the scale format, at most HU_FORMULA_PIECE numbers; y becomes the values. */
void hui_scaled_scale_codes(const hu_scaled_work *work, size_t n, uint32_t *y, uint32_t *codes);
/* Computes a formula, code[at] ... code[end - 1], for n numbers with these A, s and x, what hui_formula_run does for
 * each; z may be one of them. At most HU_FORMULA_PIECE. */
void hui_scaled_formula(const hu_scaled_work *work, uint32_t at, uint32_t end, size_t n, const uint32_t *const named[3],
                        uint32_t *z);

/* ---- emu/scaled/scales.c ---- */

/* Prepares what lanes need for scales. */
void hui_scaled_scales_plan(hu_scaled_work *work);
void hui_scaled_group_start(hu_scaled_group *group);
/* Makes the scales of the group; the elements of blocks that only the core takes are done, too. */
void hui_scaled_scales(const hu_scaled_work *work, hu_scaled_group *group, hu_events *counts);
/* top[k] becomes at least the largest magnitude of block k's, side elements each. */
void hui_scaled_look(const hu_scaled_work *work, size_t n, size_t side, const uint32_t *x, uint32_t *top);
/* Returns the larger of top and the largest magnitude after the rule for special elements, which *special counts. */
uint32_t hui_scaled_limited_top(const hu_scaled_work *work, size_t n, const uint32_t *x, uint32_t top,
                                uint64_t *special);
/* Returns the path for the elements of a block of finite elements up to top, and the numbers for it. */
int hui_scaled_way(const hu_scaled_work *work, const hu_shared *shared, uint32_t top, uint32_t *by, uint32_t *back);

/* ---- emu/scaled/quantize.c ---- */

/* Chooses the lanes and kernels that serve, for the call and the scaler. */
void hui_scaled_choose_lanes(hu_scaled_work *work);

/* ---- emu/scaled/choice.c ---- */

/* Plans whether lanes make the errors by which scales are chosen, and what they need; the tensor's amax is known. */
void hui_scaled_choice_plan(hu_scaled_work *work);
/* Computes hui_four_six_choose for a block of finite elements. */
hu_shared hui_scaled_choose(const hu_scaled_work *work, const hu_four_six_block *block, uint32_t amax,
                            const hu_shared *six);

/* ---- emu/scaled/elements.c ---- */

/* Rounds elements of one block by the core. */
void hui_scaled_core(const hu_scaled_work *work, hu_scaled_span span, const hu_shared *shared, hu_events *counts);
/* Rounds rows row ... last - 1 of blocks first ... past - 1 of the group, which have one path, none of them
 * HU_BY_CORE. */
void hui_scaled_elements(const hu_scaled_work *work, const hu_scaled_group *group, size_t first, size_t past,
                         hu_events *counts);
/* Rounds a group of rows together, except for what is done already. */
void hui_scaled_rows(const hu_scaled_work *work, const hu_scaled_group *group, hu_events *counts);

#endif
