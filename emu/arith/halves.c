/* SPDX-License-Identifier: MIT */
/* Array calls on codes of binary16, a piece at a time: the result in the mode and in both directions by the kernels of
 * half.h, and by the core what they leave. */
#include "emu/arith/halves.h"

#include "emu/core/bits.h"
#include "halfulp/format.h"

int hui_half_serves(const hu_spec *spec) {
  if (!hui_spec_is_plain(spec) || !spec->negzero || spec->m != 10 || spec->emin != -14 || spec->max_code != 0x7BFF)
    return 0;
  if (!spec->has_inf || !spec->has_nan || spec->saturate != HU_SAT_NONE) return 0;
  return spec->round == HU_RNE || spec->round == HU_RTZ || spec->round == HU_RTP || spec->round == HU_RTN;
}

static int is_operation(int32_t op) { return op <= HU_OP_DIV || op == HU_OP_SQRT || op == HU_OP_FMA; }

int hui_halves_serve(const hu_arith_call *call, const hu_spec *spec) {
  const hu_format binary16 = hu_format_ieee(5, 10, 0);
  if (!is_operation(call->op) || !hui_half_serves(spec) || !hu_format_equal(call->result.format, binary16)) return 0;
  if (call->op == HU_OP_FMA && spec->nan_fma) return 0; /* an invalid that no result shows */
  for (int k = 0; k < call->operands; k++) {
    if (!hu_format_equal(call->x[k].format, binary16)) return 0;
  }
  return 1;
}

/* Operands and results of a piece. */
typedef struct halves {
  uint16_t x[3][HU_HALF_PIECE], up[HU_HALF_PIECE], down[HU_HALF_PIECE], z[HU_HALF_PIECE], left[HU_HALF_PIECE];
} halves;

static size_t room_of(size_t n) { return (n + HU_HALF_STEP - 1) / HU_HALF_STEP * HU_HALF_STEP; }

/* Elements behind n are 1: what becomes of them is 0, 1 or 2, exact, without an event. */
static void load(const hu_array_view *codes, size_t first, size_t n, size_t room, uint16_t *z) {
  const uint16_t *from = (const uint16_t *)codes->data + (ptrdiff_t)first * codes->stride;
  if (codes->stride == 1) {
    memcpy(z, from, n * sizeof *z);
  } else {
    for (size_t i = 0; i < n; i++) z[i] = from[(ptrdiff_t)i * codes->stride];
  }
  for (size_t i = n; i < room; i++) z[i] = 0x3C00;
}

static void store(const hu_arith_call *call, size_t first, size_t n, const uint16_t *z) {
  uint16_t *to = (uint16_t *)call->z + (ptrdiff_t)first * call->result.stride;
  for (size_t i = 0; i < n; i++) to[(ptrdiff_t)i * call->result.stride] = z[i];
}

static void redo(const hu_arith_call *call, const hu_spec *spec, halves *work, size_t i, hu_events *events) {
  hu_num x[3];
  uint32_t raised;
  for (int k = 0; k < 3; k++) {
    x[k] = k < call->operands ? hui_unpack(spec, work->x[k][i]) : hui_num_special(HU_KIND_ZERO, 0);
  }
  work->z[i] = (uint16_t)hui_arith_one(spec, call->op, x[0], x[1], x[2], 0, &raised);
  hu_events_count(events, raised);
}

static void run_piece(const hu_half_arith *kernels, const hu_arith_call *call, const hu_spec *spec, size_t n,
                      halves *work, hu_events *events) {
  const size_t room = room_of(n);
  const int operands = call->operands;
  hu_half_piece piece = {.op = call->op,
                         .round = spec->round,
                         .tiny = spec->tiny,
                         .n = room,
                         .x = {work->x[0], work->x[operands > 1], work->x[operands > 2 ? 2 : 0]},
                         .up = work->up,
                         .down = work->down,
                         .z = work->z,
                         .left = work->left};
  kernels->operate(call->op, HU_RTP, room, work->up, piece.x);
  kernels->operate(call->op, HU_RTN, room, work->down, piece.x);
  kernels->operate(call->op, spec->round, room, work->z, piece.x);
  if (!kernels->settle(&piece, events)) return;
  for (size_t i = 0; i < n; i++) {
    if (work->left[i]) redo(call, spec, work, i, events);
  }
}

void hui_halves_run(const hu_half_arith *kernels, const hu_arith_call *call, const hu_spec *spec, size_t first,
                    size_t n, hu_events *events) {
  halves work;
  for (size_t end = first + n; first < end; first += HU_HALF_PIECE) {
    const size_t k = end - first < HU_HALF_PIECE ? end - first : HU_HALF_PIECE;
    for (int i = 0; i < call->operands; i++) load(&call->x[i], first, k, room_of(k), work.x[i]);
    run_piece(kernels, call, spec, k, &work, events);
    store(call, first, k, work.z);
  }
}
