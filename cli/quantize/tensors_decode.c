/* SPDX-License-Identifier: MIT */
/* Turns what `quantize --codes` wrote back into values; the notes (tensors_notes.c) say how. */
#include <stdlib.h>
#include <string.h>

#include "cli/quantize/tensors.h"
#include "halfulp/formats/ieee.h"

/* Finds a part's tensor in the file, of the dtype and shape that it must have. */
static int find_part(const st_tensor **tensor, const tensors_input *in, const char *name, const st_tensor *expected) {
  char shown[ST_NAME_MAX], has[ST_SHAPE_MAX], expected_shape[ST_SHAPE_MAX];
  *tensor = st_find(&in->file, name);
  st_printable(shown, name);
  if (!*tensor) return cli_fail(in->name, "tensor '%s' is missing", shown);
  int same = (*tensor)->dtype == expected->dtype && (*tensor)->dims == expected->dims;
  for (uint32_t i = 0; i < expected->dims && same; i++) same = (*tensor)->shape[i] == expected->shape[i];
  if (same) return CLI_OK;
  return cli_fail(in->name, "tensor '%s': %s %s, its codes require %s %s", shown, st_dtype_name((*tensor)->dtype),
                  st_shape(has, (*tensor)->dims, (*tensor)->shape), st_dtype_name(expected->dtype),
                  st_shape(expected_shape, expected->dims, expected->shape));
}

/* Checks codes that lie one to an element: they may have bits above their width. */
static int check_part(const tensors_input *in, const st_tensor *tensor, const cli_part *part) {
  char shown[ST_NAME_MAX], place[ST_NAME_MAX + 256];
  npy_info info = {.kind = 'u', .size = part->size, .dims = tensor->dims, .count = tensor->count};
  if (part->kind != 'u') return CLI_OK;
  memcpy(info.shape, tensor->shape, tensor->dims * sizeof *tensor->shape);
  snprintf(place, sizeof place, "%.240s: tensor '%s'", in->name, st_printable(shown, tensor->name));
  return cli_codes_check(place, &info, part->data, cli_code_rule_part(part));
}

static int load_one(cli_parts *parts, int i, const tensors_input *in, tensors_note *note) {
  cli_part *part = &parts->part[i];
  const cli_target *target = &note->kind->target;
  int native = note->kind->native, packed = i == 0 && native < 0 && parts->width <= 8;
  size_t shape[2] = {packed ? parts->packed_rows : part->rows, packed ? parts->packed_row : part->cols};
  st_tensor expected = {NULL, ST_U8, part->dims, shape, 0, 0, 0};
  const st_tensor *tensor;
  void *owned;
  if (i == 0 && !packed) {
    expected.dims = note->dims;
    expected.shape = note->shape;
  }
  expected.dtype = native >= 0         ? native
                   : part->kind == 'f' ? (part->size == 8 ? ST_F64 : ST_F32)
                   : part->size == 1   ? ST_U8
                   : part->size == 2   ? ST_U16
                                       : ST_U32;
  char *name = native >= 0 ? strdup(note->name) : tensors_name(note->name, part->suffix);
  int code = name ? find_part(&tensor, in, name, &expected) : CLI_BAD;
  free(name);
  if (code != CLI_OK) return code;
  const void *data = tensors_aligned(&owned, in, tensor);
  if (!data) return CLI_BAD;
  if (packed) {
    hu_status status = target->kind->unpack(parts, data, target);
    if (status != HU_OK) code = cli_fail_status(in->name, status);
  } else {
    memcpy(part->data, data, tensor->size);
    code = check_part(in, tensor, part);
  }
  free(owned);
  return code;
}

/* Decodes values in the tensor's dtype, in *z: to be freed. */
static int decode_values(void **z, cli_parts *parts, tensors_note *note, const cli_job *job) {
  const cli_target *target = &note->kind->target;
  size_t count = job->rows * job->cols;
  unsigned size = note->dtype == ST_F64 || !target->kind->fits(target, 4) ? 8 : 4;
  unsigned expected = st_dtype_bits(note->dtype) / 8;
  void *values = cli_alloc(count, size);
  int code = values ? target->kind->decode(values, size, parts, target, job) : CLI_BAD;
  *z = values;
  if (code == CLI_OK && size != expected) {
    hu_format format = note->dtype == ST_F16 ? hu_binary16() : note->dtype == ST_BF16 ? hu_bfloat16() : hu_binary32();
    cli_source x = cli_floats_source(values, size);
    *z = cli_alloc(count, expected);
    hu_status status = *z ? cli_encode_source(*z, &x, count, format, (hu_mode){0}, &job->exec, NULL) : HU_E_MEMORY;
    if (*z && status != HU_OK) cli_fail_status(job->name, status);
    if (status != HU_OK) code = CLI_BAD;
    free(values);
  }
  if (code == CLI_OK) return CLI_OK;
  free(*z);
  *z = NULL;
  return code;
}

static int decode_tensor(void **z, const cli_quantize_state *state, const tensors_input *in, tensors_note *note) {
  const cli_target *target = &note->kind->target;
  cli_parts parts;
  cli_job job = {.name = in->name, .exec = {state->numeric.threads, 0, {0, 0}, {0}}};
  cli_job_shape(&job, target, note->rows_out, note->dims, note->shape);
  if (cli_parts_alloc(&parts, target, &job)) return CLI_BAD;
  int code = CLI_OK;
  for (int i = 0; i < parts.count && code == CLI_OK; i++) code = load_one(&parts, i, in, note);
  if (code == CLI_OK) code = decode_values(z, &parts, note, &job);
  cli_parts_free(&parts);
  return code;
}

static int make_plan(st_file *plan, const tensors_input *in, const char *out, const tensors_notes *notes) {
  int good = 1;
  for (size_t i = 0; i < in->file.entries && good; i++)
    good = tensors_is_note(&in->file.metadata[i]) || st_set(plan, in->file.metadata[i].key, in->file.metadata[i].value);
  for (size_t i = 0; i < notes->count && good; i++) {
    const tensors_note *note = &notes->list[i];
    good = st_add(plan, note->name, note->dtype, note->dims, note->shape);
  }
  for (size_t i = 0; i < in->file.count && good; i++) {
    const st_tensor *tensor = &in->file.tensors[i];
    good = tensors_is_part(tensor, notes) || st_add(plan, tensor->name, tensor->dtype, tensor->dims, tensor->shape);
  }
  if (!good) return cli_fail(in->name, "out of memory, or a shape beyond the address space");
  return tensors_layout(plan, out);
}

static int put_values(cli_output *output, const st_file *plan, const tensors_note *note, void *z) {
  const st_tensor *tensor = st_find(plan, note->name);
  if (CLI_HOST_BIG) cli_copy_swapped(z, z, tensor->count, st_dtype_bits(tensor->dtype) / 8);
  return cli_output_at(output, plan->data + tensor->begin, z, tensor->size);
}

static int write_all(const cli_quantize_state *state, const tensors_input *in, st_file *plan, const char *out,
                     const tensors_notes *notes) {
  cli_output output;
  size_t length;
  char *header = st_header(plan, &length);
  if (!header) return cli_fail(out, "the header is too long, or a name in it is not UTF-8");
  int code = cli_output_open(&output, out);
  if (code == CLI_OK) {
    code = cli_output_at(&output, 0, header, length);
    for (size_t i = 0; i < notes->count && code == CLI_OK && !cli_output_stopped(&output); i++) {
      void *z = NULL;
      code = decode_tensor(&z, state, in, &notes->list[i]);
      if (code == CLI_OK) code = put_values(&output, plan, &notes->list[i], z);
      free(z);
    }
    for (size_t i = 0; i < in->file.count && code == CLI_OK; i++) {
      const st_tensor *tensor = &in->file.tensors[i];
      if (!tensors_is_part(tensor, notes))
        code = cli_output_at(&output, plan->data + st_find(plan, tensor->name)->begin, in->data + tensor->begin,
                             tensor->size);
    }
    int closed = cli_output_close(&output, code == CLI_OK || output.error);
    if (code == CLI_OK) code = closed;
  }
  free(header);
  return code;
}

static int write_npy(const cli_quantize_state *state, const tensors_input *in, const char *out, tensors_note *note,
                     const st_tensor *tensor) {
  npy_info info = {0};
  void *z = NULL;
  if (note->dtype == ST_BF16) return cli_fail(in->name, "NumPy has no bfloat16; decode into OUT.safetensors");
  info.kind = 'f';
  info.size = (uint8_t)(st_dtype_bits(note->dtype) / 8);
  info.dims = note->dims;
  memcpy(info.shape, note->shape, note->dims * sizeof *note->shape);
  info.count = tensor->count;
  int code = decode_tensor(&z, state, in, note);
  if (code == CLI_OK) code = cli_array_save(out, &info, z);
  free(z);
  return code;
}

static int nothing_to_decode(const tensors_input *in) {
  if (in->why) return cli_fail(NULL, "%s", in->why);
  return cli_fail(in->name,
                  "holds no codes of `halfulp quantize --codes` (no metadata halfulp.NAME), nor in a layout of another "
                  "program that is known");
}

static int decode_open(const cli_quantize_state *state, const tensors_input *in, const char *out) {
  tensors_notes notes;
  st_file plan = {0};
  if (in->model) return cli_decode_model(state, in, out);
  int code = tensors_notes_read(&notes, in);
  if (code == CLI_OK && state->includes)
    code = cli_fail(in->name, "--include goes with models in layouts of other programs");
  if (code == CLI_OK && !notes.count) code = nothing_to_decode(in);
  if (code == CLI_OK) code = make_plan(&plan, in, out, &notes);
  if (code == CLI_OK && cli_ends(out, ".safetensors"))
    code = write_all(state, in, &plan, out, &notes);
  else if (code == CLI_OK)
    code = plan.count == 1 ? write_npy(state, in, out, &notes.list[0], &plan.tensors[0])
                           : cli_fail(in->name, "holds %zu tensors; an .npy file has one", plan.count);
  st_free(&plan);
  tensors_notes_free(&notes);
  return code;
}

int cli_decode_tensors(const cli_quantize_state *state, const char *path, const char *out) {
  tensors_input in;
  if (state->target.kind) return cli_fail(NULL, "decode: a .safetensors file says its formats itself; leave -f out");
  if (state->rows_out)
    return cli_fail(NULL, "decode: a .safetensors file says itself how its rows lie; leave --rows out");
  if (state->packed)
    return cli_fail(NULL, "decode: a .safetensors file says itself what is packed; leave --packed out");
  if (!strcmp(out, "-")) return cli_fail(NULL, "a .safetensors file is decoded into a file");
  if (cli_parts_spare(out, NULL, path, NULL, state->in_place) ||
      tensors_open(&in, path, state->layout ? state->layout : TENSORS_AUTO))
    return CLI_BAD;
  int code = decode_open(state, &in, out);
  tensors_close(&in);
  return code;
}
