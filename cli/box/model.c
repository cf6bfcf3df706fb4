/* SPDX-License-Identifier: MIT */
/* A model of this library as a black box. */
#include "cli/box/box.h"

#include "cli/base/cli.h"

static hu_vector vector_of(const void *data, size_t step, hu_element e) {
  hu_vector v = {data, 1, (ptrdiff_t)step, e};
  return v;
}

int id_model_answer(void *context, size_t count, const void *a, const void *b, const void *c, const void *sa,
                    const void *sb, void *d) {
  const id_model *m = context;
  const id_shape *s = m->shape;
  size_t scales = id_column_length(s, ID_SA);
  hu_element scale = {.format = s->scale};
  hu_mode mode = {0};
  hu_dot_operands x = {vector_of(a, s->n, s->a), vector_of(b, s->n, s->b), vector_of(c, 1, s->d), {0}, {0}};
  if (scales) {
    x.sa = vector_of(sa, scales, scale);
    x.sb = vector_of(sb, scales, scale);
  }
  hu_status status = hu_dot_n(count, s->n, d, 1, s->d, &x, &m->accum, mode, NULL, NULL);
  return status == HU_OK ? CLI_OK : cli_fail_status(NULL, status);
}
