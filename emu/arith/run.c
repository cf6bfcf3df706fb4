/* SPDX-License-Identifier: MIT */
/* Runs one array operation: distributes parts over threads and computes pieces in binary64 lanes, or value by value in
 * the core where the lanes cannot be used.
 *
 * The lanes' way: operands to binary32 (exact), the operation in binary64 rounded to odd, that to binary32 rounded
 * to odd (wide.h), and from there the conversion kernels, which round into the result's format. Rounding to
 * odd twice and then once more is one rounding where binary32 keeps two digits more than the last one looks at
 * (hui_odd_is_enough). What the lanes leave (a NaN, an infinity, a divisor zero, a root of a negative number, a
 * result beyond binary32) is the core's: the kernels get +0 there, which has no events, and the core puts its
 * result over theirs. */
#include "emu/arith/run.h"

#include "emu/arith/function_call.h"
#include "emu/arith/function_lanes.h"
#include "emu/arith/halves.h"
#include "emu/arith/one.h"
#include "emu/arith/wide.h"
#include "emu/base/exec.h"
#include "emu/base/float_env.h"
#include "emu/base/threads.h"
#include "emu/core/bits.h"
#include "emu/core/function.h"
#include "emu/core/lane_constants.h"
#include "emu/core/stream.h"
#include "emu/simd/convert.h"
#include "emu/simd/level.h"

enum {
  PIECE = 64 * HU_WIDE_LANES,
  PART_MIN = 1 << 13,
  BY_CORE = 8 /* elements that the core computes while lane constants would be made */
};

typedef struct run {
  const hu_arith_call *call;
  const hu_spec *spec; /* of its result */
  size_t part;
  hu_lane_constants constants, source_constants[3];
  int raw[3];                /* 1: the operand's codes are binary32 patterns */
  const hu_kernels *kernels; /* NULL: the core for every element */
  const hu_wide_arith *wide;
  hu_function_lane function;       /* NULL: no elementary function of one operand, or none in lanes */
  hu_function_pair pair;           /* the same of two */
  hu_function_nearest32 nearest32; /* NULL: the kernels round; else lanes do, into binary32 */
  const hu_half_arith *halves;     /* the CPU's own binary16, before all others; NULL: it does not serve */
  hu_stream stream;
  int stochastic;
  /* What every operation on a NaN gives but pow and the extremes that prefer numbers, and what has no result: the root
   * of a number below 0. */
  uint32_t nan, nan_events, no_root, no_root_events;
  hu_events *counts; /* one a part */
} run;

static const uint8_t *at(const hu_array_view *codes, size_t i) {
  return (const uint8_t *)codes->data + (ptrdiff_t)i * codes->stride * (ptrdiff_t)codes->size;
}

static uint8_t *z_at(const run *task, size_t i) {
  return (uint8_t *)task->call->z + (ptrdiff_t)i * task->call->result.stride * (ptrdiff_t)task->call->result.size;
}

static uint32_t load_code(const hu_array_view *codes, size_t i) { return hui_load_code(at(codes, i), codes->size); }

static void store_code(const run *task, size_t i, uint32_t code) {
  hui_store_code(z_at(task, i), task->call->result.size, code);
}

static uint32_t random_at(const run *task, size_t i) {
  return task->stochastic ? hui_stream_at(task->stream.key, task->stream.counter + i) >> (32 - task->spec->bits) : 0;
}

/* ---- the core, an element at a time ---- */

static hu_num number(const run *task, int k, size_t i) {
  if (k >= task->call->operands) return hui_num_special(HU_KIND_ZERO, 0);
  return hui_unpack(&task->call->x[k].spec, load_code(&task->call->x[k], i));
}

static void run_rounded(const run *task, size_t first, size_t n, hu_events *counts) {
  for (size_t i = first; i < first + n; i++) {
    uint32_t events, code = hui_arith_one(task->spec, task->call->op, number(task, 0, i), number(task, 1, i),
                                          number(task, 2, i), random_at(task, i), &events);
    store_code(task, i, code);
    hu_events_count(counts, events);
  }
}

static void run_functions(const run *task, size_t first, size_t n, hu_events *counts) {
  for (size_t i = first; i < first + n; i++) {
    uint32_t events, code = hui_function_code(task->spec, task->call->op, number(task, 0, i), number(task, 1, i),
                                              random_at(task, i), &events);
    store_code(task, i, code);
    hu_events_count(counts, events);
  }
}

static void run_other(const run *task, size_t first, size_t n, hu_events *counts) {
  for (size_t i = first; i < first + n; i++) {
    uint32_t events = 0, z;
    switch (task->call->op) {
      case HU_OP_COMPARE: z = hui_compared(number(task, 0, i), number(task, 1, i)); break;
      case HU_OP_REMAINDER:
        z = hui_remainder_code(task->spec, number(task, 0, i), number(task, 1, i), random_at(task, i), &events);
        break;
      default:
        z = hui_within_format(task->spec, task->call->op, load_code(&task->call->x[0], i), random_at(task, i), &events);
        break;
    }
    store_code(task, i, z);
    hu_events_count(counts, events);
  }
}

/* ---- the lanes, a piece at a time ---- */

typedef struct piece {
  uint32_t x[3][PIECE]; /* operands as binary32 patterns */
  uint32_t odd[PIECE], left[PIECE], out[PIECE];
  uint64_t wide[PIECE], wide_left[PIECE]; /* of the elementary functions */
} piece;

static void load_operand(const run *task, int k, size_t first, size_t n, uint32_t *z) {
  const hu_array_view *x = &task->call->x[k];
  uint32_t gathered[PIECE];
  const void *codes = at(x, first);
  if (x->stride != 1) {
    for (size_t i = 0; i < n; i++) memcpy((uint8_t *)gathered + i * x->size, at(x, first + i), x->size);
    codes = gathered;
  }
  if (task->raw[k]) {
    memcpy(z, codes, n * 4);
  } else {
    task->kernels->decode_within[hui_by_size(x->size)](&task->source_constants[k], n, z, codes);
  }
}

static int not_finite(uint32_t pattern) { return (pattern & 0x7FFFFFFF) >= 0x7F800000; }

/* Chooses an extreme, which needs no wider lanes: as integers with the negative ones' digits turned over, -0 < +0. */
static int choose(int32_t op, size_t n, piece *work) {
  int larger = op == HU_OP_MAXIMUM || op == HU_OP_MAXIMUM_NUMBER;
  const uint32_t *a = work->x[0], *b = work->x[1];
  uint32_t any = 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t ka = a[i] ^ ((0 - (a[i] >> 31)) >> 1), kb = b[i] ^ ((0 - (b[i] >> 31)) >> 1);
    uint32_t left = (uint32_t)0 - (uint32_t)(not_finite(a[i]) | not_finite(b[i]));
    uint32_t first = ((int32_t)ka > (int32_t)kb) == larger;
    work->odd[i] = (first ? a[i] : b[i]) & ~left;
    work->left[i] = left;
    any |= left;
  }
  return any != 0;
}

static int is_function(const run *task) { return task->function || task->pair; }

static int to_wide(const run *task, size_t n, piece *work) {
  if (task->pair) return task->pair(n, work->wide, work->wide_left, work->x[0], work->x[1]);
  return task->function(n, work->wide, work->wide_left, work->x[0]);
}

/* Functions leave what lies beyond binary32. */
static int call_function(const run *task, size_t n, piece *work) {
  int left = to_wide(task, n, work);
  (void)task->kernels->to_odd(n, work->odd, work->wide);
  for (size_t i = 0; left && i < n; i++) work->left[i] = (uint32_t)work->wide_left[i];
  return left;
}

static int compute(const run *task, size_t n, piece *work) {
  const hu_wide_arith *arith = task->wide;
  if (is_function(task)) return call_function(task, n, work);
  uint32_t down = task->spec->round == HU_RTN;
  switch (task->call->op) {
    case HU_OP_ADD: return arith->add(n, work->odd, work->left, work->x[0], work->x[1], down);
    case HU_OP_SUB: return arith->sub(n, work->odd, work->left, work->x[0], work->x[1], down);
    case HU_OP_MUL: return arith->mul(n, work->odd, work->left, work->x[0], work->x[1]);
    case HU_OP_DIV: return arith->div(n, work->odd, work->left, work->x[0], work->x[1]);
    case HU_OP_SQRT: return arith->sqrt(n, work->odd, work->left, work->x[0]);
    case HU_OP_FMA: return arith->fma(n, work->odd, work->left, work->x[0], work->x[1], work->x[2], down);
    default: return choose(task->call->op, n, work);
  }
}

/* Is an operand NaN and none infinite, which would be an event more? For operations that NaN passes through. */
static int is_nan(const run *task, const piece *work, size_t i) {
  int nan = 0, infinite = 0;
  for (int k = 0; k < task->call->operands; k++) {
    uint32_t size = work->x[k][i] & 0x7FFFFFFF;
    nan |= size > 0x7F800000;
    infinite |= size == 0x7F800000;
  }
  return nan && !infinite;
}

static int is_normal_or_subnormal(uint32_t pattern) { return (pattern & 0x7FFFFFFF) - 1 < 0x7F7FFFFF; }

/* Has such a number digits behind the point? */
static int has_fraction(uint32_t pattern) {
  uint32_t exponent = pattern >> 23 & 0xFF;
  return exponent < 127 || (exponent < 150 && (pattern & 0x7FFFFFu >> (exponent - 127)));
}

/* Is it a root of a number below 0, or its power with an exponent that is not an integer? */
static int is_invalid(const run *task, const piece *work, size_t i) {
  uint32_t x = work->x[0][i], y = work->x[1][i];
  if (!(x >> 31) || !is_normal_or_subnormal(x)) return 0;
  if (task->call->op == HU_OP_SQRT) return 1;
  return task->call->op == HU_OP_POW && is_normal_or_subnormal(y) && has_fraction(y);
}

/* A power of finite numbers above 2^200, and so beyond all formats that the lanes serve: with 2^k <= |x| < 2^(k+1), if
 * 2^(k y) and 2^((k+1) y) are. */
static int is_beyond(const run *task, const piece *work, size_t i) {
  uint32_t x = work->x[0][i] & 0x7FFFFFFF;
  if (task->call->op != HU_OP_POW || !is_normal_or_subnormal(x) || !is_normal_or_subnormal(work->x[1][i])) return 0;
  double y = (double)hui_float_of_bits(work->x[1][i]), k = hui_exponent(hui_unpack32(x));
  return k * y > 200 && (k + 1) * y > 200;
}

static uint32_t beyond_sign(const piece *work, size_t i) {
  return work->x[0][i] >> 31 && hui_integer_kind(hui_unpack32(work->x[1][i])) == 1;
}

/* From the patterns, for the result may have been written over the operands already. */
static void redo(const run *task, const piece *work, size_t first, size_t i, hu_events *counts) {
  hu_num x[3] = {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}};
  uint32_t events, code;
  int prefers_numbers =
      task->call->op == HU_OP_MINIMUM_NUMBER || task->call->op == HU_OP_MAXIMUM_NUMBER || task->call->op == HU_OP_POW;
  if (!prefers_numbers && is_nan(task, work, i)) {
    code = task->nan;
    events = task->nan_events;
  } else if (is_invalid(task, work, i)) {
    code = task->no_root;
    events = task->no_root_events;
  } else if (is_beyond(task, work, i)) {
    hu_num z = hui_beyond_all(beyond_sign(work, i));
    code = hui_arith_round(task->spec, z, 0, 0, random_at(task, first + i), &events);
  } else {
    for (int k = 0; k < task->call->operands; k++) x[k] = hui_unpack32(work->x[k][i]);
    uint32_t r = random_at(task, first + i);
    code = is_function(task) ? hui_function_code(task->spec, task->call->op, x[0], x[1], r, &events)
                             : hui_arith_one(task->spec, task->call->op, x[0], x[1], x[2], r, &events);
  }
  store_code(task, first + i, code);
  hu_events_count(counts, events);
}

static void redo_left(const run *task, const piece *work, size_t first, size_t n, hu_events *counts) {
  for (size_t i = 0; i < n; i += HU_WIDE_LANES) {
    uint32_t any = 0;
    for (size_t k = i; k < i + HU_WIDE_LANES; k++) any |= work->left[k];
    for (size_t k = i; any && k < i + HU_WIDE_LANES && k < n; k++) {
      if (work->left[k]) redo(task, work, first, k, counts);
    }
  }
}

static void round_piece(const run *task, size_t first, size_t n, piece *work, hu_events *counts) {
  int direct = task->call->result.stride == 1;
  hu_piece rounded = {.n = n,
                      .z = direct ? (void *)z_at(task, first) : work->out,
                      .x = work->odd,
                      .key = task->stream.key,
                      .word = task->stream.counter + first};
  size_t size = task->call->result.size;
  int within = hui_direction_of(task->spec->round) == HU_LANE_NEAREST; /* that of the environment here */
  (within ? task->kernels->encode_within : task->kernels->encode)[hui_by_size(size)](&task->constants, &rounded,
                                                                                     counts);
  for (size_t i = 0; !direct && i < n; i++) memcpy(z_at(task, first + i), (const uint8_t *)work->out + i * size, size);
}

/* Rounds a function's digits into binary32 at once, which the kernels do not take as a format. */
static int nearest32(const run *task, size_t first, size_t n, piece *work, hu_events *counts) {
  int direct = task->call->result.stride == 1;
  uint32_t *out = direct ? (uint32_t *)(void *)z_at(task, first) : work->out;
  (void)to_wide(task, n, work);
  int left = task->nearest32(n, out, work->left, work->wide, work->wide_left, &counts->inexact);
  for (size_t i = 0; !direct && i < n; i++) memcpy(z_at(task, first + i), out + i, sizeof *out);
  return left;
}

/* Lanes behind n are computed, and looked at, too. */
static void clear(piece *work, size_t n) {
  size_t bytes = sizeof *work->left * ((n + HU_WIDE_LANES - 1) / HU_WIDE_LANES * HU_WIDE_LANES);
  for (int k = 0; k < 3; k++) memset(work->x[k], 0, bytes);
  memset(work->left, 0, bytes);
}

static void run_lanes(const run *task, size_t first, size_t n, hu_events *counts) {
  piece work;
  clear(&work, n < PIECE ? n : PIECE);
  for (size_t end = first + n; first < end; first += PIECE) {
    size_t k = end - first < PIECE ? end - first : PIECE;
    for (int i = 0; i < task->call->operands; i++) load_operand(task, i, first, k, work.x[i]);
    int left;
    if (task->nearest32) {
      left = nearest32(task, first, k, &work, counts);
    } else {
      left = compute(task, k, &work);
      round_piece(task, first, k, &work, counts);
    }
    if (left) redo_left(task, &work, first, k, counts);
  }
}

static void run_part(void *context, size_t part) {
  const run *task = context;
  size_t first = part * task->part, n = task->call->n - first < task->part ? task->call->n - first : task->part;
  hu_events counts = {0};
  if (task->halves) {
    hui_halves_run(task->halves, task->call, task->spec, first, n, &counts);
  } else if (task->kernels) {
    hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
    run_lanes(task, first, n, &counts);
    hui_float_env_leave(saved);
  } else if (task->call->op < HU_OP_ROUNDED) {
    run_rounded(task, first, n, &counts);
  } else if (task->call->op >= HU_OP_FUNCTION && task->call->op <= HU_OP_POW) {
    run_functions(task, first, n, &counts);
  } else {
    run_other(task, first, n, &counts);
  }
  task->counts[part] = counts;
}

/* ---- what lanes can do ---- */

static int lanes_can(run *task) {
  hu_format binary32 = hui_format_binary32();
  int extreme = task->call->op >= HU_OP_MINIMUM && task->call->op <= HU_OP_MAXIMUM_NUMBER;
  if (!is_function(task) && (task->call->op >= HU_OP_ROUNDED || (task->call->op == HU_OP_SQRT && !task->wide->sqrt)))
    return 0;
  if (!hui_has_zero(task->spec)) return 0; /* there +0 would have an event */
  int narrow = hui_lane_constants_of(&task->constants, task->spec) && (extreme || hui_odd_is_enough(task->spec));
  if (narrow) task->nearest32 = NULL;
  if (!narrow && !task->nearest32) return 0;
  for (int k = 0; k < task->call->operands; k++) {
    hu_format format = task->call->x[k].format;
    task->raw[k] = hu_format_equal(format, binary32);
    if (!task->raw[k] && (!task->call->x[k].spec.fits_binary32 ||
                          !hui_lane_constants_of(&task->source_constants[k], &task->call->x[k].spec)))
      return 0;
  }
  return 1;
}

/* Is a call so small that preparing lanes takes longer? With levels switched off the core is asked for, or some kernels
 * and no others. */
static int suits_core(const run *task, const hu_exec *exec) {
  int quick = task->call->op < HU_OP_ROUNDED && task->call->op != HU_OP_SQRT && !task->stochastic;
  return quick && task->call->n <= BY_CORE && !(exec && exec->levels_off);
}

/* Sets what lanes leave to the core most often: a root takes it as long as a small call. */
static void set_refused(run *task) {
  hu_num nan = hui_num_special(HU_KIND_NAN, 0), minus = hui_num_finite(1, 1, 0);
  task->nan = hui_arith_one(task->spec, HU_OP_ADD, nan, nan, nan, 0, &task->nan_events);
  if (task->call->op == HU_OP_SQRT || task->call->op == HU_OP_POW)
    task->no_root = hui_arith_one(task->spec, HU_OP_SQRT, minus, minus, minus, 0, &task->no_root_events);
}

static hu_function_lane function_for(const hu_level *level, int32_t op) {
  if (op < HU_OP_FUNCTION || op >= HU_OP_FUNCTION + HU_FUNCTION_LANES) return NULL;
  return level->function ? level->function->lane[op - HU_OP_FUNCTION] : NULL;
}

/* Returns the kernel of functions into binary32, ties to even. */
static hu_function_nearest32 nearest32_for(const hu_level *level, const run *task) {
  if (!is_function(task) || task->call->mode.round != HU_RNE ||
      !hu_format_equal(task->call->result.format, hui_format_binary32()))
    return NULL;
  return level->function ? level->function->nearest32 : NULL;
}

void hui_arith_run(const hu_arith_call *call, const hu_exec *exec, hu_events *events) {
  run task;
  hu_events counts[HU_THREADS_MAX];
  uint32_t threads = hui_exec_threads(exec);
  const hu_level *level = hui_level_for(exec);
  memset(&task, 0, sizeof task);
  task.call = call;
  task.spec = &call->result.spec;
  task.stochastic = call->mode.round >= HU_SRA;
  task.kernels = level->convert;
  task.wide = level->wide;
  task.function = function_for(level, call->op);
  task.pair = call->op == HU_OP_POW && level->function ? level->function->pow : NULL;
  task.nearest32 = nearest32_for(level, &task);
  if (task.kernels && (suits_core(&task, exec) || !task.wide || !lanes_can(&task))) task.kernels = NULL;
  if (task.kernels) set_refused(&task);
  task.halves = hui_halves_serve(call, task.spec) ? hui_extensions_for(exec).half_arith : NULL;
  task.stream = hui_exec_stream(exec);
  task.counts = counts;
  task.part = hui_part_size(call->n, threads, PART_MIN);
  size_t parts = hui_parts(call->n, task.part);
  hui_parallel(threads, parts, run_part, &task);
  for (size_t i = 0; events && i < parts; i++) hu_events_add(events, &counts[i]);
}
