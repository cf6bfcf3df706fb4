/* SPDX-License-Identifier: MIT */
/* halfulp/operation.h - the operations that compute element by element, as values: a list to walk, one call for all.
 *
 *   for (size_t i = 0; i < hu_operation_count(); i++) {
 *     hu_operation operation = hu_operation_at(i);
 *     printf("%s: %s, %d operands\n", operation.name, operation.what, operation.operands);
 *   }
 *   int op = hu_operation_find("tanh");
 *   hu_code x = {hu_binary16(), 0x3C00};
 *   uint32_t events, z = hu_apply_code(op, hu_float8_e4m3fn(), rne, &x, 0, &events);
 *
 * An operation takes codes, each in a format of its own. Its exact result is rounded once, as docs/numerics.md says in
 * the section that its record names; some operations round nothing. hu_apply of view.h computes arrays, on this CPU or
 * on a CUDA device (device.h). For one value arith.h has a function of each operation's name, which
 * gives its arguments to hu_apply_code. */
#ifndef HALFULP_OPERATION_H
#define HALFULP_OPERATION_H

#include "halfulp/format.h"
#include "halfulp/mode.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The operations; what each computes stands at the function of its name in arith.h or scalar.h. Numbers
 * are pinned, and hu_operation_at(i) is operation i. */
enum {
  HU_OP_ADD,                      /* hu_add */
  HU_OP_SUB,                      /* hu_sub */
  HU_OP_MUL,                      /* hu_mul */
  HU_OP_DIV,                      /* hu_div */
  HU_OP_MINIMUM,                  /* hu_minimum */
  HU_OP_MAXIMUM,                  /* hu_maximum */
  HU_OP_MINIMUM_NUMBER,           /* hu_minimum_number */
  HU_OP_MAXIMUM_NUMBER,           /* hu_maximum_number */
  HU_OP_SQRT,                     /* hu_sqrt */
  HU_OP_FMA,                      /* hu_fma */
  HU_OP_ROUNDED,                  /* (bound: below it exact results are rounded) */
  HU_OP_INTEGRAL = HU_OP_ROUNDED, /* hu_round_to_integral */
  HU_OP_NEXT_UP,                  /* hu_next_up */
  HU_OP_NEXT_DOWN,                /* hu_next_down */
  HU_OP_CLASS,                    /* hu_class */
  HU_OP_COMPARE,                  /* hu_compare */
  HU_OP_FUNCTION,                 /* (bound: from here on elementary functions) */
  HU_OP_EXP = HU_OP_FUNCTION,     /* hu_exp */
  HU_OP_EXP2,                     /* hu_exp2 */
  HU_OP_EXPM1,                    /* hu_expm1 */
  HU_OP_LOG,                      /* hu_log */
  HU_OP_LOG2,                     /* hu_log2 */
  HU_OP_LOG1P,                    /* hu_log1p */
  HU_OP_TANH,                     /* hu_tanh */
  HU_OP_SIGMOID,                  /* hu_sigmoid */
  HU_OP_ERF,                      /* hu_erf */
  HU_OP_GELU,                     /* hu_gelu */
  HU_OP_RSQRT,                    /* hu_rsqrt */
  HU_OP_RECIPROCAL,               /* hu_reciprocal */
  HU_OP_SIN,                      /* hu_sin */
  HU_OP_COS,                      /* hu_cos */
  HU_OP_POW,                      /* hu_pow, the last elementary function */
  HU_OP_REMAINDER,                /* hu_remainder, an exact result that is rounded like those below HU_OP_ROUNDED */
  HU_OP_CONVERT                   /* hu_convert of scalar.h; hu_apply also reads and writes numbers that are no codes */
};

/* What the result of an operation is. */
enum {
  HU_RESULT_CODE = 0, /* a code of any format, fz */
  HU_RESULT_SAME = 1, /* a code of the operand's format */
  HU_RESULT_INT8 = 2  /* a number of 8 bits: HU_LESS ... HU_UNORDERED, HU_CLASS_... of arith.h */
};

/* The most operands of an operation. */
#define HU_OPERANDS_MAX 3

/* One operation. */
typedef struct hu_operation {
  const char *name;      /* "add": the function on one value is hu_add */
  const char *testfloat; /* TestFloat's word for it, "mulAdd" in f16_mulAdd; NULL: TestFloat does not have it */
  uint8_t operands;      /* 1 to HU_OPERANDS_MAX */
  uint8_t result;        /* HU_RESULT_ */
  uint8_t rounds;        /* 1: the mode and random words count; 0: no mode, no events */
  uint32_t events;       /* HU_EVENT_INVALID, HU_EVENT_DIVIDE_BY_ZERO: which it raises besides the rounding's events */
  const char *section;   /* of docs/numerics.md: "10" */
  const char *what;      /* what it computes, of operands a, b, c, of x, or of x and y */
} hu_operation;

/* The number of operations; and operation i: i < hu_operation_count(), else name is NULL. Static storage. */
static inline size_t hu_operation_count(void) { return HU_OP_CONVERT + 1; } /* the number of operations */
HU_API hu_operation hu_operation_at(size_t i);  /* operation i, which is HU_OP_ number i */
HU_API int hu_operation_find(const char *name); /* the operation of this name, exact spelling; -1: unknown, or NULL */

/* A code with its format. */
typedef struct hu_code {
  hu_format format;
  uint32_t code; /* bits above the width are ignored */
} hu_code;

/* What operation op computes of the codes x[0], x[1], ...: exactly what the function of its name returns, a code of fz;
 * for HU_RESULT_INT8 the enumerator as a number of 32 bits in two's complement (fz plays no part then). `random` is R
 * of the stochastic modes as in scalar.h. Where the operation does not round, mode and random play no part. If `events`
 * is not NULL, *events is set (not added), to 0 by what does not round. Total: what is refused gives code 0 and
 * HU_EVENT_INVALID (HU_OP_COMPARE: HU_UNORDERED): no such operation, x NULL, a descriptor or mode that its check
 * refuses, fz other than x[0].format for HU_RESULT_SAME. */
HU_API uint32_t hu_apply_code(int op, hu_format fz, hu_mode mode, const hu_code *x, uint32_t random, uint32_t *events);

#ifdef __cplusplus
}
#endif
#endif
