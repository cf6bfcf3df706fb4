/* SPDX-License-Identifier: MIT */
/* Reads first weights from files of weights, and writes weights: see weights.h. */
#include "cli/train/weights.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/tensors/array.h"
#include "files/safetensors.h"
#include "halfulp/checkpoint.h"
#include "halfulp/train/net.h"

/* ---- reading ---- */

__attribute__((format(printf, 3, 4))) static hu_status wrong(char *why, hu_status status, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(why, HU_DATA_WHY_MAX, format, list);
  va_end(list);
  return status;
}

/* Returns 1 if a tensor has the shape: rows x cols, one row or column as its length, or that of a layer of PyTorch. */
static int has_shape(const hu_checkpoint_tensor *x, int pytorch, size_t rows, size_t cols) {
  if (x->count != rows * cols) return 0;
  if (x->dims == 1) return rows == 1 || cols == 1;
  if (pytorch && (x->dims == 2 || x->dims == 4)) return x->shape[0] == cols;
  return !pytorch && x->dims == 2 && x->shape[0] == rows && x->shape[1] == cols;
}

/* Puts the numbers of a layer of PyTorch where ours are: row (kernel row, kernel column, input), column output. */
static int turn(const hu_checkpoint_tensor *x, size_t cols, float *numbers) {
  const size_t inputs = x->shape[1], window = x->dims == 4 ? x->shape[2] * x->shape[3] : 1;
  float *z = malloc(x->count * sizeof *z);
  if (!z) return 0;
  for (size_t o = 0; o < cols; o++) {
    for (size_t c = 0; c < inputs; c++) {
      for (size_t k = 0; k < window; k++) z[(k * inputs + c) * cols + o] = numbers[(o * inputs + c) * window + k];
    }
  }
  memcpy(numbers, z, x->count * sizeof *z);
  free(z);
  return 1;
}

static void shape_text(char *text, size_t size, const hu_checkpoint_tensor *x) {
  size_t n = (size_t)snprintf(text, size, "[");
  for (uint32_t i = 0; i < x->dims && n < size; i++)
    n += (size_t)snprintf(text + n, size - n, "%s%zu", i ? ", " : "", x->shape[i]);
  if (n < size) snprintf(text + n, size - n, "]");
}

static hu_status read_tensor(const hu_checkpoint *file, const char *path, const char *name, int pytorch, size_t rows,
                             size_t cols, float *numbers, char *why) {
  const size_t i = hu_checkpoint_find(file, name);
  char shape[120];
  if (i == SIZE_MAX) return wrong(why, HU_E_DATA, "model.weights: %s: tensor '%s' is missing", path, name);
  const hu_checkpoint_tensor tensor = hu_checkpoint_at(file, i);
  if (!has_shape(&tensor, pytorch, rows, cols)) {
    shape_text(shape, sizeof shape, &tensor);
    return wrong(why, HU_E_DATA, "model.weights: %s: tensor '%s' is %s, and [%zu, %zu]%s is required", path, name,
                 shape, rows, cols, pytorch ? ", in PyTorch's order" : "");
  }
  hu_status status = hu_checkpoint_read(file, i, 0, rows * cols, numbers);
  if (status == HU_OK && pytorch && tensor.dims > 1 && !turn(&tensor, cols, numbers)) status = HU_E_MEMORY;
  return status == HU_OK ? status
                         : wrong(why, status, "model.weights: %s: tensor '%s': %s", path, name, hu_status_text(status));
}

static hu_status read_weights(void *context, const char *path, const char *name, int pytorch, size_t rows, size_t cols,
                              float *numbers, char *why) {
  char line[HU_CHECKPOINT_LINE];
  hu_checkpoint *file = NULL;
  (void)context;
  hu_status status = hu_checkpoint_open(&file, path, NULL, line);
  if (status != HU_OK) return wrong(why, status, "model.weights: %.400s", *line ? line : hu_status_text(status));
  status = read_tensor(file, path, name, pytorch, rows, cols, numbers, why);
  hu_checkpoint_close(file);
  return status;
}

hu_status train_read_weights(hu_trainer *trainer) { return hu_trainer_set_reader(trainer, read_weights, NULL); }

/* ---- writing ---- */

/* Returns 1 for parameters and running statistics, and 0 for what the optimizer keeps beside them. */
static int is_written(const hu_trainer *trainer, const char *name) {
  const hu_net *net = hu_trainer_net(trainer);
  const char *dot = strrchr(name, '.');
  for (int i = 0; i < hu_net_parameters(net); i++)
    if (!strcmp(hu_net_parameter_name(net, i), name)) return 1;
  return dot && !strcmp(dot, ".running");
}

int train_write_weights(const hu_trainer *trainer, const char *path) {
  st_file file = {0};
  size_t length = 0, size = 0;
  int good = 1;
  for (size_t i = 0; i < hu_trainer_tensor_count(trainer) && good; i++) {
    const hu_trainer_tensor tensor = hu_trainer_tensor_at(trainer, i);
    if (is_written(trainer, tensor.name))
      good = st_add(&file, tensor.name, ST_F32, 2, (const size_t[]){tensor.rows, tensor.cols});
  }
  good = good && !st_layout(&file);
  for (size_t i = 0; i < file.count; i++) size += file.tensors[i].size;
  char *header = good ? st_header(&file, &length) : NULL;
  uint8_t *numbers = header ? malloc(size + 1) : NULL;
  hu_status status = HU_OK;
  for (size_t i = 0; i < hu_trainer_tensor_count(trainer) && numbers && status == HU_OK; i++) {
    const st_tensor *tensor = st_find(&file, hu_trainer_tensor_at(trainer, i).name);
    if (tensor) status = hu_trainer_read(trainer, i, (float *)(void *)(numbers + tensor->begin));
  }
  if (numbers && CLI_HOST_BIG) cli_copy_swapped(numbers, numbers, size / 4, 4);
  const cli_piece pieces[] = {{header, length}, {numbers, size}};
  int z = !numbers          ? cli_fail(path, "out of memory")
          : status != HU_OK ? cli_fail_status(path, status)
                            : cli_file_write(path, pieces, 2);
  st_free(&file);
  free(numbers);
  free(header);
  return z;
}

/* ---- predictions ---- */

static void put_head(FILE *out, const hu_trainer_answer *answer) {
  if (answer->label != HU_LABEL_NONE) {
    fputs("example,label,answer", out);
    for (size_t k = 0; k < answer->outputs; k++) fprintf(out, ",output_%zu", k);
  } else {
    fputs("example", out);
    for (size_t k = 0; answer->targets && k < answer->outputs; k++) fprintf(out, ",target_%zu", k);
    for (size_t k = 0; k < answer->outputs; k++) fprintf(out, ",output_%zu", k);
  }
  fputc('\n', out);
}

static int put_answer(void *context, const hu_trainer_answer *answer) {
  FILE *out = context;
  if (answer->text) {
    fprintf(out, "%s\n", answer->text);
    return ferror(out);
  }
  if (answer->example == 0) put_head(out, answer);
  fprintf(out, "%zu", answer->example);
  if (answer->label != HU_LABEL_NONE) fprintf(out, ",%u,%u", (unsigned)answer->label, (unsigned)answer->answer);
  for (size_t k = 0; answer->targets && k < answer->outputs; k++) fprintf(out, ",%.9g", (double)answer->targets[k]);
  for (size_t k = 0; k < answer->outputs; k++) fprintf(out, ",%.9g", (double)answer->output[k]);
  fputc('\n', out);
  return ferror(out);
}

int train_write_predictions(hu_trainer *trainer, const char *path) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) return cli_fail(path, "out of memory");
  hu_status status = hu_trainer_answers(trainer, put_answer, out);
  const int bad = ferror(out);
  if (fclose(out) || bad) {
    free(text);
    return cli_fail(path, "out of memory");
  }
  const cli_piece piece = {text, size};
  int z = status == HU_OK ? cli_file_write(path, &piece, 1) : cli_fail_status(path, status);
  free(text);
  return z;
}
