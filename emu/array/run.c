/* SPDX-License-Identifier: MIT */
/* Runs one array conversion: distributes parts over threads, gives pieces to kernels, and converts value by value in
 * the core where no kernel can be used. */
#include "emu/array/run.h"

#include "emu/array/few.h"
#include "emu/array/streams.h"
#include "emu/base/exec.h"
#include "emu/base/float_env.h"
#include "emu/base/threads.h"
#include "emu/core/bits.h"
#include "emu/core/lane_constants.h"
#include "emu/core/stream.h"
#include "emu/format/value32.h"
#include "emu/simd/convert.h"
#include "emu/simd/level.h"

enum {
  PIECE = 1024,          /* elements of a buffered piece: all its buffers stay in the first-level cache */
  BY_CORE = 8,           /* elements that the core converts while lane constants would be made */
  PART_MIN = 1 << 14,    /* elements that make a part of their own worth while */
  BYPASS_BYTES = 1 << 24 /* outputs from here on are written around the caches */
};

typedef struct conversion {
  size_t n, part;
  uint8_t *z;
  const uint8_t *x;
  const hu_array_view *ez, *ex;
  const hu_kernels *kernels; /* NULL: the core for every element */
  const hu_streams *streams; /* NULL: from the first element to the last */
  hu_stream stream;
  int stochastic, bypass;
  hu_events *counts;                             /* one a part */
  hu_lane_constants constants, source_constants; /* of the target, and of the source's codes; set for kernels alone */
} conversion;

static const uint8_t *x_at(const conversion *call, size_t i) {
  return call->x + (ptrdiff_t)i * call->ex->stride * (ptrdiff_t)call->ex->size;
}

static uint8_t *z_at(const conversion *call, size_t i) {
  return call->z + (ptrdiff_t)i * call->ez->stride * (ptrdiff_t)call->ez->size;
}

/* ---- the core, an element at a time ---- */

static hu_num load_num(const conversion *call, size_t i) {
  const uint8_t *x = x_at(call, i);
  uint64_t pattern;
  if (call->ex->kind == HU_VIEW_CODES) return hui_unpack(&call->ex->spec, hui_load_code(x, call->ex->size));
  if (call->ex->kind == HU_VIEW_BINARY32) return hui_unpack32(hui_load_code(x, 4));
  memcpy(&pattern, x, sizeof pattern);
  return hui_unpack64(pattern);
}

static void store_num(const conversion *call, size_t i, uint32_t code) {
  uint8_t *z = z_at(call, i);
  if (call->ez->kind == HU_VIEW_CODES) {
    hui_store_code(z, call->ez->size, code);
  } else if (call->ez->kind == HU_VIEW_BINARY32) {
    hui_store_code(z, 4, hui_value32(&call->ez->spec, code));
  } else {
    uint64_t pattern = hui_pack64(hui_unpack(&call->ez->spec, code));
    memcpy(z, &pattern, sizeof pattern);
  }
}

static void run_core(const conversion *call, size_t first, size_t n, hu_events *counts) {
  for (size_t i = first; i < first + n; i++) {
    uint32_t events, r = 0;
    if (call->stochastic) r = hui_stream_at(call->stream.key, call->stream.counter + i) >> (32 - call->ez->spec.bits);
    store_num(call, i, hui_round(&call->ez->spec, load_num(call, i), r, &events));
    hu_events_count(counts, events);
  }
}

/* ---- the kernels, a piece at a time ---- */

/* Reads n elements of the source as binary32 patterns, in buffer or in place; NULL if this piece needs the core. */
static const uint32_t *load_piece(const conversion *call, size_t first, size_t n, uint32_t *buffer) {
  union {
    uint8_t b[PIECE];
    uint16_t h[PIECE];
    uint32_t w[PIECE];
    uint64_t d[PIECE];
  } raw;
  const void *x = x_at(call, first);
  if (call->ex->stride != 1) {
    for (size_t i = 0; i < n; i++) memcpy((uint8_t *)&raw + i * call->ex->size, x_at(call, first + i), call->ex->size);
    x = raw.b;
  }
  switch (call->ex->kind) {
    case HU_VIEW_BINARY32:
      if (call->ex->stride == 1) return (const uint32_t *)(const void *)x_at(call, first);
      memcpy(buffer, x, n * 4);
      return buffer;
    case HU_VIEW_BINARY64: return call->kernels->to_odd(n, buffer, x) ? NULL : buffer;
    default:
      call->kernels->decode_within[hui_by_size(call->ex->size)](&call->source_constants, n, buffer, x);
      return buffer;
  }
}

static void call_kernel(const conversion *call, const hu_piece *piece, hu_events *counts) {
  if (call->ez->kind != HU_VIEW_CODES) {
    call->kernels->quantize_within(&call->constants, piece, counts);
  } else {
    call->kernels->encode_within[hui_by_size(call->ez->size)](&call->constants, piece, counts);
  }
}

/* A finite or special binary32 pattern as the same value's binary64 pattern; NaN is canonical in both. */
static uint64_t widen(uint32_t pattern) { return hui_pack64(hui_unpack32(pattern)); }

static void store_piece(const conversion *call, size_t first, size_t n, const void *piece) {
  for (size_t i = 0; i < n; i++) {
    if (call->ez->kind == HU_VIEW_BINARY64) {
      uint64_t pattern = widen(((const uint32_t *)piece)[i]);
      memcpy(z_at(call, first + i), &pattern, sizeof pattern);
    } else {
      memcpy(z_at(call, first + i), (const uint8_t *)piece + i * call->ez->size, call->ez->size);
    }
  }
}

static void run_buffered(const conversion *call, size_t first, size_t n, hu_events *counts) {
  uint32_t in[PIECE], out[PIECE];
  int direct = call->ez->stride == 1 && call->ez->kind != HU_VIEW_BINARY64;
  for (size_t end = first + n; first < end; first += PIECE) {
    size_t k = end - first < PIECE ? end - first : PIECE;
    hu_piece piece = {.n = k,
                      .z = direct ? (void *)z_at(call, first) : out,
                      .x = load_piece(call, first, k, in),
                      .key = call->stream.key,
                      .word = call->stream.counter + first,
                      .bypass = call->bypass};
    if (!piece.x) {
      run_core(call, first, k, counts);
      continue;
    }
    if (!direct) piece.bypass = 0;
    call_kernel(call, &piece, counts);
    if (!direct) store_piece(call, first, k, out);
  }
}

/* ---- contiguous elements ---- */

static uint32_t *words(void *z) { return z; }
static const uint32_t *words_of(const void *x) { return x; }

/* A call's operands are binary32 and need no buffer, nor do its results. */
static int is_plain(const conversion *call) {
  return call->ex->kind == HU_VIEW_BINARY32 && call->ex->stride == 1 && call->ez->stride == 1 &&
         call->ez->kind != HU_VIEW_BINARY64;
}

static void run_plain(const conversion *call, size_t first, size_t n, void *z, int bypass, hu_events *counts) {
  hu_piece piece = {.n = n,
                    .z = z,
                    .x = words_of(x_at(call, first)),
                    .key = call->stream.key,
                    .word = call->stream.counter + first,
                    .bypass = bypass};
  call_kernel(call, &piece, counts);
}

static void decode_plain(const conversion *call, size_t first, size_t n, uint32_t *z) {
  call->kernels->decode_within[hui_by_size(call->ex->size)](&call->source_constants, n, z, x_at(call, first));
}

/* The same in the order of emu/array/streams.h. */
typedef struct walking {
  const conversion *call;
  hu_events *counts;
} walking;

static void walk_plain(void *context, size_t first, size_t n, uint32_t *z) {
  const walking *walk = context;
  run_plain(walk->call, first, n, z ? (void *)z : z_at(walk->call, first), 0, walk->counts);
}

static void walk_decode(void *context, size_t first, size_t n, uint32_t *z) {
  const walking *walk = context;
  decode_plain(walk->call, first, n, z);
}

static void in_streams(const conversion *call, size_t first, size_t n, hu_events *counts) {
  walking walk = {call, counts};
  hu_streams_part part = {NULL, NULL, walk_plain, &walk};
  if (call->ex->kind == HU_VIEW_BINARY32) part.x = words_of(call->x);
  if (call->ez->kind == HU_VIEW_BINARY32) part.z = words(call->z);
  if (!part.x) part.run = walk_decode;
  call->streams->walk(&part, first, n);
}

/* How a large call goes through memory; an array that is changed in place comes from there and goes there once. */
static const hu_streams *streams_of(const conversion *call, const hu_exec *exec) {
  int large = call->kernels && call->n >= HU_STREAMS_LEAST && call->z != call->x;
  return large ? hui_streams_for(exec) : NULL;
}

static void run_kernels(const conversion *call, size_t first, size_t n, hu_events *counts) {
  hu_float_env saved = hui_float_env_enter(hui_direction_of(call->constants.round));
  if (call->streams) {
    in_streams(call, first, n, counts);
  } else if (is_plain(call)) {
    run_plain(call, first, n, z_at(call, first), call->bypass, counts);
  } else {
    run_buffered(call, first, n, counts);
  }
  hui_float_env_leave(saved);
}

static void run_part(void *context, size_t part) {
  const conversion *call = context;
  size_t first = part * call->part, n = call->n - first < call->part ? call->n - first : call->part;
  hu_events counts = {0};
  if (call->kernels) {
    run_kernels(call, first, n, &counts);
  } else {
    run_core(call, first, n, &counts);
  }
  call->counts[part] = counts;
}

/* ---- what kernels can do ---- */

static int kernels_can(conversion *call) {
  const hu_spec *spec = &call->ez->spec, *source = &call->ex->spec;
  if (!hui_lane_constants_of(&call->constants, spec)) return 0;
  if (call->ez->kind != HU_VIEW_CODES && !spec->fits_binary32) return 0;
  if (call->ex->kind == HU_VIEW_BINARY64) return hui_odd_is_enough(spec);
  if (call->ex->kind != HU_VIEW_CODES) return 1;
  return source->fits_binary32 && hui_lane_constants_of(&call->source_constants, source);
}

static void start(conversion *call, size_t n, const hu_array_view *z, const hu_array_view *x, const hu_exec *exec) {
  memset(call, 0, offsetof(conversion, constants));
  call->n = n;
  call->z = (uint8_t *)(uintptr_t)z->data;
  call->x = x->data;
  call->ez = z;
  call->ex = x;
  call->kernels = hui_level_for(exec)->convert;
  call->part = hui_part_size(n, hui_exec_threads(exec), PART_MIN);
}

/* With levels switched off the core is asked for, or some kernels and no others. */
static int may_choose(const hu_exec *exec) { return !exec || !exec->levels_off; }

void hui_array_run(size_t n, const hu_array_view *z, const hu_array_view *x, const hu_exec *exec, hu_events *events) {
  conversion call;
  hu_events counts[HU_THREADS_MAX];
  int any_way = may_choose(exec);
  if (any_way && n <= HU_FEW && hui_few_run(n, z, x, events)) return;
  start(&call, n, z, x, exec);
  call.stochastic = z->spec.round >= HU_SRA;
  if (call.kernels && ((any_way && n <= (call.stochastic ? BY_CORE / 2 : BY_CORE)) || !kernels_can(&call)))
    call.kernels = NULL;
  call.stream = hui_exec_stream(exec);
  call.bypass = call.z != call.x && n >= BYPASS_BYTES / z->size;
  if (is_plain(&call)) call.streams = streams_of(&call, exec);
  call.counts = counts;
  size_t parts = hui_parts(n, call.part);
  hui_parallel(hui_exec_threads(exec), parts, run_part, &call);
  for (size_t i = 0; events && i < parts; i++) hu_events_add(events, &counts[i]);
}

/* ---- decoding ---- */

static void decode_core(const conversion *call, size_t first, size_t n) {
  for (size_t i = first; i < first + n; i++) {
    uint32_t code = hui_load_code(x_at(call, i), call->ex->size);
    if (call->ez->kind == HU_VIEW_BINARY64) {
      uint64_t pattern = hui_pack64(hui_unpack(&call->ex->spec, code));
      memcpy(z_at(call, i), &pattern, sizeof pattern);
    } else {
      hui_store_code(z_at(call, i), 4, hui_value32(&call->ex->spec, code));
    }
  }
}

static int is_plain_decode(const conversion *call) {
  return call->ex->stride == 1 && call->ez->stride == 1 && call->ez->kind == HU_VIEW_BINARY32;
}

static void decode_kernels(const conversion *call, size_t first, size_t end) {
  uint32_t piece[PIECE];
  if (call->streams) {
    in_streams(call, first, end - first, NULL);
    return;
  }
  if (is_plain_decode(call)) {
    decode_plain(call, first, end - first, words(z_at(call, first)));
    return;
  }
  for (; first < end; first += PIECE) {
    size_t k = end - first < PIECE ? end - first : PIECE;
    store_piece(call, first, k, load_piece(call, first, k, piece));
  }
}

static void decode_part(void *context, size_t part) {
  const conversion *call = context;
  size_t first = part * call->part, end = call->n - first < call->part ? call->n : first + call->part;
  if (!call->kernels) {
    decode_core(call, first, end - first);
    return;
  }
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  decode_kernels(call, first, end);
  hui_float_env_leave(saved);
}

void hui_array_decode(size_t n, const hu_array_view *z, const hu_array_view *x, const hu_exec *exec) {
  conversion call;
  start(&call, n, z, x, exec);
  int by_core = may_choose(exec) && n <= BY_CORE;
  if (call.kernels && (by_core || !x->spec.fits_binary32 || !hui_lane_constants_of(&call.source_constants, &x->spec)))
    call.kernels = NULL;
  if (is_plain_decode(&call)) call.streams = streams_of(&call, exec);
  hui_parallel(hui_exec_threads(exec), hui_parts(n, call.part), decode_part, &call);
}
