/* SPDX-License-Identifier: MIT */
/* cli/audit/audit.h - the tensors of two sides, the rules by which quantizers work, and what an audit finds.
 *
 * A side is a file, a folder or an array. Each of its tensors is read element by element and scale by scale, whatever
 * layout it has, so that memory does not grow with it. A rule makes scales and codes of values; the named ones are
 * those of the library's tables, and variants change one or more keys of them. docs/audit.md defines what is said. */
#ifndef HALFULP_CLI_AUDIT_AUDIT_H
#define HALFULP_CLI_AUDIT_AUDIT_H

#include "cli/quantize/tensors.h"
#include "cli/tensors/causes.h"
#include "layouts/layouts.h"

/* ---- sides ---- */

typedef struct audit_side audit_side;
/* A tensor: `matrices` times rows x cols. */
typedef struct audit_tensor {
  const char *name;
  const char *layout;   /* of docs/checkpoints.md; "halfulp" for codes that this command wrote; "": values */
  const char *elements; /* the name of the element format or dtype */
  size_t rows, cols, matrices, count;
  int quantized; /* 1: codes; 0: values */
  int scaled;    /* 1: blocks have scales */
  int known;     /* 1: codes are those of `element`; 0: integers, or places in a table */
  int twos;      /* 1: codes in two's complement */
  int integers;  /* 1: the target at `written` makes such integers in such blocks */
  size_t written;
  hu_format element, scale;
  size_t block[2]; /* rows and columns that share a scale, at most those of the matrix */
  int second;      /* 0: one level; 1: a scale of the tensor to multiply by; -1: one to divide by */
  /* How it is read. */
  const audit_side *side;
  size_t place;                   /* in the model */
  hu_scaling scaling;             /* of codes that this command wrote */
  const hui_tensor *found, *gguf; /* gguf: MXFP4 or NVFP4 of a GGUF file */
  hui_codes codes;
  const void *scales, *seconds; /* as arrays */
  const cli_array *array;
} audit_tensor;

struct audit_side {
  const char *path;
  tensors_input in;
  tensors_notes notes;
  cli_array array;
  cli_parts parts;
  int is_array, opened;
  audit_tensor *tensors; /* sorted by name */
  size_t count;
};
/* Opens what a path names. layout: as tensors_open; target: the format of an .npy file of codes, kind NULL: values.
 * Returns 0, or an exit code after an error line; then there is nothing to close. */
int audit_open(audit_side *side, const char *path, const char *layout, const cli_target *target);
void audit_close(audit_side *side);
/* Returns the tensor of this name; of a side with one tensor, that one where `only`; NULL if none
 * has it. */
const audit_tensor *audit_find(const audit_side *side, const char *name, int only);

/* Reads values first .. first + n - 1 in row-major order as binary32. 0, or an exit code after an error line. */
int audit_values(float *z, const audit_tensor *x, size_t first, size_t n);
/* Returns a code; reads the codes of rows r .. r + n - 1 of a matrix. */
unsigned audit_code(const audit_tensor *x, size_t matrix, size_t row, size_t col);
void audit_codes(uint8_t *z, const audit_tensor *x, size_t matrix, size_t row, size_t n);
/* Returns the scale of block (p, q) of a matrix; *code: as it is stored. */
float audit_scale(const audit_tensor *x, size_t matrix, size_t p, size_t q, uint32_t *code);
/* Returns the number of the second level as it is stored; 1 without a second level. */
float audit_second(const audit_tensor *x, size_t matrix);
/* Returns what is added to the values of block (p, q); 0 where a layout has no biases. */
float audit_bias(const audit_tensor *x, size_t matrix, size_t p, size_t q);
size_t audit_blocks_down(const audit_tensor *x);
size_t audit_blocks_across(const audit_tensor *x);

/* ---- rules ---- */

typedef struct audit_rule {
  char name[64];       /* of the library's tables; "": a variant */
  const char *program; /* whose rule it is, "" of variants */
  hu_scaling scaling;  /* where the rule has blocks */
  hu_conversion preset;
  int is_preset;    /* 1: a conversion of another program, with all its steps */
  int plain;        /* 1: elements alone, without blocks */
  int integers;     /* 1: a rule of integers, with scales of scaling.scale in blocks of scaling.cols; 2: and biases */
  hu_mode mode;     /* of the elements */
  hu_format before; /* values are rounded into it first; all zero: they are not */
} audit_rule;
typedef struct audit_rules {
  audit_rule *list;
  size_t count, capacity;
} audit_rules;
void audit_rules_free(audit_rules *rules);
/* Returns 1 if all codes of two formats are the same numbers. */
int audit_same_elements(hu_format x, hu_format y);
/* Adds the named rules whose elements, scales, blocks and levels are those of a tensor. */
int audit_rules_named(audit_rules *rules, const audit_tensor *x);
/* Adds variants of the first of the named ones, or of a plain one if none is named: each formula of the scale, rounding
 * of it, order of steps and rounding of elements; with the last of these to nearest, what decides about few
 * blocks. */
int audit_rules_varied(audit_rules *rules, const audit_rules *named, const audit_tensor *x);
/* Adds those of another list that do something else. */
int audit_rules_append(audit_rules *rules, const audit_rules *more);
/* Sorts: named ones first, then those with short texts. */
void audit_rules_sort(audit_rules *rules);
/* Reads a rule: a name, or a text. 0, or an exit code after an error line. */
int audit_rule_read(audit_rule *rule, const char *text);
/* Writes a text that names all that the rule does: "NAME", or "scaled(...)", with "-r MODE" and "after FORMAT". */
enum { AUDIT_RULE_TEXT = HU_SCALING_TEXT_MAX + 2 * CLI_NAME_MAX };
const char *audit_rule_text(char text[AUDIT_RULE_TEXT], const audit_rule *rule);
/* Writes the same without names. */
const char *audit_rule_keys(char text[AUDIT_RULE_TEXT], const audit_rule *rule);
/* Writes the first key, in the order of the computation, in which two rules differ, as "what: X, Y"; "" if none.
 * Returns how many differ. */
enum { AUDIT_PART_TEXT = 256 };
int audit_rules_part(char text[AUDIT_PART_TEXT], const audit_rule *x, const audit_rule *y);

/* What a rule makes of rows x cols values: codes a byte each, the scales' values and codes, t. */
typedef struct audit_made {
  uint8_t *codes;
  float *scales, *biases;
  uint32_t *scale_codes;
  float second;
  size_t across; /* blocks of a row */
  void *work;
  size_t elements, blocks; /* of the memory */
} audit_made;
int audit_made_alloc(audit_made *made, size_t elements, size_t blocks);
void audit_made_free(audit_made *made);
/* amax: NULL, or that of the tensor, where the rule takes one. Returns 1; 0: the rule cannot be applied. x is changed
 * where the rule rounds it first. */
int audit_rule_apply(audit_made *made, const audit_rule *rule, size_t rows, size_t cols, float *x, const float *amax);

/* ---- what is found ---- */

/* How codes and scales lie against what a rule, or the other side, has. */
enum {
  AUDIT_IN_ORDER,
  AUDIT_NIBBLES,    /* the two codes of a byte are exchanged */
  AUDIT_TILED,      /* scales are read as rows, and are tiles of 128 x 4 */
  AUDIT_UNTILED,    /* the reverse */
  AUDIT_TRANSPOSED, /* scales are stored column by column */
  AUDIT_ORDERS
};
extern const char *const audit_orders[AUDIT_ORDERS];

/* A block of which two sides, or a side and a rule, make different things. */
enum { AUDIT_SHOWN = 32 };
typedef struct audit_shown {
  int there, known;           /* known: values are */
  size_t matrix, p, q, n;     /* which block; elements that are shown */
  size_t all;                 /* elements of the block */
  float x[AUDIT_SHOWN], amax; /* amax: of the tensor, NaN where the format has no second level */
  float scale[2], second[2];
  uint32_t scale_code[2];
  uint8_t code[2][AUDIT_SHOWN];
} audit_shown;

/* Differences between two sets of codes and scales. */
typedef struct audit_counts {
  uint64_t codes, scales, seconds;
  uint64_t all_codes, all_scales;
} audit_counts;

/* Which rules make the codes of a tensor from values. */
typedef struct audit_followed {
  int known;         /* 1: there is a source to ask */
  audit_rules rules; /* that make all of it; none: `nearest` */
  int order;         /* AUDIT_ */
  int given;         /* 1: the second level is not that of the tensor's own amax, but of another, `amax` */
  float amax;
  audit_rule nearest;
  audit_counts missed; /* of the nearest one, in the first part of the tensor */
  audit_shown shown;   /* where it fails */
} audit_followed;
/* all: variants are asked for also where a named rule holds. */
int audit_follow(audit_followed *z, const audit_tensor *source, const audit_tensor *x, int all);
void audit_followed_free(audit_followed *z);

/* A block alone, and what two rules make of it. amax: that of the tensor, for rules with a second level. */
enum { AUDIT_BLOCK = 512 };
typedef struct audit_block {
  size_t n;
  float x[AUDIT_BLOCK], amax;
  audit_shown shown; /* of the two rules */
} audit_block;
/* Returns 1 if two rules make different things of a block, which `shown` then has; 0: the same; -1: one of them
 * cannot be applied. made: memory for AUDIT_BLOCK elements. */
int audit_block_differs(audit_block *z, audit_made made[2], const audit_rule *x, const audit_rule *y);
/* Leaves out elements of a block while the rules still differ; simple: also digits of what is left. */
void audit_block_shorten(audit_block *z, audit_made made[2], const audit_rule *x, const audit_rule *y, int simple);

/* What an audit says of a pair. */
enum {
  AUDIT_EQUAL,
  AUDIT_MADE,      /* one side is what a known rule makes of the other */
  AUDIT_ARRANGED,  /* the same codes and scales in another order */
  AUDIT_VALUES,    /* other codes of the same values */
  AUDIT_PARTED,    /* by a rule that is known */
  AUDIT_FORMATS,   /* other elements, scales or blocks, and no known rule leads from one to the other */
  AUDIT_DIFFERENT, /* not explained */
  AUDIT_LONE,      /* only one side has it */
  AUDIT_VERDICTS
};
extern const char *const audit_verdicts[AUDIT_VERDICTS];
typedef struct audit_pair {
  const char *name;
  const audit_tensor *x[2], *source; /* NULL: not there */
  int all;                           /* all rules are asked for */
  int verdict;
  int order;
  int from;                   /* AUDIT_MADE: the side that values were taken from */
  char part[AUDIT_PART_TEXT]; /* AUDIT_PARTED, AUDIT_FORMATS: the first rule on which they part */
  audit_counts counts;
  int counted;
  audit_shown shown;
  audit_followed by[2];       /* what each side does with the source, AUDIT_MADE: with the other side */
  size_t chosen[2];           /* the rules of the sides that part least */
  cli_causes causes[2];       /* against the source, or side 0 where that has values */
  double moved, moved_signal; /* sum of squares between the sides' values; of those of the first */
  uint64_t values;            /* that differ */
} audit_pair;
int audit_compare(audit_pair *pair);
void audit_pair_free(audit_pair *pair);

#endif
