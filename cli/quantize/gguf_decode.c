/* SPDX-License-Identifier: MIT */
/* Turns the blocks of a GGUF file into F32: see gguf.h. */
#include "cli/quantize/gguf.h"

static int write_tensors(cli_output *output, const tensors_input *in, const st_file *plan) {
  int code = CLI_OK;
  for (size_t i = 0; i < plan->count && code == CLI_OK && !cli_output_stopped(output); i++) {
    const st_tensor *tensor = &plan->tensors[i];
    code = tensors_copy(output, plan->data + tensor->begin, in, st_find(&in->file, tensor->name));
  }
  return code;
}

static int write_all(const tensors_input *in, const char *out, gguf_file *made, st_file *plan) {
  cli_output output;
  int code = cli_output_open(&output, out);
  if (code != CLI_OK) return code;
  code = gguf_write_rest(&output, made, plan);
  if (code == CLI_OK) code = write_tensors(&output, in, plan);
  int closed = cli_output_close(&output, code == CLI_OK || output.error);
  return code == CLI_OK ? closed : code;
}

static int decode_into_gguf(const tensors_input *in, const char *out) {
  gguf_file made = {0};
  st_file plan = {0};
  int code = gguf_decode_plan(&made, &plan, in);
  if (code == CLI_OK) code = write_all(in, out, &made, &plan);
  gguf_free(&made);
  st_free(&plan);
  return code;
}

int cli_decode_gguf(const cli_quantize_state *state, const char *path, const char *out) {
  tensors_input in;
  int blocks = cli_ends(out, ".gguf");
  if (state->target.kind) return cli_fail(NULL, "decode: a .gguf file says its types itself; leave -f out");
  if (state->packed) return cli_fail(NULL, "decode: a .gguf file says itself how its codes lie; leave --packed out");
  if (state->rows_out) return cli_fail(NULL, "decode: --rows out: blocks of GGUF lie along the rows");
  if (!blocks && !cli_ends(out, ".safetensors"))
    return cli_fail(out, "a .gguf file is decoded into a .gguf or a .safetensors file");
  if (cli_parts_spare(out, NULL, path, NULL, state->in_place) || tensors_open(&in, path, NULL)) return CLI_BAD;
  int code = tensors_open_model(&in, TENSORS_AUTO, 1);
  if (code == CLI_OK) code = blocks ? decode_into_gguf(&in, out) : cli_decode_model(state, &in, out);
  tensors_close(&in);
  return code;
}
