/* SPDX-License-Identifier: MIT */
/* HU_OP_CONVERT where one end is of a number system: checks everything, distributes parts over threads, and converts
 * pieces by emu/number/fast.h or an element at a time. Where both are floating-point formats, the kernels of
 * emu/array/run.c do the work. */
#include "emu/array/run.h"
#include "emu/base/array_extent.h"
#include "emu/base/codes.h"
#include "emu/base/exec.h"
#include "emu/base/operation_check.h"
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

static hu_quantity load(const conversion *call, size_t i) {
  const uint8_t *x = call->x + (ptrdiff_t)i * call->ex.stride * (ptrdiff_t)call->ex.size;
  uint64_t pattern;
  if (call->ex.kind == CODES) return hui_any_unpack(&call->source, hui_load_code(x, call->ex.size));
  if (call->ex.kind == VALUES32) return hui_quantity_of(hui_unpack32(hui_load_code(x, 4)));
  memcpy(&pattern, x, sizeof pattern);
  return hui_quantity_of(hui_unpack64(pattern));
}

static void store_value(const conversion *call, uint8_t *z, hu_quantity quantity) {
  if (call->ez.kind == VALUES32) {
    hui_store_code(z, 4, hui_any_pack32(quantity));
  } else {
    uint64_t pattern = hui_any_pack64(quantity);
    memcpy(z, &pattern, sizeof pattern);
  }
}

static void run_one(const conversion *call, size_t i, uint32_t bits, hu_events *counts) {
  uint8_t *z = call->z + (ptrdiff_t)i * call->ez.stride * (ptrdiff_t)call->ez.size;
  hu_quantity quantity = load(call, i);
  if (!call->rounds) {
    store_value(call, z, quantity);
    return;
  }
  uint32_t events, random = bits ? hui_stream_at(call->stream.key, call->stream.counter + i) >> (32 - bits) : 0;
  uint32_t code = hui_any_round(&call->spec, quantity, random, &events);
  hu_events_count(counts, events);
  if (call->ez.kind == CODES) {
    hui_store_code(z, call->ez.size, code);
  } else {
    store_value(call, z, hui_any_unpack(&call->spec, code));
  }
}

/* ---- pieces ---- */

static void load_words(const conversion *call, size_t first, size_t n, uint32_t *words) {
  const uint8_t *x = call->x + (ptrdiff_t)first * call->ex.stride * (ptrdiff_t)call->ex.size;
  ptrdiff_t step = call->ex.stride * (ptrdiff_t)call->ex.size;
  if (step == 4 && call->ex.size == 4) {
    memcpy(words, x, n * 4);
  } else if (step == 2 && call->ex.size == 2) {
    for (size_t i = 0; i < n; i++) words[i] = hui_load_code(x + 2 * i, 2);
  } else if (step == 1) {
    for (size_t i = 0; i < n; i++) words[i] = x[i];
  } else {
    for (size_t i = 0; i < n; i++, x += step) words[i] = hui_load_code(x, call->ex.size);
  }
}

static void store_words(const conversion *call, size_t first, size_t n, const uint32_t *words) {
  uint8_t *z = call->z + (ptrdiff_t)first * call->ez.stride * (ptrdiff_t)call->ez.size;
  ptrdiff_t step = call->ez.stride * (ptrdiff_t)call->ez.size;
  if (step == 4 && call->ez.size == 4) {
    memcpy(z, words, n * 4);
  } else if (step == 2 && call->ez.size == 2) {
    for (size_t i = 0; i < n; i++) hui_store_code(z + 2 * i, 2, words[i]);
  } else if (step == 1) {
    for (size_t i = 0; i < n; i++) z[i] = (uint8_t)words[i];
  } else {
    for (size_t i = 0; i < n; i++, z += step) hui_store_code(z, call->ez.size, words[i]);
  }
}

/* What a code of up to 8 bits alone decides. */
static void run_codes(const conversion *call, size_t first, size_t past, hu_events *counts) {
  const hu_number_fast *fast = &call->fast;
  uint64_t seen[256] = {0};
  for (size_t i = first; i < past; i++) {
    uint8_t *z = call->z + (ptrdiff_t)i * call->ez.stride * (ptrdiff_t)call->ez.size;
    uint32_t code = call->x[(ptrdiff_t)i * call->ex.stride];
    seen[code] += fast->events[code] != 0;
    if (call->ez.size == 8) {
      memcpy(z, &fast->bits[code], 8);
    } else {
      hui_store_code(z, call->ez.size, (uint32_t)fast->bits[code]);
    }
  }
  for (uint32_t code = 0; code < 256; code++) {
    hu_events one = {0};
    if (!seen[code]) continue;
    hu_events_count(&one, fast->events[code]);
    for (uint64_t times = seen[code]; times; times >>= 1) { /* one * seen by doubling */
      if (times & 1) hu_events_add(counts, &one);
      hu_events_add(&one, &one);
    }
  }
}

static void store_value64(const conversion *call, size_t i, uint64_t pattern) {
  memcpy(call->z + (ptrdiff_t)i * call->ez.stride * (ptrdiff_t)call->ez.size, &pattern, sizeof pattern);
}

/* Converts from binary32 numbers, or codes to numbers. */
static void run_pieces(const conversion *call, size_t first, size_t past, hu_events *counts) {
  uint32_t x[HU_NUMBER_PIECE], codes[HU_NUMBER_PIECE];
  for (size_t i = first; i < past; i += HU_NUMBER_PIECE) {
    size_t n = past - i < HU_NUMBER_PIECE ? past - i : HU_NUMBER_PIECE;
    load_words(call, i, n, x);
    if (call->ez.kind == VALUES64) {
      for (size_t j = 0; j < n; j++) store_value64(call, i + j, hui_number_fast_value64(&call->fast, x[j]));
      continue;
    }
    if (!call->rounds) {
      hui_number_fast_decode(&call->fast, n, codes, x);
      store_words(call, i, n, codes);
      continue;
    }
    hui_number_fast_encode(&call->fast, n, codes, x, counts);
    if (call->ez.kind == CODES) {
      store_words(call, i, n, codes);
    } else {
      hui_number_fast_decode(&call->fast, n, x, codes);
      store_words(call, i, n, x);
    }
  }
}

static void run_part(void *context, size_t part) {
  const conversion *call = context;
  const hu_number_fast *fast = &call->fast;
  size_t first = part * call->part, past = call->n - first < call->part ? call->n : first + call->part;
  uint32_t bits = call->spec.floating.round >= HU_SRA ? call->spec.floating.bits : 0;
  int small = call->ex.kind == CODES && call->ex.size == 1 && fast->decode == HU_NUMBER_TABLE_OF_CODES;
  int values = call->ex.kind == VALUES32 && fast->encode != HU_NUMBER_ONE && call->ez.kind != VALUES64;
  int decodes = !call->rounds && fast->decode != HU_NUMBER_ONE;
  hu_events counts = {0};
  if (small) {
    run_codes(call, first, past, &counts);
  } else if (values || decodes) {
    run_pieces(call, first, past, &counts);
  } else {
    for (size_t i = first; i < past; i++) run_one(call, i, bits, &counts);
  }
  call->counts[part] = counts;
}

static void run(conversion *call, const hu_exec *exec, hu_events *events) {
  hu_events counts[HU_THREADS_MAX];
  uint32_t threads = hui_exec_threads(exec);
  call->stream = hui_exec_stream(exec);
  hui_number_fast_make(&call->fast, call->rounds ? &call->spec : NULL, call->ex.kind == CODES ? &call->source : NULL,
                       call->ex.kind == VALUES32,
                       call->ez.kind == CODES      ? 0
                       : call->ez.kind == VALUES32 ? 32
                                                   : 64,
                       call->n, hui_level_for(exec)->number);
  call->counts = counts;
  call->part = hui_part_size(call->n, threads, PART_MIN);
  size_t parts = hui_parts(call->n, call->part);
  hui_parallel(threads, parts, run_part, call);
  for (size_t i = 0; events && i < parts; i++) hu_events_add(events, &counts[i]);
}

/* ---- floating-point formats alone ---- */

static int is_float(const conversion *call) {
  const hu_spec *spec = call->rounds ? &call->spec.floating : &call->source.floating;
  if (call->rounds && call->to.kind != HU_NUMBER_FLOAT) return 0;
  if (call->ex.kind == CODES && call->from.kind != HU_NUMBER_FLOAT) return 0;
  return call->ez.kind != VALUES32 || spec->fits_binary32;
}

/* A view of one end; number, spec: of its codes, or of those at the other end, where it has values. */
static hu_array_view view_of(const void *data, end side, const hu_number *number, const hu_number_spec *spec) {
  hu_array_view view;
  hui_view_codes(&view, data, side.stride, &number->format);
  if (side.kind == VALUES32) hui_view_values(&view, HU_VIEW_BINARY32, data, side.stride);
  if (side.kind == VALUES64) hui_view_values(&view, HU_VIEW_BINARY64, data, side.stride);
  view.spec = spec->floating;
  return view;
}

static void run_float(const conversion *call, const hu_exec *exec, hu_events *events) {
  hu_array_view x = view_of(call->x, call->ex, &call->from, &call->source);
  if (call->rounds) {
    hu_array_view z = view_of(call->z, call->ez, &call->to, &call->spec);
    hui_array_run(call->n, &z, &x, exec, events);
  } else {
    hu_array_view z = view_of(call->z, call->ez, &call->from, &call->source);
    hui_array_decode(call->n, &z, &x, exec);
  }
}

/* ---- calls ---- */

static end end_of(int kind, const hu_number_spec *spec, ptrdiff_t stride) {
  size_t code = hui_bytes_of_width(spec->width);
  end side = {kind, kind == VALUES32 ? 4 : kind == VALUES64 ? 8 : code, stride};
  return side;
}

/* Signed fixed-point numbers may be stored as integers are. */
static hu_status check_codes(const conversion *call, const hu_exec *exec) {
  int is_signed = call->from.kind == HU_NUMBER_FIXED && call->from.sign;
  hu_code_area area = {.data = call->x,
                       .rows = 1,
                       .cols = call->n,
                       .step = call->ex.stride,
                       .size = call->ex.size,
                       .width = (uint32_t)call->source.width,
                       .is_signed = is_signed};
  return call->ex.kind == CODES ? hui_code_area_check(&area, hui_exec_threads(exec)) : HU_OK;
}

/* Ends are set and specs unfolded. */
static hu_status convert(conversion *call, size_t n, void *z, const void *x, const hu_exec *exec, hu_events *events) {
  hu_strided az = {z, call->ez.size, call->ez.stride}, ax = {x, call->ex.size, call->ex.stride};
  hu_status status = hui_check_pair(n, &az, &ax);
  call->n = n;
  call->z = z;
  call->x = x;
  if (status == HU_OK) status = check_codes(call, exec);
  if (status != HU_OK || n == 0) return status;
  if (is_float(call))
    run_float(call, exec, events);
  else
    run(call, exec, events);
  return status;
}

/* Sets what a conversion rounds into. */
static hu_status begin(conversion *call, hu_number number, hu_mode mode) {
  hu_status status = hu_number_check(number, NULL);
  if (status != HU_OK) return status;
  status = hu_mode_check(mode);
  if (status != HU_OK) return status;
  call->rounds = 1;
  call->to = number;
  call->mode = mode;
  hui_number_unfold(&call->spec, number, mode);
  return HU_OK;
}

/* Sets what the codes that a conversion reads are of. */
static hu_status begin_reading(conversion *call, hu_number number) {
  hu_mode rne = {0};
  hu_status status = hu_number_check(number, NULL);
  call->from = number;
  if (status == HU_OK) hui_number_unfold(&call->source, number, rne);
  return status;
}

static int kind_of(const hu_type *type) {
  size_t bytes = hui_carrier_bytes(type);
  return bytes == 8 ? VALUES64 : bytes ? VALUES32 : CODES;
}

static hu_number system_of(const hu_type *type) { return type->number ? *type->number : hu_number_float(type->format); }

hu_status hui_number_convert(size_t n, const hu_output *z, const hu_view *x, const hu_how *how) {
  conversion call;
  int decodes = hui_is_plain(&z->type);
  hu_status status = HU_OK;
  memset(&call, 0, sizeof call);
  if (!decodes) status = begin(&call, system_of(&z->type), how->mode);
  if (status == HU_OK && x->type.kind == HU_TYPE_CODES) status = begin_reading(&call, system_of(&x->type));
  if (status != HU_OK) return status;
  call.ez = end_of(kind_of(&z->type), &call.spec, z->stride);
  call.ex = end_of(kind_of(&x->type), &call.source, x->stride);
  return convert(&call, n, z->data, x->data, how->exec, decodes ? NULL : how->events);
}
