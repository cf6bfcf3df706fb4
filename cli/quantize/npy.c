/* SPDX-License-Identifier: MIT */
/* Brings arrays in .npy into a target, as values or as codes with their scales beside them, and back. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/numbers.h"
#include "cli/quantize/quantize.h"
#include "halfulp/formats/ieee.h"

/* Returns the width of the values: the input's own, of integers binary32's, or the next one that holds them. */
static unsigned value_size(const cli_quantize_state *s, const npy_info *x) {
  const cli_target *t = &s->target;
  unsigned size = x->kind == 'f' ? x->size : 4;
  if (size == 2 && !t->kind->fits(t, 2)) size = 4;
  return size == 4 && !t->kind->fits(t, 4) ? 8 : size;
}

static int values_on_cpu(void *z, unsigned size, const cli_quantize_state *s, cli_job *job) {
  const cli_target *t = &s->target;
  if (size > 2) return t->kind->values(z, size, t, job);
  size_t count = job->rows * job->cols;
  float *wide = cli_room(count, sizeof *wide);
  if (!wide) return CLI_BAD;
  int code = t->kind->values(wide, sizeof *wide, t, job);
  if (code == CLI_OK) { /* exact: value_size has asked */
    hu_status status = hu_encode_n(count, z, 1, wide, 1, hu_binary16(), (hu_mode){0}, &job->exec, NULL);
    if (status != HU_OK) code = cli_fail_status(job->name, status);
  }
  free(wide);
  return code;
}

static int on_device(void *z, const cli_quantize_state *s, cli_job *job) {
  size_t count = job->rows * job->cols;
  hu_format f = s->target.format;
  hu_status status = s->codes
                         ? hu_device_host_encode_n(count, z, job->x.data, f, job->mode, &job->exec, &job->events)
                         : hu_device_host_quantize_n(count, z, job->x.data, f, job->mode, &job->exec, &job->events);
  return status == HU_OK ? CLI_OK : cli_fail_status(job->name, status);
}

typedef struct outcome {
  npy_info info; /* of OUT.npy */
  cli_job job;
  cli_parts parts;
  cli_errors errors;
  cli_row_shape shape;
  const char *device;
  int rows; /* 1: the job's elements are in rows, whatever the order of IN.npy and OUT.npy */
} outcome;

/* Returns 1 if elements are to lie in rows, because that decides what they become: blocks, and random words, of which
 * element i in row-major order takes word i (docs/numerics.md section 6). */
static int wants_rows(const cli_quantize_state *s) {
  return !s->target.kind->elementwise || s->numeric.mode.round >= HU_SRA;
}

/* Saves elements z in the job's order, as OUT.npy. */
static int save(const char *path, const outcome *o, const void *z) {
  void *copy = NULL;
  if (o->rows && cli_rows_in_order(&z, &copy, &o->info, z)) return CLI_BAD;
  int code = cli_array_save(path, &o->info, z);
  free(copy);
  return code;
}

static void report_json(FILE *out, const cli_quantize_state *s, const cli_array *x, const outcome *o) {
  char name[CLI_TARGET_MAX], mode[CLI_NAME_MAX];
  cli_target_name(name, &s->target);
  fprintf(out, "{\"file\": ");
  cli_json_string(out, x->name);
  fprintf(out, ", \"format\": \"%s\", \"mode\": \"%s\", \"device\": ", name, cli_mode_name(mode, s->numeric.mode));
  cli_json_string(out, o->device);
  fprintf(out, ", \"dtype_in\": \"%s\", \"dtype_out\": \"%s\", \"events\": ", npy_dtype(&x->info), npy_dtype(&o->info));
  cli_json_events(out, &o->job.events);
  fputs(", \"errors\": ", out);
  cli_json_errors(out, &o->errors);
  fputs(", \"bits_per_element\": ", out);
  cli_json_double(out, o->info.count ? o->parts.bits / (double)o->info.count : 0);
  if (!s->target.kind->elementwise) {
    fputs(", \"blocks\": ", out);
    cli_json_blocks(out, &o->job.blocks);
    cli_json_row_shape(out, &o->shape);
  }
  fputs("}\n", out);
}

static void report(FILE *out, const cli_quantize_state *s, const cli_array *x, const outcome *o) {
  char name[CLI_TARGET_MAX], mode[CLI_NAME_MAX], shape[NPY_SHAPE_MAX], shown[CLI_SHOWN_MAX];
  if (!out) return;
  if (s->numeric.json) {
    report_json(out, s, x, o);
    return;
  }
  npy_shape(shape, &x->info);
  fprintf(out, "%s: %s %s to %s, %s, on %s; written as %s\n", cli_shown(shown, x->name), npy_dtype(&x->info), shape,
          cli_target_name(name, &s->target), cli_mode_name(mode, s->numeric.mode), o->device, npy_dtype(&o->info));
  fprintf(out, "  events\n");
  cli_print_events(out, "    ", &o->job.events);
  if (!s->target.kind->elementwise) {
    fprintf(out, "  matrix of %zu rows of %zu\n", o->job.rows, o->job.cols);
    if (o->job.blocks.count) cli_print_blocks(out, "    ", &o->job.blocks);
    if (o->info.count) fprintf(out, "    bits per element %s\n", ROUNDED(o->parts.bits / (double)o->info.count, 4));
  }
  fprintf(out, "  errors\n");
  cli_print_errors(out, "    ", &o->errors);
  if (o->shape.block) {
    fputs("  note: ", out);
    cli_print_row_shape(out, &o->shape);
  }
}

static int make_codes(outcome *o, const cli_quantize_state *s, const char *path) {
  cli_job *job = &o->job;
  const cli_target *t = &s->target;
  void *back = NULL;
  if (o->parts.count > 1 && !strcmp(path, "-"))
    return cli_fail("standard output", "codes with scales are several files; give OUT.npy or OUT.safetensors");
  if (cli_parts_room(&o->parts, t, job)) return CLI_BAD;
  int code = s->device ? on_device(o->parts.part[0].data, s, job) : t->kind->encode(&o->parts, t, job);
  cli_source z = cli_codes_source(o->parts.part[0].data, t->format);
  if (code == CLI_OK && t->kind != &cli_kind_format) {
    unsigned size = t->kind->fits(t, 4) ? 4 : 8;
    back = cli_room(o->info.count, size);
    code = back ? t->kind->decode(back, size, &o->parts, t, job) : CLI_BAD;
    z = cli_floats_source(back, size);
  }
  if (code == CLI_OK) {
    cli_measure(&o->errors, &job->x, &z, o->info.count);
    code = o->parts.count > 1 ? cli_parts_save(path, &o->info, &o->parts) : save(path, o, o->parts.part[0].data);
  }
  free(back);
  cli_parts_free(&o->parts);
  return code;
}

static int make_values(outcome *o, const cli_quantize_state *s, const char *path) {
  void *z = cli_room(o->info.count, o->info.size);
  if (!z) return CLI_BAD;
  int code = s->device ? on_device(z, s, &o->job) : values_on_cpu(z, o->info.size, s, &o->job);
  if (code == CLI_OK) {
    cli_source to = o->info.size == 2 ? cli_codes_source(z, hu_binary16()) : cli_floats_source(z, o->info.size);
    cli_measure(&o->errors, &o->job.x, &to, o->info.count);
    code = save(path, o, z);
  }
  free(z);
  return code;
}

int cli_quantize_array(const cli_quantize_state *s, cli_array *x, const char *in, const char *path,
                       const char *device) {
  const cli_target *t = &s->target;
  outcome o = {0};
  int fortran = x->info.fortran && t->kind->elementwise;
  o.rows = wants_rows(s);
  if (o.rows && cli_array_in_rows(x)) return CLI_BAD;
  o.info = x->info;
  o.info.fortran = (uint8_t)fortran;
  o.info.big = 0;
  o.device = device;
  o.job = (cli_job){.name = x->name,
                    .x = cli_values_source(x),
                    .mode = s->numeric.mode,
                    .exec = {s->numeric.threads, 0, s->numeric.stream},
                    .amax = s->has_amax ? &s->amax : NULL};
  cli_job_shape(&o.job, t, s->rows_out, x->info.dims, x->info.shape);
  cli_parts_plan(&o.parts, t, &o.job);
  o.shape = cli_row_shape_of(t, &o.job, x->info.dims, x->info.shape);
  if (t->kind->check(t, &o.job)) return CLI_BAD;
  if (cli_parts_spare(path, s->codes ? &o.parts : NULL, in, NULL, s->in_place)) return CLI_BAD;
  if (s->device && t->kind != &cli_kind_format)
    return cli_fail("--device cuda", "other than plain formats run on the CPU here");
  if (s->device && (x->info.kind != 'f' || x->info.size != 4))
    return cli_fail(x->name, "the device quantizes float32, this is %s", npy_dtype(&x->info));
  o.info.kind = s->codes ? 'u' : 'f';
  o.info.size = s->codes ? o.parts.part[0].size : (uint8_t)value_size(s, &x->info);
  int code = s->codes ? make_codes(&o, s, path) : make_values(&o, s, path);
  if (code == CLI_OK) report(cli_report_file(path, s->numeric.json), s, x, &o);
  return code;
}

static int decode_loaded(const cli_quantize_state *s, cli_array *x, const char *in, const char *out) {
  const cli_target *t = &s->target;
  cli_parts parts = {0};
  cli_job job = {.name = x->name, .exec = {s->numeric.threads, 0, {0, 0}}};
  char name[CLI_TARGET_MAX];
  if (!t->kind->elementwise && cli_array_in_rows(x)) return CLI_BAD;
  cli_parts_plan(&parts, t, &job); /* the width, of any shape */
  cli_code_rule rule = cli_code_rule_part(&parts.part[0]);
  rule.name = cli_target_name(name, t);
  rule.can_unpack = 1;
  if (s->packed && cli_array_unpack(x, rule)) return CLI_BAD;
  npy_info info = x->info;
  cli_job_shape(&job, t, s->rows_out, x->info.dims, x->info.shape);
  cli_parts_plan(&parts, t, &job);
  if (cli_parts_spare(out, NULL, in, &parts, s->in_place)) return CLI_BAD;
  if (cli_parts_room(&parts, t, &job)) return CLI_BAD;
  int code = CLI_OK;
  info.kind = 'f';
  info.big = 0;
  info.fortran = x->info.fortran;
  info.size = t->kind->fits(t, 4) ? 4 : 8;
  if (x->info.kind != 'u' || x->info.size != parts.part[0].size)
    code = cli_fail(x->name, "codes of %s are uint%u, this is %s", cli_target_name(name, t), 8u * parts.part[0].size,
                    npy_dtype(&x->info));
  else
    code = cli_codes_check(x->name, &x->info, x->data, rule);
  if (code == CLI_OK) memcpy(parts.part[0].data, x->data, x->info.count * x->info.size);
  if (code == CLI_OK) code = cli_parts_load(&parts, in);
  void *z = code == CLI_OK ? cli_room(info.count, info.size) : NULL;
  code = z ? t->kind->decode(z, info.size, &parts, t, &job) : CLI_BAD;
  if (code == CLI_OK) code = cli_array_save(out, &info, z);
  free(z);
  cli_parts_free(&parts);
  return code;
}

int cli_decode_array(const cli_quantize_state *s, const char *in, const char *out) {
  cli_array x;
  if (!s->target.kind) return cli_fail(NULL, "no format given; use -f FORMAT");
  if (cli_array_load(&x, in)) return CLI_BAD;
  int code = decode_loaded(s, &x, in, out);
  cli_array_free(&x);
  return code;
}
