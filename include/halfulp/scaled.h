/* SPDX-License-Identifier: MIT */
/* halfulp/scaled.h - encode and decode tensors of small codes with shared scales: MX, NVFP4, block floating point,
 * scaled FP8.
 *
 *   hu_scaling mx;
 *   if (hu_scaling_parse(&mx, "mxfp8_e4m3", NULL) != HU_OK) ...
 *   hu_scaled z = {codes, cols, scales, (cols + 31) / 32, NULL};
 *   hu_mode rne = {0};
 *   hu_status s = hu_scaled_encode(rows, cols, &z, x, cols, &mx, rne, NULL, NULL, NULL, NULL);
 *
 * or, with views,
 *
 *   hu_output to = hu_scaled_out(&z, hu_type_scaled(HU_TYPE_SCALED, &mx));
 *   hu_view from = hu_matrix_floats(x, cols);
 *   hu_status s = hu_scaled_apply(rows, cols, &to, &from, NULL, NULL);
 *
 * A matrix of rows x cols values, row-major, is cut into blocks of equal shape; blocks at the right and lower edge end
 * with the matrix. Every block has a scale s, a code of the scale format; a second-level scale t in binary32 may belong
 * to the whole tensor (else t = 1). The value of an element of code P is P s t. docs/scaled.md is normative: how s and
 * t come from the largest magnitude (amax), which steps are rounded in binary32, what zeros, infinities, NaN and
 * subnormal numbers do, and the bytes of the packed layout. In short, for a finite x in a block of finite scale not 0:
 *
 *   steps exact      element = the ONE rounding of the real number x / (s t) into the element format, in the mode
 *   other steps      x / (s t) is first formed in binary32, as the stack that the rule is named after forms it
 *   decoding         exact: P s t rounded once into binary32, ties to even; other steps: P times the binary32 number
 *                    s t (rounded), rounded. An overflow is an infinity, a NaN is 0x7FC00000.
 *
 * Text, both ways (hu_scaling_parse, hu_scaling_text); no blanks:
 *
 *   scaling = preset | "bfp(" m "," e "," N ")" | "scaled(" format { ";" key } ")"
 *   key     = "scale=" format | "block=" side "x" side | "rule=" RULE | "round=" MODE | "steps=" STEPS | "tensor"
 *           | "tensor=256" | "code=twos" | "special=" SPECIAL | "zero=" ZERO | "minus=" MINUS
 *           | "amin=0x" 8 hexadecimal digits | "pad" | ( "S=" | "t=" | "s=" | "x=" | "v=" ) formula
 *   side    = 1 to 2^31 - 1, or "*": all of the matrix
 *   formula = term { "+" term };  term = factor { ( "*" | "/" ) factor }
 *   factor  = "A" | "T" | "S" | "t" | "s" | "x" | "P" | 1 to 999999 | "0x" 8 hexadecimal digits | "(" formula ")"
 *           | FUNCTION "(" formula [ "," formula ] ")"
 *
 * `scale` and `block` must be there, and either `rule` or the formulas `s` and `x`; a key stands once. The words are
 * those behind the enumerators below. Formulas say every step of a program that no `steps` has (docs/scaled.md section
 * 4.4). Names of programs' rules are presets, too: hu_scaling_rule_at.
 * bfp(m,e,N): elements of m magnitude bits and a sign, one exponent of e bits for N elements of a row (rule floor,
 * special element). Presets: hu_scaling_at. */
#ifndef HALFULP_SCALED_H
#define HALFULP_SCALED_H

#include "halfulp/array.h"
#include "halfulp/format.h"
#include "halfulp/mode.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a block's scale comes from its amax A. The first four give powers of two, limited to those that the scale format
 * has: k = floor(log2 A), M = max of the element format, emax = floor(log2 M), m its trailing significand bits. */
enum {
  HU_SCALE_FLOOR = 0, /* floor: 2^(k - emax)                                     (OCP MX v1.0 section 6.3) */
  HU_SCALE_CEIL = 1,  /* ceil: 2^(ceil(log2 A) - emax) */
  HU_SCALE_EVEN = 2,  /* even: floor of A rounded to m + 1 digits, ties up */
  HU_SCALE_RCEIL = 3, /* rceil: the least 2^e with A <= M 2^e: A / M rounded up  (CUDA, Blackwell) */
  HU_SCALE_RATIO = 4, /* ratio: A / M, or A / (M t), rounded into the scale format by `round`, beyond its range max */
  /* Four Over Six of NVFP4: the scale that ratio gives, or one 1.5 times as large, under which A is about 4 and not 6,
   * by the smaller error of the block; docs/scaled.md section 4.1 defines the sums. Elements float4_e2m1fn, scales
   * ue4m3 or float8_e4m3fn, blocks of at most 16 rows and 16 columns, two levels, steps multiply. */
  HU_SCALE_4OVER6_MAE = 5,      /* 4over6_mae: by the sum of |error|  (Transformer Engine) */
  HU_SCALE_4OVER6_MSE = 6,      /* 4over6_mse: by the sum of squares  (Transformer Engine; the paper) */
  HU_SCALE_4OVER6_MAE_FAST = 7, /* 4over6_mae_fast: of x S  (Transformer Engine's fast math of errors) */
  HU_SCALE_4OVER6_MSE_FAST = 8, /* 4over6_mse_fast */
  /* sweep_mse: of all positive finite scales the one with the least sum of squared errors, of equal ones the smallest
   * (docs/scaled.md section 4.2). Elements, scales and blocks as under 4over6; steps divide or multiply, with or
   * without a second level.  (NVIDIA Model Optimizer) */
  HU_SCALE_SWEEP_MSE = 9,
  /* No word: the formulas of the scaling make tensor scale, scales, elements and values (docs/scaled.md section 4.4).
   * Elements and scales must be binary32 numbers; steps exact, tensor 1 where there is a formula S or t. */
  HU_SCALE_FORMULAS = 10,
  /* As ratio; each block has the element format or integers of its width, by the smaller error, and the sign of the
   * scale says which (docs/scaled.md section 4.5). Elements float4_e2m1fn, float6_e2m3fn or float6_e3m2fn, scales
   * float8_e4m3fn, blocks as under 4over6, a second level, steps multiply.  (IF4 and IF6 of fouroversix) */
  HU_SCALE_INTFLOAT_MAE = 11, /* intfloat_mae: by the sum of |error| */
  HU_SCALE_INTFLOAT_MSE = 12, /* intfloat_mse: by the sum of squares */
  HU_SCALE_INTFLOAT_MAX = 13, /* intfloat_max: by the largest |error| */
  HU_SCALE_RULES = 14         /* (count) */
};
/* The second level, and the largest scale M_S that t leaves room for. */
enum {
  HU_TENSOR_NONE = 0, /* there is none */
  HU_TENSOR_MAX = 1,  /* tensor: M_S is the largest scale of the format */
  HU_TENSOR_256 = 2   /* tensor=256: rules 4over6; scales up to 448 are left for A = 4 */
};
/* Where binary32 roundings happen; rules of powers of two require exact. docs/scaled.md section 4 has the formulas. */
enum {
  HU_STEPS_EXACT = 0,      /* exact: nowhere but in t and in what is stored */
  HU_STEPS_DIVIDE = 1,     /* divide: A / M, that / t, s t, x / (s t)  (torchao before 0.18; DeepSeek-V3's kernels) */
  HU_STEPS_MULTIPLY = 2,   /* multiply: with reciprocals  (NVIDIA's NVFP4 recipe; DeepGEMM) */
  HU_STEPS_ENCODE = 3,     /* encode: with the encode scale M / A  (Transformer Engine) */
  HU_STEPS_RECIPROCAL = 4, /* reciprocal: A / M, that / t, x times (1 / t) / s  (torchao 0.18) */
  HU_STEPS_COUNT = 5       /* (count) */
};
/* How the element codes are stored. */
enum {
  HU_CODING_FORMAT = 0, /* codes of the element format */
  HU_CODING_TWOS = 1    /* code=twos: two's complement of the same width (MXINT8); the lowest code is never produced */
};
/* A block with an infinity or a NaN among its elements. */
enum {
  HU_SPECIAL_NAN = 0,     /* nan: the scale is NaN, and so is every element decoded */
  HU_SPECIAL_ELEMENT = 1, /* element: amax of the finite elements; the others as the element format and the mode say */
  HU_SPECIAL_SATURATE = 2 /* saturate: the same for NaN; an infinity counts as binary32's largest number of its sign */
};
/* The scale of a block whose elements are all zero (or, under special=element, none of them finite and not zero). */
enum {
  HU_BLANK_LOW = 0,    /* low: the smallest scale: code 0 of E8M0 */
  HU_BLANK_ONE = 1,    /* one */
  HU_BLANK_ZERO = 2,   /* zero */
  HU_BLANK_FORMULA = 3 /* formula: what the formula s gives for A = 0 */
};
/* The sign of a code of zero. */
enum {
  HU_MINUS_ZERO_KEPT = 0, /* kept: that of the element, where the format has a -0 */
  HU_MINUS_ZERO_NONE = 1, /* none: no zero has a sign */
  HU_MINUS_ZERO_OWN = 2,  /* own: a -0 becomes +0, a negative number that rounds to zero -0 */
  HU_MINUS_ZERO_ALL = 3   /* all: +0, and what rounds to it, is -0, too */
};
/* Operations of formulas, which stand behind their operands (postfix). Each result is a binary32 number. */
enum {
  HU_FORMULA_END = 0,       /* the end of a formula */
  HU_FORMULA_A = 1,         /* A: the largest magnitude of the block */
  HU_FORMULA_T = 2,         /* T: that of the tensor */
  HU_FORMULA_BIG_S = 3,     /* S: the encode scale of the tensor */
  HU_FORMULA_SMALL_T = 4,   /* t: its decode scale */
  HU_FORMULA_SCALE = 5,     /* s: the scale of the block, as stored */
  HU_FORMULA_X = 6,         /* x: an element */
  HU_FORMULA_P = 7,         /* P: the number of an element's code */
  HU_FORMULA_ADD = 8,       /* a + b, rounded once */
  HU_FORMULA_TIMES = 9,     /* a * b, rounded once */
  HU_FORMULA_OVER = 10,     /* a / b, rounded once */
  HU_FORMULA_MAX = 11,      /* max(a,b) */
  HU_FORMULA_MIN = 12,      /* min(a,b) */
  HU_FORMULA_OR = 13,       /* or(a,b): a, but b where a is 0 */
  HU_FORMULA_AND = 14,      /* and(a,b): b, but 0 where a is 0 */
  HU_FORMULA_BF = 15,       /* bf(a): rounded to bfloat16, ties to even */
  HU_FORMULA_H = 16,        /* h(a): rounded to binary16, ties to even */
  HU_FORMULA_HZ = 17,       /* hz(a): rounded to binary16, toward zero */
  HU_FORMULA_UP = 18,       /* up(a): the least power of two not below a */
  HU_FORMULA_DOWN = 19,     /* down(a): the largest power of two not above a */
  HU_FORMULA_NEAR = 20,     /* near(a): the power of two nearest by log2 */
  HU_FORMULA_EVEN = 21,     /* even1(a) ... even7(a): down(a rounded to 2 ... 8 digits, ties up) */
  HU_FORMULA_SCALE_OF = 28, /* scale(a): rounded into the scale format by `round` */
  HU_FORMULA_RNA = 29,      /* rna(a): rounded into the element format, ties away from zero */
  HU_FORMULA_RNZ = 30,      /* rnz(a): rounded into the element format, ties toward zero */
  HU_FORMULA_NUMBER = 32    /* the first constant: 32 with k added is number[k] */
};
enum {
  HU_FORMULA_BYTES = 64,  /* bytes of the code of a scaling's formulas */
  HU_FORMULA_NUMBERS = 8, /* constants of a scaling's formulas */
  HU_FORMULA_DEEP = 6     /* operands that wait at most */
};
/* The formulas S, t, s, x and v of a scaling one after the other, each with an END behind it; one that is not there is
 * its END alone. What is left is 0. */
typedef struct hu_formulas {
  uint8_t code[HU_FORMULA_BYTES];
  uint32_t number[HU_FORMULA_NUMBERS]; /* positive finite binary32 patterns, each once, in the order of use */
} hu_formulas;

/* A scaled format: elements, their scales, and how both are made. */
typedef struct hu_scaling {
  hu_format element; /* signed */
  hu_format scale;
  uint32_t rows, cols;  /* of a block; 0: all of the matrix */
  uint8_t rule;         /* HU_SCALE_ */
  uint8_t round;        /* HU_RNE ... HU_RAZ: of the scale, rule ratio; else 0 */
  uint8_t steps;        /* HU_STEPS_ */
  uint8_t tensor;       /* HU_TENSOR_: is there a second-level scale t? rules ratio, 4over6 and sweep_mse */
  uint8_t coding;       /* HU_CODING_ */
  uint8_t special;      /* HU_SPECIAL_ */
  uint8_t blank;        /* HU_BLANK_; text: zero= */
  uint8_t pad;          /* 1: the packed layout fills the last blocks up (hu_scaled_pack) */
  uint32_t amin;        /* a binary32 pattern, positive and finite: A is at least this; 0: no such bound */
  uint8_t minus;        /* HU_MINUS_ZERO_ */
  uint8_t reserved[3];  /* 0 */
  hu_formulas formulas; /* rule HU_SCALE_FORMULAS, else all 0 */
} hu_scaling;

/* HU_OK; HU_E_NULL, HU_E_FORMAT (one of the two formats is invalid) or HU_E_SCALING (the parts do not go together);
 * then, if why is not NULL, *why is a static sentence. */
HU_API HU_MUST_CHECK hu_status hu_scaling_check(const hu_scaling *scaling, const char **why);
/* Text to record. HU_E_TEXT (not the grammar), HU_E_NAME (no preset or format of that name), HU_E_FORMAT, HU_E_SCALING
 * (well-formed, but hu_scaling_check refuses it); then, if where is not NULL, *where is the offset of the part that is
 * wrong (0 for HU_E_SCALING). *scaling is untouched on failure. */
HU_API HU_MUST_CHECK hu_status hu_scaling_parse(hu_scaling *scaling, const char *text, size_t *where);
/* Record to its one canonical scaled(...) text, which parses to the record: keys in the order of the grammar, defaults
 * (round=rne steps=exact special=nan zero=low minus=kept) left out, formats by their first name. Returns the length
 * needed, like snprintf; 0 if the record is not valid. HU_SCALING_TEXT_MAX bytes always suffice. */
#define HU_SCALING_TEXT_MAX 1024
HU_API size_t hu_scaling_text(char *text, size_t size, const hu_scaling *scaling);

/* Text of a scaling whose second level is one number for each row (HU_TYPE_SCALED_ROWS: Transformer Engine's row-scaled
 * NVFP4), "rows(" scaling ")", such as rows(nvfp4_te), to its record, as hu_scaling_parse reads what is between the
 * parentheses: HU_E_TEXT also for a text that does not begin with "rows(" or does not end with ")", HU_E_SCALING also
 * for a scaling that cannot have rows of its own. Then *where, if where is not NULL, is the offset in the text of the
 * part that is wrong, and *scaling is untouched. */
HU_API HU_MUST_CHECK hu_status hu_scaled_rows_parse(hu_scaling *scaling, const char *text, size_t *where);
/* The canonical text, "rows(" with hu_scaling_text's between the parentheses. Returns the length needed, like snprintf;
 * 0 for a scaling that cannot have rows of its own. HU_SCALED_ROWS_TEXT_MAX bytes always suffice. */
#define HU_SCALED_ROWS_TEXT_MAX (HU_SCALING_TEXT_MAX + 8)
HU_API size_t hu_scaled_rows_text(char *text, size_t size, const hu_scaling *scaling);

/* The named ones, entry 0 first: mxfp8_e4m3 mxfp8_e5m2 mxfp6_e3m2 mxfp6_e2m3 mxfp4 mxint8 nvfp4 nvfp4_torchao nvfp4_te
 * nvfp4_torchao18 nvfp4_4over6 nvfp4_te_4over6 nvfp4_te_4over6_448 nvfp4_modelopt_mse nvint4 nvint6 msfp11 ... msfp16
 * hbfp4 hbfp6 hbfp8 hbfp12 tt_bfp8 tt_bfp4 tt_bfp2 fp8_tensor dsv3_1x128 dsv3_128x128 deepgemm_1x128
 * deepgemm_128x128. */
typedef struct hu_scaling_entry {
  const char *name, *source;
  const char *open; /* what the source leaves open and what was decided here, "" if nothing */
  const char *text; /* parses to the record */
} hu_scaling_entry;
/* The number of scalings; and one of them. */
HU_API size_t hu_scaling_count(void);
HU_API hu_scaling_entry hu_scaling_at(size_t i); /* i < hu_scaling_count(), else name is NULL */

/* The rules by which programs quantize into scaled tensors, by name; a program that is one rule on a CPU and another
 * one with CUDA has two names. Each name is a scaled format, as those above are. A rule that no text says (its steps
 * are not defined bit for bit, or it needs more than a block and its tensor) has the text "" and in `open` the reason;
 * hu_scaling_parse gives HU_E_SCALING for it. Of others `open` is what differs in the program, `source` the program,
 * its file and the commit or version. Where a program rounds elements otherwise than to nearest with ties to even, its
 * formula x says so, and the mode of the call changes nothing. */
HU_API size_t hu_scaling_rule_count(void);            /* the number of rules */
HU_API hu_scaling_entry hu_scaling_rule_at(size_t i); /* i < hu_scaling_rule_count(), else name is NULL */

/* What a matrix of rows x cols takes. Bytes that do not fit size_t are SIZE_MAX. */
typedef struct hu_scaled_sizes {
  size_t block_rows, block_cols;  /* blocks down and across: the shape of the scales */
  size_t code_bytes, scale_bytes; /* of one element code, one scale code, as arrays hold them (1, 2 or 4) */
  size_t codes, scales;           /* bytes of contiguous arrays */
  size_t packed_row, packed;      /* bytes of a row and of all codes packed densely; 0: codes wider than 8 bits */
} hu_scaled_sizes;
/* All zero for a scaling that is not valid. */
HU_API hu_scaled_sizes hu_scaled_sizes_of(size_t rows, size_t cols, const hu_scaling *scaling);

/* Where a scaled tensor lies. Element (i, j) is codes[i ld + j], the scale of block (p, q) is scales[p lds + q], each
 * in uint8_t, uint16_t or uint32_t by the width of its format (bits above are 0: a code that is read with one of them
 * set is HU_E_CODE; under code=twos they may repeat the sign; array.h); binary32 scales are patterns in uint32_t, or
 * floats. ld >= cols, lds >= block_cols. tensor: t where the scaling has one, else NULL. */
typedef struct hu_scaled {
  void *codes;
  size_t ld;
  void *scales;
  size_t lds;
  float *tensor;
} hu_scaled;

/* What happened in a block: element [p block_cols + q] of the array that a call is given. */
typedef struct hu_scaled_stats {
  float amax;         /* the block's own, before `amin` or an amax that is given: of the finite elements; saturate:
                 0x1.fffffep127 if there is an infinity */
  uint32_t scale;     /* its scale's code */
  uint64_t special;   /* infinities and NaNs */
  uint64_t saturated; /* events of its elements */
  uint64_t to_zero;
} hu_scaled_stats;

/* What a call that makes a scaled tensor takes and gives besides. All zero, as NULL: nothing. */
typedef struct hu_scaled_extra {
  const float *amax;      /* NULL, or the amax to be used instead of the tensor's own (delayed scaling, calibration): of
                             the second level, of each row's where rows have one, or of the one block where a block is
                             the whole matrix by its description (`*x*`); finite, not negative */
  hu_scaled_stats *stats; /* NULL or one per block */
} hu_scaled_extra;

/* z = x, matrices of rows x cols: encoded, decoded or quantized, as their types say. The result does not depend on
 * levels and threads. No allocation; up to 80 KiB of stack a thread.
 *
 *   z HU_TYPE_SCALED, _SCALED_ROWS or _HIF4, x HU_TYPE_BINARY32    encode: the codes and scales of x
 *   z HU_TYPE_BINARY32, x one of those three                       decode: the values of x
 *   z HU_TYPE_SCALED_VALUES or its like, x HU_TYPE_BINARY32        quantize: the values that decoding gives for what
 *                                                                  encoding gives for x, in one go: the same bits,
 *                                                                  events and stats
 *
 *   floats   have stride 1
 *   mode     of the elements; the saturation policy `default` is `finite` here, whatever the format (MX v1.0 section
 *            6.3). Stochastic modes take R from word i cols + j of exec->stream for element (i, j), with how or `exec`
 *            NULL of stream (0, 0): the same words in every such call
 *   events   as in array.h: those of the elements' roundings (docs/scaled.md section 6); the roundings of scales count
 *            nowhere
 *   decode   takes any codes: a NaN scale gives NaN, a negative one (a sign of the scale's format) its sign, under
 *            intfloat integers, an infinite one times zero NaN. mode, events and extra play no part
 *   rows     A_T of docs/scaled.md is the largest magnitude of a row, and hu_scaled.tensor has one t for each row,
 *            beside everything else; all else is as if each row were a matrix (except for its random words). The
 *            scaling must have a second level and blocks of one row (else HU_E_SCALING)
 *   hif4     the section on HiFloat4 below. mode, threads, stream and extra play no part
 *   overlap  where x is quantized z may be x itself, with the same rows, else z must not overlap x
 *   place    the stride of codes with scales is 1 and their row 0: the record says where they lie (else HU_E_SHAPE:
 *            tensors are not transposed here)
 *   sizes    rows or cols may be 0; then nothing but the tensor scale (1, or from amax) is written
 *   where    a device runs HU_TYPE_SCALED and HU_TYPE_SCALED_VALUES alone
 *   errors   HU_E_SCALING (also: amax where the scaling takes none, or not finite or negative), HU_E_FORMAT (also:
 *            other types), HU_E_MODE, HU_E_NULL, HU_E_SHAPE, HU_E_ALIGN, HU_E_OVERLAP, HU_E_CODE where codes are read;
 *            everything is untouched then */
HU_API HU_MUST_CHECK hu_status hu_scaled_apply(size_t rows, size_t cols, const hu_output *z, const hu_view *x,
                                               const hu_scaled_extra *extra, const hu_how *how);

/* The type of codes with scales, kind HU_TYPE_SCALED or HU_TYPE_SCALED_ROWS, or of their values. */
static inline hu_type hu_type_scaled(uint16_t kind, const hu_scaling *scaling) {
  hu_type type = hu_type_plain(kind);
  type.scaling = scaling;
  return type;
}
/* Codes with scales to write, of a type whose data is a hu_scaled. */
static inline hu_output hu_scaled_out(hu_scaled *z, hu_type type) { return hu_output_of(z, 1, type); }

/* hu_scaled_apply with an argument for each part: z = x in codes. */
static inline HU_MUST_CHECK hu_status hu_scaled_encode(size_t rows, size_t cols, const hu_scaled *z, const float *x,
                                                       size_t ldx, const hu_scaling *scaling, hu_mode mode,
                                                       const float *amax, hu_scaled_stats *stats, const hu_exec *exec,
                                                       hu_events *events) {
  hu_scaled place = {NULL, 0, NULL, 0, NULL};
  hu_output to = hu_scaled_out(z ? &place : NULL, hu_type_scaled(HU_TYPE_SCALED, scaling));
  hu_view from = hu_matrix_floats(x, ldx);
  hu_scaled_extra extra;
  hu_how how = hu_how_of(mode, exec, events);
  if (z) place = *z;
  extra.amax = amax;
  extra.stats = stats;
  return hu_scaled_apply(rows, cols, &to, &from, &extra, &how);
}
/* z = the values of x. */
static inline HU_MUST_CHECK hu_status hu_scaled_decode(size_t rows, size_t cols, float *z, size_t ldz,
                                                       const hu_scaled *x, const hu_scaling *scaling,
                                                       const hu_exec *exec) {
  const hu_mode rne = {0, 0, 0, 0, 0, 0, {0, 0}};
  hu_output to = hu_matrix_floats_out(z, ldz);
  hu_view from = hu_view_of(x, 1, hu_type_scaled(HU_TYPE_SCALED, scaling));
  hu_how how = hu_how_of(rne, exec, NULL);
  return hu_scaled_apply(rows, cols, &to, &from, NULL, &how);
}
/* z = the values that hu_scaled_decode gives for what hu_scaled_encode gives for x. */
static inline HU_MUST_CHECK hu_status hu_scaled_quantize(size_t rows, size_t cols, float *z, size_t ldz, const float *x,
                                                         size_t ldx, const hu_scaling *scaling, hu_mode mode,
                                                         const float *amax, hu_scaled_stats *stats, const hu_exec *exec,
                                                         hu_events *events) {
  hu_output to = hu_matrix_out_of(z, ldz, hu_type_scaled(HU_TYPE_SCALED_VALUES, scaling));
  hu_view from = hu_matrix_floats(x, ldx);
  hu_scaled_extra extra;
  hu_how how = hu_how_of(mode, exec, events);
  extra.amax = amax;
  extra.stats = stats;
  return hu_scaled_apply(rows, cols, &to, &from, &extra, &how);
}

/* Returns the bytes that hu_scaled_apply needs in exec->where.work: 0 on this CPU. A block or
 * tensor that many threads of a device look at needs a place for its amax there, which no argument is: the scales may
 * be narrower than amax, and quantizing stores none. 0 on a device, too, for one level with blocks of up to 16384
 * elements, and for a scaling that is not valid. */
HU_API size_t hu_scaled_work_size(size_t rows, size_t cols, const hu_scaling *scaling, const hu_exec *exec);

/* Codes of up to 8 bits (one per byte, ld bytes per row) to the packed layout and back. Row i occupies bytes i
 * packed_row and on: hu_pack_n of its codes, spare bits 0, so that every row begins at a byte. With `pad` a row has the
 * codes of whole blocks, and there are rows of whole blocks, codes 0 beyond the matrix. Unpacking reads only the
 * matrix's own codes. Scales are not packed: their own array. z and x must not overlap. HU_E_SHAPE: wider codes, ld <
 * cols. HU_E_CODE: a code to be packed has bits above its width. */
HU_API HU_MUST_CHECK hu_status hu_scaled_pack(size_t rows, size_t cols, uint8_t *z, const uint8_t *x, size_t ld,
                                              const hu_scaling *scaling,
                                              const hu_exec *exec); /* codes, a byte each, to packed rows */
HU_API HU_MUST_CHECK hu_status hu_scaled_unpack(size_t rows, size_t cols, uint8_t *z, size_t ld, const uint8_t *x,
                                                const hu_scaling *scaling,
                                                const hu_exec *exec); /* packed rows to codes, a byte each */

/* Scales of a byte, rows x cols of them, ld bytes apart by rows, to the order that cuBLAS, CUTLASS and torch._scaled_mm
 * take, and back: tiles of 128 x 4, filled up with zeros (docs/scaled.md section 7). The size is in bytes, 512 for each
 * tile; 0: no rows, no columns, or more than fit the address space. Bytes between the rows of z stay as they are.
 * HU_E_SHAPE: ld < cols, or no such size; HU_E_NULL; HU_E_OVERLAP: z and x overlap. */
static inline size_t hu_scaled_tiles_size(size_t rows, size_t cols) {
  size_t down = rows / 128 + (rows % 128 != 0), across = cols / 4 + (cols % 4 != 0);
  return across && down > PTRDIFF_MAX / 512 / across ? 0 : down * across * 512;
}
/* The byte of scale (row, col), col < cols. */
static inline size_t hu_scaled_tile_place(size_t row, size_t col, size_t cols) {
  size_t within = row % 32 * 16 + row % 128 / 32 * 4 + col % 4;
  return (row / 128 * (cols / 4 + (cols % 4 != 0)) + col / 4) * 512 + within;
}
HU_API HU_MUST_CHECK hu_status hu_scaled_tile(size_t rows, size_t cols, uint8_t *z, const uint8_t *x,
                                              size_t ld); /* rows of scales to tiles */
HU_API HU_MUST_CHECK hu_status hu_scaled_untile(size_t rows, size_t cols, uint8_t *z, size_t ld,
                                                const uint8_t *x); /* tiles to rows of scales */

/* ---- HiFloat4: 64 elements of 4 bits under a scale of 8 bits and 24 bits that double it for groups of 8 and of 4
 *
 * Source: Huawei, HiFloat4 Format for Language Model Inference (arXiv 2602.11287), in the form of Huawei's public code:
 * the golden data of CANN's operator dynamic_mx_quant (_dynamic_quant_hifp4), those of its matrix product
 * (hif4_quantize), and the emulation in PyTorch (quant_cy/base/QFuncs/hifx.py). These agree on the layout and differ in
 * the points that hu_hif4 names; the paper's text, which could decide, was not at hand.
 *
 * Blocks are 64 elements of a row, the last one of a row perhaps fewer. Conversion is from bfloat16: y is x rounded to
 * it, ties to even. All products below are of two bfloat16 numbers, and P is what `products` makes of them.
 *
 *   A    the largest |y| of the block; A8 and A4 those of a group of 8 and of 4
 *   S    A times 0.142578125, the bfloat16 number next to 1/7, rounded to bfloat16, ties to even
 *   s    the scale: S rounded to three digits, ties to even; `low` and `high` define its ends
 *   r    1 / s rounded to bfloat16, ties to even
 *   b8   1 if P(A8 r) >= 4, else 0
 *   b4   1 if P(A4 r) 2^-b8 >= 2, else 0
 *   P4   P(y r) 2^-(b8 + b4) rounded to a multiple of 1/4 by `ties`, at most 7/4 in magnitude; +0 where y is -0
 *   value = s 2^(b8 + b4) P4, which bfloat16 has, too
 *
 * A block with an infinity or a NaN has the scale NaN; then all bits and codes are 0 and all values NaN (0x7FC00000).
 *
 * Bytes: a code has sign, one exponent bit and two digits: bit 3 is the sign, the others P4 in quarters. The scale of a
 * block are four bytes: the code c of s, with s = 2^(c div 4 - 48) (1 + (c mod 4) / 4), c = 255 NaN; a bit b8 for each
 * group of 8, the first one lowest; then b4, two bytes, in the same order. Groups behind the end of a row have bits 0.
 * Packed codes are two to a byte, the first in the low half. So an element takes 4.5 bits.
 *
 * Events are those of rounding P(y r) 2^-(b8 + b4) into E1M2, where going beyond 7/4 is an overflow that saturates. In
 * a block whose scale is NaN: NaN: nan_in; an infinity: inf_in, invalid; all others: inexact. In a block of zeros under
 * `low` zero, a y other than 0: inexact, underflow, to_zero. All is computed element by element, some 0.2 us each. */

/* Elements of a block; bytes of its scale. */
enum {
  HU_HIF4_BLOCK = 64, /* elements */
  HU_HIF4_SCALE = 4   /* bytes */
};
/* Ties of elements. */
enum {
  HU_HIF4_EVEN = 0, /* ties=even: the matrix product's and the operator's code */
  HU_HIF4_AWAY = 1  /* ties=away: the emulation, floor(x + 1/2) of magnitudes */
};
/* A block whose S is below 2^-48, the smallest scale: blocks of zeros among them. */
enum {
  HU_HIF4_LOW_ZERO = 0,  /* low=zero: code 0, and all elements are 0; also where S rounds to 2^-48, which is code 0
                            (the matrix product's code takes the reciprocal of code 0 to be 0) */
  HU_HIF4_LOW_LEAST = 1, /* low=least: the scale is 2^-48 (the emulation) */
  HU_HIF4_LOW_NAN = 2    /* low=nan: the scale is NaN (the operator's code) */
};
/* A block whose S is 1.625 2^15 or more; less rounds to at most 1.5 2^15. */
enum {
  HU_HIF4_HIGH_LIMIT = 0, /* high=limit: the scale is 1.5 2^15, the largest one (the matrix product, the emulation) */
  HU_HIF4_HIGH_NAN = 1    /* high=nan: the scale is NaN (the operator's code) */
};
/* P, what becomes of a product. */
enum {
  HU_HIF4_ROUNDED = 0, /* products=bfloat16: rounded to bfloat16, ties to even (the matrix product's code) */
  HU_HIF4_EXACT = 1,   /* products=exact: as they are (the emulation, of bfloat16 numbers in binary32 tensors) */
  HU_HIF4_MIXED = 2    /* products=mixed: exact for b8 and b4, rounded for elements (the operator's code) */
};
/* The points on which the sources differ. */
typedef struct hu_hif4 {
  uint8_t ties, low, high, products; /* HU_HIF4_ */
} hu_hif4;
/* All 0: "hifloat4", as the matrix product's code. It gives zeros for zeros and no NaN for large numbers. */
static inline hu_hif4 hu_hif4_usual(void) {
  hu_hif4 kind = {0, 0, 0, 0};
  return kind;
}
/* HU_OK, HU_E_NULL or HU_E_SCALING: a field out of its range. */
static inline HU_MUST_CHECK hu_status hu_hif4_check(const hu_hif4 *kind) {
  if (!kind) return HU_E_NULL;
  return kind->ties <= HU_HIF4_AWAY && kind->low <= HU_HIF4_LOW_NAN && kind->high <= HU_HIF4_HIGH_NAN &&
                 kind->products <= HU_HIF4_MIXED
             ? HU_OK
             : HU_E_SCALING;
}
/* Text: a name of hu_hif4_at, or "hifloat4(" key { ";" key } ")", key = "ties=" ... | "low=" ... | "high=" ... |
 * "products=" ..., each at most once, with the words above; what is not there is that of "hifloat4". HU_E_TEXT: not the
 * grammar; then *where, if not NULL, is the offset of the part that is wrong, and *kind is untouched. */
HU_API HU_MUST_CHECK hu_status hu_hif4_parse(hu_hif4 *kind, const char *text, size_t *where);
/* The canonical text, "hifloat4" or with the keys that differ from it, in the order above. Returns the length needed,
 * like snprintf; 0 for a kind that its check refuses. HU_HIF4_TEXT_MAX bytes always suffice. */
#define HU_HIF4_TEXT_MAX 80
HU_API size_t hu_hif4_text(char *text, size_t size, const hu_hif4 *kind);
/* The named ones: hifloat4, hifloat4_cann, hifloat4_hifx. */
typedef struct hu_hif4_entry {
  const char *name, *source;
  const char *text; /* parses to the record, is canonical */
} hu_hif4_entry;
/* The number of names; and one of them. */
HU_API size_t hu_hif4_count(void);
HU_API hu_hif4_entry hu_hif4_at(size_t i); /* i < hu_hif4_count(), else name is NULL */

/* Where it lies: codes one to a byte, element (i, j) at i ld + j, and four bytes of scales for each block, those of
 * block (i, q) at 4 (i lds + q); hu_scaled.tensor is not looked at. HU_E_SHAPE: ld is less than cols, lds less than the
 * blocks of a row, or a size that memory cannot have. HU_E_CODE: a code above 15 (array.h). */
static inline hu_type hu_type_hif4(uint16_t kind, const hu_hif4 *of) {
  hu_type type = hu_type_plain(kind);
  type.hif4 = of;
  return type;
}
/* hu_scaled_apply with an argument for each part: codes and scales of x. */
static inline HU_MUST_CHECK hu_status hu_hif4_encode(size_t rows, size_t cols, hu_scaled *z, const float *x, size_t ldx,
                                                     const hu_hif4 *kind, hu_events *events) {
  const hu_mode rne = {0, 0, 0, 0, 0, 0, {0, 0}};
  hu_output to = hu_scaled_out(z, hu_type_hif4(HU_TYPE_HIF4, kind));
  hu_view from = hu_matrix_floats(x, ldx);
  hu_how how = hu_how_of(rne, NULL, events);
  return hu_scaled_apply(rows, cols, &to, &from, NULL, &how);
}
/* Values of codes and scales. */
static inline HU_MUST_CHECK hu_status hu_hif4_decode(size_t rows, size_t cols, float *z, size_t ldz,
                                                     const hu_scaled *x) {
  hu_output to = hu_matrix_floats_out(z, ldz);
  hu_view from = hu_view_of(x, 1, hu_type_hif4(HU_TYPE_HIF4, NULL));
  return hu_scaled_apply(rows, cols, &to, &from, NULL, NULL);
}
/* The values that hu_hif4_decode gives for what hu_hif4_encode gives for x. */
static inline HU_MUST_CHECK hu_status hu_hif4_quantize(size_t rows, size_t cols, float *z, size_t ldz, const float *x,
                                                       size_t ldx, const hu_hif4 *kind, hu_events *events) {
  const hu_mode rne = {0, 0, 0, 0, 0, 0, {0, 0}};
  hu_output to = hu_matrix_out_of(z, ldz, hu_type_hif4(HU_TYPE_HIF4_VALUES, kind));
  hu_view from = hu_matrix_floats(x, ldx);
  hu_how how = hu_how_of(rne, NULL, events);
  return hu_scaled_apply(rows, cols, &to, &from, NULL, &how);
}

#ifdef __cplusplus
}
#endif
#endif
