/* SPDX-License-Identifier: MIT */
/* Writes the values of a model in layouts of other programs: see tensors.h. Pieces are computed one after the other, so
 * that memory does not depend on the size of a tensor. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/progress.h"
#include "cli/quantize/tensors.h"

static int is_chosen(const cli_quantize_state *state, const st_tensor *tensor) {
  for (int i = 0; i < state->includes; i++)
    if (!fnmatch(state->include[i], tensor->name, 0)) return 1;
  return !state->includes;
}

static int make_plan(st_file *plan, const cli_quantize_state *state, const tensors_input *in, const char *out) {
  int good = 1;
  for (size_t i = 0; i < in->file.entries && good; i++)
    good = st_set(plan, in->file.metadata[i].key, in->file.metadata[i].value);
  for (size_t i = 0; i < in->file.count && good; i++) {
    const st_tensor *tensor = &in->file.tensors[i];
    if (is_chosen(state, tensor)) good = st_add(plan, tensor->name, tensor->dtype, tensor->dims, tensor->shape);
  }
  if (!good) return cli_fail(in->name, "out of memory");
  if (!plan->count) return cli_fail(in->name, "--include: no tensor has such a name");
  return tensors_layout(plan, out);
}

static int write_tensors(cli_output *output, const st_file *plan, const tensors_input *in) {
  progress bar;
  uint64_t total = 0, done = 0;
  int code = CLI_OK;
  for (size_t i = 0; i < plan->count; i++) total += plan->tensors[i].size;
  progress_start(&bar, "decode", total);
  for (size_t i = 0; i < plan->count && code == CLI_OK && !cli_output_stopped(output); i++) {
    const st_tensor *tensor = &plan->tensors[i];
    code = tensors_copy(output, plan->data + tensor->begin, in, st_find(&in->file, tensor->name));
    progress_at(&bar, done += tensor->size);
  }
  progress_end(&bar);
  return code;
}

static int write_file(st_file *plan, const tensors_input *in, const char *out) {
  cli_output output;
  size_t length;
  char *header = st_header(plan, &length);
  if (!header) return cli_fail(out, "the header is too long, or a name in it is not UTF-8");
  int code = cli_output_open(&output, out);
  if (code == CLI_OK) {
    code = cli_output_at(&output, 0, header, length);
    if (code == CLI_OK) code = write_tensors(&output, plan, in);
    int closed = cli_output_close(&output, code == CLI_OK || output.error);
    if (code == CLI_OK) code = closed;
  }
  free(header);
  return code;
}

/* The kind of number that an .npy file has for a dtype; 0: none. */
static char kind_of(int dtype) {
  if (dtype == ST_F16 || dtype == ST_F32 || dtype == ST_F64) return 'f';
  if (dtype == ST_BOOL) return 'b';
  if (dtype == ST_U8 || dtype == ST_U16 || dtype == ST_U32 || dtype == ST_U64) return 'u';
  return tensors_is_integer(dtype) ? 'i' : 0;
}

static int write_array(const st_file *plan, const tensors_input *in, const char *out) {
  npy_info info = {0};
  void *owned = NULL;
  char shown[ST_NAME_MAX];
  if (plan->count != 1)
    return cli_fail(in->name, "%zu tensors; an .npy file has one, which --include NAME chooses", plan->count);
  const st_tensor *tensor = st_find(&in->file, plan->tensors[0].name);
  info.kind = kind_of(tensor->dtype);
  if (!info.kind)
    return cli_fail(in->name, "tensor '%s': NumPy has no %s; decode into OUT.safetensors",
                    st_printable(shown, tensor->name), st_dtype_name(tensor->dtype));
  info.size = (uint8_t)(st_dtype_bits(tensor->dtype) / 8);
  info.dims = tensor->dims;
  info.count = tensor->count;
  memcpy(info.shape, tensor->shape, tensor->dims * sizeof *tensor->shape);
  const void *data = tensors_aligned(&owned, in, tensor);
  int code = data ? cli_array_save(out, &info, data) : CLI_BAD;
  free(owned);
  return code;
}

int cli_decode_model(const cli_quantize_state *state, const tensors_input *in, const char *out) {
  st_file plan = {0};
  int code = tensors_spare_model(in, out, state->in_place);
  if (code == CLI_OK && !in->file.count) code = cli_fail(in->name, "holds no tensor that could be decoded");
  if (code == CLI_OK) code = make_plan(&plan, state, in, out);
  if (code == CLI_OK) code = cli_ends(out, ".safetensors") ? write_file(&plan, in, out) : write_array(&plan, in, out);
  st_free(&plan);
  return code;
}
