/* SPDX-License-Identifier: MIT */
/* halfulp/number.h - compute with number systems beside floating point: posits, takums, HiFloat8, logarithmic numbers,
 * fixed point, tables of values.
 *
 *   hu_number p;
 *   if (hu_number_parse(&p, "posit16", NULL, NULL) != HU_OK) ...
 *   uint32_t code = hu_number_encode(p, rne, 0.1f, 0, NULL);
 *   double value = hu_number_decode64(p, code);
 *
 * A hu_number says what the codes of a number system mean: a hu_format, or one of the kinds below. It is a small plain
 * record, passed by value; nothing global, nothing derived is stored. docs/numbers.md is normative. In short:
 *
 *   float   a hu_format, exactly as in format.h and scalar.h
 *   posit   posit(n,es): Standard for Posit Arithmetic (2022), es = 2 there; n 2..32, es 0..5, (n - 2) 2^es <= 1022
 *   lns     a sign and a logarithm to base 2 with f fraction bits: (-1)^s 2^(k / 2^f), w bits in all
 *   fixed   q(m.n): a two's complement integer of 1 + m + n bits times 2^-n; uq(m.n): of m + n bits, not negative
 *   table   code i stands for the i-th of up to 256 binary32 values, in any order
 *   takum   takum(n), 8 to 32 bits: e^(l / 2) with a sign, l of tapered precision; takum_linear(n): (1 + m) 2^c
 *   hifloat8  8 bits, 1 to 3 of them behind the point, 0 below 2^-15; zero, infinities and NaN
 *
 * Every operation takes an exact real number (or an infinity, or a NaN) and rounds it ONCE onto the grid of the result:
 *
 *   float, fixed   docs/numerics.md section 2
 *   posit   the bit string of |x|, as long as it takes, is cut behind n bits; what is cut off, seen as a fraction, is
 *           the nu of section 2. So `rne` is the standard's rounding: halves are those of the string, which where
 *           exponent bits are cut are not those of the value. In every mode a real number that is not 0 becomes
 *           neither 0 nor NaR: beyond maxPos it is maxPos, below minPos minPos.
 *   lns     log2 |x| 2^f is rounded to an integer k, which is to say that nearest is nearest in the logarithm. Below
 *           the smallest k it is zero (modes away from zero: the smallest value), in systems without zero the smallest
 *           value; above the largest k the largest.
 *   table   between the two neighbours among the values; stochastic modes by their distances. Beyond the ends, the end.
 *   takum   as posit: the endless bit string is cut, and no real number that is not 0 becomes 0 or NaR
 *   hifloat8  between the two neighbours among the values; mode `rna` is the rounding of its paper. Beyond the largest
 *           one as in a format with infinities
 *
 * All modes of mode.h have a meaning for all kinds. An infinite operand becomes the end of its sign under the
 * saturation policy `finite`, and the NaN of a kind that has one (NaR) under `none` and `propagate`; the default is
 * `none` for posits, takums and HiFloat8, whose infinities stay, and `finite` for the others. A NaN becomes the NaN or
 * NaR, or else what the mode's NaN policy says.
 *
 * Text, both ways (hu_number_parse, hu_number_text); no blanks:
 *
 *   number  = name | any text of hu_format_parse | "posit(" n "," es ")" | "lns(" w "," f ")" [ ":" coding ]
 *           | "takum(" n ")" | "takum_linear(" n ")" | "hifloat8"
 *           | [ "u" ] "q(" m "." n ")" [ ":" overflow ] | "table(" value { "," value } ")" [ ":ties=" ties ]
 *   coding  = "twos" | "offset" | "unsigned"       overflow = "saturate" | "wrap"
 *   ties    = "even" | "low" | "low32" | "given": then the second half of the values are the limits
 *   value   = a decimal number of up to 40 digits, e.g. -0.5250730514526367 or 1e-3, rounded to binary32, ties to even
 *           | "0x" 8 hexadecimal digits, a binary32 pattern
 *
 * The calls of oracle.h, and hu_apply on a device (device.h), do not take takums and HiFloat8: HU_E_NUMBER. */
#ifndef HALFULP_NUMBER_H
#define HALFULP_NUMBER_H

#include "halfulp/array.h"
#include "halfulp/format.h"
#include "halfulp/mode.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of number systems. */
enum {
  HU_NUMBER_FLOAT = 0,        /* a hu_format */
  HU_NUMBER_POSIT = 1,        /* posit(n,es) */
  HU_NUMBER_LNS = 2,          /* lns(w,f) */
  HU_NUMBER_FIXED = 3,        /* q(m.n), uq(m.n) */
  HU_NUMBER_TABLE = 4,        /* table(...) */
  HU_NUMBER_TAKUM_LINEAR = 5, /* takum_linear(n) */
  HU_NUMBER_TAKUM = 6,        /* takum(n), the logarithmic one */
  HU_NUMBER_HIFLOAT8 = 7,     /* hifloat8 */
  HU_NUMBER_KINDS = 8         /* (count) */
};
/* Where k stands in the w - 1 bits below the sign of a logarithmic number, and which codes are special. */
enum {
  HU_LNS_TWOS = 0,    /* twos: in two's complement; the lowest k is zero under sign 0, NaN under sign 1 */
  HU_LNS_OFFSET = 1,  /* offset: k + 2^(w-2); field 0 is zero under sign 0, NaN under sign 1 */
  HU_LNS_UNSIGNED = 2 /* unsigned: k itself, 0 and up; neither zero nor NaN */
};
/* What an integer beyond the range of a fixed-point number becomes. */
enum {
  HU_FIXED_SATURATE = 0, /* saturate: the end of the range */
  HU_FIXED_WRAP = 1      /* wrap: its low bits. Infinities go to the ends in both */
};
/* Where `rne` takes a value midway between two neighbours of a table. */
enum {
  HU_TIES_EVEN = 0,  /* even: to the one with an even place (0, 1, ...) in the order of the values */
  HU_TIES_LOW = 1,   /* low: to the lower value */
  HU_TIES_LOW32 = 2, /* low32: the same, and the midpoint is first rounded to binary32 */
  /* given: not by the midpoint at all. `table` has 2 count numbers; number count + i is a limit, and x between the
   * value of code i and the next larger value goes to the latter if x > limit. (A library's own thresholds.) */
  HU_TIES_GIVEN = 3
};

/* The most numbers in a table. */
#define HU_TABLE_MAX 256

/* A number system. Fields of other kinds are 0. */
typedef struct hu_number {
  uint8_t kind;       /* HU_NUMBER_ */
  uint8_t width;      /* posit and takum n, lns w, fixed: the bits of a code; hifloat8: 8. float, table: 0 */
  uint8_t es;         /* posit: exponent bits */
  uint8_t fraction;   /* lns f, fixed n: fraction bits */
  uint8_t sign;       /* fixed: 1 signed, 0 unsigned */
  uint8_t coding;     /* lns: HU_LNS_ */
  uint8_t overflow;   /* fixed: HU_FIXED_ */
  uint8_t ties;       /* table: HU_TIES_ */
  uint16_t count;     /* table: values, 1 to HU_TABLE_MAX; with their limits: to half of that */
  hu_format format;   /* float */
  const float *table; /* table: the caller's, which must stay as long as the record is used; else NULL */
} hu_number;

/* A record of a kind; hu_number_check says whether it makes sense, also below. */
static inline hu_number hu_number_of_kind(unsigned kind, unsigned width) {
  hu_number made = {0, 0, 0, 0, 0, 0, 0, 0, 0, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, NULL};
  made.kind = HU_AS(uint8_t, kind);
  made.width = HU_AS(uint8_t, width > 255 ? 255 : width);
  return made;
}
/* A floating-point format. */
static inline hu_number hu_number_float(hu_format format) {
  hu_number made = hu_number_of_kind(HU_NUMBER_FLOAT, 0);
  made.format = format;
  return made;
}
/* posit<n, es> */
static inline hu_number hu_number_posit(unsigned n, unsigned es) {
  hu_number made = hu_number_of_kind(HU_NUMBER_POSIT, n);
  made.es = HU_AS(uint8_t, es > 255 ? 255 : es);
  return made;
}
/* A logarithmic number system. */
static inline hu_number hu_number_lns(unsigned w, unsigned f, unsigned coding) {
  hu_number made = hu_number_of_kind(HU_NUMBER_LNS, w);
  made.fraction = HU_AS(uint8_t, f > 255 ? 255 : f);
  made.coding = HU_AS(uint8_t, coding > 255 ? 255 : coding);
  return made;
}
/* q(m.n) (signed, 1 + m + n bits) or uq(m.n) (m + n bits). Some write the sign among the m: Arm's Q1.15 is q(0.15). */
static inline hu_number hu_number_fixed(int is_signed, unsigned m, unsigned n, unsigned overflow) {
  unsigned sign = is_signed != 0;
  hu_number made = hu_number_of_kind(HU_NUMBER_FIXED, m > 255 || n > 255 ? 255 : sign + m + n);
  made.sign = HU_AS(uint8_t, sign);
  made.fraction = HU_AS(uint8_t, n > 255 ? 255 : n);
  made.overflow = HU_AS(uint8_t, overflow > 255 ? 255 : overflow);
  return made;
}
/* takum_linear(n), or the logarithmic takum(n) */
static inline hu_number hu_number_takum(unsigned n, int linear) {
  return hu_number_of_kind(linear ? HU_NUMBER_TAKUM_LINEAR : HU_NUMBER_TAKUM, n);
}
/* HiFloat8 */
static inline hu_number hu_number_hifloat8(void) { return hu_number_of_kind(HU_NUMBER_HIFLOAT8, 8); }
/* Of values, and with ties given their limits behind them; the caller's array. */
static inline hu_number hu_number_table(size_t count, const float *values, unsigned ties) {
  hu_number made = hu_number_of_kind(HU_NUMBER_TABLE, 0);
  made.count = HU_AS(uint16_t, count > HU_TABLE_MAX ? HU_TABLE_MAX + 1 : count);
  made.table = values;
  made.ties = HU_AS(uint8_t, ties > 255 ? 255 : ties);
  return made;
}

/* HU_OK; HU_E_FORMAT (float: hu_format_check refuses it), HU_E_NUMBER; then, if why is not NULL, *why is a static
 * sentence that begins with the wrong part. Beside the ranges above:
 *   lns     w 3..32, f <= w - 2; all |k / 2^f| at most 512: w - f at most 11 (unsigned: 10)
 *   takum   n 8..32; hifloat8: width 8
 *   fixed   1 to 32 bits, signed ones at least 2; m and n up to 32
 *   table   values finite or NaN (which is then the table's NaN), at least one of them finite; ties given: at most half
 *           of HU_TABLE_MAX, and every limit looked at is not below its value and below the next larger one */
HU_API HU_MUST_CHECK hu_status hu_number_check(hu_number number, const char **why);
/* 1 if the two are the same number system: all fields equal, tables by the bits of their values. */
HU_API int hu_number_equal(hu_number a, hu_number b);

/* What a number system has. Codes of what it lacks are HU_NO_CODE, values 0. */
typedef struct hu_number_limits {
  uint32_t width;    /* bits of a code, 1..32: of a table the least that count all its values */
  uint32_t storage;  /* 8, 16, 32: bits of a code in an array */
  uint32_t max_code; /* of the largest value */
  uint32_t low_code; /* of the lowest */
  uint32_t min_code; /* of the smallest positive one; HU_NO_CODE if there is none */
  uint32_t zero_code, nan_code;
  uint32_t has_zero, has_nan; /* (a code may equal HU_NO_CODE, so ask these) */
  uint32_t exact64;           /* 1 if binary64 holds every value; else lns with f > 0, or takum */
  double max, low, min;       /* values of the codes above as hu_number_decode64 gives them */
} hu_number_limits;
/* All zero for a number that is not valid. */
HU_API hu_number_limits hu_number_limits_of(hu_number number);

/* Text to record. Values of a table written out in the text go to room[0 .. HU_TABLE_MAX-1] (on success, as many as
 * there are) and number->table is room; with room NULL such a text is HU_E_SPACE. Named tables lie in the library.
 * HU_E_TEXT (not the grammar), HU_E_NAME, HU_E_FORMAT, HU_E_NUMBER (well-formed, but hu_number_check refuses it); then,
 * if where is not NULL, *where is the offset of the part that is wrong (0 for HU_E_NAME, HU_E_FORMAT, HU_E_NUMBER,
 * HU_E_SPACE). *number is untouched on failure. */
HU_API HU_MUST_CHECK hu_status hu_number_parse(hu_number *number, const char *text, float *room, size_t *where);
/* Record to its one canonical text, which parses to an equal record: defaults (twos, saturate, even) left out, tables
 * as patterns, floats in the form of hu_format_text. Returns the length needed, like snprintf; 0 if the record is not
 * valid. HU_NUMBER_TEXT_MAX bytes always suffice. */
#define HU_NUMBER_TEXT_MAX 3072
HU_API size_t hu_number_text(char *text, size_t size, hu_number number);

/* The catalogue, entry 0 first: posit8 posit16 posit32 (es = 2), posit8_es0 posit16_es1 posit32_es2 (as they were
 * before the standard), takum8 takum16 takum32, takum_linear8 takum_linear16 takum_linear32, hifloat8, lns8 lns8_madam
 * lns16 logfixpoint16 lns32, nf4 nf4_bnb fp4_bnb nf4_bnb_cpu fp4_bnb_cpu af4, dynamic8_bnb udynamic8_bnb, int4 int8
 * int16 int32, q7 q15 q31, s15_16. Floating-point formats have their own (hu_format_at). */
typedef struct hu_number_entry {
  const char *name, *source;
  const char *open; /* what the source leaves open and what was decided here, "" if nothing */
  hu_number number;
} hu_number_entry;
/* The number of systems; and one of them: i < hu_number_count(), else name is NULL. */
HU_API size_t hu_number_count(void);           /* the number of named systems */
HU_API hu_number_entry hu_number_at(size_t i); /* named system i */
/* By name, of this catalogue first, then hu_format_find's. *number is untouched on failure. */
HU_API HU_MUST_CHECK hu_status hu_number_find(hu_number *number, const char *name);
/* The first name of a number system, in this catalogue (tables by their values) or hu_format_id's; NULL if none. */
HU_API const char *hu_number_id(hu_number number);

/* One value at a time, as scalar.h's calls: `random` is R, *events is set to the operation's HU_EVENT_ bits (may be
 * NULL). Any bit pattern gives the documented result. Something that a check refuses: code 0 (value NaN) and
 * HU_EVENT_INVALID. Bits above the width of a code are ignored: these calls have no status. */
HU_API uint32_t hu_number_encode(hu_number number, hu_mode mode, float x, uint32_t random,
                                 uint32_t *events); /* a binary32 number to its code */
HU_API uint32_t hu_number_encode64(hu_number number, hu_mode mode, double x, uint32_t random,
                                   uint32_t *events); /* a binary64 number to its code */
/* The code in number of the value of code x of fx: one rounding, whatever the two kinds, irrational values included. */
HU_API uint32_t hu_number_convert(hu_number number, hu_mode mode, hu_number fx, uint32_t x, uint32_t random,
                                  uint32_t *events);
/* The value of a code; exact, except for lns and takum, whose irrational values are rounded to nearest (limits:
 * exact64). NaN, NaR and codes of a table beyond its last value: 0x7FF8000000000000. */
HU_API double hu_number_decode64(hu_number number, uint32_t code);
/* The same, the value itself rounded once to binary32, ties to even, IEEE overflow and underflow. */
HU_API float hu_number_decode(hu_number number, uint32_t code);

/* ---- arrays: hu_apply of HU_OP_CONVERT (view.h) ----
 *
 * A type of codes or values that names a number system is of that one: everything of array.h and view.h (strides,
 * storage by hu_number_limits.storage, threads, random words, events, errors; `exec` NULL means stream (0, 0), the same
 * random words in every such call), with HU_E_NUMBER beside HU_E_FORMAT. Element i is what the one-value call returns;
 * quantize is decode of encode, into the array's own type. There is no HU_E_CARRIER where one of the types names a
 * number system: values that binary32 lacks are rounded as hu_number_decode does it. A table must not overlap an
 * output, which is not looked for. */

/* The type of codes (HU_TYPE_CODES) or values (HU_TYPE_VALUES32, _VALUES64) of *of, which stays the caller's. */
static inline hu_type hu_type_number(uint8_t kind, const hu_number *of) {
  hu_type type = hu_type_plain(kind);
  type.number = of;
  return type;
}

/* z[i] = the value of fz that x[i] rounds to. Binary32 to binary32. */
static inline HU_MUST_CHECK hu_status hu_number_quantize_n(size_t n, float *z, ptrdiff_t incz, const float *x,
                                                           ptrdiff_t incx, hu_number fz, hu_mode mode,
                                                           const hu_exec *exec, hu_events *events) {
  hu_output to = hu_output_of(z, incz, hu_type_number(HU_TYPE_VALUES32, &fz));
  return hu_apply_convert(n, to, hu_floats(x, incx), mode, exec, events);
}
/* The same, binary64 to binary64. */
static inline HU_MUST_CHECK hu_status hu_number_quantize64_n(size_t n, double *z, ptrdiff_t incz, const double *x,
                                                             ptrdiff_t incx, hu_number fz, hu_mode mode,
                                                             const hu_exec *exec, hu_events *events) {
  hu_output to = hu_output_of(z, incz, hu_type_number(HU_TYPE_VALUES64, &fz));
  return hu_apply_convert(n, to, hu_doubles(x, incx), mode, exec, events);
}
/* z[i] = the code of fz that x[i] rounds to, of binary32 numbers. */
static inline HU_MUST_CHECK hu_status hu_number_encode_n(size_t n, void *z, ptrdiff_t incz, const float *x,
                                                         ptrdiff_t incx, hu_number fz, hu_mode mode,
                                                         const hu_exec *exec, hu_events *events) {
  hu_output to = hu_output_of(z, incz, hu_type_number(HU_TYPE_CODES, &fz));
  return hu_apply_convert(n, to, hu_floats(x, incx), mode, exec, events);
}
/* The same, of binary64 numbers. */
static inline HU_MUST_CHECK hu_status hu_number_encode64_n(size_t n, void *z, ptrdiff_t incz, const double *x,
                                                           ptrdiff_t incx, hu_number fz, hu_mode mode,
                                                           const hu_exec *exec, hu_events *events) {
  hu_output to = hu_output_of(z, incz, hu_type_number(HU_TYPE_CODES, &fz));
  return hu_apply_convert(n, to, hu_doubles(x, incx), mode, exec, events);
}
/* z[i] = the value of code x[i] of fx, in binary32. */
static inline HU_MUST_CHECK hu_status hu_number_decode_n(size_t n, float *z, ptrdiff_t incz, const void *x,
                                                         ptrdiff_t incx, hu_number fx, const hu_exec *exec) {
  const hu_mode rne = {0, 0, 0, 0, 0, 0, {0, 0}};
  hu_view from = hu_view_of(x, incx, hu_type_number(HU_TYPE_CODES, &fx));
  return hu_apply_convert(n, hu_floats_out(z, incz), from, rne, exec, NULL);
}
/* The same, in binary64. */
static inline HU_MUST_CHECK hu_status hu_number_decode64_n(size_t n, double *z, ptrdiff_t incz, const void *x,
                                                           ptrdiff_t incx, hu_number fx, const hu_exec *exec) {
  const hu_mode rne = {0, 0, 0, 0, 0, 0, {0, 0}};
  hu_view from = hu_view_of(x, incx, hu_type_number(HU_TYPE_CODES, &fx));
  return hu_apply_convert(n, hu_doubles_out(z, incz), from, rne, exec, NULL);
}
/* z[i] = the code in fz of the value of code x[i] of fx: one rounding, whatever the two kinds. */
static inline HU_MUST_CHECK hu_status hu_number_convert_n(size_t n, void *z, ptrdiff_t incz, hu_number fz,
                                                          const void *x, ptrdiff_t incx, hu_number fx, hu_mode mode,
                                                          const hu_exec *exec, hu_events *events) {
  hu_output to = hu_output_of(z, incz, hu_type_number(HU_TYPE_CODES, &fz));
  hu_view from = hu_view_of(x, incx, hu_type_number(HU_TYPE_CODES, &fx));
  return hu_apply_convert(n, to, from, mode, exec, events);
}

#ifdef __cplusplus
}
#endif
#endif
