/* SPDX-License-Identifier: MIT */
/* Brings one tensor into a target: see tensors.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/quantize/gguf.h"
#include "halfulp/formats/ieee.h"

static int put(const tensors_work *work, const char *name, const void *data) {
  const st_tensor *tensor = st_find(work->plan, name);
  const uint8_t *bytes = data;
  unsigned size = st_dtype_bits(tensor->dtype) / 8;
  uint8_t *copy = NULL;
  if (CLI_HOST_BIG && size > 1) {
    copy = cli_alloc(tensor->count, size);
    if (!copy) return CLI_BAD;
    cli_copy_swapped(copy, data, tensor->count, size);
    bytes = copy;
  }
  int code = cli_output_at(work->output, work->plan->data + tensor->begin, bytes, tensor->size);
  free(copy);
  return code;
}

static int copy_tensor(const tensors_work *work, const st_tensor *tensor) {
  if (work->made && work->in->model) return gguf_copy(work, tensor->name);
  return tensors_copy(work->output, work->plan->data + st_find(work->plan, tensor->name)->begin, work->in, tensor);
}

/* Counts numbers by their exponents, from their bits; numbers below 2^-1022 count at the low end, too. */
static void count_exponents(tensors_exponents *exponents, uint64_t counts[TENSORS_EXPONENTS], const double *x, size_t n,
                            double *amax) {
  for (size_t i = 0; i < n; i++) {
    uint64_t bits;
    memcpy(&bits, &x[i], sizeof bits);
    int place = (int)(bits >> 52 & 0x7FF) - 1023 - TENSORS_LOWEST;
    if (x[i] == 0) {
      exponents->zeros++;
      continue;
    }
    if (!isfinite(x[i])) {
      exponents->others++;
      continue;
    }
    if (amax && fabs(x[i]) > *amax) *amax = fabs(x[i]);
    counts[place < 0 ? 0 : place < TENSORS_EXPONENTS ? place : TENSORS_EXPONENTS - 1]++;
  }
}

int tensors_pack(tensors_exponents *exponents, const uint64_t counts[TENSORS_EXPONENTS]) {
  int low = 0, high = TENSORS_EXPONENTS;
  while (low < high && !counts[low]) low++;
  while (high > low && !counts[high - 1]) high--;
  free(exponents->counts);
  exponents->low = low;
  exponents->count = high - low;
  exponents->counts = NULL;
  if (!exponents->count) return CLI_OK;
  exponents->counts = cli_alloc((size_t)exponents->count, sizeof *exponents->counts);
  if (!exponents->counts) {
    exponents->count = 0;
    return CLI_BAD;
  }
  memcpy(exponents->counts, counts + low, (size_t)exponents->count * sizeof *exponents->counts);
  return CLI_OK;
}

void tensors_result_free(tensors_result *result) {
  free(result->before.counts);
  free(result->after.counts);
  result->before.counts = result->after.counts = NULL;
}

static int look(tensors_exponents *exponents, const cli_source *x, size_t count, double *amax) {
  double block[CLI_BLOCK];
  uint64_t counts[TENSORS_EXPONENTS] = {0};
  for (size_t i = 0; i < count; i += CLI_BLOCK) {
    size_t n = count - i < CLI_BLOCK ? count - i : CLI_BLOCK;
    cli_source_read(x, block, i, n);
    count_exponents(exponents, counts, block, n, amax);
  }
  return tensors_pack(exponents, counts);
}

static int judge(tensors_result *result, const cli_source *x, const cli_source *z) {
  cli_measure(&result->errors, x, z, result->tensor->count);
  return look(&result->before, x, result->tensor->count, &result->amax) ||
                 look(&result->after, z, result->tensor->count, NULL)
             ? CLI_BAD
             : CLI_OK;
}

/* Rounds values of binary32 or binary64 into codes of binary16 or bfloat16; returns how many are others then. */
static int round_again(void *z, const cli_source *x, size_t count, hu_format format, const cli_job *job,
                       uint64_t *again) {
  cli_errors errors;
  hu_status status = cli_encode_source(z, x, count, format, (hu_mode){0}, &job->exec, NULL);
  if (status != HU_OK) return cli_fail_status(job->name, status);
  cli_source after = cli_codes_source(z, format);
  cli_measure(&errors, x, &after, count);
  *again = errors.changed;
  return CLI_OK;
}

/* Errors are asked for by their causes: a comparison, or a report. */
static int has_causes(const tensors_work *work) { return !work->output || work->state->report; }

static int make_values(const tensors_work *work, tensors_result *result, cli_job *job) {
  const cli_target *target = &work->state->target;
  size_t count = result->tensor->count;
  int dtype = work->output ? st_find(work->plan, result->tensor->name)->dtype
                           : tensors_value_dtype(target, result->tensor->dtype),
      narrow = dtype == ST_F16 || dtype == ST_BF16;
  unsigned size = dtype == ST_F64 || !target->kind->fits(target, 4) ? 8 : 4;
  void *values = cli_alloc(count, size), *z = NULL;
  int code = values ? target->kind->values(values, size, target, job) : CLI_BAD;
  cli_source x = cli_floats_source(values, size), y = x;
  if (code == CLI_OK && (narrow || size != st_dtype_bits(dtype) / 8)) {
    hu_format format = dtype == ST_F16 ? hu_binary16() : dtype == ST_BF16 ? hu_bfloat16() : hu_binary32();
    z = cli_alloc(count, narrow ? 2 : 4);
    code = z ? round_again(z, &x, count, format, job, &result->again) : CLI_BAD;
    y = narrow ? cli_codes_source(z, format) : cli_floats_source(z, 4);
  }
  if (code == CLI_OK) {
    code = judge(result, &job->x, &y);
    if (code == CLI_OK && has_causes(work)) code = tensors_causes(result, &x, target, job);
    if (code == CLI_OK && work->output) code = put(work, result->tensor->name, z ? z : values);
  }
  free(values);
  free(z);
  return code;
}

static int put_packed(const tensors_work *work, const char *name, const cli_parts *parts) {
  const cli_target *target = &work->state->target;
  uint8_t *packed = cli_alloc(parts->packed_rows * parts->packed_row, 1);
  if (!packed) return CLI_BAD;
  hu_status status = target->kind->pack(packed, parts, target);
  int code = status == HU_OK ? put(work, name, packed) : cli_fail_status(name, status);
  free(packed);
  return code;
}

static int put_parts(const tensors_work *work, const char *tensor, const cli_parts *parts) {
  int code = CLI_OK;
  if (tensors_native(&work->state->target) >= 0) return put(work, tensor, parts->part[0].data);
  if (work->made) return gguf_put(work, tensor, parts);
  for (int i = 0; i < parts->count && code == CLI_OK; i++) {
    char *name = tensors_name(tensor, parts->part[i].suffix);
    if (!name) return CLI_BAD;
    code = i == 0 && parts->width <= 8 ? put_packed(work, name, parts) : put(work, name, parts->part[i].data);
    free(name);
  }
  return code;
}

static int make_codes(const tensors_work *work, tensors_result *result, cli_job *job) {
  const cli_target *target = &work->state->target;
  unsigned size = target->kind->fits(target, 4) ? 4 : 8;
  cli_parts parts;
  if (cli_parts_alloc(&parts, target, job)) return CLI_BAD;
  void *back = cli_alloc(result->tensor->count, size);
  int code = back ? target->kind->encode(&parts, target, job) : CLI_BAD;
  if (code == CLI_OK) code = target->kind->decode(back, size, &parts, target, job);
  if (code == CLI_OK) {
    cli_source z = cli_floats_source(back, size);
    code = judge(result, &job->x, &z);
    if (code == CLI_OK && has_causes(work)) code = tensors_causes(result, &z, target, job);
    if (code == CLI_OK) code = put_parts(work, result->tensor->name, &parts);
  }
  free(back);
  cli_parts_free(&parts);
  return code;
}

int tensors_one(const tensors_work *work, tensors_result *result) {
  const cli_quantize_state *state = work->state;
  const cli_target *target = &state->target;
  char shown[ST_NAME_MAX], place[ST_NAME_MAX + 256];
  void *owned;
  cli_parts sizes = {0};
  if (!result->done) return work->output ? copy_tensor(work, result->tensor) : CLI_OK;
  snprintf(place, sizeof place, "%.240s: tensor '%s'", work->in->name, st_printable(shown, result->tensor->name));
  if (tensors_check_bool(work->in, result->tensor)) return CLI_BAD;
  const void *data = tensors_aligned(&owned, work->in, result->tensor);
  if (!data) return CLI_BAD;
  cli_job job = {.name = place,
                 .x = tensors_source(result->tensor->dtype, data),
                 .mode = state->numeric.mode,
                 .exec = {work->threads, 0, state->numeric.stream, {0}},
                 .amax = state->has_amax ? &state->amax : NULL};
  job.exec.stream.counter += result->first;
  cli_job_shape(&job, target, state->rows_out, result->tensor->dims, result->tensor->shape);
  if (cli_set_importance(&job, state, result->tensor->name, result->tensor->dims, result->tensor->shape)) {
    free(owned);
    return CLI_BAD;
  }
  cli_parts_plan(&sizes, target, &job);
  result->bits = result->tensor->count ? sizes.bits / (double)result->tensor->count : 0;
  result->shape = cli_row_shape_of(target, &job, result->tensor->dims, result->tensor->shape);
  int code = state->codes ? make_codes(work, result, &job) : make_values(work, result, &job);
  result->events = job.events;
  result->blocks = job.blocks;
  result->twice = job.twice;
  free(owned);
  return code;
}
