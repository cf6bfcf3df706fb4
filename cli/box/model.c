/* SPDX-License-Identifier: MIT */
/* A model of this library as a black box. */
#include "cli/box/box.h"

#include "cli/base/cli.h"

static hu_view view_of(const void *data, size_t row, hu_type type) {
  hu_view view = hu_view_of(data, 1, type);
  view.row = (ptrdiff_t)row;
  return view;
}

int id_model_answer(void *context, size_t count, const void *a, const void *b, const void *c, const void *sa,
                    const void *sb, void *results) {
  const id_model *model = context;
  const id_shape *shape = model->shape;
  size_t scales = id_column_length(shape, ID_SA);
  hu_type scale = hu_type_codes(shape->scale);
  hu_product x = hu_product_of_dot(shape->n, hu_output_of(results, 1, shape->result), view_of(a, shape->n, shape->a),
                                   view_of(b, shape->n, shape->b), &model->accum);
  x.m = count;
  x.d.row = 1;
  x.c = view_of(c, 1, shape->result);
  if (scales) {
    x.sa = view_of(sa, scales, scale);
    x.sb = view_of(sb, scales, scale);
  }
  hu_status status = hu_dot(&x, NULL);
  return status == HU_OK ? CLI_OK : cli_fail_status(NULL, status);
}
