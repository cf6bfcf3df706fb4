/* SPDX-License-Identifier: MIT */
/* gpu/base/check.c - see check.h. Nothing here looks at what a pointer points to. */
#include "gpu/base/check.h"

#include "emu/base/shared.h"

typedef struct span {
  uintptr_t first, past; /* the bytes an array covers, as addresses */
} span;

hu_status hu_check_rounding(hu_format f, hu_mode mode, int carrier) {
  if (hu_format_check(f, NULL) != HU_OK) return HU_E_FORMAT;
  if (hu_mode_check(mode) != HU_OK) return HU_E_MODE;
  return carrier && !hu_format_fits_binary32(f) ? HU_E_CARRIER : HU_OK;
}

hu_status hu_check_events(const hu_events *events) { return (uintptr_t)events % sizeof(uint64_t) ? HU_E_ALIGN : HU_OK; }

static size_t absolute(ptrdiff_t stride) { return stride < 0 ? (size_t)0 - (size_t)stride : (size_t)stride; }

static hu_status span_of(span *s, size_t n, const void *x, size_t size, ptrdiff_t stride) {
  size_t bytes;
  if (!x) return HU_E_NULL;
  if ((uintptr_t)x % size) return HU_E_ALIGN;
  if (__builtin_mul_overflow(n - 1, absolute(stride), &bytes) || __builtin_mul_overflow(bytes, size, &bytes)) {
    return HU_E_SHAPE;
  }
  if (bytes > PTRDIFF_MAX - size) return HU_E_SHAPE;
  s->first = (uintptr_t)x - (stride < 0 ? bytes : 0);
  s->past = s->first + bytes + size;
  return s->past < s->first ? HU_E_SHAPE : HU_OK;
}

hu_status hu_check_arrays(size_t n, const void *z, size_t zsize, ptrdiff_t incz, const void *x, size_t xsize,
                          ptrdiff_t incx) {
  span sz, sx;
  if (incz == 0) return HU_E_SHAPE;
  if (n == 0) return HU_OK;
  hu_status s = span_of(&sz, n, z, zsize, incz);
  if (s == HU_OK) s = span_of(&sx, n, x, xsize, incx);
  if (s != HU_OK) return s;
  if (sz.past <= sx.first || sx.past <= sz.first) return HU_OK;
  if (zsize != xsize || incz != incx) return HU_E_OVERLAP;
  if (z == x) return HU_OK;
  /* Equally strided arrays that interleave share no element. */
  size_t step = absolute(incz) * zsize;
  size_t apart = (uintptr_t)z > (uintptr_t)x ? (uintptr_t)z - (uintptr_t)x : (uintptr_t)x - (uintptr_t)z;
  return apart % step >= zsize && step - apart % step >= zsize ? HU_OK : HU_E_OVERLAP;
}

hu_status hu_check_pack(size_t n, const void *z, size_t zbytes, const void *x, size_t xbytes, unsigned width) {
  if (width < 1 || width > 8 || zbytes == SIZE_MAX || xbytes == SIZE_MAX) return HU_E_SHAPE;
  if (n == 0) return HU_OK;
  if (!z || !x) return HU_E_NULL;
  if (zbytes > PTRDIFF_MAX || xbytes > PTRDIFF_MAX) return HU_E_SHAPE;
  uintptr_t a = (uintptr_t)z, b = (uintptr_t)x;
  return a + zbytes <= b || b + xbytes <= a ? HU_OK : HU_E_OVERLAP;
}

/* ---- hu_gemm ---- */

/* A matrix as it lies in memory: rows of `width` bytes, `pitch` apart. */
typedef struct shape {
  uintptr_t first, past; /* equal: no elements */
  size_t width, pitch;
} shape;

static hu_status shape_of(shape *s, const void *data, size_t rows, size_t cols, size_t ld, size_t size) {
  size_t bytes;
  s->first = s->past = 0;
  s->width = cols * size;
  s->pitch = rows == 1 ? s->width : ld * size; /* a single row may have any ld */
  if (ld < cols) return HU_E_SHAPE;
  if (rows == 0 || cols == 0) return HU_OK;
  if (!data) return HU_E_NULL;
  if ((uintptr_t)data % size) return HU_E_ALIGN;
  if (__builtin_mul_overflow(rows - 1, ld, &bytes) || __builtin_add_overflow(bytes, cols, &bytes) ||
      __builtin_mul_overflow(bytes, size, &bytes) || bytes > PTRDIFF_MAX) {
    return HU_E_SHAPE;
  }
  s->first = (uintptr_t)data;
  return __builtin_add_overflow(s->first, bytes, &s->past) ? HU_E_SHAPE : HU_OK;
}

/* Matrices of one pitch may lie side by side in the same rows. */
static int share(const shape *x, const shape *y) {
  if (x->first == x->past || y->first == y->past || x->first >= y->past || y->first >= x->past) return 0;
  if (x->pitch != y->pitch) return 1;
  const shape *low = x->first < y->first ? x : y, *high = x->first < y->first ? y : x;
  size_t between = (high->first - low->first) % x->pitch;
  return between < low->width || x->pitch - between < high->width;
}

static size_t element_size(hu_format f, uint8_t storage) {
  return storage == HU_VALUES ? sizeof(float) : hu_format_limits(f).storage / 8;
}

static hu_status check_format(hu_format f, int carrier) {
  if (hu_format_check(f, NULL) != HU_OK) return HU_E_FORMAT;
  return carrier && !hu_format_fits_binary32(f) ? HU_E_CARRIER : HU_OK;
}

static hu_status operand_shape(shape *s, const hu_operand *x, size_t rows, size_t cols) {
  if (x->storage > HU_CODES || x->transposed > 1) return HU_E_SHAPE;
  return shape_of(s, x->data, x->transposed ? cols : rows, x->transposed ? rows : cols, x->ld,
                  element_size(x->format, x->storage));
}

static int in_place(const hu_result *d, const hu_operand *c) {
  return d->data == c->data && d->storage == c->storage && d->ld == c->ld && !c->transposed &&
         hu_format_equal(d->format, c->format);
}

static hu_status check_values(const hu_result *d, const hu_operand *in[3], hu_mode mode, const hu_accum *accum,
                              int scaled) {
  hu_status s = hu_accum_check(accum);
  if (s == HU_OK) s = hu_mode_check(mode);
  if (s == HU_OK) s = check_format(d->format, d->storage == HU_VALUES);
  for (int i = 0; i < 3; i++) {
    if (s != HU_OK || !in[i]) continue;
    s = check_format(in[i]->format, in[i]->storage == HU_VALUES || accum->kind == HU_ACCUM_FP32);
  }
  if (s == HU_OK && hu_accum_is_scaled(accum) != scaled) s = HU_E_ACCUM;
  return s == HU_OK ? hu_gemm_model_check(accum, in[0], in[1], in[2]) : s;
}

static hu_status check_product(size_t m, size_t n, size_t k, const hu_result *d, const hu_operand *a,
                               const hu_operand *b, const hu_operand *c, const hu_accum *accum, hu_mode mode,
                               int scaled) {
  shape sd, sa, sb, sc = {0, 0, 0, 0};
  if (!d || !a || !b || !accum) return HU_E_NULL;
  const hu_operand *in[3] = {a, b, c};
  hu_status s = check_values(d, in, mode, accum, scaled);
  if (s != HU_OK) return s;
  if (d->storage > HU_CODES) return HU_E_SHAPE;
  s = shape_of(&sd, d->data, m, n, d->ld, element_size(d->format, d->storage));
  if (s == HU_OK) s = operand_shape(&sa, a, m, k);
  if (s == HU_OK) s = operand_shape(&sb, b, k, n);
  if (s == HU_OK && c) s = operand_shape(&sc, c, m, n);
  if (s != HU_OK) return s;
  int aliased = c && in_place(d, c);
  return share(&sd, &sa) || share(&sd, &sb) || (!aliased && share(&sd, &sc)) ? HU_E_OVERLAP : HU_OK;
}

hu_status hu_check_gemm(size_t m, size_t n, size_t k, const hu_result *d, const hu_operand *a, const hu_operand *b,
                        const hu_operand *c, const hu_accum *accum, hu_mode mode) {
  return check_product(m, n, k, d, a, b, c, accum, mode, 0);
}

/* Scales of one operand, which D does not overlap. */
static hu_status check_scales(const shape *sd, const hu_operand *x, size_t rows, size_t cols, const hu_accum *accum) {
  shape s;
  hu_status status = check_format(x->format, x->storage == HU_VALUES);
  if (status == HU_OK && !accum->scaled && !hu_format_equal(x->format, accum->block.scale)) status = HU_E_ACCUM;
  if (status == HU_OK) status = operand_shape(&s, x, rows, cols);
  return status != HU_OK ? status : share(sd, &s) ? HU_E_OVERLAP : HU_OK;
}

hu_status hu_check_gemm_scaled(size_t m, size_t n, size_t k, const hu_result *d, const hu_operand *a,
                               const hu_operand *b, const hu_operand *c, const hu_operand *sa, const hu_operand *sb,
                               const hu_accum *accum, hu_mode mode) {
  shape sd;
  if (!sa || !sb) return HU_E_NULL;
  hu_status s = check_product(m, n, k, d, a, b, c, accum, mode, 1);
  if (s != HU_OK) return s;
  size_t every = accum->scaled ? accum->promote : accum->block.every, count = k / every + (k % every != 0);
  s = shape_of(&sd, d->data, m, n, d->ld, element_size(d->format, d->storage));
  if (s == HU_OK) s = check_scales(&sd, sa, m, count, accum);
  return s == HU_OK ? check_scales(&sd, sb, count, n, accum) : s;
}
