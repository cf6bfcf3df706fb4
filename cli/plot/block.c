/* SPDX-License-Identifier: MIT */
/* Scaled formats for drawings: what becomes of data, and the values of one block under its scales. See plot.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/plot.h"
#include "halfulp/scalar.h"

/* Numbers in codes, what these mean, and how far the block of each element reaches. */
typedef struct scaled_data {
  cli_job job;
  cli_parts parts;
  float *values, *tops; /* of each element: what became of it, and the largest number of its block */
} scaled_data;

static uint32_t code_at(const cli_part *part, size_t i) {
  if (part->size == 1) return ((const uint8_t *)part->data)[i];
  return part->size == 2 ? ((const uint16_t *)part->data)[i] : ((const uint32_t *)part->data)[i];
}

static void put_code(const cli_part *part, size_t i, uint32_t code) {
  if (part->size == 1)
    ((uint8_t *)part->data)[i] = (uint8_t)code;
  else if (part->size == 2)
    ((uint16_t *)part->data)[i] = (uint16_t)code;
  else
    ((uint32_t *)part->data)[i] = code;
}

/* Returns the code of the magnitude: without the sign, or in two's complement made positive. */
static uint32_t magnitude(const hu_scaling *scaling, uint32_t code) {
  uint32_t sign = (uint32_t)1 << (hu_limits_of(scaling->element).width - 1);
  if (!(code & sign)) return code;
  return scaling->coding == HU_CODING_TWOS ? (0 - code) & (2 * sign - 1) : code & (sign - 1);
}

/* Decodes `count` codes, from 0 on if `code` is negative or all that one, under the scales `from` has for each. */
static int decode_codes(float *z, const cli_target *target, const cli_job *job, const cli_parts *from, int64_t code) {
  cli_parts parts;
  if (cli_parts_alloc(&parts, target, job)) return CLI_BAD;
  for (size_t i = 0; i < job->rows * job->cols; i++)
    put_code(&parts.part[0], i, (uint32_t)(code < 0 ? (int64_t)i : code));
  for (int i = 1; i < parts.count; i++) {
    size_t count = parts.part[i].dims ? parts.part[i].rows * parts.part[i].cols : 1;
    memcpy(parts.part[i].data, from->part[i].data, count * parts.part[i].size);
  }
  int status = target->kind->decode(z, sizeof *z, &parts, target, job);
  cli_parts_free(&parts);
  return status;
}

/* Keeps the values of all codes under the scales of element `i`. */
static int keep_block(plot_state *state, const cli_parts *of, size_t row, size_t col) {
  const hu_scaling *scaling = &state->target.scaling;
  const cli_part *scales = &of->part[1];
  size_t count = (size_t)1 << hu_limits_of(scaling->element).width;
  size_t at = (scaling->rows ? row / scaling->rows : 0) * scales->cols + (scaling->cols ? col / scaling->cols : 0);
  cli_job job = {.name = state->data, .rows = 1, .cols = count};
  cli_parts same;
  float *values = cli_alloc(count, sizeof *values);
  if (!values || cli_parts_alloc(&same, &state->target, &job)) {
    free(values);
    return CLI_BAD;
  }
  for (size_t i = 0; i < same.part[1].cols; i++)
    memcpy((char *)same.part[1].data + i * scales->size, (const char *)scales->data + at * scales->size, scales->size);
  state->block.tensor = 1;
  if (of->count > 2) state->block.tensor = ((const float *)of->part[2].data)[state->target.by_rows ? row : 0];
  if (of->count > 2) *(float *)same.part[2].data = state->block.tensor;
  state->block.scale = (float)hu_decode64(scaling->scale, code_at(scales, at));
  int status = decode_codes(values, &state->target, &job, &same, -1);
  cli_parts_free(&same);
  state->block.values = values;
  return status;
}

static int is_drawn(const hu_scaling *scaling) {
  return hu_limits_of(scaling->element).width <= 16 && scaling->rule < HU_SCALE_INTFLOAT_MAE;
}

int plot_block_of_one(plot_state *state) {
  const hu_scaling *scaling = &state->target.scaling;
  float x[1] = {1};
  cli_job job = {.x = cli_floats_source(x, sizeof *x), .rows = 1, .cols = 1, .mode = state->numeric.mode};
  cli_parts parts;
  if (!is_drawn(scaling))
    return cli_fail(
        NULL, "plot: '%s' has elements of more than 16 bits or a type for each block, which one line does not show",
        state->target.given);
  if (cli_parts_alloc(&parts, &state->target, &job)) return CLI_BAD;
  job.exec.stream = state->numeric.stream;
  int status = state->target.kind->encode(&parts, &state->target, &job);
  if (status == CLI_OK) status = keep_block(state, &parts, 0, 0);
  state->block.of_one = 1;
  cli_parts_free(&parts);
  return status;
}

static int class_of(const scaled_data *made, const hu_scaling *scaling, double x, size_t i) {
  if (!isfinite(made->values[i])) return LOST;
  if (fabs(x) > made->tops[i]) return BEYOND_MAX;
  if (made->values[i] == 0) return TO_ZERO;
  return magnitude(scaling, code_at(&made->parts.part[0], i)) < (uint32_t)1 << scaling->element.m ? SUBNORMAL : NORMAL;
}

/* Counts all elements; returns the one whose block is drawn: of those in blocks that have numbers, the largest. */
static size_t count_elements(histogram *data, const scaled_data *made, const hu_scaling *scaling) {
  size_t count = made->job.rows * made->job.cols, found = count;
  double block[CLI_BLOCK], largest = 0;
  for (size_t i = 0; i < count; i += CLI_BLOCK) {
    size_t n = count - i < CLI_BLOCK ? count - i : CLI_BLOCK;
    cli_source_read(&made->job.x, block, i, n);
    for (size_t j = 0; j < n; j++) {
      double x = block[j];
      plot_add(data, x, class_of(made, scaling, x, i + j));
      if (isfinite(made->values[i + j])) data->codes[magnitude(scaling, code_at(&made->parts.part[0], i + j))]++;
      if (!(fabs(x) > largest) || isinf(x) || !(made->tops[i + j] > 0) || isinf(made->tops[i + j])) continue;
      largest = fabs(x);
      found = i + j;
    }
  }
  return found;
}

static int gather(histogram *data, plot_state *state, scaled_data *made) {
  const cli_target *target = &state->target;
  const hu_limits limits = hu_limits_of(target->scaling.element);
  size_t count = made->job.rows * made->job.cols;
  if (target->kind->encode(&made->parts, target, &made->job)) return CLI_BAD;
  if (target->kind->decode(made->values, sizeof(float), &made->parts, target, &made->job)) return CLI_BAD;
  if (decode_codes(made->tops, target, &made->job, &made->parts, limits.max_code)) return CLI_BAD;
  data->code_count = (size_t)limits.max_code + 1;
  data->codes = cli_alloc(data->code_count, sizeof *data->codes);
  if (!data->codes) return CLI_BAD;
  memset(data->codes, 0, data->code_count * sizeof *data->codes);
  size_t largest = count_elements(data, made, &target->scaling);
  cli_source z = cli_floats_source(made->values, sizeof(float));
  cli_measure(&data->errors, &made->job.x, &z, count);
  data->blocks = made->job.blocks;
  if (largest == count) return plot_block_of_one(state); /* no number that shows a block */
  return keep_block(state, &made->parts, largest / made->job.cols, largest % made->job.cols);
}

int plot_gather_scaled(histogram *data, plot_state *state, const cli_source *source, size_t rows, size_t cols) {
  scaled_data made = {.job = {.name = state->data,
                              .x = *source,
                              .rows = rows,
                              .cols = cols,
                              .mode = state->numeric.mode,
                              .exec = {.stream = state->numeric.stream}}};
  if (!is_drawn(&state->target.scaling)) return plot_block_of_one(state); /* says why not */
  if (cli_parts_alloc(&made.parts, &state->target, &made.job)) return CLI_BAD;
  made.values = cli_alloc(rows * cols, sizeof(float));
  made.tops = cli_alloc(rows * cols, sizeof(float));
  int status = made.values && made.tops ? gather(data, state, &made) : CLI_BAD;
  free(made.values);
  free(made.tops);
  cli_parts_free(&made.parts);
  return status;
}
