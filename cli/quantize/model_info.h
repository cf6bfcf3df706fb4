/* SPDX-License-Identifier: MIT */
/* cli/quantize/model_info.h - the tensors of a model, a line for each (docs/checkpoints.md). */
#ifndef HALFULP_CLI_QUANTIZE_MODEL_INFO_H
#define HALFULP_CLI_QUANTIZE_MODEL_INFO_H

/* Prints the tensors of a .safetensors file, an index or a folder. Returns 0, or an exit code after an error line. */
int cli_model_info(const char *path, const char *layout, int json);

#endif
