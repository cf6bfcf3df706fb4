/* SPDX-License-Identifier: MIT */
/* halfulp/checkpoint.h - the tensors of low-precision checkpoints and their values: libhalfulp-layouts.
 *
 *   hu_checkpoint *model;
 *   char line[HU_CHECKPOINT_LINE];
 *   if (hu_checkpoint_open(&model, "Qwen3-FP8/", NULL, line) != HU_OK) puts(line);
 *   hu_checkpoint_tensor w = hu_checkpoint_at(model, hu_checkpoint_find(model, "layers.0.weight"));
 *   float *values = malloc(w.count * sizeof *values);
 *   if (hu_checkpoint_read(model, w.place, 0, w.count, values) != HU_OK) ...
 *   hu_checkpoint_close(model);
 *
 * A checkpoint is a .safetensors file, a model.safetensors.index.json, or a folder with either; a .gguf file; an .onnx
 * file; PyTorch's .pt, .pth, .ckpt or .bin, of which nothing is executed; or an .npy file of codes. config.json and
 * hf_quant_config.json beside the file say what tensors do not. A layout is how one program stores a quantized tensor:
 * codes, scales, zero points and orders as tensors of their own. docs/checkpoints.md has the table and the formula of a
 * value of each; here they are rows (hu_checkpoint_layout_at). A tensor of a layout appears once, under the name that
 * it has in the model, with the shape of its values; scales and the like do not appear. All others appear as they are
 * stored.
 *
 * Files are mapped, and nothing is copied before it is read. Several threads may read one checkpoint. */
#ifndef HALFULP_CHECKPOINT_H
#define HALFULP_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "halfulp/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A row of the table of layouts. Static storage, never NULL. */
typedef struct hu_checkpoint_layout {
  const char *name;    /* "hf-fp8" */
  const char *program; /* whose layout it is: "Hugging Face fp8 (DeepSeek-V3, Qwen3, GLM)" */
  const char *tensors; /* the names of its tensors: "NAME, NAME_scale_inv" */
  const char *formula; /* a value: "F32(q s)" */
  const char *open;    /* what the tensors alone leave open, as a sentence; "": nothing */
} hu_checkpoint_layout;
/* The table of layouts. */
HU_API size_t hu_checkpoint_layout_count(void);                /* rows of the table */
HU_API hu_checkpoint_layout hu_checkpoint_layout_at(size_t i); /* row i */

/* An open checkpoint: one file, or several with an index. */
typedef struct hu_checkpoint hu_checkpoint;
/* The size of the array for a sentence about an error. */
enum { HU_CHECKPOINT_LINE = 768 /* bytes, the final 0 among them */ };

/* Opens the checkpoint at `path` and looks up which layout each of its tensors has. `layout`: the name of a row that
 * every tensor has whose names and dtypes allow it; NULL: what the files say; of .npy: the format of its codes, as
 * hu_format_parse takes it. *z is to be closed. HU_E_FILE: a file
 * cannot be read. HU_E_DATA: a file is not what it says, or a layout is known and not supported, or the tensors of a
 * layout do not go together. HU_E_NAME: no such layout, or no tensor has it. line: then a sentence that names the file,
 * the tensor and the field; else "". */
HU_API HU_MUST_CHECK hu_status hu_checkpoint_open(hu_checkpoint **z, const char *path, const char *layout,
                                                  char line[HU_CHECKPOINT_LINE]);
/* Gives the memory and the files back; NULL: nothing is done. */
HU_API void hu_checkpoint_close(hu_checkpoint *x);

/* A tensor. Texts and shape are the checkpoint's. */
typedef struct hu_checkpoint_tensor {
  const char *name;
  const char *file;     /* of its codes */
  const char *layout;   /* of hu_checkpoint_layout_at; "plain": F8, F6, F4 without scales; "": an ordinary dtype */
  const char *dtype;    /* the dtype in the file, of its codes */
  const char *elements; /* "float4_e2m1fn", "int4", of GGUF "Q4_K"; "" in an ordinary dtype */
  const char *scales;   /* "float8_e4m3fn", "binary32", with a second level "... x binary32"; "": none */
  const char *open;     /* what was open, and was read as the layout does it; "": nothing */
  const size_t *shape;
  size_t count;    /* product of shape */
  size_t block[2]; /* rows and columns that share a scale; 0, 0: there are none */
  size_t place;    /* of this tensor in the checkpoint */
  uint32_t dims;
} hu_checkpoint_tensor;
/* The tensors. */
HU_API size_t hu_checkpoint_count(const hu_checkpoint *x); /* the number of tensors; they are sorted by name */
HU_API hu_checkpoint_tensor hu_checkpoint_at(const hu_checkpoint *x, size_t i); /* tensor i; past the end: count 0 */
HU_API size_t hu_checkpoint_find(const hu_checkpoint *x, const char *name);     /* its place; SIZE_MAX: not there */

/* z[k] = the value of element first + k of tensor i in row-major order, k < n: that of the layout's formula. F64 and
 * integers that binary32 lacks are rounded, ties to even. HU_E_SHAPE: no such tensor or elements; HU_E_FORMAT: C64;
 * HU_E_FILE: another program has cut one of its files since. */
HU_API HU_MUST_CHECK hu_status hu_checkpoint_read(const hu_checkpoint *x, size_t i, size_t first, size_t n, float *z);
/* z[k] = its code, as a code of `elements`. HU_E_FORMAT: an ordinary dtype, which has none, blocks of GGUF, or codes
 * of more than 8 bits; HU_E_SHAPE, HU_E_FILE. */
HU_API HU_MUST_CHECK hu_status hu_checkpoint_codes(const hu_checkpoint *x, size_t i, size_t first, size_t n,
                                                   uint8_t *z);
/* z[k] = the code of scale first + k of tensor i, a code of the first format of `scales`: one for each `block`, row by
 * row of blocks, matrix by matrix; the last block of a row or a column may be short. HU_E_FORMAT: it has no scales, or
 * others (runs of elements, an order of columns, zero points, blocks of GGUF); HU_E_SHAPE, HU_E_FILE. */
HU_API HU_MUST_CHECK hu_status hu_checkpoint_scales(const hu_checkpoint *x, size_t i, size_t first, size_t n,
                                                    uint32_t *z);
/* Returns the second scale of matrix m of tensor i, which multiplies its scales; of one that divides them, its
 * reciprocal in binary32. 1: there is none. */
HU_API float hu_checkpoint_second(const hu_checkpoint *x, size_t i, size_t m);
/* The bytes of the tensor in the file, little-endian, and how many; of a layout: those of its codes. NULL and 0:
 * there is no such tensor, or another program has cut its file since. */
HU_API const void *hu_checkpoint_bytes(const hu_checkpoint *x, size_t i, size_t *size);

/* ---- writing ----
 *
 * A model is written as a folder that another program loads: tensors in a layout, config.json and the like, files of
 * some size and their index. docs/checkpoints.md has the rules by which each target makes scales and codes. */

/* What tensors can be written as. Static storage, never NULL. */
typedef struct hu_checkpoint_target {
  const char *name;    /* "ct-nvfp4" */
  const char *layout;  /* the row of the table that reads it; "": a dtype without scales */
  const char *program; /* whose quantizer it is, and where config.json says so: "compressed-tensors" */
  const char *rule;    /* the scaled format by which it makes codes of F32 (hu_scaling_rule_at), or a conversion
                          (conversion.h); of integers its own name; "": numbers alone */
  const char *scaling; /* a scaled format (scaled.h) with its elements, blocks and scales, for which another rule may
                          stand; "": none may */
} hu_checkpoint_target;
/* The targets. */
HU_API size_t hu_checkpoint_target_count(void);                /* the number of targets */
HU_API hu_checkpoint_target hu_checkpoint_target_at(size_t i); /* target i; past the end: name "" */

/* What became of a tensor. */
enum {
  HU_CHECKPOINT_COPIED = 0, /* its bytes, as they are */
  HU_CHECKPOINT_VALUES = 1, /* it was in a layout, and is now numbers of the dtype `values` or of the target */
  HU_CHECKPOINT_MOVED = 2,  /* its codes and scales, in another layout; the target has their formats and blocks */
  HU_CHECKPOINT_ROUNDED = 3 /* codes and scales by the rule */
};
/* What a tensor was, and what became of it. Values are those of both layouts' formulas, before that of the source is
 * rounded into binary32, so that every difference is seen. */
typedef struct hu_checkpoint_change {
  uint32_t what;              /* HU_CHECKPOINT_ */
  uint64_t count;             /* values */
  uint64_t narrowed;          /* values that binary32 lacks: rounded into it, ties to even, before the rule */
  uint64_t changed;           /* values that are others than before */
  uint64_t zeroed;            /* of these: became 0 */
  uint64_t to_infinity;       /* of these: became infinities */
  uint64_t to_nan;            /* of these: became NaN */
  uint64_t bytes;             /* in the folder, scales among them */
  double largest;             /* the largest magnitude of a difference, of values that are finite before and after */
  double squares, difference; /* sums over these: of the squares of the values before, and of the differences */
} hu_checkpoint_change;

/* Called between pieces with the values done and of all tensors; at the end, before the folder gets its name, they are
 * equal. It returns 0 to continue, and something else to stop. */
typedef int hu_checkpoint_progress(void *context, uint64_t done, uint64_t total);

/* How a model is written. All zero but `target`: as its program does. */
typedef struct hu_checkpoint_order {
  const char *target; /* a name of hu_checkpoint_target_at */
  const char *rule;   /* NULL: its program's; else a text of hu_scaling_parse with the elements, blocks and scales of
                                 the target, ties to even */
  const char *values; /* dtype of tensors in a layout that are not chosen: "BF16", "F16", "F32"; NULL: BF16 */
  const char *const *include; /* globs of names that are chosen, the last pointer NULL; NULL: as the program chooses */
  const char *const *exclude; /* globs of names that are not; NULL: none */
  uint64_t file_bytes;        /* a file has at most so many bytes of tensors, or one tensor; 0: 5 * 10^9 */
  uint32_t threads;           /* 0: one */
  hu_checkpoint_progress *progress; /* NULL: there is no such call */
  void *context;
  const hu_checkpoint *activations; /* NULL, or where scales of activations are, each of which is written as it is:
                                       NAME.input_scale, of ct-nvfp4 NAME.input_global_scale, F32, one number */
} hu_checkpoint_order;

/* Writes x as a folder, which must not exist or be empty. Its parts go to a folder beside it, `.halfulp-XXXXXX`, which
 * is renamed when all is on the disk; after an error or a stop nothing is left. Memory does not grow with the tensors.
 * changes: NULL, or one for each tensor of x, in its order. HU_E_NAME: no such target, rule or dtype, a glob that no
 * tensor has, no tensor that is chosen, a target without scales of activations, or none for a chosen tensor.
 * HU_E_SCALING: the rule has other elements, blocks or scales. HU_E_SHAPE: a chosen tensor is no matrix of whole
 * blocks. HU_E_DATA: it holds an infinity or a NaN, or config.json is not JSON.
 * HU_E_FILE: the folder cannot be written, or progress said to stop. line: then a sentence that says which and why;
 * else "". */
HU_API HU_MUST_CHECK hu_status hu_checkpoint_write(const hu_checkpoint *x, const char *folder,
                                                   const hu_checkpoint_order *order, hu_checkpoint_change *changes,
                                                   char line[HU_CHECKPOINT_LINE]);

#ifdef __cplusplus
}
#endif
#endif
