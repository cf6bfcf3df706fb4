/* SPDX-License-Identifier: MIT */
/* layouts/write/write.h - targets, the rules of their programs, and a model that is being written.
 *
 * write.c makes the plan (which tensors, which files) and the folder; tensor.c brings one tensor to its places in
 * the files, and piece.c a piece of it to codes, by the scaled format that is the program's rule; integers.c has the
 * rules that no scaled format says; targets.c the table; config.c the JSON files; base.c what all of them call. */
#ifndef HALFULP_LAYOUTS_WRITE_WRITE_H
#define HALFULP_LAYOUTS_WRITE_WRITE_H

#include "halfulp/scaled.h"
#include "layouts/layouts.h"

/* What of a tensor its rule asks for. */
typedef struct hui_calc {
  hu_format type;       /* of the program's arithmetic: the tensor's own, or binary32 */
  uint32_t top, second; /* patterns: the largest magnitude of the tensor; its second scale, as it is stored */
} hui_calc;

/* What the rule of a program does not say (piece.c). */
enum {
  HUI_ODD_NOTHING,
  HUI_ODD_LARGEST, /* from 1.75 2^127 on the scale is an infinity, which is refused */
  HUI_ODD_TINY,    /* where the scale is 0, elements are divided by 0, and 0 / 0 is NaN */
  HUI_ODD_LOG2     /* of binary32: just above a power of two its logarithm is rounded to that one's */
};

/* What codes stand for: a float's codes, signed integers plus 8, integers from 0 on, or numbers of the dtype. */
enum { HUI_CODES, HUI_CODES_OFFSET, HUI_CODES_UNSIGNED, HUI_NUMBERS };
/* Who reads the config. */
enum { HUI_FOR_NOBODY, HUI_FOR_CT, HUI_FOR_MODELOPT, HUI_FOR_HF, HUI_FOR_GPT_OSS, HUI_FOR_MLX };

typedef struct hui_target {
  hu_checkpoint_target said;
  const char *narrow[2]; /* the rules of bfloat16 and binary16; NULL: said.rule, that of binary32 */
  uint8_t integers;      /* 1: a rule of integers.c, which no scaled format says: -8 is a code, or there is a bias */
  uint8_t codes_are, bits, reader;
  uint8_t odd;            /* HUI_ODD_ */
  uint8_t whole;          /* 1: ends of names come behind the tensor's name; 0: instead of its ".weight" */
  uint8_t scalar;         /* 1: one scale has the shape [], else [1] */
  uint8_t embeddings;     /* 1: embeddings and lm_head are chosen, too */
  uint32_t block[2];      /* rows and columns of a scale; 0: all */
  int dtype, scale_dtype; /* of codes, of scales; scale_dtype -1: the tensor's type */
  uint8_t scale_type;     /* HUI_SCALE_ of U8 scales */
  const char *codes, *scale, *second, *bias, *sizes; /* ends of names; NULL: not written */
  const char *input;                                 /* that of the scale of activations, which may be given */
  const char *format;                                /* a word of the config */
} hui_target;
extern const hui_target hui_targets[];
extern const size_t hui_targets_count;
const hui_target *hui_target_find(const char *name);

/* A file of the folder. */
typedef struct hui_part {
  st_file file;
  char name[64];
  int fd;
} hui_part;

/* Where the bytes of a tensor go. */
typedef struct hui_place {
  size_t part, at;
} hui_place;
enum {
  HUI_CODE_PLACE,
  HUI_SCALE_PLACE,
  HUI_SECOND_PLACE,
  HUI_BIAS_PLACE,
  HUI_SIZES_PLACE,
  HUI_INPUT_PLACE,
  HUI_PLACES
};

/* A model that is being written. */
typedef struct hui_writing {
  const hu_checkpoint *model;
  const hu_checkpoint_order *order;
  const hui_target *target;
  hu_scaling scaling;            /* of the rule that was given */
  int values;                    /* dtype of tensors that leave a layout */
  hu_checkpoint_change *changes; /* one for each tensor */
  hui_part *parts;
  size_t part_count;
  hui_place (*places)[HUI_PLACES];
  uint64_t done, total;
  char *folder; /* where the files are until the end */
  char *line;
} hui_writing;

/* Writes a sentence into the line; returns the status. */
hu_status hui_write_wrong(hui_writing *x, hu_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Say that memory is out; why a file cannot be written, by errno. */
hu_status hui_write_no_memory(hui_writing *x);
hu_status hui_write_cannot(hui_writing *x, const char *name);
/* Writes bytes at a place of a file. */
hu_status hui_write_bytes(hui_writing *x, hui_place place, size_t at, const void *bytes, size_t size);
/* Counts values that are done, and asks whether to continue. */
hu_status hui_write_step(hui_writing *x, size_t values);
/* Writes tensor i as changes[i].what says (tensor.c). */
hu_status hui_write_tensor(hui_writing *x, size_t i);
/* Returns the scale of the activations of a tensor's layer; NULL: there is none, or out of memory. */
const hui_raw *hui_write_input(const hui_writing *x, const hui_tensor *tensor);
/* Gives the sides of a tensor's matrices, whatever its layout. */
void hui_write_sides(const hui_tensor *tensor, size_t *rows, size_t *cols);
/* Returns the name of a part of a tensor in the folder, to be freed; NULL: out of memory. */
char *hui_write_name(const hui_target *target, const char *name, const char *end);
/* Write config.json, hf_quant_config.json where the reader has it, and the index; copy what else is in the source's
 * folder (config.c). */
hu_status hui_write_config(hui_writing *x);
hu_status hui_write_index(hui_writing *x);
hu_status hui_write_rest(hui_writing *x);

/* Divide and multiply binary32 patterns, rounded into a type (integers.c). */
uint32_t hui_quotient(hu_format type, uint32_t x, uint32_t y);
uint32_t hui_product(hu_format type, uint32_t x, uint32_t y);
uint32_t hui_pattern(double x); /* rounded into binary32 */

#endif
