/* SPDX-License-Identifier: MIT */
/* halfulp/accum.h - choose how a sum of products is accumulated, and compute dot products under that choice.
 *
 *   hu_accum model;
 *   size_t where;
 *   if (hu_accum_parse(&model, "promote(128,nv.hopper.e4m3.f32.wgmma,binary32)", &where) != HU_OK) ...
 *   hu_product x = hu_product_of_dot(k, hu_floats_out(&z, 1), hu_codes(a, 1, e4m3), hu_codes(b, 1, e4m3), &model);
 *   hu_status s = hu_dot(&x, NULL);
 *
 * hu_accum_parse reads an accumulation model from a text; hu_accum_preset_find has that of a matrix unit by its name;
 * hu_dot here, hu_gemm and the command all take the record that they give. A hu_accum is plain, and its pointers are
 * NULL. The all-zero record is `exact`. docs/numerics.md section 11 defines every model as a formula, with each
 * rounding, the order of the terms, where C enters, special operands, the signs of zeros and the random word of each
 * stochastic rounding. Text, both ways (hu_accum_parse, hu_accum_text):
 *
 *   model    = base | "promote(" N "," model "," format ["," "scaled"] ")" | "splitk(" N "," model ")"
 *   base     = "exact" | "fp32" | "fp64" | "int32" | "int32(sat," N ")"
 *            | "seq(" format rounding ")" | "seq2(" [format ","] format rounding ")"
 *            | "chunk(" N "," format "," format rounding ")" | "pairwise(" format rounding ")"
 *            | "strided(" format rounding ")" | "kahan(" format rounding ")" | "neumaier(" format rounding ")"
 *            | "block(" rule { "," key "=" value } ")" | the name of a preset ("nv.ampere.tf32.f32")
 *            | "takes(" element "," element "," element "," base ")" | "any(" model ")"
 *   element  = format | "binary64" | "s8" | "u8" | "s4" | "u4" | "s32" | "any"
 *   rounding = ["," MODE] ["," "sat=" POLICY]     texts of hu_mode_round_parse, hu_mode_saturate_parse;
 *                                                 absent: rne, default
 *   format   = text of hu_format_parse
 *
 * A splitk may hold a promote, but a promote no splitk, and neither holds itself, exact, fp64 or int32; takes holds
 * neither of them, nor itself, nor a preset. N: decimal, 1 to 2^31 - 1. No blanks.
 *
 *   exact             c + sum of a[k] b[k], no rounding until the one into the result
 *   fp32, fp64        acc = fma(a[k], b[k], acc) in binary32, binary64, ties to even; fp32 is seq(binary32) for
 *                     operands that fit binary32
 *   seq(F)            acc = rnd_F(acc + a[k] b[k]): fused, one rounding a step
 *   seq2(P,F)         acc = rnd_F(acc + rnd_P(a[k] b[k])): unfused; seq2(F) is seq2(F,F)
 *   chunk(L,P,F)      chunks of L: t = seq2(P,P) from 0; acc = rnd_F(acc + t)     (Wang et al. 2018)
 *   pairwise(F)       halves, recursively; strided(F): t[i] += t[i + h], h = n/2 ... 1   (warp shuffles)
 *   kahan(F), neumaier(F)   compensated sums
 *   promote(N,M,F)    acc = rnd_F(acc + M over N products from 0), ties to even; scaled: acc = fma(rnd(sa sb), M, acc)
 *   splitk(S,M)       S slices of k, each by M from 0, added ascending, C last
 *   int32             integers, modulo 2^32; (sat,N): saturated once every N products
 *   block(...)        the sums of matrix units and dot product instructions, below
 *   takes(A,B,C,M)    M on operands of these formats alone, as on hardware; "any": this operand may be anything.
 *                     Every preset is such a model: a matrix unit for FP8 has no binary32 operands, and its model says
 *                     nothing about them. An operand of another format is refused with HU_E_OPERAND_A, HU_E_OPERAND_B
 *                     or HU_E_OPERAND_C. Formats count as the same where every code means the same, whatever NaN an
 *                     operation or an overflow gives. C is not looked at under promote and splitk, where M adds to 0. A
 *                     binary32 operand may be TF32. The result may have any format: one more rounding, of M's sum
 *   any(M)            M without that restriction */
#ifndef HALFULP_ACCUM_H
#define HALFULP_ACCUM_H

#include "halfulp/array.h"
#include "halfulp/format.h"
#include "halfulp/mode.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of models, by the names of their texts. */
enum {
  HU_ACCUM_EXACT = 0,    /* exact: one rounding in all */
  HU_ACCUM_FP32 = 1,     /* fp32: fused multiply-adds in binary32 */
  HU_ACCUM_FP64 = 2,     /* fp64: the same in binary64 */
  HU_ACCUM_SEQ = 3,      /* seq(F): fused, one rounding a step */
  HU_ACCUM_SEQ2 = 4,     /* seq2(P,F): product and sum rounded */
  HU_ACCUM_CHUNK = 5,    /* chunk(L,P,F) */
  HU_ACCUM_PAIRWISE = 6, /* pairwise(F) */
  HU_ACCUM_STRIDED = 7,  /* strided(F) */
  HU_ACCUM_KAHAN = 8,    /* kahan(F) */
  HU_ACCUM_NEUMAIER = 9, /* neumaier(F) */
  HU_ACCUM_BLOCK = 10,   /* block(...): matrix units */
  HU_ACCUM_INT32 = 11,   /* int32, int32(sat,N) */
  HU_ACCUM_COUNT = 12    /* (count) */
};

/* What a block does with its `length` products and c (text: the rule's word in lower case). */
enum {
  HU_BLOCK_ALIGN = 0,  /* align: every term, c too, cut to F digits below the largest exponent, then added */
  HU_BLOCK_GROUPS = 1, /* groups: groups of products added exactly and scaled, then as align (4-bit blocks) */
  HU_BLOCK_LATE = 2,   /* late: as align without c, which meets the sum afterwards, floors on both sides */
  HU_BLOCK_EXACT = 3,  /* exact: products and c added exactly, one rounding */
  HU_BLOCK_TREE = 4,   /* tree: products rounded, added by a tree of rounded additions, then to c */
  HU_BLOCK_CHAIN = 5,  /* chain: fused multiply-adds one after another */
  HU_BLOCK_LANES = 6,  /* lanes: two such chains over even and odd k from 0, added, then to c */
  HU_BLOCK_RULES = 7   /* (count) */
};
/* What a cut does with the digits below the grid. */
enum {
  HU_BLOCK_CUT_TRUNC = 0,   /* trunc: toward zero */
  HU_BLOCK_CUT_FLOOR = 1,   /* floor: toward negative */
  HU_BLOCK_CUT_NEAREST = 2, /* rne: to nearest, ties to even */
  HU_BLOCK_CUT_ODD = 3      /* odd: toward zero, and then the last digit kept becomes 1 where digits were lost */
};
/* Order of k within a block. */
enum {
  HU_BLOCK_ORDER_UP = 0,   /* up: ascending */
  HU_BLOCK_ORDER_DOWN = 1, /* down: descending */
  HU_BLOCK_ORDER_MOD4 = 2  /* mod4: two blocks, k mod 4 below 2 and the others */
};
/* Where c joins a block. */
enum {
  HU_BLOCK_JOIN_FIRST = 0, /* first: among its terms */
  HU_BLOCK_JOIN_LAST = 1   /* last: added to its result */
};
/* What subnormal operands and C are read as. */
enum {
  HU_BLOCK_DAZ_NONE = 0, /* none: what they are */
  HU_BLOCK_DAZ_SIGN = 1, /* sign: zeros of their sign */
  HU_BLOCK_DAZ_PLUS = 2  /* plus: +0, and so are zeros */
};
/* When subnormal results become zero. */
enum {
  HU_BLOCK_FTZ_NONE = 0,  /* none: never */
  HU_BLOCK_FTZ_AFTER = 1, /* after: those that are subnormal after rounding */
  HU_BLOCK_FTZ_TINY = 2,  /* tiny: those, and those that are tiny after rounding */
  HU_BLOCK_FTZ_BEFORE = 3 /* before: those that are below the smallest normal before rounding */
};
/* The exponent that terms are aligned to. */
enum {
  HU_BLOCK_TO_LARGEST = 0, /* largest: the largest of theirs and emin */
  HU_BLOCK_TO_FIXED = 1    /* fixed: emin, with wide */
};
/* What becomes of a sum beyond a register of `wide` digits. */
enum {
  HU_BLOCK_PAST_WRAP = 0, /* wrap: its low digits, two's complement */
  HU_BLOCK_PAST_LIMIT = 1 /* limit: the register's limit of its sign, after every addition */
};

/* The signs of zeros. A sum that is zero gives +0, except under ieee. */
enum {
  HU_BLOCK_ZERO_SIGN = 0, /* sign: a sum other than zero that is rounded to zero keeps its sign */
  HU_BLOCK_ZERO_PLUS = 1, /* plus: such a sum gives +0 (align, groups) */
  HU_BLOCK_ZERO_IEEE = 2 /* ieee: as sign, and a sum that is zero has the sign that its terms agree on, else + (- in the
                             mode toward negative): IEEE 754 section 6.3 (exact) */
};
/* What a NaN is of which only digits are set that `in` does not look at. */
enum {
  HU_BLOCK_NAN_CUT = 0, /* cut: what the digits looked at say, an infinity in IEEE 754's formats */
  HU_BLOCK_NAN_KEPT = 1 /* kept: a NaN */
};
/* Whether what the cuts of terms lose reaches the rounding of their sum. */
enum {
  HU_BLOCK_STICKY_NONE = 0, /* none: not */
  HU_BLOCK_STICKY_OR = 1    /* or: as one bit below the last digit of the sum */
};
/* What a zero among the terms does. */
enum {
  HU_BLOCK_ZEROS_NONE = 0,     /* none: nothing */
  HU_BLOCK_ZEROS_STICKY = 1,   /* sticky: it sets the sticky bit */
  HU_BLOCK_ZEROS_EXPONENT = 2, /* exponent: it takes part in the largest exponent, with emin of its format */
  HU_BLOCK_ZEROS_BOTH = 3      /* both: both */
};
/* What scales are applied to. */
enum {
  HU_BLOCK_SCALING_TERMS = 0, /* terms: to the products, or to the sums of groups, before they are aligned */
  HU_BLOCK_SCALING_SUM = 1    /* sum: to the rounded sum of the block, before C is added to it */
};

/* The parameters of block(...). Keys with an asterisk must be given where they are allowed; the others are 0 by
 * default.
 *
 *   align   l* f* emin* cut sticky zeros to wide past order c last scaling scale every in nan as acc zero via
 *   groups  l* f* emin* g* window scale every cut sticky zeros to wide past acc zero via
 *   late    l* f* f2* lanes far big in nan as acc via
 *   exact   l* c last scaling scale every in nan as zero via
 *   tree    l* products g in nan as
 *   chain   l* order c last in nan as
 *   lanes   l* in nan as
 *   all     daz ftz out round sat over */
typedef struct hu_block {
  uint8_t rule;
  uint8_t cut;      /* cut: what happens to the digits below the grid of an addend */
  uint8_t order;    /* order: of k; mod4: of 2 l products from k0 on those with (k - k0) mod 4 < 2 first,
                       then the others */
  uint8_t join;     /* c: last: from +0, and c is added to the block's result (of both, with mod4), rounded by `last`;
                       chain: that result is flushed as ftz says */
  uint8_t over;     /* over: inf (1): overflow is infinity in every mode; mode (0): as the mode says */
  uint8_t daz;      /* daz: subnormal operands and C read as zero of their sign; plus: these and zeros as +0 */
  uint8_t ftz;      /* ftz: subnormal results become zero: after rounding, when tiny, before rounding */
  uint8_t products; /* products: exact (1): the leaves of a tree are sums of `group` products, of a pair where l = 2,
                       whose products are not rounded; rounded (0) */
  uint8_t input;    /* in: trailing significand bits of an operand that are looked at, 0: all */
  uint8_t lanes;    /* lanes: 2: even and odd k are aligned apart, each to its own largest exponent; 1 is 0 */
  uint16_t length;  /* l: products in a block, 1 to 4096; tree: a power of two */
  uint16_t kept;    /* f: digits kept below the largest exponent, 0 to 40 */
  uint16_t kept2;   /* f2: late: digits kept where the sum meets c, f to 40 */
  uint16_t group;   /* g: groups, tree with products=exact: products in a group; divides l and every */
  uint16_t far;     /* far: late: c more than this many binades below is dropped, 1 to 64; 0: never */
  uint16_t big;     /* big: late: finite products of 2^big and more count as infinities, 1 to 1023; 0: none */
  uint16_t every;   /* every: products that share a scale */
  int16_t emin;     /* emin: the largest exponent is at least this, -4096 to 4096 */
  uint8_t zero;     /* zero: HU_BLOCK_ZERO_ */
  uint8_t last;     /* last: with c=last: HU_RNE ... HU_RTO, of the addition of c, which has the model's saturation
                       policy; to odd: overflow as `over` says */
  uint8_t nan;      /* nan: HU_BLOCK_NAN_, with `in` */
  uint8_t scaling;  /* scaling: HU_BLOCK_SCALING_; sum: with c=last, and l divides every; exact has scales only so */
  uint8_t sticky;   /* sticky: HU_BLOCK_STICKY_, with cut=trunc or floor */
  uint8_t zeros;    /* zeros: HU_BLOCK_ZEROS_; sticky and both with sticky=or */
  uint8_t window;   /* window: groups: digits of a product kept below the largest exponent of its group; 0: all */
  uint8_t to;       /* to: HU_BLOCK_TO_ */
  uint8_t wide;     /* wide: digits of the sum from 2^E up, beside its sign; 0: as many as there are */
  uint8_t past;     /* past: HU_BLOCK_PAST_, with wide */
  hu_format as;        /* as: operands of A and B are first converted, exactly, into this format; all zero: none */
  hu_format scale;     /* scale: format of the scales of A and of B; all zero: none */
  hu_format via;       /* via: a format into which a sum is rounded before it is rounded into out; all zero: none */
} hu_block;

/* The keys of block(...), in the order of its text. */
enum {
  HU_BLOCK_KEY_L = 0,         /* l */
  HU_BLOCK_KEY_F = 1,         /* f */
  HU_BLOCK_KEY_F2 = 2,        /* f2 */
  HU_BLOCK_KEY_EMIN = 3,      /* emin */
  HU_BLOCK_KEY_LANES = 4,     /* lanes */
  HU_BLOCK_KEY_FAR = 5,       /* far */
  HU_BLOCK_KEY_BIG = 6,       /* big */
  HU_BLOCK_KEY_IN = 7,        /* in */
  HU_BLOCK_KEY_G = 8,         /* g */
  HU_BLOCK_KEY_EVERY = 9,     /* every */
  HU_BLOCK_KEY_CUT = 10,      /* cut */
  HU_BLOCK_KEY_ORDER = 11,    /* order */
  HU_BLOCK_KEY_C = 12,        /* c */
  HU_BLOCK_KEY_LAST = 13,     /* last */
  HU_BLOCK_KEY_DAZ = 14,      /* daz */
  HU_BLOCK_KEY_FTZ = 15,      /* ftz */
  HU_BLOCK_KEY_PRODUCTS = 16, /* products */
  HU_BLOCK_KEY_NAN = 17,      /* nan */
  HU_BLOCK_KEY_SCALING = 18,  /* scaling */
  HU_BLOCK_KEY_AS = 19,       /* as */
  HU_BLOCK_KEY_SCALE = 20,    /* scale */
  HU_BLOCK_KEY_ACC = 21,      /* acc */
  HU_BLOCK_KEY_OUT = 22,      /* out */
  HU_BLOCK_KEY_ROUND = 23,    /* round */
  HU_BLOCK_KEY_SAT = 24,      /* sat */
  HU_BLOCK_KEY_OVER = 25,     /* over */
  HU_BLOCK_KEY_ZERO = 26,     /* zero */
  HU_BLOCK_KEY_STICKY = 27,   /* sticky */
  HU_BLOCK_KEY_ZEROS = 28,    /* zeros */
  HU_BLOCK_KEY_WINDOW = 29,   /* window */
  HU_BLOCK_KEY_TO = 30,       /* to */
  HU_BLOCK_KEY_WIDE = 31,     /* wide */
  HU_BLOCK_KEY_PAST = 32,     /* past */
  HU_BLOCK_KEY_VIA = 33,      /* via */
  HU_BLOCK_KEY_COUNT = 34     /* (count) */
};
/* A key, as in texts and messages. A number is from low to high, a word has its place among the words as value;
 * the other keys are formats, a rounding mode and a policy. */
typedef struct hu_block_key {
  const char *name;        /* "ftz" */
  const char *values;      /* "none, after, tiny, before" */
  const char *meaning;     /* what it says, and what is so without it */
  const char *words[9];    /* of a word; else and behind the last one NULL */
  int16_t low, high;       /* of a number; else 0 */
  uint8_t rules, required; /* bit HU_BLOCK_ALIGN ... HU_BLOCK_LANES: the rules that take it; those that require it */
} hu_block_key;
/* The row of HU_BLOCK_KEY_; NULL for another number. */
HU_API const hu_block_key *hu_block_key_at(uint32_t key);
/* The value of the number or the word of a key in a record, 0 where it is left out; of keys of other kinds 0. */
HU_API int hu_block_key_get(const hu_block *block, uint32_t key);
/* Sets the number or the word of a key, unchecked, and as many bits as its field has; keys of other kinds are left as
 * they are. */
HU_API void hu_block_key_set(hu_block *block, uint32_t key, int value);

/* An accumulation model. The all-zero record is `exact`. */
typedef struct hu_accum {
  uint32_t kind;      /* HU_ACCUM_ */
  uint32_t length;    /* chunk: L; int32: products between saturations, 0: modulo 2^32 */
  hu_format product;  /* seq2: P; chunk: Fin; block: acc, the format in which c is aligned */
  hu_format sum;      /* seq ... neumaier: F; chunk: Fout; block: out */
  hu_mode mode;       /* seq ... neumaier, block: rounding and saturation; the rest 0 */
  hu_block block;     /* block; else all zero */
  uint32_t promote;   /* N of promote, 0: none */
  uint32_t scaled;    /* 1: scaled */
  hu_format promoted; /* F of promote */
  uint32_t slices;    /* S of splitk, 0: none */
  hu_type a, b, c; /* takes: what operands A, B and C must be; all zero: any. HU_TYPE_CODES, _BINARY64 and integers */
} hu_accum;

/* HU_OK or HU_E_ACCUM: the record is not what its own text says (a field out of range, or not 0 where it means
 * nothing). */
HU_API HU_MUST_CHECK hu_status hu_accum_check(const hu_accum *accum);
/* Text to record. HU_E_TEXT (not the grammar, a number out of range, a key twice, missing or of another rule),
 * HU_E_NAME (no model, format or preset of that name); then, if where is not NULL, *where is the offset of the part
 * that is wrong. *accum is untouched on failure. */
HU_API HU_MUST_CHECK hu_status hu_accum_parse(hu_accum *accum, const char *text, size_t *where);
/* Record to its one canonical text, which parses to the record: presets as block(...), formats by their first name,
 * defaults left out. Returns the length needed, like snprintf; 0 if the model is not valid. HU_ACCUM_TEXT_MAX bytes
 * always suffice. */
#define HU_ACCUM_TEXT_MAX 1280
HU_API size_t hu_accum_text(char *text, size_t size, const hu_accum *accum);
/* The model without the formats of its operands: any(...). */
HU_API hu_accum hu_accum_any(hu_accum accum);
/* What a model takes, for messages: "A float8_e4m3fn, B float8_e4m3fn, C binary32"; operands that may be anything are
 * left out. Returns the length needed, like snprintf; 0 if every operand may be anything. */
HU_API size_t hu_accum_takes(char *text, size_t size, const hu_accum *accum);
/* 1 if the model requires scales (`sa` and `sb` of a hu_product, or of hu_dot). */
HU_API int hu_accum_is_scaled(const hu_accum *accum);

/* Bytes of an element in memory, and bits of its pattern, of types that hu_dot takes: HU_TYPE_CODES of a format,
 * HU_TYPE_BINARY32, _BINARY64, _INT8 ... _INT32. 0: another type, or a format that hu_format_check refuses. */
HU_API size_t hu_type_size(hu_type type);    /* bytes of an element in memory */
HU_API unsigned hu_type_width(hu_type type); /* bits of its pattern */

/* A model with the operands that its hardware takes. */
typedef struct hu_accum_preset {
  char name[48];
  hu_accum accum;         /* a unit of the elements below; hu_accum_any(accum) takes others */
  hu_type a, b, c;        /* c: also of D */
  uint32_t k;             /* depth of the shortest instruction that makes these blocks: n is a multiple of it */
  const char *unit;       /* hardware and instruction */
  const char *confidence; /* "HW": reproduces results recorded on hardware; "SIM": tested on hardware by the model's
                             authors or equal to their model; "DOC": the vendor's manual; "TABLE": follows a published
                             table alone; "OPEN": assumed in part */
  const char *source;     /* by whom */
} hu_accum_preset;
/* The presets, 0 first; and by name, HU_E_NAME if there is none. */
HU_API size_t hu_accum_preset_count(void);                                            /* the number of presets */
HU_API HU_MUST_CHECK hu_status hu_accum_preset_at(hu_accum_preset *preset, size_t i); /* HU_E_NAME if there is none */
HU_API HU_MUST_CHECK hu_status hu_accum_preset_find(hu_accum_preset *preset,
                                                    const char *name); /* by name; HU_E_NAME: unknown name */

/* What happened inside the sums of a call, before the last rounding: docs/numerics.md section 11.7 says for every model
 * what its additions are. Counts of the call are added to; gap becomes the larger of what it was and the call's. */
typedef struct hu_watch {
  uint64_t additions; /* a finite addend that is not 0 met a finite accumulator */
  uint64_t swamped;   /* of these: the accumulator kept its value, and did not overflow */
  uint64_t overflows; /* the new accumulator was beyond its format's range */
  uint64_t gap;       /* most binades between an accumulator and an addend, neither of them 0 */
} hu_watch;

struct hu_scaled_sum;   /* gemm.h */
struct hu_scaled_stats; /* scaled.h */

/* A product to compute: what calls of dot products (below) and of matrices (gemm.h) are given. What a call
 * does not need is zero: a view that is all zero is absent. C of a dot product is absent where it has no data, whatever
 * its type. */
typedef struct hu_product {
  size_t m, n, k;        /* matrices: D and C are m x n, A is m x k, B is k x n. m dot products of k elements: n is 1 */
  hu_output d;           /* results */
  hu_view a, b, c;       /* operands; c may be absent */
  hu_view sa, sb;        /* scales, where the model has them */
  const hu_accum *accum; /* the model of the sums */
  hu_watch *watch;       /* counts of what happened inside the sums, added to; or NULL */
  /* Matrices of scaled tensors; else NULL and 0. */
  const struct hu_scaled_sum *sum; /* in place of accum: the models, and where the scales go */
  const float *amax;               /* of a scaled D: amax and stats of hu_scaled_encode; may be NULL */
  struct hu_scaled_stats *stats;
  void *space; /* working space, aligned to 64, overwritten; it overlaps nothing */
  size_t bytes;
} hu_product;

/* One dot product: D, which has one element, is the sum of a[j] b[j] for j < k. C and scales can be set. */
static inline hu_product hu_product_of_dot(size_t k, hu_output d, hu_view a, hu_view b, const hu_accum *accum) {
  hu_product product;
  product.m = product.n = 1;
  product.k = k;
  product.d = d;
  product.a = a;
  product.b = b;
  product.c = product.sa = product.sb = hu_view_of(NULL, 0, hu_type_plain(HU_TYPE_NONE));
  product.accum = accum;
  product.watch = NULL;
  product.sum = NULL;
  product.amax = NULL;
  product.stats = NULL;
  product.space = NULL;
  product.bytes = 0;
  return product;
}

/* m dot products of k elements: D = C + the sum of A B, formed as the model says, then rounded into d's format by
 * how->mode. how may be NULL. No allocation.
 *
 *   elements      of dot product i: element j of a and of b is at i * row + j * stride, c and d at i * row. Of one dot
 *                 product no row is looked at, and strides of c and d never are
 *   types         HU_TYPE_CODES of formats; HU_TYPE_BINARY32, which is the same as codes of binary32; HU_TYPE_BINARY64:
 *                 models exact and fp64; a and b of int32: HU_TYPE_INT8, _UINT8, _INT4, _UINT4, with c and d
 *                 HU_TYPE_INT32
 *   scales        of models with scales: scale j belongs to products j * every ...; promote(...,scaled): to its part j,
 *                 codes of any format
 *   random words  dot product i is element i of docs/numerics.md section 11 (its last rounding: word i of
 *                 exec->stream; without an exec stream (0, 0), the same words in every such call)
 *   events        as hu_gemm counts them; int32: overflow and saturated when a sum saturates. Under mode.nan_fma =
 *                 HU_NAN_FMA_INVALID also `invalid`, where the sum is NaN and the two elements of a product, as the
 *                 model reads them, are an infinity and a zero, whatever NaNs are beside it (hu_gemm does not look at
 *                 nan_fma)
 *   overlap       d may be c's own array, and may lie between operands whose rows are as far apart as its elements.
 *                 Where d and an operand overlap as ranges and their rows are not so, that counts as overlap
 *
 * Errors, after which d, events and watch are untouched:
 *
 *   HU_E_NULL, HU_E_ALIGN     the product, its model or an array is missing, or not aligned to its element
 *   HU_E_FORMAT               a type that is all zero or none of these, or a format that hu_format_check refuses
 *   HU_E_MODE                 a mode that hu_mode_check refuses; d of HU_TYPE_BINARY64: not ties to even
 *   HU_E_ACCUM                a model that is invalid, or does not take these types or scales
 *   HU_E_OPERAND_A, _B, _C    an operand that is not of the format that the model takes
 *   HU_E_CARRIER              fp32: an operand's format does not fit binary32
 *   HU_E_SHAPE                n is not 1; d.row = 0 and m > 1; or m, k and the strides lead beyond the address space
 *   HU_E_OVERLAP              an element of d shares a byte with one of an operand
 *   HU_E_CODE                 an element or a scale with bits above its width (array.h)
 *   HU_E_DEVICE               a device, and `watch` is not NULL */
HU_API HU_MUST_CHECK hu_status hu_dot(const hu_product *x, const hu_how *how);

/* Random words of the caller's: those that a design under test drew. */
typedef struct hu_dot_random {
  const uint32_t *words; /* rounding r inside the sum, counted as in docs/numerics.md section 11.3, takes the low N bits
                            of words[r] as its R. Models that do not round stochastically look at none */
  size_t count;          /* of words; 0: words may be NULL */
  uint32_t last;         /* R of the last rounding: the low N bits */
  size_t roundings;      /* becomes the number of roundings inside, also with HU_E_SHAPE */
} hu_dot_random;
/* hu_dot of one dot product, here, with these words in place of a stream's. Errors: hu_dot's; HU_E_NULL: no record, or
 * count > 0 without words; HU_E_SHAPE: m is not 1, or the model rounds stochastically and these are too few words;
 * HU_E_DEVICE: any device. */
HU_API HU_MUST_CHECK hu_status hu_dot_words(const hu_product *x, hu_dot_random *random, const hu_how *how);

/* The exceptions of IEEE 754 that a dot product raises as one instruction: *exceptions becomes a set of these events.
 *
 *   HU_EVENT_INVALID    an element of A or B, or C, is a signalling NaN; a product is an infinity times a zero; or
 *                       infinities of both signs meet, among the products of a block (of a step of seq and fp32), or
 *                       where sums and C are added. NaNs beside them change nothing
 *   HU_EVENT_OVERFLOW   a rounding overflows, inside the sum or into d
 *
 * These are the flags of RISC-V's bulk-normalised dot products, which raise no others (RISC-V Bulk Normalization
 * Algorithm, "IEEE 754 exception flags"). hu_dot's events are those of its last rounding instead. x is hu_dot's, of one
 * dot product; d and watch are not written. Errors: hu_dot's, HU_E_NULL without exceptions, HU_E_SHAPE: m is not 1, and
 * HU_E_ACCUM for a model or a mode that rounds stochastically and for other models than fp32, seq and block(align,...)
 * and block(exact,...) without via, order=mod4 and scaling=sum. */
HU_API HU_MUST_CHECK hu_status hu_dot_exceptions(uint32_t *exceptions, const hu_product *x, hu_mode mode);

/* ---- every step inside one dot product ----
 *
 * In the order in which it is computed: for explanations, for debugging a design, and for pictures.
 *
 *   static void print(void *context, const hu_trace_step *step) { ... }
 *   hu_status s = hu_dot_trace(&x, NULL, print, NULL);
 *
 * The sum is hu_dot's: the same code runs, and the last step is the stored result. docs/numerics.md section 11 defines
 * the steps of each model; docs/accumulators.md shows them for one dot product. */

/* What a traced number is. */
enum {
  HU_TRACE_ZERO = 0,     /* a zero of its sign */
  HU_TRACE_FINITE = 1,   /* finite, and not zero */
  HU_TRACE_INFINITY = 2, /* an infinity of its sign */
  HU_TRACE_NAN = 3       /* a NaN */
};
/* A number inside a sum: (-1)^sign (significand + s) 2^exponent, with s = 0, or 0 < s < 1 where `more` is 1: digits
 * below the leading 64 are left out. Not finite: significand and exponent mean nothing. */
typedef struct hu_traced {
  uint64_t significand;
  int32_t exponent;
  uint8_t kind; /* HU_TRACE_ZERO, _FINITE, _INFINITY, _NAN */
  uint8_t sign, more, reserved;
} hu_traced;

/* Kinds of steps. The first four begin a part of the sum, whose products are k to past - 1. */
enum {
  HU_TRACE_SLICE = 0, /* splitk: a slice, from +0 */
  HU_TRACE_PART = 1,  /* promote: products that the inner model adds, from +0 */
  HU_TRACE_CHUNK = 2, /* chunk: products that are added on their own, from +0 */
  HU_TRACE_BLOCK = 3, /* block: the products of one block. With order=mod4 one of its two halves */
  HU_TRACE_ALIGN = 4, /* aligned terms follow: their largest exponent is `top`, and the last digit kept is 2^unit */
  HU_TRACE_TERM =
      5, /* a term: exact is the term, z what is left of it where it is aligned (0: also a C that `far` drops), else
                          the term whole */
  HU_TRACE_CUT = 6,   /* a sum of terms, exact, is cut to multiples of 2^unit, toward negative: z */
  HU_TRACE_ROUND = 7, /* exact, a sum of the terms before, or an operand, is rounded: z */
  HU_TRACE_MUL = 8,   /* x y is rounded */
  HU_TRACE_ADD = 9,   /* x + y is rounded */
  HU_TRACE_FMA = 10,  /* x y + c is rounded once */
  HU_TRACE_LAST = 11, /* exact, the model's sum, is rounded into the result's format by the call's mode: z */
  HU_TRACE_KINDS = 12 /* (count) */
};
/* hu_trace_step.k where a step belongs to no product of its own: of a TERM, that is C. */
#define HU_TRACE_NO_PRODUCT UINT64_MAX

/* One step. Fields that a kind does not name are zero. */
typedef struct hu_trace_step {
  uint8_t kind;        /* HU_TRACE_ */
  uint8_t reserved[3]; /* 0 */
  uint32_t events;     /* HU_EVENT_ of the rounding; integers: HU_EVENT_OVERFLOW where a sum is saturated */
  uint64_t k, past;    /* products k to past - 1; HU_TRACE_NO_PRODUCT, and 0 */
  int32_t top, unit;   /* ALIGN, TERM, CUT: exponents of two */
  uint32_t random;     /* R of a stochastic rounding */
  hu_type type;        /* what z is rounded to: a format, HU_TYPE_BINARY64 or HU_TYPE_INT32; TERM, CUT: zero */
  hu_traced x, y, c;   /* operands: of a TERM with one product its factors, as the model reads them */
  hu_traced exact;     /* before the rounding or the cut */
  hu_traced z;         /* after it, also after subnormal results became zero (ftz) */
} hu_trace_step;

/* Receives the steps. `step` belongs to the call and is valid until the function returns. */
typedef void hu_trace_visit(void *context, const hu_trace_step *step);

/* hu_dot of one dot product, each step of which is passed to `visit` together with `context`. d, events and errors are
 * hu_dot's; with an error `visit` is not called. HU_E_NULL also where visit is NULL; HU_E_SHAPE: m is not 1;
 * HU_E_DEVICE: any device. Nothing is allocated. `visit` runs in the calling thread. */
HU_API HU_MUST_CHECK hu_status hu_dot_trace(const hu_product *x, const hu_how *how, hu_trace_visit *visit,
                                            void *context);

#ifdef __cplusplus
}
#endif
#endif
