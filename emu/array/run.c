/* SPDX-License-Identifier: MIT */
/* Runs one array conversion: distributes parts over threads, gives pieces to kernels, and converts value by value in
 * the core where no kernel can be used. */
#include "emu/array/run.h"

#include "emu/array/streams.h"
#include "emu/base/exec.h"
#include "emu/base/threads.h"
#include "emu/core/bits.h"
#include "emu/core/lane_constants.h"
#include "emu/core/stream.h"
#include "emu/simd/convert.h"
#include "emu/simd/level.h"

enum {
  PIECE = 1024,          /* elements of a buffered piece: all its buffers stay in the first-level cache */
  PART_MIN = 1 << 14,    /* elements that make a part of their own worth while */
  BYPASS_BYTES = 1 << 24 /* outputs from here on are written around the caches */
};

typedef struct conversion {
  size_t n, part;
  uint8_t *z;
  const uint8_t *x;
  hu_array_end ez, ex;
  hu_spec spec, source;
  hu_lane_constants constants, source_constants; /* lane constants of the target, and of the source's codes */
  const hu_kernels *kernels;                     /* NULL: the core for every element */
  const hu_streams *streams;                     /* NULL: from the first element to the last */
  hu_stream stream;
  int stochastic, bypass;
  hu_events *counts; /* one a part */
} conversion;

static const uint8_t *x_at(const conversion *c, size_t i) {
  return c->x + (ptrdiff_t)i * c->ex.stride * (ptrdiff_t)c->ex.size;
}

static uint8_t *z_at(const conversion *c, size_t i) {
  return c->z + (ptrdiff_t)i * c->ez.stride * (ptrdiff_t)c->ez.size;
}

/* ---- the core, an element at a time ---- */

static hu_num load_num(const conversion *c, size_t i) {
  const uint8_t *x = x_at(c, i);
  uint64_t u;
  if (c->ex.kind == HU_ARRAY_END_CODES) return hui_unpack(&c->source, hui_load_code(x, c->ex.size));
  if (c->ex.kind == HU_ARRAY_END_BINARY32) return hui_unpack32(hui_load_code(x, 4));
  memcpy(&u, x, sizeof u);
  return hui_unpack64(u);
}

static void store_num(const conversion *c, size_t i, uint32_t code) {
  uint8_t *z = z_at(c, i);
  if (c->ez.kind == HU_ARRAY_END_CODES) {
    hui_store_code(z, c->ez.size, code);
  } else if (c->ez.kind == HU_ARRAY_END_BINARY32) {
    hui_store_code(z, 4, hui_pack32(hui_unpack(&c->spec, code)));
  } else {
    uint64_t u = hui_pack64(hui_unpack(&c->spec, code));
    memcpy(z, &u, sizeof u);
  }
}

static void run_core(const conversion *c, size_t first, size_t n, hu_events *counts) {
  for (size_t i = first; i < first + n; i++) {
    uint32_t events, r = 0;
    if (c->stochastic) r = hui_stream_at(c->stream.key, c->stream.counter + i) >> (32 - c->spec.bits);
    store_num(c, i, hui_round(&c->spec, load_num(c, i), r, &events));
    hu_events_count(counts, events);
  }
}

/* ---- the kernels, a piece at a time ---- */

/* Reads n elements of the source as binary32 patterns, in buffer or in place; NULL if this piece needs the core. */
static const uint32_t *load_piece(const conversion *c, size_t first, size_t n, uint32_t *buffer) {
  union {
    uint8_t b[PIECE];
    uint16_t h[PIECE];
    uint32_t w[PIECE];
    uint64_t d[PIECE];
  } raw;
  const void *x = x_at(c, first);
  if (c->ex.stride != 1) {
    for (size_t i = 0; i < n; i++) memcpy((uint8_t *)&raw + i * c->ex.size, x_at(c, first + i), c->ex.size);
    x = raw.b;
  }
  switch (c->ex.kind) {
    case HU_ARRAY_END_BINARY32:
      if (c->ex.stride == 1) return (const uint32_t *)(const void *)x_at(c, first);
      memcpy(buffer, x, n * 4);
      return buffer;
    case HU_ARRAY_END_BINARY64: return c->kernels->to_odd(n, buffer, x) ? NULL : buffer;
    default: c->kernels->decode[hui_by_size(c->ex.size)](&c->source_constants, n, buffer, x); return buffer;
  }
}

static void call_kernel(const conversion *c, const hu_piece *p, hu_events *counts) {
  if (c->ez.kind != HU_ARRAY_END_CODES) {
    c->kernels->quantize(&c->constants, p, counts);
  } else {
    c->kernels->encode[hui_by_size(c->ez.size)](&c->constants, p, counts);
  }
}

/* A finite or special binary32 pattern as the same value's binary64 pattern; NaN is canonical in both. */
static uint64_t widen(uint32_t u) { return hui_pack64(hui_unpack32(u)); }

static void store_piece(const conversion *c, size_t first, size_t n, const void *piece) {
  for (size_t i = 0; i < n; i++) {
    if (c->ez.kind == HU_ARRAY_END_BINARY64) {
      uint64_t u = widen(((const uint32_t *)piece)[i]);
      memcpy(z_at(c, first + i), &u, sizeof u);
    } else {
      memcpy(z_at(c, first + i), (const uint8_t *)piece + i * c->ez.size, c->ez.size);
    }
  }
}

static void run_buffered(const conversion *c, size_t first, size_t n, hu_events *counts) {
  uint32_t in[PIECE], out[PIECE];
  int direct = c->ez.stride == 1 && c->ez.kind != HU_ARRAY_END_BINARY64;
  for (size_t end = first + n; first < end; first += PIECE) {
    size_t k = end - first < PIECE ? end - first : PIECE;
    hu_piece p = {k,
                  direct ? (void *)z_at(c, first) : out,
                  load_piece(c, first, k, in),
                  c->stream.key,
                  c->stream.counter + first,
                  c->bypass};
    if (!p.x) {
      run_core(c, first, k, counts);
      continue;
    }
    if (!direct) p.bypass = 0;
    call_kernel(c, &p, counts);
    if (!direct) store_piece(c, first, k, out);
  }
}

/* ---- contiguous elements ---- */

static uint32_t *words(void *z) { return z; }
static const uint32_t *words_of(const void *x) { return x; }

/* A call's operands are binary32 and need no buffer, nor do its results. */
static int is_plain(const conversion *c) {
  return c->ex.kind == HU_ARRAY_END_BINARY32 && c->ex.stride == 1 && c->ez.stride == 1 &&
         c->ez.kind != HU_ARRAY_END_BINARY64;
}

static void run_plain(const conversion *c, size_t first, size_t n, void *z, int bypass, hu_events *counts) {
  hu_piece p = {n, z, words_of(x_at(c, first)), c->stream.key, c->stream.counter + first, bypass};
  call_kernel(c, &p, counts);
}

static void decode_plain(const conversion *c, size_t first, size_t n, uint32_t *z) {
  c->kernels->decode[hui_by_size(c->ex.size)](&c->source_constants, n, z, x_at(c, first));
}

/* The same in the order of emu/array/streams.h. */
typedef struct walking {
  const conversion *c;
  hu_events *counts;
} walking;

static void walk_plain(void *context, size_t first, size_t n, uint32_t *z) {
  const walking *w = context;
  run_plain(w->c, first, n, z ? (void *)z : z_at(w->c, first), 0, w->counts);
}

static void walk_decode(void *context, size_t first, size_t n, uint32_t *z) {
  const walking *w = context;
  decode_plain(w->c, first, n, z);
}

static void in_streams(const conversion *c, size_t first, size_t n, hu_events *counts) {
  walking w = {c, counts};
  hu_streams_part p = {NULL, NULL, walk_plain, &w};
  if (c->ex.kind == HU_ARRAY_END_BINARY32) p.x = words_of(c->x);
  if (c->ez.kind == HU_ARRAY_END_BINARY32) p.z = words(c->z);
  if (!p.x) p.run = walk_decode;
  c->streams->walk(&p, first, n);
}

/* How a large call goes through memory; an array that is changed in place comes from there and goes there once. */
static const hu_streams *streams_of(const conversion *c, const hu_exec *exec) {
  int large = c->kernels && c->n >= HU_STREAMS_LEAST && c->z != c->x;
  return large ? hui_streams_for(exec) : NULL;
}

static void run_part(void *context, size_t part) {
  const conversion *c = context;
  size_t first = part * c->part, n = c->n - first < c->part ? c->n - first : c->part;
  hu_events counts = {0};
  if (!c->kernels) {
    run_core(c, first, n, &counts);
  } else if (c->streams) {
    in_streams(c, first, n, &counts);
  } else if (is_plain(c)) {
    run_plain(c, first, n, z_at(c, first), c->bypass, &counts);
  } else {
    run_buffered(c, first, n, &counts);
  }
  c->counts[part] = counts;
}

/* ---- what kernels can do ---- */

static int kernels_can(conversion *c) {
  hu_mode rne = {0};
  hu_spec exact;
  if (!hui_lane_constants_of(&c->constants, &c->spec)) return 0;
  if (c->ez.kind != HU_ARRAY_END_CODES && !c->spec.fits_binary32) return 0;
  if (c->ex.kind == HU_ARRAY_END_BINARY64) return hui_odd_is_enough(&c->spec);
  if (c->ex.kind != HU_ARRAY_END_CODES) return 1;
  exact = hui_spec_of(c->ex.format, rne);
  return exact.fits_binary32 && hui_lane_constants_of(&c->source_constants, &exact);
}

void hui_array_run(size_t n, void *z, hu_array_end ez, const void *x, hu_array_end ex, hu_mode mode,
                   const hu_exec *exec, hu_events *events) {
  conversion c;
  hu_events counts[HU_THREADS_MAX];
  hu_mode rne = {0};
  uint32_t threads = hui_exec_threads(exec);
  memset(&c, 0, sizeof c);
  c.n = n;
  c.z = z;
  c.x = x;
  c.ez = ez;
  c.ex = ex;
  c.spec = hui_spec_of(ez.format, mode);
  if (ex.kind == HU_ARRAY_END_CODES) c.source = hui_spec_of(ex.format, rne);
  c.kernels = hui_level_for(exec)->convert;
  if (c.kernels && !kernels_can(&c)) c.kernels = NULL;
  c.stream = hui_exec_stream(exec);
  c.stochastic = mode.round >= HU_SRA;
  c.bypass = z != x && n >= BYPASS_BYTES / ez.size;
  if (is_plain(&c)) c.streams = streams_of(&c, exec);
  c.counts = counts;
  c.part = hui_part_size(n, threads, PART_MIN);
  size_t parts = hui_parts(n, c.part);
  hui_parallel(threads, parts, run_part, &c);
  for (size_t i = 0; events && i < parts; i++) hu_events_add(events, &counts[i]);
}

/* ---- decoding ---- */

static void decode_core(const conversion *c, size_t first, size_t n) {
  for (size_t i = first; i < first + n; i++) {
    hu_num x = hui_unpack(&c->source, hui_load_code(x_at(c, i), c->ex.size));
    if (c->ez.kind == HU_ARRAY_END_BINARY64) {
      uint64_t u = hui_pack64(x);
      memcpy(z_at(c, i), &u, sizeof u);
    } else {
      hui_store_code(z_at(c, i), 4, hui_pack32(x));
    }
  }
}

static int is_plain_decode(const conversion *c) {
  return c->ex.stride == 1 && c->ez.stride == 1 && c->ez.kind == HU_ARRAY_END_BINARY32;
}

static void decode_part(void *context, size_t part) {
  const conversion *c = context;
  size_t first = part * c->part, end = c->n - first < c->part ? c->n : first + c->part;
  uint32_t piece[PIECE];
  if (!c->kernels) {
    decode_core(c, first, end - first);
    return;
  }
  if (c->streams) {
    in_streams(c, first, end - first, NULL);
    return;
  }
  if (is_plain_decode(c)) {
    decode_plain(c, first, end - first, words(z_at(c, first)));
    return;
  }
  for (; first < end; first += PIECE) {
    size_t k = end - first < PIECE ? end - first : PIECE;
    store_piece(c, first, k, load_piece(c, first, k, piece));
  }
}

void hui_array_decode(size_t n, void *z, hu_array_end ez, const void *x, hu_array_end ex, const hu_exec *exec) {
  conversion c;
  hu_mode rne = {0};
  uint32_t threads = hui_exec_threads(exec);
  memset(&c, 0, sizeof c);
  c.n = n;
  c.z = z;
  c.x = x;
  c.ez = ez;
  c.ex = ex;
  c.source = hui_spec_of(ex.format, rne);
  c.kernels = hui_level_for(exec)->convert;
  if (c.kernels && (!c.source.fits_binary32 || !hui_lane_constants_of(&c.source_constants, &c.source)))
    c.kernels = NULL;
  if (is_plain_decode(&c)) c.streams = streams_of(&c, exec);
  c.part = hui_part_size(n, threads, PART_MIN);
  hui_parallel(threads, hui_parts(n, c.part), decode_part, &c);
}
