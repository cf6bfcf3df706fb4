/* SPDX-License-Identifier: MIT */
/* Says what is written into a GGUF file: see gguf.h. */
#include <stdlib.h>
#include <string.h>

#include "cli/quantize/gguf.h"

/* Starts a plan with all but the tensors. */
static int start(gguf_file *made, const gguf_file *from) {
  *made = *from;
  made->count = 0;
  made->tensors = cli_alloc(from->count, sizeof *made->tensors);
  return made->tensors ? CLI_OK : CLI_BAD;
}

static int add_made(gguf_file *made, const gguf_tensor *from, const gguf_type *type, const char *out) {
  char shown[ST_NAME_MAX];
  gguf_tensor *tensor = &made->tensors[made->count];
  st_printable(shown, from->name);
  *tensor = *from;
  tensor->type = type;
  made->blocks |= type != from->type && type->dtype < 0;
  tensor->name = strdup(from->name);
  if (!tensor->name) return cli_fail(out, "out of memory");
  made->count++;
  if (tensor->shape[tensor->dims - 1] % type->block)
    return cli_fail(out, "tensor '%s': rows of %zu are not whole blocks of %u, those of %s; leave it out by --exclude",
                    shown, tensor->shape[tensor->dims - 1], type->block, type->name);
  return gguf_size(tensor) ? CLI_OK : cli_fail(out, "tensor '%s': does not fit the address space", shown);
}

static int finish(gguf_file *made, st_file *plan, const char *out) {
  gguf_layout(made);
  return gguf_as_tensors(plan, made) ? CLI_OK : cli_fail(out, "out of memory");
}

static int fail_target(const tensors_results *results) {
  char name[CLI_TARGET_MAX];
  return cli_fail(
      results->out,
      "GGUF has no type for codes of %s; it has F32, F16, BF16, MXFP4 (ggml.mxfp4, mxfp4, and other elements "
      "float4_e2m1fn in blocks of 1x32), NVFP4 (ggml.nvfp4; 1x16 without a scale of the tensor), and ggml.q4_0, "
      "ggml.q4_1, ggml.q5_0, ggml.q5_1, ggml.q8_0, ggml.q2_k to ggml.q6_k, ggml.iq4_nl and ggml.iq4_xs",
      cli_target_name(name, &results->asked->target));
}

/* Returns what becomes of a tensor that is stored under this name; NULL: it is in the values of another. */
static const tensors_result *result_of(const tensors_results *results, const tensors_input *in, const char *name) {
  const st_tensor *tensor = st_find(&in->file, name);
  return tensor ? &results->list[tensor - in->file.tensors] : NULL;
}

/* Returns 1 where a second scale, "P.scale", still belongs to blocks of NVFP4, "P.weight" or "P". */
static int scale_stays(const tensors_results *results, const tensors_input *in, const char *name) {
  char other[GGUF_NAME_MAX + sizeof ".weight"];
  for (int end = 0; end < 2; end++) {
    snprintf(other, sizeof other, "%.*s%s", (int)(strlen(name) - strlen(".scale")), name, end ? ".weight" : "");
    const tensors_result *result = result_of(results, in, other);
    if (result && !result->done && tensors_stored(in, other)->type->id == GGUF_NVFP4) return 1;
  }
  return 0;
}

/* Returns the type that a tensor gets; NULL: it is left out. */
static const gguf_type *new_type(const gguf_tensor *tensor, const tensors_results *results, const tensors_input *in,
                                 const gguf_type *codes) {
  const tensors_result *result = result_of(results, in, tensor->name);
  int narrow = tensor->type->id == GGUF_F16 || tensor->type->id == GGUF_BF16;
  if (!result) return scale_stays(results, in, tensor->name) ? tensor->type : NULL;
  if (!result->done) return tensor->type;
  if (results->asked->codes) return codes;
  if (results->asked->widen && narrow) return gguf_type_of(GGUF_F32);
  return gguf_type_for(tensors_value_dtype(&results->asked->target, result->tensor->dtype));
}

int gguf_plan(gguf_file *made, st_file *plan, const tensors_input *in, const tensors_results *results) {
  const gguf_type *codes = results->asked->codes ? gguf_type_of_target(&results->asked->target) : NULL;
  if (!in->gguf) return cli_fail(results->out, "a .gguf file is made from a .gguf file, whose metadata it keeps");
  if (results->asked->rows_out) return cli_fail(results->out, "--rows out: blocks of GGUF lie along the rows");
  if (results->asked->codes && !codes) return fail_target(results);
  int code = start(made, in->gguf);
  for (size_t i = 0; i < in->gguf->count && code == CLI_OK; i++) {
    const gguf_tensor *tensor = &in->gguf->tensors[i];
    const gguf_type *type = new_type(tensor, results, in, codes);
    if (type) code = add_made(made, tensor, type, results->out);
  }
  return code == CLI_OK ? finish(made, plan, results->out) : code;
}

int gguf_decode_plan(gguf_file *made, st_file *plan, const tensors_input *in) {
  int code = start(made, in->gguf);
  for (size_t i = 0; i < in->gguf->count && code == CLI_OK; i++) {
    const gguf_tensor *tensor = &in->gguf->tensors[i];
    if (hu_checkpoint_find(in->model, tensor->name) == SIZE_MAX) continue; /* a second scale, which is in the values */
    code = add_made(made, tensor, gguf_reads(tensor->type) ? gguf_type_of(GGUF_F32) : tensor->type, in->name);
  }
  return code == CLI_OK ? finish(made, plan, in->name) : code;
}

int gguf_write_rest(cli_output *output, gguf_file *made, st_file *plan) {
  size_t length, last = made->count ? made->tensors[made->count - 1].begin + made->tensors[made->count - 1].size : 0;
  uint8_t *header = gguf_header(made, &length), *space = calloc(made->alignment, 1);
  int code = header && space ? CLI_OK : cli_fail(output->path, "out of memory");
  if (code == CLI_OK) code = cli_output_at(output, 0, header, length);
  if (code == CLI_OK) code = cli_output_at(output, length + last, space, gguf_data_size(made) - last);
  if (code == CLI_OK) plan->data = length;
  free(header);
  free(space);
  return code;
}

int gguf_copy(const tensors_work *work, const char *name) {
  const gguf_tensor *tensor = tensors_stored(work->in, name);
  return cli_output_at(work->output, work->plan->data + st_find(work->plan, name)->begin,
                       work->in->data + tensor->begin, tensor->size);
}

int gguf_copy_scales(const tensors_work *work) {
  int code = CLI_OK;
  for (size_t i = 0; i < work->made->count && work->in->model && code == CLI_OK; i++) {
    const char *name = work->made->tensors[i].name;
    if (!st_find(&work->in->file, name)) code = gguf_copy(work, name);
  }
  return code;
}

int gguf_put(const tensors_work *work, const char *name, const cli_parts *parts) {
  const st_tensor *tensor = st_find(work->plan, name);
  char shown[ST_NAME_MAX], place[ST_NAME_MAX + 256];
  uint8_t *blocks = cli_alloc(tensor->size, 1);
  if (!blocks) return CLI_BAD;
  snprintf(place, sizeof place, "%.240s: tensor '%s'", work->in->name, st_printable(shown, name));
  int code = gguf_pack(blocks, work->made->tensors[tensor - work->plan->tensors].type, parts, place);
  if (code == CLI_OK) code = cli_output_at(work->output, work->plan->data + tensor->begin, blocks, tensor->size);
  free(blocks);
  return code;
}
