/* SPDX-License-Identifier: MIT */
/* halfulp/view.h - numbers in memory as one value, and an operation element by element on arrays of them.
 *
 *   hu_view x[2] = {hu_codes(a, 1, e4m3), hu_codes(b, 1, half)};
 *   hu_output to = hu_codes_out(z, 1, half);
 *   hu_how how = {rne, NULL, &events};
 *   hu_status s = hu_apply(HU_OP_MAXIMUM, n, &to, x, &how);
 *
 * A view says where an array lies, how far apart its elements are and of which type they are. What operations there
 * are, and what each computes, says operation.h. */
#ifndef HALFULP_VIEW_H
#define HALFULP_VIEW_H

#include "halfulp/format.h"
#include "halfulp/mode.h"
#include "halfulp/operation.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of elements. */
enum {
  HU_TYPE_NONE = 0,     /* none: every call refuses a view that is all zero */
  HU_TYPE_CODES = 1,    /* codes of the format, one to a uint8_t, uint16_t or uint32_t (array.h) */
  HU_TYPE_VALUES32 = 2, /* values of the format, in float */
  HU_TYPE_VALUES64 = 3, /* values of the format, in double */
  HU_TYPE_BINARY32 = 4, /* float: any numbers of binary32; neither format nor number plays a part, nor does it below */
  HU_TYPE_BINARY64 = 5, /* double: any numbers of binary64 */
  HU_TYPE_INT8 = 6,     /* int8_t */
  HU_TYPE_UINT8 = 7,    /* uint8_t */
  HU_TYPE_INT4 = 8,     /* one to a byte, two's complement: the upper four bits are 0 or repeat the sign */
  HU_TYPE_UINT4 = 9,    /* one to a byte, upper four bits 0 */
  HU_TYPE_INT32 = 10,   /* int32_t */
  /* Matrices whose data is a hu_scaled, codes with scales: */
  HU_TYPE_SCALED = 11,      /* of the scaled format `scaling` (scaled.h) */
  HU_TYPE_S2FP8 = 12,       /* of the kind `s2fp8`; its scales are one hu_s2fp8_scale (s2fp8.h) */
  HU_TYPE_SCALED_ROWS = 13, /* of the scaled format `scaling`, with a second level for each row */
  HU_TYPE_HIF4 = 14,        /* of the kind of HiFloat4 `hif4` (scaled.h) */
  /* Values of these, in float: */
  HU_TYPE_SCALED_VALUES = 15,
  HU_TYPE_SCALED_ROWS_VALUES = 16,
  HU_TYPE_HIF4_VALUES = 17
};

struct hu_number;  /* number.h */
struct hu_scaling; /* scaled.h */
struct hu_hif4;    /* scaled.h */
struct hu_s2fp8;   /* s2fp8.h */

/* The type of the elements of an array. */
typedef struct hu_type {
  uint16_t kind;     /* HU_TYPE_ */
  uint16_t reserved; /* 0 */
  hu_format format;
  union {                             /* read during the call */
    const struct hu_number *number;   /* codes and values: of this number system; NULL: of format */
    const struct hu_scaling *scaling; /* the kinds of scaled formats */
    const struct hu_hif4 *hif4;       /* those of HiFloat4 */
    const struct hu_s2fp8 *s2fp8;     /* HU_TYPE_S2FP8 */
  };
} hu_type;

/* An array or a matrix to read. Element i of an array is data[i * stride], element (i, j) of a matrix is
 * data[i * row + j * stride], in elements of the type. */
typedef struct hu_view {
  const void *data;
  ptrdiff_t stride; /* any; 0: one element for all */
  hu_type type;
  ptrdiff_t row; /* of a matrix, from one row to the next (1 where it is stored as its transpose); of operands of dot
                    products, from one product to the next. Calls that take arrays do not look at it */
} hu_view;

/* An array or a matrix to write: elements as in hu_view. */
typedef struct hu_output {
  void *data;
  ptrdiff_t stride; /* not 0 */
  hu_type type;
  ptrdiff_t row;
} hu_output;

/* Kernel levels, as bits. Results never depend on them; a test or a benchmark can take some away. */
enum {
  HU_LEVEL_VECTOR = 1u << 0, /* compiler vectors of the baseline instruction set */
  HU_LEVEL_AVX2 = 1u << 1,   /* AVX2, FMA */
  HU_LEVEL_AVX512 = 1u << 2, /* AVX-512 F, BW, DQ, VL */
  HU_LEVEL_VBMI = 1u << 3,   /* AVX-512 VBMI, with the one before: off where that is */
  HU_LEVEL_NEON = 1u << 4,   /* NEON of 64-bit Arm processors */
  HU_LEVEL_BF16 = 1u << 5,   /* AVX512_BF16, with AVX-512: off where that is. VDPBF16PS, for its own model (gemm.h) */
  HU_LEVEL_VNNI = 1u << 6    /* AVX512_VNNI, likewise: exact products of short integers (gemm.h) */
  /* gemm.h has further ones, for products, and for the order in which large arrays are read and written */
};
/* The levels that this library has and this processor can run. */
HU_API uint32_t hu_levels(void);
/* The name of one bit of hu_levels(): "vector", "avx2", "avx512", "vbmi", "neon", "bf16", "vnni", "amx_bf16",
 * "amx_int8", "fp16", "avx_vnni", "streams"; NULL for what is no level of this build. */
HU_API const char *hu_level_name(uint32_t level);

/* The most threads that a call uses. */
#define HU_THREADS_MAX 256
/* A place that calls run at. All-zero: this CPU. */
typedef struct hu_where {
  const struct hu_device_calls *device; /* NULL: this CPU; hu_cuda and hu_cuda_host of device.h set it */
  void *queue;                          /* the device's: calls of one queue run in order. A cudaStream_t */
  void *work;                           /* memory of the device for calls that say so (device.h), else NULL */
} hu_where;

/* How to run a call. All-zero, as NULL: here, one thread, all levels, stream (0, 0). No call moves the stream on. */
typedef struct hu_exec {
  uint32_t threads;    /* 0 and 1: the calling thread alone; at most HU_THREADS_MAX, more are not used */
  uint32_t levels_off; /* HU_LEVEL_ bits not to use; all bits: the one-value core for every element */
  hu_stream stream;    /* random words of the stochastic modes */
  hu_where where;      /* the place; on a device threads and levels_off mean nothing */
} hu_exec;

/* How a call is done. All zero, as NULL: ties to even, one thread and stream (0, 0), events not counted. */
typedef struct hu_how {
  hu_mode mode;
  const hu_exec *exec; /* may be NULL */
  hu_events *events;   /* counts are added; may be NULL */
} hu_how;

/* The type of codes of format. */
static inline hu_type hu_type_codes(hu_format format) {
  hu_type type;
  type.kind = HU_TYPE_CODES;
  type.reserved = 0;
  type.format = format;
  type.number = NULL;
  return type;
}
/* The type of its values: kind HU_TYPE_VALUES32 or HU_TYPE_VALUES64. */
static inline hu_type hu_type_values(uint16_t kind, hu_format format) {
  hu_type type = hu_type_codes(format);
  type.kind = kind;
  return type;
}
/* The type of any numbers, and of integers: kind HU_TYPE_BINARY32 ... HU_TYPE_INT32. */
static inline hu_type hu_type_plain(uint16_t kind) {
  hu_format none = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  return hu_type_values(kind, none);
}

/* An array of a type to read. */
static inline hu_view hu_view_of(const void *data, ptrdiff_t stride, hu_type type) {
  hu_view view;
  view.data = data;
  view.stride = stride;
  view.type = type;
  view.row = 0;
  return view;
}
/* An array of a type to write. */
static inline hu_output hu_output_of(void *data, ptrdiff_t stride, hu_type type) {
  hu_output output;
  output.data = data;
  output.stride = stride;
  output.type = type;
  output.row = 0;
  return output;
}
/* An array of codes of format to read. */
static inline hu_view hu_codes(const void *data, ptrdiff_t stride, hu_format format) {
  return hu_view_of(data, stride, hu_type_codes(format));
}
/* An array of codes of format to write. */
static inline hu_output hu_codes_out(void *data, ptrdiff_t stride, hu_format format) {
  return hu_output_of(data, stride, hu_type_codes(format));
}
/* An array of any binary32 numbers to read. */
static inline hu_view hu_floats(const float *data, ptrdiff_t stride) {
  return hu_view_of(data, stride, hu_type_plain(HU_TYPE_BINARY32));
}
/* An array of binary32 numbers to write: the values of codes. */
static inline hu_output hu_floats_out(float *data, ptrdiff_t stride) {
  return hu_output_of(data, stride, hu_type_plain(HU_TYPE_BINARY32));
}
/* An array of any binary64 numbers to read. */
static inline hu_view hu_doubles(const double *data, ptrdiff_t stride) {
  return hu_view_of(data, stride, hu_type_plain(HU_TYPE_BINARY64));
}
/* An array of binary64 numbers to write: the values of codes. */
static inline hu_output hu_doubles_out(double *data, ptrdiff_t stride) {
  return hu_output_of(data, stride, hu_type_plain(HU_TYPE_BINARY64));
}
/* An array of values of format to write, in binary32. */
static inline hu_output hu_values_out(float *data, ptrdiff_t stride, hu_format format) {
  return hu_output_of(data, stride, hu_type_values(HU_TYPE_VALUES32, format));
}
/* An array of values of format to write, in binary64. */
static inline hu_output hu_values64_out(double *data, ptrdiff_t stride, hu_format format) {
  return hu_output_of(data, stride, hu_type_values(HU_TYPE_VALUES64, format));
}
/* An array of int8_t to write. */
static inline hu_output hu_int8_out(int8_t *data, ptrdiff_t stride) {
  return hu_output_of(data, stride, hu_type_plain(HU_TYPE_INT8));
}
/* A matrix of a type to read: element (i, j) at data[i * ld + j], in rows of at most ld elements. */
static inline hu_view hu_matrix_of(const void *data, size_t ld, hu_type type) {
  hu_view view = hu_view_of(data, 1, type);
  view.row = HU_AS(ptrdiff_t, ld);
  return view;
}
/* A matrix of a type to write. */
static inline hu_output hu_matrix_out_of(void *data, size_t ld, hu_type type) {
  hu_output output = hu_output_of(data, 1, type);
  output.row = HU_AS(ptrdiff_t, ld);
  return output;
}
/* A matrix of codes of format to read. */
static inline hu_view hu_matrix_codes(const void *data, size_t ld, hu_format format) {
  return hu_matrix_of(data, ld, hu_type_codes(format));
}
/* A matrix of any binary32 numbers to read. */
static inline hu_view hu_matrix_floats(const float *data, size_t ld) {
  return hu_matrix_of(data, ld, hu_type_plain(HU_TYPE_BINARY32));
}
/* A matrix of codes of format to write. */
static inline hu_output hu_matrix_codes_out(void *data, size_t ld, hu_format format) {
  return hu_matrix_out_of(data, ld, hu_type_codes(format));
}
/* A matrix of binary32 numbers to write. */
static inline hu_output hu_matrix_floats_out(float *data, size_t ld) {
  return hu_matrix_out_of(data, ld, hu_type_plain(HU_TYPE_BINARY32));
}
/* The transpose of a matrix: element (i, j) is element (j, i) of x. */
static inline hu_view hu_transposed(hu_view x) {
  ptrdiff_t row = x.row;
  x.row = x.stride;
  x.stride = row;
  return x;
}
/* How: a mode, an exec and counts. */
static inline hu_how hu_how_of(hu_mode mode, const hu_exec *exec, hu_events *events) {
  hu_how how;
  how.mode = mode;
  how.exec = exec;
  how.events = events;
  return how;
}

/* z[i] = operation op (HU_OP_) of x[0][i], x[1][i], ...: what hu_apply_code returns for these codes, with R = the high
 * N bits of word i of exec->stream: the same bits for every thread count, kernel level, stride and device.
 *
 *   x          as many views as the operation has operands, all of codes of formats
 *   z          codes, of x[0]'s format where the operation gives HU_RESULT_SAME; HU_TYPE_INT8 where it gives
 *              HU_RESULT_INT8. It may be the same array as an operand where element sizes and strides are the same,
 *              else it must not overlap one (elements of equally strided arrays may interleave)
 *   HU_OP_CONVERT  takes more types than codes of formats: x[0] has codes or any numbers (HU_TYPE_BINARY32, _BINARY64),
 *              z codes, or values. Each can be of a number system, as number.h says; a table must not overlap z
 *              (the call does not look whether it does). What
 *              is written is z's code of what x[0] rounds to, once, or the value of that code in the array's float or
 *              double. z of HU_TYPE_BINARY32 or _BINARY64 takes the values of codes: mode, stream and events play no
 *              part then, for nothing is rounded but what binary32 or binary64 lacks of a number system (number.h)
 *   codes      bits above the width are an error in operands (HU_E_CODE, array.h) and 0 in z
 *   n          may be 0; then data may be NULL
 *   how        may be NULL. how->exec NULL means stream (0, 0) for stochastic modes: the same words in every such call.
 *              Where the operation does not round, mode, stream and events play no part
 *
 * No allocation. Errors: HU_E_SHAPE (no such operation; strides; arrays beyond the address space), HU_E_NULL,
 * HU_E_FORMAT (a type other than the ones above, or a format that its check refuses), HU_E_NUMBER, HU_E_MODE,
 * HU_E_CARRIER (float as the values of a format that binary32 lacks), HU_E_ALIGN, HU_E_OVERLAP, HU_E_CODE; z and
 * events are untouched then. Where HU_LEVEL_FP16 is there (gemm.h), the CPU's own
 * operations compute HU_OP_ADD, _SUB, _MUL, _DIV, _SQRT and _FMA where all formats are binary16 and the mode rounds to
 * nearest even, toward zero, up or down, with the same results and events. */
HU_API HU_MUST_CHECK hu_status hu_apply(int op, size_t n, const hu_output *z, const hu_view *x, const hu_how *how);

/* ---- hu_apply with an argument for each part ---- */

/* Operation op of two operands: hu_add_n and its like. */
static inline HU_MUST_CHECK hu_status hu_apply_two(int op, size_t n, hu_output z, hu_view a, hu_view b, hu_how how) {
  hu_view x[2];
  x[0] = a;
  x[1] = b;
  return hu_apply(op, n, &z, x, &how);
}

/* z[i] = a[i] + b[i] */
static inline HU_MUST_CHECK hu_status hu_add_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a,
                                               ptrdiff_t inca, hu_format fa, const void *b, ptrdiff_t incb,
                                               hu_format fb, hu_mode mode, const hu_exec *exec, hu_events *events) {
  return hu_apply_two(HU_OP_ADD, n, hu_codes_out(z, incz, fz), hu_codes(a, inca, fa), hu_codes(b, incb, fb),
                      hu_how_of(mode, exec, events));
}
/* z[i] = a[i] - b[i] */
static inline HU_MUST_CHECK hu_status hu_sub_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a,
                                               ptrdiff_t inca, hu_format fa, const void *b, ptrdiff_t incb,
                                               hu_format fb, hu_mode mode, const hu_exec *exec, hu_events *events) {
  return hu_apply_two(HU_OP_SUB, n, hu_codes_out(z, incz, fz), hu_codes(a, inca, fa), hu_codes(b, incb, fb),
                      hu_how_of(mode, exec, events));
}
/* z[i] = a[i] b[i] */
static inline HU_MUST_CHECK hu_status hu_mul_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a,
                                               ptrdiff_t inca, hu_format fa, const void *b, ptrdiff_t incb,
                                               hu_format fb, hu_mode mode, const hu_exec *exec, hu_events *events) {
  return hu_apply_two(HU_OP_MUL, n, hu_codes_out(z, incz, fz), hu_codes(a, inca, fa), hu_codes(b, incb, fb),
                      hu_how_of(mode, exec, events));
}
/* z[i] = a[i] / b[i] */
static inline HU_MUST_CHECK hu_status hu_div_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a,
                                               ptrdiff_t inca, hu_format fa, const void *b, ptrdiff_t incb,
                                               hu_format fb, hu_mode mode, const hu_exec *exec, hu_events *events) {
  return hu_apply_two(HU_OP_DIV, n, hu_codes_out(z, incz, fz), hu_codes(a, inca, fa), hu_codes(b, incb, fb),
                      hu_how_of(mode, exec, events));
}
/* z[i] = the square root of x[i] */
static inline HU_MUST_CHECK hu_status hu_sqrt_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x,
                                                ptrdiff_t incx, hu_format fx, hu_mode mode, const hu_exec *exec,
                                                hu_events *events) {
  hu_output to = hu_codes_out(z, incz, fz);
  hu_view view = hu_codes(x, incx, fx);
  hu_how how = hu_how_of(mode, exec, events);
  return hu_apply(HU_OP_SQRT, n, &to, &view, &how);
}
/* z[i] = a[i] b[i] + c[i], one rounding */
static inline HU_MUST_CHECK hu_status hu_fma_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *a,
                                               ptrdiff_t inca, hu_format fa, const void *b, ptrdiff_t incb,
                                               hu_format fb, const void *c, ptrdiff_t incc, hu_format fc, hu_mode mode,
                                               const hu_exec *exec, hu_events *events) {
  hu_output to = hu_codes_out(z, incz, fz);
  hu_view x[3];
  hu_how how = hu_how_of(mode, exec, events);
  x[0] = hu_codes(a, inca, fa);
  x[1] = hu_codes(b, incb, fb);
  x[2] = hu_codes(c, incc, fc);
  return hu_apply(HU_OP_FMA, n, &to, x, &how);
}

#ifdef __cplusplus
}
#endif
#endif
