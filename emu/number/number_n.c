/* SPDX-License-Identifier: MIT */
/* The calls of halfulp/number.h on arrays: each checks everything, distributes parts over threads, and converts pieces
 * by emu/number/fast.h or an element at a time. Where both are floating-point formats, the kernels of emu/array/array.c
 * do the work. */
#include "emu/array/run.h"
#include "emu/base/array_extent.h"
#include "emu/base/codes.h"
#include "emu/base/exec.h"
#include "emu/base/threads.h"
#include "emu/core/stream.h"
#include "emu/number/call.h"
#include "emu/number/fast.h"
#include "emu/number/tapered.h"
#include "emu/simd/level.h"

enum { PART_MIN = 1 << 12 };

/* An end of a conversion: binary32 or binary64 numbers, or codes. */
enum { VALUES32, VALUES64, CODES };
typedef struct end {
  int kind;
  size_t size; /* bytes of an element */
  ptrdiff_t stride;
} end;

typedef struct conversion {
  size_t n, part;
  uint8_t *z;
  const uint8_t *x;
  end ez, ex;
  hu_number_spec spec, source; /* source: of codes that are read */
  int rounds;                  /* 0: only decoded */
  hu_number to, from;          /* what spec and source are of */
  hu_mode mode;
  hu_number_fast fast;
  hu_stream stream;
  hu_events *counts; /* one a part */
} conversion;

static hu_quantity load(const conversion *c, size_t i) {
  const uint8_t *x = c->x + (ptrdiff_t)i * c->ex.stride * (ptrdiff_t)c->ex.size;
  uint64_t u;
  if (c->ex.kind == CODES) return hui_any_unpack(&c->source, hui_load_code(x, c->ex.size));
  if (c->ex.kind == VALUES32) return hui_quantity_of(hui_unpack32(hui_load_code(x, 4)));
  memcpy(&u, x, sizeof u);
  return hui_quantity_of(hui_unpack64(u));
}

static void store_value(const conversion *c, uint8_t *z, hu_quantity q) {
  if (c->ez.kind == VALUES32) {
    hui_store_code(z, 4, hui_any_pack32(q));
  } else {
    uint64_t u = hui_any_pack64(q);
    memcpy(z, &u, sizeof u);
  }
}

static void run_one(const conversion *c, size_t i, uint32_t bits, hu_events *counts) {
  uint8_t *z = c->z + (ptrdiff_t)i * c->ez.stride * (ptrdiff_t)c->ez.size;
  hu_quantity q = load(c, i);
  if (!c->rounds) {
    store_value(c, z, q);
    return;
  }
  uint32_t events, random = bits ? hui_stream_at(c->stream.key, c->stream.counter + i) >> (32 - bits) : 0;
  uint32_t code = hui_any_round(&c->spec, q, random, &events);
  hu_events_count(counts, events);
  if (c->ez.kind == CODES) {
    hui_store_code(z, c->ez.size, code);
  } else {
    store_value(c, z, hui_any_unpack(&c->spec, code));
  }
}

/* ---- pieces ---- */

static void load_words(const conversion *c, size_t first, size_t n, uint32_t *words) {
  const uint8_t *x = c->x + (ptrdiff_t)first * c->ex.stride * (ptrdiff_t)c->ex.size;
  ptrdiff_t step = c->ex.stride * (ptrdiff_t)c->ex.size;
  if (step == 4 && c->ex.size == 4) {
    memcpy(words, x, n * 4);
  } else if (step == 2 && c->ex.size == 2) {
    for (size_t i = 0; i < n; i++) words[i] = hui_load_code(x + 2 * i, 2);
  } else if (step == 1) {
    for (size_t i = 0; i < n; i++) words[i] = x[i];
  } else {
    for (size_t i = 0; i < n; i++, x += step) words[i] = hui_load_code(x, c->ex.size);
  }
}

static void store_words(const conversion *c, size_t first, size_t n, const uint32_t *words) {
  uint8_t *z = c->z + (ptrdiff_t)first * c->ez.stride * (ptrdiff_t)c->ez.size;
  ptrdiff_t step = c->ez.stride * (ptrdiff_t)c->ez.size;
  if (step == 4 && c->ez.size == 4) {
    memcpy(z, words, n * 4);
  } else if (step == 2 && c->ez.size == 2) {
    for (size_t i = 0; i < n; i++) hui_store_code(z + 2 * i, 2, words[i]);
  } else if (step == 1) {
    for (size_t i = 0; i < n; i++) z[i] = (uint8_t)words[i];
  } else {
    for (size_t i = 0; i < n; i++, z += step) hui_store_code(z, c->ez.size, words[i]);
  }
}

/* What a code of up to 8 bits alone decides. */
static void run_codes(const conversion *c, size_t first, size_t past, hu_events *counts) {
  const hu_number_fast *f = &c->fast;
  uint64_t seen[256] = {0};
  for (size_t i = first; i < past; i++) {
    uint8_t *z = c->z + (ptrdiff_t)i * c->ez.stride * (ptrdiff_t)c->ez.size;
    uint32_t code = c->x[(ptrdiff_t)i * c->ex.stride];
    seen[code] += f->events[code] != 0;
    if (c->ez.size == 8) {
      memcpy(z, &f->bits[code], 8);
    } else {
      hui_store_code(z, c->ez.size, (uint32_t)f->bits[code]);
    }
  }
  for (uint32_t code = 0; code < 256; code++) {
    hu_events one = {0};
    if (!seen[code]) continue;
    hu_events_count(&one, f->events[code]);
    for (uint64_t times = seen[code]; times; times >>= 1) { /* one * seen by doubling */
      if (times & 1) hu_events_add(counts, &one);
      hu_events_add(&one, &one);
    }
  }
}

static void store_value64(const conversion *c, size_t i, uint64_t u) {
  memcpy(c->z + (ptrdiff_t)i * c->ez.stride * (ptrdiff_t)c->ez.size, &u, sizeof u);
}

/* Converts from binary32 numbers, or codes to numbers. */
static void run_pieces(const conversion *c, size_t first, size_t past, hu_events *counts) {
  uint32_t x[HU_NUMBER_PIECE], codes[HU_NUMBER_PIECE];
  for (size_t i = first; i < past; i += HU_NUMBER_PIECE) {
    size_t n = past - i < HU_NUMBER_PIECE ? past - i : HU_NUMBER_PIECE;
    load_words(c, i, n, x);
    if (c->ez.kind == VALUES64) {
      for (size_t j = 0; j < n; j++) store_value64(c, i + j, hui_number_fast_value64(&c->fast, x[j]));
      continue;
    }
    if (!c->rounds) {
      hui_number_fast_decode(&c->fast, n, codes, x);
      store_words(c, i, n, codes);
      continue;
    }
    hui_number_fast_encode(&c->fast, n, codes, x, counts);
    if (c->ez.kind == CODES) {
      store_words(c, i, n, codes);
    } else {
      hui_number_fast_decode(&c->fast, n, x, codes);
      store_words(c, i, n, x);
    }
  }
}

static void run_part(void *context, size_t part) {
  const conversion *c = context;
  const hu_number_fast *f = &c->fast;
  size_t first = part * c->part, past = c->n - first < c->part ? c->n : first + c->part;
  uint32_t bits = c->spec.floating.round >= HU_SRA ? c->spec.floating.bits : 0;
  int small = c->ex.kind == CODES && c->ex.size == 1 && f->decode == HU_NUMBER_TABLE_OF_CODES;
  int values = c->ex.kind == VALUES32 && f->encode != HU_NUMBER_ONE && c->ez.kind != VALUES64;
  int decodes = !c->rounds && f->decode != HU_NUMBER_ONE;
  hu_events counts = {0};
  if (small) {
    run_codes(c, first, past, &counts);
  } else if (values || decodes) {
    run_pieces(c, first, past, &counts);
  } else {
    for (size_t i = first; i < past; i++) run_one(c, i, bits, &counts);
  }
  c->counts[part] = counts;
}

static void run(conversion *c, const hu_exec *exec, hu_events *events) {
  hu_events counts[HU_THREADS_MAX];
  uint32_t threads = hui_exec_threads(exec);
  c->stream = hui_exec_stream(exec);
  hui_number_fast_make(&c->fast, c->rounds ? &c->spec : NULL, c->ex.kind == CODES ? &c->source : NULL,
                       c->ex.kind == VALUES32,
                       c->ez.kind == CODES      ? 0
                       : c->ez.kind == VALUES32 ? 32
                                                : 64,
                       c->n, hui_level_for(exec)->number);
  c->counts = counts;
  c->part = hui_part_size(c->n, threads, PART_MIN);
  size_t parts = hui_parts(c->n, c->part);
  hui_parallel(threads, parts, run_part, c);
  for (size_t i = 0; events && i < parts; i++) hu_events_add(events, &counts[i]);
}

/* ---- floating-point formats alone ---- */

static int is_float(const conversion *c) {
  hu_format f = c->rounds ? c->to.format : c->from.format;
  if (c->rounds && c->to.kind != HU_NUMBER_FLOAT) return 0;
  if (c->ex.kind == CODES && c->from.kind != HU_NUMBER_FLOAT) return 0;
  return c->ez.kind != VALUES32 || hu_format_fits_binary32(f);
}

static hu_array_end as_ends(end e, hu_format f) {
  hu_array_end z = {HU_ARRAY_END_CODES, e.size, e.stride, f};
  if (e.kind == VALUES32) z.kind = HU_ARRAY_END_BINARY32;
  if (e.kind == VALUES64) z.kind = HU_ARRAY_END_BINARY64;
  return z;
}

static void run_float(const conversion *c, const hu_exec *exec, hu_events *events) {
  hu_array_end ex = as_ends(c->ex, c->ex.kind == CODES ? c->from.format : c->to.format);
  if (c->rounds) {
    hui_array_run(c->n, c->z, as_ends(c->ez, c->to.format), c->x, ex, c->mode, exec, events);
  } else {
    hui_array_decode(c->n, c->z, as_ends(c->ez, c->from.format), c->x, ex, exec);
  }
}

/* ---- calls ---- */

static end end_of(int kind, const hu_number_spec *s, ptrdiff_t stride) {
  size_t code = hui_bytes_of_width(s->width);
  end e = {kind, kind == VALUES32 ? 4 : kind == VALUES64 ? 8 : code, stride};
  return e;
}

/* Signed fixed-point numbers may be stored as integers are. */
static hu_status check_codes(const conversion *c, const hu_exec *exec) {
  int is_signed = c->from.kind == HU_NUMBER_FIXED && c->from.sign;
  hu_code_area x = {c->x, 1, c->n, 0, c->ex.stride, c->ex.size, (uint32_t)c->source.width, is_signed};
  return c->ex.kind == CODES ? hui_code_area_check(&x, hui_exec_threads(exec)) : HU_OK;
}

/* Ends are set and specs unfolded. */
static hu_status convert(conversion *c, size_t n, void *z, const void *x, const hu_exec *exec, hu_events *events) {
  hu_strided az = {z, c->ez.size, c->ez.stride}, ax = {x, c->ex.size, c->ex.stride};
  hu_status s = hui_check_pair(n, &az, &ax);
  c->n = n;
  c->z = z;
  c->x = x;
  if (s == HU_OK) s = check_codes(c, exec);
  if (s != HU_OK || n == 0) return s;
  if (is_float(c))
    run_float(c, exec, events);
  else
    run(c, exec, events);
  return s;
}

/* Sets a conversion that rounds into f. */
static hu_status begin(conversion *c, hu_number f, hu_mode mode) {
  hu_status s = hu_number_check(f, NULL);
  if (s != HU_OK) return s;
  s = hu_mode_check(mode);
  if (s != HU_OK) return s;
  memset(c, 0, sizeof *c);
  c->rounds = 1;
  c->to = f;
  c->mode = mode;
  hui_number_unfold(&c->spec, f, mode);
  return HU_OK;
}

/* Sets a conversion that reads codes of f. */
static hu_status begin_reading(conversion *c, hu_number f) {
  hu_mode rne = {0};
  hu_status s = hu_number_check(f, NULL);
  c->from = f;
  if (s == HU_OK) hui_number_unfold(&c->source, f, rne);
  return s;
}

static hu_status from_values(size_t n, void *z, int zkind, ptrdiff_t incz, const void *x, int xkind, ptrdiff_t incx,
                             hu_number f, hu_mode mode, const hu_exec *exec, hu_events *events) {
  conversion c;
  hu_status s = begin(&c, f, mode);
  if (s != HU_OK) return s;
  c.ez = end_of(zkind, &c.spec, incz);
  c.ex = end_of(xkind, &c.spec, incx);
  return convert(&c, n, z, x, exec, events);
}

hu_status hu_number_quantize_n(size_t n, float *z, ptrdiff_t incz, const float *x, ptrdiff_t incx, hu_number f,
                               hu_mode mode, const hu_exec *exec, hu_events *events) {
  return from_values(n, z, VALUES32, incz, x, VALUES32, incx, f, mode, exec, events);
}

hu_status hu_number_quantize64_n(size_t n, double *z, ptrdiff_t incz, const double *x, ptrdiff_t incx, hu_number f,
                                 hu_mode mode, const hu_exec *exec, hu_events *events) {
  return from_values(n, z, VALUES64, incz, x, VALUES64, incx, f, mode, exec, events);
}

hu_status hu_number_encode_n(size_t n, void *z, ptrdiff_t incz, const float *x, ptrdiff_t incx, hu_number f,
                             hu_mode mode, const hu_exec *exec, hu_events *events) {
  return from_values(n, z, CODES, incz, x, VALUES32, incx, f, mode, exec, events);
}

hu_status hu_number_encode64_n(size_t n, void *z, ptrdiff_t incz, const double *x, ptrdiff_t incx, hu_number f,
                               hu_mode mode, const hu_exec *exec, hu_events *events) {
  return from_values(n, z, CODES, incz, x, VALUES64, incx, f, mode, exec, events);
}

static hu_status to_values(size_t n, void *z, int zkind, ptrdiff_t incz, const void *x, ptrdiff_t incx, hu_number f,
                           const hu_exec *exec) {
  conversion c;
  memset(&c, 0, sizeof c);
  hu_status s = begin_reading(&c, f);
  if (s != HU_OK) return s;
  c.ez = end_of(zkind, &c.source, incz);
  c.ex = end_of(CODES, &c.source, incx);
  return convert(&c, n, z, x, exec, NULL);
}

hu_status hu_number_decode_n(size_t n, float *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, hu_number f,
                             const hu_exec *exec) {
  return to_values(n, z, VALUES32, incz, x, incx, f, exec);
}

hu_status hu_number_decode64_n(size_t n, double *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, hu_number f,
                               const hu_exec *exec) {
  return to_values(n, z, VALUES64, incz, x, incx, f, exec);
}

hu_status hu_number_convert_n(size_t n, void *z, ptrdiff_t incz, hu_number fz, const void *x, ptrdiff_t incx,
                              hu_number fx, hu_mode mode, const hu_exec *exec, hu_events *events) {
  conversion c;
  hu_status s = begin(&c, fz, mode);
  if (s == HU_OK) s = begin_reading(&c, fx);
  if (s != HU_OK) return s;
  c.ez = end_of(CODES, &c.spec, incz);
  c.ex = end_of(CODES, &c.source, incx);
  return convert(&c, n, z, x, exec, events);
}
