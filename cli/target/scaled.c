/* SPDX-License-Identifier: MIT */
/* Scaled formats as targets (halfulp/scaled.h): codes, scales, perhaps a scale of the tensor. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/target/target.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/importance.h"
#include "halfulp/scalar.h"

static hu_scaling_entry rule_named(const char *text) {
  size_t i = 0;
  while (i < hu_scaling_rule_count() && strcmp(text, hu_scaling_rule_at(i).name) != 0) i++;
  return hu_scaling_rule_at(i);
}

static int claims(const char *text) {
  if (!strncmp(text, "scaled(", 7) || !strncmp(text, "bfp(", 4) || !strncmp(text, "rows(", 5)) return 1;
  for (size_t i = 0; i < hu_scaling_count(); i++)
    if (!strcmp(text, hu_scaling_at(i).name)) return 1;
  return rule_named(text).name != NULL;
}

static int read_text(cli_target *target, const char *text) {
  size_t where = 0;
  hu_scaling_entry rule = rule_named(text);
  if (rule.name && !*rule.text) return cli_fail(NULL, "format '%s' has no text: %s", text, rule.open);
  target->by_rows = !strncmp(text, "rows(", 5);
  hu_status status = target->by_rows ? hu_scaled_rows_parse(&target->scaling, text, &where)
                                     : hu_scaling_parse(&target->scaling, text, &where);
  if (status == HU_E_SCALING && target->by_rows)
    return cli_fail(NULL, "format '%s': rows(...) requires a scale of the tensor, and blocks of one row", text);
  return cli_target_fail(text, status, where);
}

static void text_of(char text[CLI_TARGET_MAX], const cli_target *target) {
  if (target->by_rows)
    hu_scaled_rows_text(text, CLI_TARGET_MAX, &target->scaling);
  else
    hu_scaling_text(text, CLI_TARGET_MAX, &target->scaling);
}

static int check(const cli_target *target, const cli_job *job) {
  const hu_scaling *scaling = &target->scaling;
  char text[CLI_TARGET_MAX];
  if (job->amax && target->by_rows) return cli_fail(NULL, "--amax: rows(...) takes the numbers of each row");
  if (!job->amax || scaling->tensor || (!scaling->rows && !scaling->cols)) return CLI_OK;
  return cli_fail(NULL, "--amax: %s has neither a scale of the tensor nor the whole tensor as its block",
                  cli_target_name(text, target));
}

static int fits(const cli_target *target, unsigned size) {
  (void)target;
  return size == 4;
}

static void layout(cli_parts *parts, const cli_target *target, size_t rows, size_t cols) {
  const hu_scaling *scaling = &target->scaling;
  hu_scaled_sizes sizes = hu_scaled_sizes_of(rows, cols, scaling);
  int binary32 = hu_format_equal(scaling->scale, hu_binary32());
  uint8_t width = (uint8_t)hu_limits_of(scaling->element).width,
          scale_width = (uint8_t)hu_limits_of(scaling->scale).width;
  parts->part[0] = (cli_part){"codes", 'u',   (uint8_t)sizes.code_bytes,        2, rows, cols,
                              NULL,    width, scaling->coding == HU_CODING_TWOS};
  parts->part[1] = (cli_part){"scales", binary32 ? 'f' : 'u', (uint8_t)sizes.scale_bytes,
                              2,        sizes.block_rows,     sizes.block_cols,
                              NULL,     scale_width,          0};
  parts->part[2] = target->by_rows ? (cli_part){"tensor", 'f', 4, 2, rows, 1, NULL, 0, 0}
                                   : (cli_part){"tensor", 'f', 4, 0, 1, 1, NULL, 0, 0};
  parts->count = scaling->tensor ? 3 : 2;
  parts->width = width;
  parts->packed_row = sizes.packed_row;
  parts->packed_rows = sizes.packed_row ? sizes.packed / sizes.packed_row : 0;
  parts->bits = 8.0 * ((double)(parts->width <= 8 ? sizes.packed : sizes.codes) + (double)sizes.scales) +
                (scaling->tensor ? 32 * (double)parts->part[2].rows : 0);
}

static hu_scaled place_of(const cli_parts *parts) {
  hu_scaled z = {parts->part[0].data, parts->part[0].cols, parts->part[1].data, parts->part[1].cols,
                 parts->count > 2 ? parts->part[2].data : NULL};
  return z;
}

static void add_block(cli_blocks *blocks, const hu_scaled_stats *stats, hu_format scale_format) {
  double amax = stats->amax, scale = hu_decode64(scale_format, stats->scale);
  blocks->zero += amax == 0 && !stats->special;
  blocks->special += stats->special != 0;
  blocks->saturated += stats->saturated != 0;
  blocks->to_zero += stats->to_zero != 0;
  if (amax > 0 && (blocks->amax_high == 0 || amax < blocks->amax_low)) blocks->amax_low = amax;
  if (amax > blocks->amax_high) blocks->amax_high = amax;
  if (!isfinite(scale)) return;
  if (blocks->scale_high < blocks->scale_low || scale < blocks->scale_low) blocks->scale_low = scale;
  if (scale > blocks->scale_high) blocks->scale_high = scale;
}

static cli_blocks sum_up(const hu_scaled_stats *stats, size_t count, hu_format scale_format) {
  cli_blocks blocks = {0};
  blocks.scale_low = HUGE_VAL;
  blocks.scale_high = -HUGE_VAL;
  for (size_t i = 0; i < count; i++) add_block(&blocks, &stats[i], scale_format);
  blocks.count = count;
  if (blocks.scale_high < blocks.scale_low) blocks.scale_low = blocks.scale_high = NAN;
  return blocks;
}

static void *transpose_memory(size_t rows, cli_transpose transpose, unsigned size) {
  return malloc(rows * transpose.channels * transpose.places * size); /* no more than the array has */
}

/* Brings x from the array's order into the matrix's: x itself, or new memory, also in *owned. NULL: out of memory. */
static const void *transposed(void **owned, const void *x, size_t rows, cli_transpose transpose, unsigned size) {
  *owned = NULL;
  if (!transpose.channels) return x;
  *owned = transpose_memory(rows, transpose, size);
  if (*owned) cli_transpose_rows(*owned, x, rows, transpose, 0, size);
  return *owned;
}

/* Returns where to write what is to be in the array's order at z, and then end_transpose brings it there. NULL: out of
 * memory. */
static void *begin_transpose(void *z, size_t rows, cli_transpose transpose, unsigned size) {
  return transpose.channels ? transpose_memory(rows, transpose, size) : z;
}

static void end_transpose(void *z, void *made, size_t rows, cli_transpose transpose, unsigned size, int good) {
  if (made == z) return;
  if (good) cli_transpose_rows(z, made, rows, transpose, 1, size);
  free(made);
}

static hu_type type_of(const cli_target *target, uint8_t whole, uint8_t by_rows) {
  return hu_type_scaled(target->by_rows ? by_rows : whole, &target->scaling);
}

/* Does the same by a search under the importance of columns. */
static hu_status search(const hu_output *z, const hu_view *x, cli_job *job, hu_scaled_stats *stats) {
  size_t size = job->cols * sizeof(float);
  float *own = job->importance.matrices > 1 ? malloc(job->rows * size) : NULL; /* no more than the array has */
  hu_view weights = hu_matrix_floats(own ? own : job->importance.by_column, own ? job->cols : 0);
  hu_how how = hu_how_of(job->mode, &job->exec, &job->events);
  if (job->importance.matrices > 1 && !own) return HU_E_MEMORY;
  for (size_t i = 0; own && i < job->rows; i++) memcpy(own + i * job->cols, cli_job_weights(job, i), size);
  hu_status status = hu_scaled_search(job->rows, job->cols, z, x, &weights, stats, &how);
  free(own);
  return status;
}

/* Makes z of x: codes and scales, or values. Rows have no amax of their own here. */
static hu_status make(const hu_output *z, const float *x, const cli_target *target, cli_job *job,
                      hu_scaled_stats *stats) {
  hu_view from = hu_matrix_floats(x, job->cols);
  hu_scaled_extra extra = {target->by_rows ? NULL : job->amax, stats};
  hu_how how = hu_how_of(job->mode, &job->exec, &job->events);
  if (job->importance.by_column) return search(z, &from, job, stats);
  if (target->has_mode && !target->by_rows)
    return hu_conversion_apply_scaled(job->rows, job->cols, z, &from, &target->conversion, &extra, &job->exec,
                                      &job->events);
  return hu_scaled_apply(job->rows, job->cols, z, &from, &extra, &how);
}

static hu_status encode_rows(const cli_parts *parts, const float *x, const cli_target *target, cli_job *job,
                             hu_scaled_stats *stats) {
  const cli_part *codes = &parts->part[0];
  hu_scaled place = place_of(parts);
  place.codes = begin_transpose(codes->data, job->rows, job->transpose, codes->size);
  if (!place.codes) return HU_E_MEMORY;
  hu_output z = hu_scaled_out(&place, type_of(target, HU_TYPE_SCALED, HU_TYPE_SCALED_ROWS));
  hu_status status = make(&z, x, target, job, stats);
  end_transpose(codes->data, place.codes, job->rows, job->transpose, codes->size, status == HU_OK);
  return status;
}

static hu_status quantize_rows(float *z, const float *x, const cli_target *target, cli_job *job,
                               hu_scaled_stats *stats) {
  float *made = begin_transpose(z, job->rows, job->transpose, sizeof *z);
  if (!made) return HU_E_MEMORY;
  hu_output to = hu_matrix_out_of(made, job->cols, type_of(target, HU_TYPE_SCALED_VALUES, HU_TYPE_SCALED_ROWS_VALUES));
  hu_status status = make(&to, x, target, job, stats);
  end_transpose(z, made, job->rows, job->transpose, sizeof *z, status == HU_OK);
  return status;
}

/* Runs the scaler. parts: where the codes go; NULL: values into z, which may not overlap x. */
static int run(float *z, const cli_parts *parts, const cli_target *target, cli_job *job) {
  const hu_scaling *scaling = &target->scaling;
  hu_scaled_sizes sizes = hu_scaled_sizes_of(job->rows, job->cols, scaling);
  size_t blocks = sizes.block_rows * sizes.block_cols;
  float *owned = NULL;
  void *own_copy = NULL;
  hu_status status = HU_E_MEMORY;
  hu_scaled_stats *stats = cli_alloc(blocks, sizeof *stats);
  const float *own = stats ? cli_job_floats(&owned, job) : NULL;
  const float *x = own ? transposed(&own_copy, own, job->rows, job->transpose, sizeof *own) : NULL;
  if (x) status = parts ? encode_rows(parts, x, target, job, stats) : quantize_rows(z, x, target, job, stats);
  int code = !own ? CLI_BAD : status == HU_OK ? CLI_OK : cli_fail_status(job->name, status);
  if (code == CLI_OK) job->blocks = sum_up(stats, blocks, scaling->scale);
  free(own_copy);
  free(owned);
  free(stats);
  return code;
}

static int values(void *z, unsigned size, const cli_target *target, cli_job *job) {
  int code = run(z, NULL, target, job);
  if (code == CLI_OK && size == 8) cli_widen(z, job->rows * job->cols);
  return code;
}

static int encode(const cli_parts *parts, const cli_target *target, cli_job *job) {
  return run(NULL, parts, target, job);
}

static int decode(void *z, unsigned size, const cli_parts *parts, const cli_target *target, const cli_job *job) {
  void *own_copy, *made = begin_transpose(z, job->rows, job->transpose, sizeof(float));
  hu_scaled place = place_of(parts);
  hu_status status = HU_E_MEMORY;
  int there = transposed(&own_copy, place.codes, job->rows, job->transpose, parts->part[0].size) != NULL;
  if (own_copy) place.codes = own_copy;
  if (made && there) {
    hu_output to = hu_matrix_floats_out(made, job->cols);
    hu_view from = hu_view_of(&place, 1, type_of(target, HU_TYPE_SCALED, HU_TYPE_SCALED_ROWS));
    hu_how how = hu_how_of(job->mode, &job->exec, NULL);
    status = hu_scaled_apply(job->rows, job->cols, &to, &from, NULL, &how);
  }
  if (made) end_transpose(z, made, job->rows, job->transpose, sizeof(float), status == HU_OK);
  free(own_copy);
  if (status != HU_OK) return cli_fail_status(job->name, status);
  if (size == 8) cli_widen(z, job->rows * job->cols);
  return CLI_OK;
}

static hu_status pack(uint8_t *z, const cli_parts *parts, const cli_target *target) {
  const cli_part *part = &parts->part[0];
  void *own_copy;
  const void *codes = transposed(&own_copy, part->data, part->rows, parts->transpose, part->size);
  if (!codes) return HU_E_MEMORY;
  hu_status status = hu_scaled_pack(part->rows, part->cols, z, codes, part->cols, &target->scaling, NULL);
  free(own_copy);
  return status;
}

static hu_status unpack(const cli_parts *parts, const uint8_t *x, const cli_target *target) {
  const cli_part *codes = &parts->part[0];
  void *made = begin_transpose(codes->data, codes->rows, parts->transpose, codes->size);
  if (!made) return HU_E_MEMORY;
  hu_status status = hu_scaled_unpack(codes->rows, codes->cols, made, codes->cols, x, &target->scaling, NULL);
  end_transpose(codes->data, made, codes->rows, parts->transpose, codes->size, status == HU_OK);
  return status;
}

const cli_target_kind cli_kind_scaled = {0,      claims, read_text, text_of, check, fits,
                                         layout, values, encode,    decode,  pack,  unpack};
