/* SPDX-License-Identifier: MIT */
/* cli/tensors/quantized.h - which tensors of a model are codes of some quantization, and which scale them.
 *
 * Codes are tensors of dtype F8_*, F6_*, F4, blocks of GGUF, and tensors of 8, 16 or 32-bit integers that a companion
 * scales. Companions are known by their names, of which there is one table (quantized.c), and by what the metadata
 * say. Rounding either of them destroys the model: a scale of 0.0007 is 0 in many formats. Beside these, a file says
 * that it is quantized by its metadata, or by config.json or hf_quant_config.json in its folder. */
#ifndef HALFULP_CLI_TENSORS_QUANTIZED_H
#define HALFULP_CLI_TENSORS_QUANTIZED_H

#include "files/gguf.h"
#include "files/safetensors.h"

enum { QUANTIZED_NOT, QUANTIZED_COMPANION, QUANTIZED_CODES };
typedef struct quantized {
  uint8_t *what;          /* of each tensor of the file, QUANTIZED_ */
  uint8_t *scales;        /* 1: it scales others by its name, be it in codes or not */
  uint8_t *ending;        /* 1: the end of its name alone says so, which plain models have, too: attn.logit_scale */
  int unsure;             /* 1: nothing else in the file or beside it says that it is quantized */
  const st_tensor **with; /* and one that scales it, or that it scales; NULL: not known */
  const char *says;       /* what says so for all of the file: "its metadata", ...; NULL: nothing does */
  const char *key;        /* the key there */
} quantized;
/* Reads what is known. Returns 1 and *found, to be freed; 0: out of memory. gguf: of a GGUF file, else NULL; values: 1
 * where its blocks have become values. path: of the file, for those beside it; NULL: there are none. */
int quantized_read(quantized *found, const st_file *file, const gguf_file *gguf, int values, const char *path);
/* Returns 1 if the dtype is one of codes alone: F8_*, F6_*, F4. */
int quantized_dtype(int dtype);
void quantized_free(quantized *found);

#endif
