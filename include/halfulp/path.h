/* SPDX-License-Identifier: MIT */
/* halfulp/path.h - expressions element by element under a rule of rounding: which intermediate results a program
 * rounds, and into what. docs/paths.md section 2 defines every bit.
 *
 *   hu_path path;
 *   hu_path_rule rule;
 *   hu_view x[3];                                    // x, w, b: in the order in which they first appear
 *   if (hu_path_parse(&path, "bf16: relu(x * w + b)", NULL, NULL) != HU_OK) ...
 *   if (hu_path_rule_parse(&rule, "inductor.cpu", NULL) != HU_OK) ...
 *   hu_status s = hu_path_apply(n, &z, x, &path, &rule, NULL);
 *
 * Texts, with blanks between the words of a path, and without in a rule:
 *
 *   path     = format ":" sum [ ":" result ]         result: a format, path(...), or a preset of one
 *   sum      = product { ( "+" | "-" ) product }
 *   product  = factor { ( "*" | "/" ) factor }
 *   factor   = "-" factor | "(" sum ")" | constant | operand | function "(" sum { "," sum } ")"
 *            | "to" "(" sum "," format ")"
 *   rule     = ( name | item ) { ";" item }          an absent item is the first word of its key
 *   item     = key "=" word                          hu_path_key_at lists them */
#ifndef HALFULP_PATH_H
#define HALFULP_PATH_H

#include "halfulp/conversion.h"
#include "halfulp/view.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Limits: operands, letters of a name, nodes of an expression. */
#define HU_PATH_OPERANDS 8
#define HU_PATH_NAME_MAX 16
#define HU_PATH_NODES 32

/* What a node is. */
enum {
  HU_PATH_OPERAND = 0,   /* operand number `operation` */
  HU_PATH_CONSTANT = 1,  /* a number */
  HU_PATH_OPERATION = 2, /* HU_OP_ number `operation` of nodes x[0], x[1], ... */
  HU_PATH_NEGATIVE = 3,  /* -x[0] */
  HU_PATH_MAGNITUDE = 4, /* abs(x[0]) */
  HU_PATH_RELU = 5,      /* relu(x[0]) */
  HU_PATH_CAST = 6       /* x[0] as a value of `format` */
};
/* One node of an expression; its operands have lower numbers. */
typedef struct hu_path_node {
  uint8_t kind;      /* HU_PATH_ */
  uint8_t operation; /* HU_OP_, or the number of an operand */
  uint8_t inside;    /* of silu: 1 its sigmoid, which no rule rounds into the operands' format; 2 its product, which
                        none joins to a sum; else 0 */
  uint8_t x[HU_OPERANDS_MAX];
  float constant;   /* a constant, rounded to binary32 once, ties to even */
  hu_format format; /* of a cast */
} hu_path_node;

/* A path that was read. Nodes are in the order in which they are computed; the last one is the expression. */
typedef struct hu_path {
  hu_format format;     /* of the operands */
  hu_conversion result; /* without one in the text: the operands' format, ties to even */
  uint32_t operands, nodes;
  char name[HU_PATH_OPERANDS][HU_PATH_NAME_MAX];
  hu_path_node node[HU_PATH_NODES];
} hu_path;

/* The keys of a rule, each with one word of a list. */
enum {
  HU_PATH_COMPUTE = 0,     /* the format in which an operation is done */
  HU_PATH_ROUND = 1,       /* where results go back into the operands' format */
  HU_PATH_FMA = 2,         /* which products are joined to a sum */
  HU_PATH_DIVISION = 3,    /* a quotient of two operands */
  HU_PATH_BY_CONSTANT = 4, /* x / c */
  HU_PATH_OF_CONSTANT = 5, /* c / x */
  HU_PATH_CONSTANTS = 6,   /* the format of a constant */
  HU_PATH_FUNCTIONS = 7,   /* which functions the rule defines */
  HU_PATH_RELU_OF = 8,     /* relu of zeros and NaN */
  HU_PATH_CASTS = 9,       /* casts within an expression */
  HU_PATH_KEYS = 10        /* (count) */
};
/* A rule: of each key the number of its word. All zero is the rule `each`. */
typedef struct hu_path_rule {
  uint8_t word[HU_PATH_KEYS];
} hu_path_rule;
/* A key: its name, its words with a blank between them, and what it decides. */
typedef struct hu_path_key {
  const char *name, *words, *what;
} hu_path_key;
HU_API hu_path_key hu_path_key_at(size_t i); /* i < HU_PATH_KEYS, else name is NULL */

/* The rules of programs, and rules of our own. */
typedef struct hu_path_rule_entry {
  const char *name; /* "inductor.cpu" */
  const char *text; /* its items */
  const char *of;   /* which program, and what the rule rests on */
} hu_path_rule_entry;
HU_API size_t hu_path_rule_count(void);              /* the number of rules */
HU_API hu_path_rule_entry hu_path_rule_at(size_t i); /* i < hu_path_rule_count(), else name is NULL */

/* Text to path. HU_E_TEXT (not the grammar, or beyond a limit), HU_E_NAME (no such function, format or preset),
 * HU_E_CARRIER (a format with values that binary32 lacks); HU_E_FORMAT (a cast into a format with values that the
 * operands' lacks); HU_E_NULL. *path is untouched then; where they are not NULL, *where is the offset of the part that
 * is wrong and *why a static sentence, "" if there is no more to say than the status. */
HU_API HU_MUST_CHECK hu_status hu_path_parse(hu_path *path, const char *text, size_t *where, const char **why);
/* Text to rule: HU_E_TEXT, HU_E_NAME (the first word, which is no rule), HU_E_NULL; *rule is untouched then, and *where
 * is the offset of the part that is wrong. Also the short names eager (torch.cpu), inductor (inductor.cpu) and xla
 * (xla.cpu). */
HU_API HU_MUST_CHECK hu_status hu_path_rule_parse(hu_path_rule *rule, const char *text, size_t *where);
/* Rule to its items, those that are not the first word of their key; "each" if there is none. Writes at most size bytes
 * with the final 0; returns the length, as snprintf does; 0 if a word is not one of its key's. */
#define HU_PATH_RULE_TEXT_MAX 256
HU_API size_t hu_path_rule_text(char *text, size_t size, const hu_path_rule *rule);

/* Whether the rule defines every bit of the path: HU_OK, or HU_E_MODE, and then *why, if why is not NULL, is a static
 * sentence on what it leaves open. HU_E_NULL; HU_E_SHAPE for a record that hu_path_parse has not made. */
HU_API HU_MUST_CHECK hu_status hu_path_check(const hu_path *path, const hu_path_rule *rule, const char **why);
/* z[i] = the path of x[0][i], x[1][i], ... under the rule. x: path->operands views of codes of path->format; z: of
 * HU_TYPE_CODES, whose format plays no part, for the result has one. A NaN is the canonical one. Strides, aliasing and
 * errors are those of hu_apply, besides those of hu_path_check. Of `exec` the levels are used; one thread. No
 * allocation; up to 64 KiB of stack. */
HU_API HU_MUST_CHECK hu_status hu_path_apply(size_t n, const hu_output *z, const hu_view *x, const hu_path *path,
                                             const hu_path_rule *rule, const hu_exec *exec);

#ifdef __cplusplus
}
#endif
#endif
