/* SPDX-License-Identifier: MIT */
/* halfulp/format.h - name, describe and check a number format, and learn its limits.
 *
 *   hu_format f;
 *   if (hu_format_parse(&f, "float8_e4m3fn", NULL) != HU_OK) ...
 *   printf("max = %a\n", hu_limits_of(f).max);
 *
 * A hu_format is a small plain record, passed by value: field widths, an additional bias and independent axes that say
 * what the codes at the edges mean. docs/numerics.md section 1 defines every axis; nothing else is stored, every limit
 * is derived. Named formats live in formats/ (hu_format_find); hu_format_parse reads names and fp(e,m,b):suffixes. */
#ifndef HALFULP_FORMAT_H
#define HALFULP_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "halfulp/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What exponent field 0 and code 0 are. */
enum {
  HU_ZERO_FIELD = 0, /* field 0 holds zero and subnormals (IEEE 754) */
  HU_ZERO_CODE = 1,  /* only magnitude code 0 is zero, the rest of field 0 is normal (DLFloat) */
  HU_ZERO_NONE = 2   /* no zero (OCP E8M0) */
};
/* What lies between zero and the smallest normal number. */
enum {
  HU_SUBNORMAL_GRADUAL = 0, /* subnormal numbers (IEEE 754) */
  HU_SUBNORMAL_NONE = 1,    /* nothing: the neighbours are zero and the smallest normal number */
  HU_SUBNORMAL_FLUSH = 2    /* nothing: a result that rounds to a subnormal becomes zero */
};
/* Which codes are infinities. */
enum {
  HU_INF_NONE = 0, /* no infinity */
  HU_INF_IEEE = 1, /* exponent field all ones, trailing significand zero */
  HU_INF_TOP = 2   /* the largest magnitude code that is not NaN (IEEE P3109 extended formats) */
};
/* Which codes are NaN, and which of them a result is. */
enum {
  HU_NAN_NONE = 0,      /* no NaN */
  HU_NAN_IEEE = 1,      /* exponent field all ones and not an infinity; canonical: top trailing bit */
  HU_NAN_IEEE_ONES = 2, /* the same codes; canonical: all trailing bits (E5M2 in CUDA, PTX, PyTorch) */
  HU_NAN_ONES = 3,      /* one code under each sign: all bits below the sign (OCP E4M3) */
  HU_NAN_NEGZERO = 4,   /* the code 10...0 (FNUZ, signed P3109) */
  HU_NAN_TOP = 5        /* the code 1...1 of an unsigned format (E8M0, UE4M3, unsigned P3109) */
};
/* What a finite value beyond the range becomes under saturation policy `none`. */
enum {
  HU_OVERFLOW_INF = 0, /* an infinity of its sign */
  HU_OVERFLOW_NAN = 1, /* a NaN */
  HU_OVERFLOW_MAX = 2  /* the largest value of its sign */
};
/* What a value below the range of an unsigned format becomes under saturation policy `none`. */
enum {
  HU_NEGATIVE_NAN = 0, /* the canonical NaN */
  HU_NEGATIVE_LOW = 1, /* the lowest value */
  HU_NEGATIVE_STOP = 2 /* the NaN, but numbers in the modes toward zero and toward positive the lowest value (P3109) */
};

/* A format: field widths, an additional bias, and what the codes at the edges mean. */
typedef struct hu_format {
  uint8_t sign;      /* 1: sign bit on top, 0: unsigned */
  uint8_t e;         /* exponent bits, 0..11 */
  uint8_t m;         /* trailing significand bits, 0..30 */
  uint8_t zero;      /* HU_ZERO_ */
  uint8_t subnormal; /* HU_SUBNORMAL_ */
  uint8_t inf;       /* HU_INF_ */
  uint8_t nan;       /* HU_NAN_ */
  uint8_t negzero;   /* 1: the code 10...0 is negative zero */
  uint8_t overflow;  /* HU_OVERFLOW_ */
  uint8_t negative;  /* HU_NEGATIVE_; 0 in signed formats */
  int16_t b;         /* additional bias: bias = 2^(e-1) - 1 + b, or b when e = 0 */
} hu_format;

/* What stands where a format lacks a code. */
#define HU_NO_CODE UINT32_MAX
/* Everything derived from a descriptor. Codes are magnitude codes (sign bit clear) unless stated otherwise; a code the
 * format lacks is HU_NO_CODE. Values are exact in binary64. */
typedef struct hu_limits {
  uint32_t width;           /* bits in a code, 1..32 */
  uint32_t storage;         /* bits of its unpacked storage: 8, 16 or 32 */
  uint32_t sign_mask;       /* the sign bit, 0 if unsigned */
  uint32_t max_code;        /* largest finite */
  uint32_t min_code;        /* smallest positive (subnormal where there are some) */
  uint32_t min_normal_code; /* smallest positive normal; HU_NO_CODE when e = 0 */
  uint32_t inf_code;        /* +infinity */
  uint32_t nan_code;        /* canonical NaN, the full code (0x80 in FNUZ); has_nan says whether there is one */
  uint32_t has_nan;         /* (a 32-bit NaN code may equal HU_NO_CODE, so ask this) */
  int32_t bias;
  int32_t emin;                /* exponent of the lowest normal binade */
  int32_t emax;                /* floor(log2 max) */
  double max, min, min_normal; /* values of the codes above; min_normal is 0 when e = 0 */
  double low;                  /* lowest finite value: -max; 0 or min in unsigned formats */
  uint64_t finite_codes, nan_codes;
} hu_limits;

/* HU_OK, or HU_E_FORMAT; then, if axis is not NULL, *axis points to a static sentence naming the wrong axis ("m: 31
 * is more than 30"). */
HU_API HU_MUST_CHECK hu_status hu_format_check(hu_format format, const char **axis);
/* Limits of a valid descriptor; all zero for an invalid one. */
HU_API hu_limits hu_limits_of(hu_format format);
/* 1 if the two descriptors are the same format (all axes equal), else 0. */
static inline int hu_format_equal(hu_format a, hu_format b) {
  return a.sign == b.sign && a.e == b.e && a.m == b.m && a.zero == b.zero && a.subnormal == b.subnormal &&
         a.inf == b.inf && a.nan == b.nan && a.negzero == b.negzero && a.overflow == b.overflow &&
         a.negative == b.negative && a.b == b.b;
}
/* 1 if every finite value of format is exact in binary32, so that float arrays can hold its grid. */
HU_API int hu_format_fits_binary32(hu_format format);

/* The descriptor of so many bits, with a sign where sign is 1; all other axes are 0. Of what does not fit a descriptor:
 * one that hu_format_check refuses. */
static inline hu_format hu_format_bits(unsigned sign, unsigned e, unsigned m, int b) {
  hu_format format = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  format.sign = HU_AS(uint8_t, sign);
  format.e = HU_AS(uint8_t, e > 255 || b < INT16_MIN || b > INT16_MAX ? 255 : e);
  format.m = HU_AS(uint8_t, m > 255 ? 255 : m);
  format.b = HU_AS(int16_t, b);
  return format;
}
/* Constructors of the common families, fp(e,m,b) with the edges of: IEEE 754: infinities, NaNs, -0. */
static inline hu_format hu_format_ieee(unsigned e, unsigned m, int b) {
  hu_format format = hu_format_bits(1, e, m, b);
  format.inf = HU_INF_IEEE;
  format.nan = m ? HU_NAN_IEEE : HU_NAN_NONE;
  format.negzero = 1;
  format.overflow = HU_OVERFLOW_INF;
  return format;
}
/* Every code finite, -0, overflow to max. */
static inline hu_format hu_format_finite(unsigned e, unsigned m, int b) {
  hu_format format = hu_format_bits(1, e, m, b);
  format.negzero = 1;
  format.overflow = HU_OVERFLOW_MAX;
  return format;
}
/* OCP E4M3: NaN at all ones, overflow to NaN. */
static inline hu_format hu_format_fn(unsigned e, unsigned m, int b) {
  hu_format format = hu_format_bits(1, e, m, b);
  format.nan = HU_NAN_ONES;
  format.negzero = 1;
  format.overflow = HU_OVERFLOW_NAN;
  return format;
}
/* Graphcore/AMD: NaN at the place of -0. */
static inline hu_format hu_format_fnuz(unsigned e, unsigned m, int b) {
  hu_format format = hu_format_bits(1, e, m, b);
  format.nan = HU_NAN_NEGZERO;
  format.overflow = HU_OVERFLOW_NAN;
  return format;
}
/* IEEE P3109 binary{k}p{p}{s|u}{e|f}: k in 3..16, 1 <= p < k (signed) or p <= k (unsigned). Out of range: a descriptor
 * that hu_format_check refuses. */
static inline hu_format hu_format_p3109(unsigned k, unsigned p, int is_signed, int extended) {
  unsigned sign = is_signed != 0;
  hu_format format = hu_format_bits(255, 0, 0, 0);
  if (k < 3 || k > 16 || p < 1 || p > k - sign) return format;
  format = hu_format_bits(sign, k - p + !sign, p - 1, 1);
  format.inf = extended ? HU_INF_TOP : HU_INF_NONE;
  format.nan = sign ? HU_NAN_NEGZERO : HU_NAN_TOP;
  format.overflow = extended ? HU_OVERFLOW_INF : HU_OVERFLOW_NAN;
  if (!sign) format.negative = HU_NEGATIVE_STOP;
  return format;
}

/* Text to descriptor. Accepts a catalogue name or alias (hu_format_find), P3109 names for k in 3..16
 * ("binary8p4se"), and the grammar
 *
 *   format  = "fp(" e "," m "," b ")" [ ":" suffix { "," suffix } ]
 *   suffix  = preset | axis
 *   preset  = "ieee" | "finite" | "fn" | "fnuz" | "p3109e" | "p3109f"      (at most one, first or after "unsigned")
 *   axis    = "unsigned" | "nosub" | "flush" | "negzero" | "nonegzero"
 *           | "zero=field" | "zero=code" | "zero=none" | "sub=gradual" | "sub=none" | "sub=flush"
 *           | "inf=none" | "inf=ieee" | "inf=top"
 *           | "nan=none" | "nan=ieee" | "nan=ieee1" | "nan=ones" | "nan=negzero" | "nan=top"
 *           | "ovf=inf" | "ovf=nan" | "ovf=max" | "neg=nan" | "neg=low" | "neg=stop"
 *
 * e, m decimal; b decimal with optional sign; no leading zeros, no blanks; lower case. An axis given twice is an error.
 * No preset means ieee. Presets set every axis, zero=field and sub=gradual in all of them; other axes override them:
 *
 *   preset   inf    nan                        -0    ovf
 *   ieee     ieee   ieee (none if m = 0)       yes   inf
 *   finite   none   none                       yes   max
 *   fn       none   ones (unsigned: top)       yes   nan
 *   fnuz     none   negzero (signed only)      no    nan
 *   p3109e   top    negzero (unsigned: top)    no    inf
 *   p3109f   none   negzero (unsigned: top)    no    nan
 *
 * "unsigned" takes the sign and -0 away, and sets neg=stop in the P3109 presets; nan=none sets ovf=max in p3109f.
 * Errors: HU_E_TEXT (not the
 * grammar), HU_E_NAME (unknown name), HU_E_FORMAT (well-formed but no format); then, if where is not NULL, *where is
 * the offset in text of the part that is wrong: the number, separator or suffix, the value behind a known key and
 * '='; 0 for HU_E_NAME and HU_E_FORMAT. format is untouched on failure. */
HU_API HU_MUST_CHECK hu_status hu_format_parse(hu_format *format, const char *text, size_t *where);
/* The same; and with HU_E_FORMAT, if axis is not NULL, *axis is hu_format_check's sentence that names the wrong
 * axis. */
HU_API HU_MUST_CHECK hu_status hu_format_parse_axis(hu_format *format, const char *text, size_t *where,
                                                    const char **axis);

/* Descriptor to its fp(...) text; hu_format_parse gives the descriptor back. Of the six presets the one that makes the
 * shortest text, among equals the earlier of the table above; then "unsigned"; then the axes in which the descriptor
 * differs from the preset, in the order zero, sub, inf, nan, -0, ovf, neg. Writes at most size bytes with the final 0
 * and returns the length needed without it (like snprintf); 0 if f is not valid. HU_FORMAT_TEXT_MAX bytes always
 * suffice. */
#define HU_FORMAT_TEXT_MAX 128
HU_API size_t hu_format_text(char *text, size_t size, hu_format format);

/* The catalogue (formats/): entries in a fixed order, entry 0 first. */
typedef struct hu_format_entry {
  const char *id;      /* "float8_e4m3fn" */
  const char *aliases; /* "ocp_e4m3 e4m3fn", blank-separated, "" if none */
  const char *source;  /* clause or paper */
  const char *open;    /* what the source leaves open and what was decided here, "" if nothing */
  hu_format format;
} hu_format_entry;
/* The number of formats; and one of them: i < hu_format_count(), else id is NULL. */
HU_API size_t hu_format_count(void);           /* the number of catalogue formats */
HU_API hu_format_entry hu_format_at(size_t i); /* format i of the catalogue */
/* By id or alias, exact spelling. HU_E_NAME if the name is unknown. P3109 names beyond the catalogue are found too
 * (HU_E_FORMAT for those that need more than 11 exponent bits). *format is untouched on failure. */
HU_API HU_MUST_CHECK hu_status hu_format_find(hu_format *format, const char *name);
/* The id of the first entry with this descriptor, or NULL. */
HU_API const char *hu_format_id(hu_format format);

#ifdef __cplusplus
}
#endif
#endif
