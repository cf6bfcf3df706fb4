/* SPDX-License-Identifier: MIT */
/* A model of this library as a black box. */
#include "cli/box/box.h"

#include "cli/base/cli.h"

static hu_vector vector_of(const void *data, size_t step, hu_element element) {
  hu_vector vector = {data, 1, (ptrdiff_t)step, element};
  return vector;
}

int id_model_answer(void *context, size_t count, const void *a, const void *b, const void *c, const void *sa,
                    const void *sb, void *results) {
  const id_model *model = context;
  const id_shape *shape = model->shape;
  size_t scales = id_column_length(shape, ID_SA);
  hu_element scale = {.format = shape->scale};
  hu_mode mode = {0};
  hu_dot_operands operands = {
      vector_of(a, shape->n, shape->a), vector_of(b, shape->n, shape->b), vector_of(c, 1, shape->result), {0}, {0}};
  if (scales) {
    operands.sa = vector_of(sa, scales, scale);
    operands.sb = vector_of(sb, scales, scale);
  }
  hu_status status = hu_dot_n(count, shape->n, results, 1, shape->result, &operands, &model->accum, mode, NULL, NULL);
  return status == HU_OK ? CLI_OK : cli_fail_status(NULL, status);
}
