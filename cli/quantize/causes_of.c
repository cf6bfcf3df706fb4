/* SPDX-License-Identifier: MIT */
/* The error of a tensor by its causes (cli/tensors/causes.h), for comparisons and reports: see tensors.h. */
#include <math.h>
#include <stdlib.h>

#include "cli/quantize/tensors.h"
#include "halfulp/scalar.h"

static double scale_at(const cli_part *part, const hu_scaling *scaling, size_t i) {
  if (part->kind == 'f') return (double)((const float *)part->data)[i];
  uint32_t code = part->size == 1   ? ((const uint8_t *)part->data)[i]
                  : part->size == 2 ? ((const uint16_t *)part->data)[i]
                                    : ((const uint32_t *)part->data)[i];
  return hu_decode64(scaling->scale, code);
}

/* Finds the largest value that each block's scale allows, from the codes. */
static int find_most(double *most, size_t count, const cli_target *target, const cli_job *job) {
  cli_job again = *job;
  cli_parts parts;
  if (cli_parts_alloc(&parts, target, &again)) return CLI_BAD;
  int code = target->kind->encode(&parts, target, &again);
  double t = parts.count > 2 ? (double)*(const float *)parts.part[2].data : 1;
  double limit = hu_limits_of(target->scaling.element).max;
  for (size_t i = 0; i < count && code == CLI_OK; i++)
    most[i] = limit * fabs(scale_at(&parts.part[1], &target->scaling, i)) * t;
  cli_parts_free(&parts);
  return code;
}

int tensors_causes(tensors_result *result, const cli_source *values, const cli_target *target, const cli_job *job) {
  int blocks = target->kind == &cli_kind_scaled && !target->by_rows, plain = target->kind == &cli_kind_format;
  if (job->transpose.channels || !job->rows || !job->cols) return CLI_OK;
  size_t block[2] = {1, job->cols};
  if (blocks) {
    block[0] = target->scaling.rows ? target->scaling.rows : job->rows;
    block[1] = target->scaling.cols ? target->scaling.cols : job->cols;
  }
  size_t count = ((job->rows - 1) / block[0] + 1) * ((job->cols - 1) / block[1] + 1);
  double *most = cli_alloc(count, sizeof *most);
  int code = most ? CLI_OK : CLI_BAD;
  for (size_t i = 0; i < count && code == CLI_OK; i++) most[i] = plain ? hu_limits_of(target->format).max : HUGE_VAL;
  if (code == CLI_OK && blocks) code = find_most(most, count, target, job);
  if (code == CLI_OK) code = cli_causes_matrix(&result->causes, &job->x, values, job->rows, job->cols, block, most);
  free(most);
  return code;
}
