/* SPDX-License-Identifier: MIT */
/* Brings one tensor into a target: see tensors.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/quantize/gguf.h"
#include "halfulp/formats/ieee.h"

static int put(const tensors_work *w, const char *name, const void *data) {
  const st_tensor *t = st_find(w->plan, name);
  const uint8_t *bytes = data;
  unsigned size = st_dtype_bits(t->dtype) / 8;
  uint8_t *copy = NULL;
  if (CLI_HOST_BIG && size > 1) {
    copy = cli_room(t->count, size);
    if (!copy) return CLI_BAD;
    cli_copy_swapped(copy, data, t->count, size);
    bytes = copy;
  }
  int code = cli_output_at(w->output, w->plan->data + t->begin, bytes, t->size);
  free(copy);
  return code;
}

static int copy_tensor(const tensors_work *w, const st_tensor *t) {
  return cli_output_at(w->output, w->plan->data + st_find(w->plan, t->name)->begin, w->in->data + t->begin, t->size);
}

/* Counts numbers by their exponents, from their bits; numbers below 2^-1022 count at the low end, too. */
static void count_exponents(tensors_exponents *e, uint64_t counts[TENSORS_EXPONENTS], const double *x, size_t n,
                            double *amax) {
  for (size_t i = 0; i < n; i++) {
    uint64_t u;
    memcpy(&u, &x[i], sizeof u);
    int place = (int)(u >> 52 & 0x7FF) - 1023 - TENSORS_LOWEST;
    if (x[i] == 0) {
      e->zeros++;
      continue;
    }
    if (!isfinite(x[i])) {
      e->others++;
      continue;
    }
    if (amax && fabs(x[i]) > *amax) *amax = fabs(x[i]);
    counts[place < 0 ? 0 : place < TENSORS_EXPONENTS ? place : TENSORS_EXPONENTS - 1]++;
  }
}

int tensors_pack(tensors_exponents *e, const uint64_t counts[TENSORS_EXPONENTS]) {
  int low = 0, high = TENSORS_EXPONENTS;
  while (low < high && !counts[low]) low++;
  while (high > low && !counts[high - 1]) high--;
  free(e->counts);
  e->low = low;
  e->count = high - low;
  e->counts = NULL;
  if (!e->count) return CLI_OK;
  e->counts = cli_room((size_t)e->count, sizeof *e->counts);
  if (!e->counts) {
    e->count = 0;
    return CLI_BAD;
  }
  memcpy(e->counts, counts + low, (size_t)e->count * sizeof *e->counts);
  return CLI_OK;
}

void tensors_result_free(tensors_result *r) {
  free(r->before.counts);
  free(r->after.counts);
  r->before.counts = r->after.counts = NULL;
}

static int look(tensors_exponents *e, const cli_source *x, size_t count, double *amax) {
  double block[CLI_BLOCK];
  uint64_t counts[TENSORS_EXPONENTS] = {0};
  for (size_t i = 0; i < count; i += CLI_BLOCK) {
    size_t n = count - i < CLI_BLOCK ? count - i : CLI_BLOCK;
    cli_source_read(x, block, i, n);
    count_exponents(e, counts, block, n, amax);
  }
  return tensors_pack(e, counts);
}

static int judge(tensors_result *r, const cli_source *x, const cli_source *z) {
  cli_measure(&r->errors, x, z, r->tensor->count);
  return look(&r->before, x, r->tensor->count, &r->amax) || look(&r->after, z, r->tensor->count, NULL) ? CLI_BAD
                                                                                                       : CLI_OK;
}

/* Rounds values of binary32 or binary64 into codes of binary16 or bfloat16; returns how many are others then. */
static int round_again(void *z, const cli_source *x, size_t count, hu_format f, const cli_job *job, uint64_t *again) {
  cli_errors errors;
  hu_status status = cli_encode_source(z, x, count, f, (hu_mode){0}, &job->exec, NULL);
  if (status != HU_OK) return cli_fail_status(job->name, status);
  cli_source after = cli_codes_source(z, f);
  cli_measure(&errors, x, &after, count);
  *again = errors.changed;
  return CLI_OK;
}

static int make_values(const tensors_work *w, tensors_result *r, cli_job *job) {
  const cli_target *t = &w->s->target;
  size_t count = r->tensor->count;
  int dtype = w->output ? st_find(w->plan, r->tensor->name)->dtype : tensors_value_dtype(t, r->tensor->dtype),
      narrow = dtype == ST_F16 || dtype == ST_BF16;
  unsigned size = dtype == ST_F64 || !t->kind->fits(t, 4) ? 8 : 4;
  void *values = cli_room(count, size), *z = NULL;
  int code = values ? t->kind->values(values, size, t, job) : CLI_BAD;
  cli_source x = cli_floats_source(values, size), y = x;
  if (code == CLI_OK && (narrow || size != st_dtype_bits(dtype) / 8)) {
    hu_format f = dtype == ST_F16 ? hu_binary16() : dtype == ST_BF16 ? hu_bfloat16() : hu_binary32();
    z = cli_room(count, narrow ? 2 : 4);
    code = z ? round_again(z, &x, count, f, job, &r->again) : CLI_BAD;
    y = narrow ? cli_codes_source(z, f) : cli_floats_source(z, 4);
  }
  if (code == CLI_OK) {
    code = judge(r, &job->x, &y);
    if (code == CLI_OK && w->output) code = put(w, r->tensor->name, z ? z : values);
  }
  free(values);
  free(z);
  return code;
}

static int put_packed(const tensors_work *w, const char *name, const cli_parts *parts) {
  const cli_target *t = &w->s->target;
  uint8_t *packed = cli_room(parts->packed_rows * parts->packed_row, 1);
  if (!packed) return CLI_BAD;
  hu_status status = t->kind->pack(packed, parts, t);
  int code = status == HU_OK ? put(w, name, packed) : cli_fail_status(name, status);
  free(packed);
  return code;
}

static int put_parts(const tensors_work *w, const char *tensor, const cli_parts *parts) {
  int code = CLI_OK;
  if (tensors_native(&w->s->target) >= 0) return put(w, tensor, parts->part[0].data);
  if (w->made) return gguf_put(w, tensor, parts);
  for (int i = 0; i < parts->count && code == CLI_OK; i++) {
    char *name = tensors_name(tensor, parts->part[i].suffix);
    if (!name) return CLI_BAD;
    code = i == 0 && parts->width <= 8 ? put_packed(w, name, parts) : put(w, name, parts->part[i].data);
    free(name);
  }
  return code;
}

static int make_codes(const tensors_work *w, tensors_result *r, cli_job *job) {
  const cli_target *t = &w->s->target;
  unsigned size = t->kind->fits(t, 4) ? 4 : 8;
  cli_parts parts;
  if (cli_parts_room(&parts, t, job)) return CLI_BAD;
  void *back = cli_room(r->tensor->count, size);
  int code = back ? t->kind->encode(&parts, t, job) : CLI_BAD;
  if (code == CLI_OK) code = t->kind->decode(back, size, &parts, t, job);
  if (code == CLI_OK) {
    cli_source z = cli_floats_source(back, size);
    code = judge(r, &job->x, &z);
    if (code == CLI_OK) code = put_parts(w, r->tensor->name, &parts);
  }
  free(back);
  cli_parts_free(&parts);
  return code;
}

int tensors_one(const tensors_work *w, tensors_result *r) {
  const cli_quantize_state *s = w->s;
  const cli_target *t = &s->target;
  char shown[ST_NAME_MAX], place[ST_NAME_MAX + 256];
  void *owned;
  cli_parts sizes = {0};
  if (!r->done) return w->output ? copy_tensor(w, r->tensor) : CLI_OK;
  snprintf(place, sizeof place, "%.240s: tensor '%s'", w->in->name, st_printable(shown, r->tensor->name));
  if (tensors_check_bool(w->in, r->tensor)) return CLI_BAD;
  const void *data = tensors_aligned(&owned, w->in, r->tensor);
  if (!data) return CLI_BAD;
  cli_job job = {.name = place,
                 .x = tensors_source(r->tensor->dtype, data),
                 .mode = s->numeric.mode,
                 .exec = {w->threads, 0, s->numeric.stream},
                 .amax = s->has_amax ? &s->amax : NULL};
  job.exec.stream.counter += r->first;
  cli_job_shape(&job, t, s->rows_out, r->tensor->dims, r->tensor->shape);
  cli_parts_plan(&sizes, t, &job);
  r->bits = r->tensor->count ? sizes.bits / (double)r->tensor->count : 0;
  r->shape = cli_row_shape_of(t, &job, r->tensor->dims, r->tensor->shape);
  int code = s->codes ? make_codes(w, r, &job) : make_values(w, r, &job);
  r->events = job.events;
  r->blocks = job.blocks;
  free(owned);
  return code;
}
