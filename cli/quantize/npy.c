/* SPDX-License-Identifier: MIT */
/* Brings arrays in .npy into a target, as values or as codes with their scales beside them, and back. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/numbers.h"
#include "cli/quantize/quantize.h"
#include "halfulp/formats/ieee.h"

/* Returns the width of the values: the input's own, of integers binary32's, or the next one that holds them. */
static unsigned value_size(const cli_quantize_state *state, const npy_info *x) {
  const cli_target *target = &state->target;
  unsigned size = x->kind == 'f' ? x->size : 4;
  if (size == 2 && !target->kind->fits(target, 2)) size = 4;
  return size == 4 && !target->kind->fits(target, 4) ? 8 : size;
}

static int values_on_cpu(void *z, unsigned size, const cli_quantize_state *state, cli_job *job) {
  const cli_target *target = &state->target;
  if (size > 2) return target->kind->values(z, size, target, job);
  size_t count = job->rows * job->cols;
  float *wide = cli_alloc(count, sizeof *wide);
  if (!wide) return CLI_BAD;
  int code = target->kind->values(wide, sizeof *wide, target, job);
  if (code == CLI_OK) { /* exact: value_size has asked */
    hu_status status = hu_encode_n(count, z, 1, wide, 1, hu_binary16(), (hu_mode){0}, &job->exec, NULL);
    if (status != HU_OK) code = cli_fail_status(job->name, status);
  }
  free(wide);
  return code;
}

static int on_device(void *z, const cli_quantize_state *state, cli_job *job) {
  size_t count = job->rows * job->cols;
  hu_format format = state->target.format;
  hu_exec there = job->exec;
  there.where = hu_cuda_host();
  hu_status status = state->codes ? hu_encode_n(count, z, 1, job->x.data, 1, format, job->mode, &there, &job->events)
                                  : hu_quantize_n(count, z, 1, job->x.data, 1, format, job->mode, &there, &job->events);
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
static int needs_rows(const cli_quantize_state *state) {
  return !state->target.kind->elementwise || state->numeric.mode.round >= HU_SRA;
}

/* Saves elements z in the job's order, as OUT.npy. */
static int save(const char *path, const outcome *made, const void *z) {
  void *copy = NULL;
  if (made->rows && cli_rows_in_order(&z, &copy, &made->info, z)) return CLI_BAD;
  int code = cli_array_save(path, &made->info, z);
  free(copy);
  return code;
}

static void report_json(FILE *out, const cli_quantize_state *state, const cli_array *x, const outcome *made) {
  char name[CLI_TARGET_MAX], mode[CLI_NAME_MAX];
  cli_target_name(name, &state->target);
  cli_json(out, "{'file': ?, 'format': ?, 'mode': ?, 'device': ?, 'dtype_in': ?, 'dtype_out': ?, ", JSON(x->name),
           JSON(name), JSON(cli_mode_name(mode, state->numeric.mode)), JSON(made->device), JSON(npy_dtype(&x->info)),
           JSON(npy_dtype(&made->info)));
  cli_json(out, "'events': ?, 'errors': ?, 'bits_per_element': ?", JSON(&made->job.events),
           cli_errors_value(&made->errors), JSON(made->info.count ? made->parts.bits / (double)made->info.count : 0));
  if (state->target.rounds_before) cli_json(out, ", 'rounded_twice': ?", JSON(made->job.twice));
  if (!state->target.kind->elementwise)
    cli_json(out, ", 'blocks': ?, ?", cli_blocks_value(&made->job.blocks), cli_row_shape_value(&made->shape));
  fputs("}\n", out);
}

static void report(FILE *out, const cli_quantize_state *state, const cli_array *x, const outcome *made) {
  char name[CLI_TARGET_MAX], mode[CLI_NAME_MAX], shape[NPY_SHAPE_MAX], shown[CLI_SHOWN_MAX];
  if (!out) return;
  if (state->numeric.json) {
    report_json(out, state, x, made);
    return;
  }
  npy_shape(shape, &x->info);
  fprintf(out, "%s: %s %s to %s, %s, on %s; written as %s\n", cli_shown(shown, x->name), npy_dtype(&x->info), shape,
          cli_target_name(name, &state->target), cli_mode_name(mode, state->numeric.mode), made->device,
          npy_dtype(&made->info));
  fprintf(out, "  events\n");
  cli_print_events(out, "    ", &made->job.events);
  if (state->target.rounds_before) fprintf(out, "    not as rounded once %llu\n", (unsigned long long)made->job.twice);
  if (!state->target.kind->elementwise) {
    fprintf(out, "  matrix of %zu rows of %zu\n", made->job.rows, made->job.cols);
    if (made->job.blocks.count) cli_print_blocks(out, "    ", &made->job.blocks);
    if (made->info.count)
      fprintf(out, "    bits per element %s\n", ROUNDED(made->parts.bits / (double)made->info.count, 4));
  }
  fprintf(out, "  errors\n");
  cli_print_errors(out, "    ", &made->errors);
  if (made->shape.block) {
    fputs("  note: ", out);
    cli_print_row_shape(out, &made->shape);
  }
}

static int make_codes(outcome *made, const cli_quantize_state *state, const char *path) {
  cli_job *job = &made->job;
  const cli_target *target = &state->target;
  void *back = NULL;
  if (made->parts.count > 1 && !strcmp(path, "-"))
    return cli_fail("standard output", "codes with scales are several files; give OUT.npy or OUT.safetensors");
  if (cli_parts_alloc(&made->parts, target, job)) return CLI_BAD;
  int code =
      state->device ? on_device(made->parts.part[0].data, state, job) : target->kind->encode(&made->parts, target, job);
  cli_source z = cli_codes_source(made->parts.part[0].data, target->format);
  if (code == CLI_OK && target->kind != &cli_kind_format) {
    unsigned size = target->kind->fits(target, 4) ? 4 : 8;
    back = cli_alloc(made->info.count, size);
    code = back ? target->kind->decode(back, size, &made->parts, target, job) : CLI_BAD;
    z = cli_floats_source(back, size);
  }
  if (code == CLI_OK) {
    cli_measure(&made->errors, &job->x, &z, made->info.count);
    code = made->parts.count > 1 ? cli_parts_save(path, &made->info, &made->parts)
                                 : save(path, made, made->parts.part[0].data);
  }
  free(back);
  cli_parts_free(&made->parts);
  return code;
}

static int make_values(outcome *made, const cli_quantize_state *state, const char *path) {
  void *z = cli_alloc(made->info.count, made->info.size);
  if (!z) return CLI_BAD;
  int code = state->device ? on_device(z, state, &made->job) : values_on_cpu(z, made->info.size, state, &made->job);
  if (code == CLI_OK) {
    cli_source to = made->info.size == 2 ? cli_codes_source(z, hu_binary16()) : cli_floats_source(z, made->info.size);
    cli_measure(&made->errors, &made->job.x, &to, made->info.count);
    code = save(path, made, z);
  }
  free(z);
  return code;
}

/* Sets the importance of the array's columns, of which the file of --importance must say something. */
static int set_importance(cli_job *job, const cli_quantize_state *state, const char *in, const npy_info *info) {
  char *name = cli_array_tensor(in);
  if (!name) return cli_fail(in, "out of memory");
  int code = cli_set_importance(job, state, name, info->dims, info->shape);
  if (code == CLI_OK && state->importance && !job->importance.by_column)
    code = cli_fail(state->importance, "says nothing of a tensor '%s'", name);
  free(name);
  return code;
}

int cli_quantize_array(const cli_quantize_state *state, cli_array *x, const char *in, const char *path,
                       const char *device) {
  const cli_target *target = &state->target;
  outcome made = {0};
  int fortran = x->info.fortran && target->kind->elementwise;
  made.rows = needs_rows(state);
  if (made.rows && cli_array_in_rows(x)) return CLI_BAD;
  made.info = x->info;
  made.info.fortran = (uint8_t)fortran;
  made.info.big = 0;
  made.device = device;
  made.job = (cli_job){.name = x->name,
                       .x = cli_values_source(x),
                       .mode = state->numeric.mode,
                       .exec = {state->numeric.threads, 0, state->numeric.stream, {0}},
                       .amax = state->has_amax ? &state->amax : NULL};
  cli_job_shape(&made.job, target, state->rows_out, x->info.dims, x->info.shape);
  if (set_importance(&made.job, state, in, &x->info)) return CLI_BAD;
  cli_parts_plan(&made.parts, target, &made.job);
  made.shape = cli_row_shape_of(target, &made.job, x->info.dims, x->info.shape);
  if (target->kind->check(target, &made.job)) return CLI_BAD;
  if (cli_parts_spare(path, state->codes ? &made.parts : NULL, in, NULL, state->in_place)) return CLI_BAD;
  if (state->device && target->kind != &cli_kind_format)
    return cli_fail("--device cuda", "other than plain formats run on the CPU here");
  if (state->device && (x->info.kind != 'f' || x->info.size != 4))
    return cli_fail(x->name, "the device quantizes float32, this is %s", npy_dtype(&x->info));
  made.info.kind = state->codes ? 'u' : 'f';
  made.info.size = state->codes ? made.parts.part[0].size : (uint8_t)value_size(state, &x->info);
  int code = state->codes ? make_codes(&made, state, path) : make_values(&made, state, path);
  if (code == CLI_OK) report(cli_report_file(path, state->numeric.json), state, x, &made);
  return code;
}

static int decode_loaded(const cli_quantize_state *state, cli_array *x, const char *in, const char *out) {
  const cli_target *target = &state->target;
  cli_parts parts = {0};
  cli_job job = {.name = x->name, .exec = {state->numeric.threads, 0, {0, 0}, {0}}};
  char name[CLI_TARGET_MAX];
  if (!target->kind->elementwise && cli_array_in_rows(x)) return CLI_BAD;
  cli_parts_plan(&parts, target, &job); /* the width, of any shape */
  cli_code_rule rule = cli_code_rule_part(&parts.part[0]);
  rule.name = cli_target_name(name, target);
  rule.can_unpack = 1;
  if (state->packed && cli_array_unpack(x, rule)) return CLI_BAD;
  npy_info info = x->info;
  cli_job_shape(&job, target, state->rows_out, x->info.dims, x->info.shape);
  cli_parts_plan(&parts, target, &job);
  if (cli_parts_spare(out, NULL, in, &parts, state->in_place)) return CLI_BAD;
  if (cli_parts_alloc(&parts, target, &job)) return CLI_BAD;
  int code = CLI_OK;
  info.kind = 'f';
  info.big = 0;
  info.fortran = x->info.fortran;
  info.size = target->kind->fits(target, 4) ? 4 : 8;
  if (x->info.kind != 'u' || x->info.size != parts.part[0].size)
    code = cli_fail(x->name, "codes of %s are uint%u, this is %s", cli_target_name(name, target),
                    8u * parts.part[0].size, npy_dtype(&x->info));
  else
    code = cli_codes_check(x->name, &x->info, x->data, rule);
  if (code == CLI_OK) memcpy(parts.part[0].data, x->data, x->info.count * x->info.size);
  if (code == CLI_OK) code = cli_parts_load(&parts, in);
  void *z = code == CLI_OK ? cli_alloc(info.count, info.size) : NULL;
  code = z ? target->kind->decode(z, info.size, &parts, target, &job) : CLI_BAD;
  if (code == CLI_OK) code = cli_array_save(out, &info, z);
  free(z);
  cli_parts_free(&parts);
  return code;
}

/* Checks that a type that the file names is the format asked for. */
static int check_named(const cli_quantize_state *state, const cli_array *x) {
  char name[CLI_TARGET_MAX];
  hu_format format;
  const cli_target *target = &state->target;
  if (!x->info.named) return CLI_OK;
  int known = hu_format_find(&format, x->info.named) == HU_OK;
  if (known && (target->kind != &cli_kind_format || hu_format_equal(format, target->format))) return CLI_OK;
  return cli_fail(x->name, "its dtype is %s, and -f is %s", x->info.named, cli_target_name(name, target));
}

int cli_decode_array(const cli_quantize_state *state, const char *in, const char *out) {
  cli_array x;
  if (state->layout || state->includes)
    return cli_fail(NULL, "decode: --%s goes with .safetensors files", state->layout ? "layout" : "include");
  if (!state->target.kind) return cli_fail(NULL, "no format given; use -f FORMAT");
  if (cli_array_load_codes(&x, in)) return CLI_BAD;
  int code = check_named(state, &x);
  if (code == CLI_OK) code = decode_loaded(state, &x, in, out);
  cli_array_free(&x);
  return code;
}
