/* SPDX-License-Identifier: MIT */
/* Arrays of any rank as matrices: see target.h. */
#include <string.h>

#include "cli/base/numbers.h"
#include "cli/target/target.h"

void cli_matrix(size_t *rows, size_t *cols, uint32_t dims, const size_t *shape) {
  *rows = 1;
  *cols = dims ? shape[dims - 1] : 1;
  for (uint32_t i = 0; i + 1 < dims; i++) *rows *= shape[i];
  /* Empty arrays may have sides beyond all counting. */
  for (uint32_t i = 0; i < dims; i++)
    if (!shape[i]) *rows = *cols = 0;
}

int cli_job_shape(cli_job *job, const cli_target *target, int rows_out, uint32_t dims, const size_t *shape) {
  cli_matrix(&job->rows, &job->cols, dims, shape);
  job->transpose = (cli_transpose){0, 0};
  if (!rows_out || dims < 3 || !job->rows || target->kind != &cli_kind_scaled) return 0;
  size_t places = job->rows / shape[0] * job->cols / shape[1];
  job->rows = shape[0];
  job->cols = shape[1] * places;
  if (shape[1] > 1 && places > 1) job->transpose = (cli_transpose){shape[1], places};
  return 1;
}

static double bits_of(const cli_target *target, const cli_job *job) {
  cli_parts parts;
  cli_parts_plan(&parts, target, job);
  return parts.bits / ((double)job->rows * (double)job->cols);
}

cli_row_shape cli_row_shape_of(const cli_target *target, const cli_job *job, uint32_t dims, const size_t *shape) {
  cli_row_shape result = {job->rows, job->cols, 0, 0, 0, 0, 0};
  cli_job other = {0};
  if (!job->cols) return result;
  result.bits = bits_of(target, job);
  if (target->kind == &cli_kind_scaled && target->scaling.cols > job->cols) result.block = target->scaling.cols;
  if (!result.block || !cli_job_shape(&other, target, 1, dims, shape) || other.cols <= job->cols) return result;
  result.out_rows = other.rows;
  result.out_cols = other.cols;
  result.out_bits = bits_of(target, &other);
  return result;
}

void cli_print_row_shape(FILE *out, const cli_row_shape *shape) {
  fprintf(out, "rows of %zu are shorter than a block of %zu: %s bits per element, scales included", shape->cols,
          shape->block, ROUNDED(shape->bits, 4));
  if (shape->out_cols) fprintf(out, "; --rows out makes rows of %zu: %s", shape->out_cols, ROUNDED(shape->out_bits, 4));
  fputc('\n', out);
}

static void print_shape(FILE *out, const cli_value *value) {
  const cli_row_shape *shape = value->record;
  cli_json(out, "'matrix': [?, ?], 'short_rows': ?, 'rows_out': ", JSON(shape->rows), JSON(shape->cols),
           cli_truth(shape->block != 0));
  if (shape->out_cols)
    cli_json(out, "{'matrix': [?, ?], 'bits_per_element': ?}", JSON(shape->out_rows), JSON(shape->out_cols),
             JSON(shape->out_bits));
  else
    fputs("null", out);
}

cli_value cli_row_shape_value(const cli_row_shape *shape) { return (cli_value){.print = print_shape, .record = shape}; }
