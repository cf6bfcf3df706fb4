/* SPDX-License-Identifier: MIT */
/* Turns the blocks of a GGUF file into F32: see gguf.h. */
#include <stdlib.h>
#include <string.h>

#include "cli/quantize/gguf.h"

/* Plans the tensors of a .safetensors file; its metadata are texts alone, so that those of GGUF stay behind. */
static int plan_tensors(st_file *plan, const tensors_input *in, const char *out) {
  char shown[ST_NAME_MAX];
  for (size_t i = 0; i < in->gguf->count; i++) {
    const gguf_tensor *tensor = &in->gguf->tensors[i];
    int dtype = gguf_reads(tensor->type) ? ST_F32 : tensor->type->dtype;
    if (dtype < 0)
      return cli_fail(in->name, "tensor '%s': %s is not read; decode into OUT.gguf, which keeps it as it is",
                      st_printable(shown, tensor->name), tensor->type->name);
    if (!st_add(plan, tensor->name, dtype, tensor->dims, tensor->shape)) return cli_fail(out, "out of memory");
  }
  return tensors_layout(plan, out);
}

static int write_header(cli_output *output, st_file *plan) {
  size_t length;
  char *header = st_header(plan, &length);
  if (!header) return cli_fail(output->path, "the header is too long");
  int code = cli_output_at(output, 0, header, length);
  free(header);
  return code;
}

static int write_values(cli_output *output, size_t at, const gguf_tensor *tensor, const uint8_t *x) {
  float *z = cli_alloc(tensor->count, sizeof *z);
  if (!z) return CLI_BAD;
  gguf_values(z, tensor->type, x, tensor->count);
  uint8_t *bytes = (uint8_t *)z;
  if (CLI_HOST_BIG) cli_copy_swapped(bytes, bytes, tensor->count, sizeof *z);
  int code = cli_output_at(output, at, bytes, tensor->count * sizeof *z);
  free(z);
  return code;
}

static int write_tensors(cli_output *output, const tensors_input *in, const st_file *plan) {
  int code = CLI_OK;
  for (size_t i = 0; i < in->gguf->count && code == CLI_OK && !cli_output_stopped(output); i++) {
    const gguf_tensor *tensor = &in->gguf->tensors[i];
    size_t at = plan->data + st_find(plan, tensor->name)->begin;
    code = gguf_reads(tensor->type) ? write_values(output, at, tensor, in->data + tensor->begin)
                                    : cli_output_at(output, at, in->data + tensor->begin, tensor->size);
  }
  return code;
}

static int write_all(const tensors_input *in, const char *out, gguf_file *made, st_file *plan) {
  cli_output output;
  int code = cli_output_open(&output, out);
  if (code != CLI_OK) return code;
  code = made ? gguf_write_rest(&output, made, plan) : write_header(&output, plan);
  if (code == CLI_OK) code = write_tensors(&output, in, plan);
  int closed = cli_output_close(&output, code == CLI_OK || output.error);
  return code == CLI_OK ? closed : code;
}

int cli_decode_gguf(const cli_quantize_state *state, const char *path, const char *out) {
  tensors_input in;
  gguf_file made = {0};
  st_file plan = {0};
  int blocks = cli_ends(out, ".gguf");
  if (state->target.kind) return cli_fail(NULL, "decode: a .gguf file says its types itself; leave -f out");
  if (state->packed) return cli_fail(NULL, "decode: a .gguf file says itself how its codes lie; leave --packed out");
  if (state->rows_out) return cli_fail(NULL, "decode: --rows out: blocks of GGUF lie along the rows");
  if (!blocks && !cli_ends(out, ".safetensors"))
    return cli_fail(out, "a .gguf file is decoded into a .gguf or a .safetensors file");
  if (cli_parts_spare(out, NULL, path, NULL, state->in_place) || tensors_open(&in, path, NULL)) return CLI_BAD;
  int code = blocks ? gguf_decode_plan(&made, &plan, &in) : plan_tensors(&plan, &in, out);
  if (code == CLI_OK) code = write_all(&in, out, blocks ? &made : NULL, &plan);
  gguf_free(&made);
  st_free(&plan);
  tensors_close(&in);
  return code;
}
