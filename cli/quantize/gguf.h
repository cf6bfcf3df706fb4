/* SPDX-License-Identifier: MIT */
/* cli/quantize/gguf.h - the formats of GGUF: which type a target is, its blocks, and files of them in and out. */
#ifndef HALFULP_CLI_QUANTIZE_GGUF_H
#define HALFULP_CLI_QUANTIZE_GGUF_H

#include "cli/quantize/tensors.h"
#include "files/gguf.h"

/* Returns the type whose codes and scales the target's are; NULL if no type has them (gguf_blocks.c). */
const gguf_type *gguf_type_of_target(const cli_target *target);
/* Packs codes and scales into the blocks of the type; name: for error lines. Returns 0, or an exit code after one: a
 * scale is NaN, which the type does not have. */
int gguf_pack(uint8_t *z, const gguf_type *type, const cli_parts *parts, const char *name);
/* Do the same for block number i of types with codes of groups, and of IQ4_NL (gguf_groups.c); 1: it is one of them. */
int gguf_has_groups(const gguf_type *type);
void gguf_pack_groups(uint8_t *z, const gguf_type *type, const cli_parts *parts, size_t i);

/* Plans what is to be written, into `made` (to be freed) and `plan`, which have the tensors in the same order: what is
 * chosen in its new type, all else as it is. Returns 0, or an exit code after an error line (gguf_plan.c). */
int gguf_plan(gguf_file *made, st_file *plan, const tensors_input *in, const tensors_results *results);
/* Plans the same for a file whose blocks become F32. */
int gguf_decode_plan(gguf_file *made, st_file *plan, const tensors_input *in);
/* Writes all bytes before the tensors and behind the last one. Returns 0, or an exit code. */
int gguf_write_rest(cli_output *output, gguf_file *made, st_file *plan);
/* Writes a tensor of a model as it is stored; all second scales that the plan has, which are in the model's values. */
int gguf_copy(const tensors_work *work, const char *name);
int gguf_copy_scales(const tensors_work *work);
/* Writes the codes of a tensor of the plan. */
int gguf_put(const tensors_work *work, const char *name, const cli_parts *parts);

#endif
