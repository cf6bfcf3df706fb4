/* SPDX-License-Identifier: MIT */
/* `halfulp info MODEL`: a line for each tensor of a model, what it is made of and what its codes are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/progress.h"
#include "cli/quantize/model_info.h"
#include "cli/quantize/tensors.h"
#include "halfulp/scalar.h"

enum { PIECE = 1 << 14, CODES = 256 };

/* What was counted of a tensor. */
typedef struct counts {
  uint64_t saturated, zeros, nans;
  float low, high; /* of the finite values */
  int has_codes;   /* 1: codes were counted, and can be saturated */
} counts;

typedef struct info_work {
  const tensors_input *in;
  float *values;
  uint8_t *codes;
} info_work;

/* Marks the codes of the largest magnitude. 0: the elements have none (a table of numbers). */
static int mark_largest(uint8_t largest[CODES], const char *elements) {
  hu_format format;
  unsigned width;
  memset(largest, 0, CODES);
  if (hu_format_find(&format, elements) == HU_OK) {
    double max = hu_decode64(format, hu_limits_of(format).max_code);
    for (uint32_t code = 0; code < 1u << hu_limits_of(format).width; code++)
      largest[code] = fabs(hu_decode64(format, code)) == max;
    return 1;
  }
  if (sscanf(elements, "int%u", &width) == 1) return largest[1u << (width - 1)] = largest[(1u << (width - 1)) - 1] = 1;
  if (sscanf(elements, "uint%u", &width) == 1) return largest[(1u << width) - 1] = largest[0] = 1;
  return 0;
}

static void count_values(counts *z, const float *x, size_t n) {
  for (size_t i = 0; i < n; i++) {
    z->zeros += x[i] == 0;
    z->nans += isnan(x[i]) != 0;
    if (!isfinite(x[i])) continue;
    if (x[i] < z->low) z->low = x[i];
    if (x[i] > z->high) z->high = x[i];
  }
}

static int count(counts *z, const info_work *work, const hu_checkpoint_tensor *tensor) {
  uint8_t largest[CODES];
  const hu_checkpoint *model = work->in->model;
  *z = (counts){0, 0, 0, INFINITY, -INFINITY, 0};
  z->has_codes = tensor->elements[0] && mark_largest(largest, tensor->elements);
  if (!strcmp(tensor->dtype, "C64")) return CLI_OK;
  for (size_t i = 0; i < tensor->count; i += PIECE) {
    size_t n = tensor->count - i < PIECE ? tensor->count - i : PIECE;
    hu_status status = hu_checkpoint_read(model, tensor->place, i, n, work->values);
    if (status == HU_OK && z->has_codes) status = hu_checkpoint_codes(model, tensor->place, i, n, work->codes);
    if (status != HU_OK) return cli_fail_status(work->in->name, status);
    count_values(z, work->values, n);
    for (size_t k = 0; k < n && z->has_codes; k++) z->saturated += largest[work->codes[k]];
  }
  return CLI_OK;
}

/* ---- text ---- */

static const char *block_text(char text[48], const hu_checkpoint_tensor *tensor) {
  snprintf(text, 48, "%zux%zu", tensor->block[0], tensor->block[1]);
  return tensor->block[0] ? text : "-";
}

static void print_share(uint64_t part, size_t count) {
  if (part)
    printf("  %8.3g%%", 100.0 * (double)part / (double)count);
  else
    printf("  %9s", "0");
}

static void print_line(const hu_checkpoint_tensor *tensor, const counts *z, int width) {
  char name[ST_NAME_MAX], shape[ST_SHAPE_MAX], block[48];
  const char *layout = tensor->layout[0] ? tensor->layout : "-";
  printf("%-*s  %-16s  %-14s  %-24s  %-9s  %-16s", width, st_printable(name, tensor->name), layout,
         tensor->elements[0] ? tensor->elements : tensor->dtype, tensor->scales[0] ? tensor->scales : "-",
         block_text(block, tensor), st_shape(shape, tensor->dims, tensor->shape));
  printf("  %10zu", tensor->count);
  if (z->low <= z->high)
    printf("  %12.5g  %12.5g", (double)z->low, (double)z->high);
  else
    printf("  %12s  %12s", "-", "-");
  if (z->has_codes)
    print_share(z->saturated, tensor->count);
  else
    printf("  %9s", "-");
  print_share(z->zeros, tensor->count);
  print_share(z->nans, tensor->count);
  putchar('\n');
}

static void print_head(const tensors_input *in, int width) {
  size_t layouts = 0, n = hu_checkpoint_count(in->model);
  for (size_t i = 0; i < n; i++) layouts += hu_checkpoint_at(in->model, i).layout[0] != 0;
  printf("%s: %zu tensor%s, %zu of them in low precision\n", in->name, n, n == 1 ? "" : "s", layouts);
  printf("%-*s  %-16s  %-14s  %-24s  %-9s  %-16s  %10s  %12s  %12s  %9s  %9s  %9s\n", width, "tensor", "layout",
         "elements", "scales", "block", "shape", "count", "least", "largest", "saturated", "zero", "NaN");
}

static int names_width(const hu_checkpoint *model) {
  char name[ST_NAME_MAX];
  int width = 6;
  for (size_t i = 0; i < hu_checkpoint_count(model); i++) {
    int n = (int)strlen(st_printable(name, hu_checkpoint_at(model, i).name));
    if (n > width) width = n;
  }
  return width;
}

/* ---- JSON ---- */

static void json_shape(const hu_checkpoint_tensor *tensor) {
  for (uint32_t i = 0; i < tensor->dims; i++) printf("%s%zu", i ? ", " : "", tensor->shape[i]);
}

static void json_tensor(const hu_checkpoint_tensor *tensor, const counts *z, int first) {
  cli_json(stdout,
           "?\n  {'name': ?, 'file': ?, 'layout': ?, 'dtype': ?, 'elements': ?, 'scales': ?, 'open': ?, 'shape': [",
           cli_comma(first), JSON(tensor->name), JSON(tensor->file), JSON(tensor->layout), JSON(tensor->dtype),
           JSON(tensor->elements), JSON(tensor->scales), JSON(tensor->open));
  json_shape(tensor);
  cli_json(stdout, "], 'block': [?, ?], 'count': ?, 'least': ?, 'largest': ?, 'zeros': ?, 'nans': ?, 'saturated': ",
           JSON(tensor->block[0]), JSON(tensor->block[1]), JSON(tensor->count),
           cli_known(z->low <= z->high ? (double)z->low : NAN), cli_known(z->low <= z->high ? (double)z->high : NAN),
           JSON(z->zeros), JSON(z->nans));
  if (z->has_codes)
    cli_json(stdout, "?}", JSON(z->saturated));
  else
    printf("null}");
}

static int print_all(const info_work *work, int json) {
  const hu_checkpoint *model = work->in->model;
  int code = CLI_OK, width = names_width(model);
  if (json)
    cli_json(stdout, "{'file': ?, 'tensors': [", JSON(work->in->name));
  else
    print_head(work->in, width);
  for (size_t i = 0; i < hu_checkpoint_count(model) && code == CLI_OK; i++) {
    hu_checkpoint_tensor tensor = hu_checkpoint_at(model, i);
    counts z;
    code = count(&z, work, &tensor);
    if (code == CLI_OK && json) json_tensor(&tensor, &z, i == 0);
    if (code == CLI_OK && !json) print_line(&tensor, &z, width);
  }
  if (json && code == CLI_OK) printf("\n]}\n");
  return code;
}

int cli_model_info(const char *path, const char *layout, int json) {
  tensors_input in;
  if (tensors_open_for_info(&in, path, layout ? layout : TENSORS_AUTO)) return CLI_BAD;
  info_work work = {&in, cli_alloc(PIECE, sizeof(float)), cli_alloc(PIECE, 1)};
  int code = work.values && work.codes ? print_all(&work, json) : CLI_BAD;
  free(work.values);
  free(work.codes);
  tensors_close(&in);
  return code;
}
