/* SPDX-License-Identifier: MIT */
/* emu/gemm/steps/models.h - the sums of models of software over the places of a tile: each place takes the same steps,
 * whatever its numbers are, so that a model is written as in emu/core/accum.h, with planes of a tile in place of
 * numbers. A file that includes this has ROWS, COLS, PLANE (their product), KC and, before it:
 *
 *   steps_real   what a plane has at a place
 *   steps_grid   where a step rounds to
 *   steps_tile   with g, w (w->product and w->sum: steps_grid), i0, j0, rows, cols, k0, kc, most; the operands a (KC x
 *                ROWS) and b (KC x COLS) of the products k0 ... k0 + kc - 1, at most `most` of them; and the planes
 *                product, carry, first, chunk and, for trees, level[]
 *   read_row(t, x, row, column, n, z)   n elements of a stored row
 *   add, subtract(t, q, z, x, y)        one rounding of x + y, x - y at all places, onto q; z may be an operand
 *   sort(t, x, y)                       exchanges x and y where not |x| >= |y|, either way where one is a NaN
 *   multiply_at(t, q, z, at)            one rounding of product k0 + at */

static void fill(steps_real *z) { memset(z, 0, PLANE * sizeof *z); }

/* Elements (i, j) of x from (i0, j0) on: z[i di + j dj]. */
static void unpack(const steps_tile *t, const hu_matrix *x, size_t i0, size_t j0, size_t rows, size_t cols,
                   steps_real *z, size_t di, size_t dj) {
  size_t outer = x->transposed ? cols : rows, inner = x->transposed ? rows : cols;
  size_t far = x->transposed ? dj : di, step = x->transposed ? di : dj;
  for (size_t i = 0; i < outer; i++) {
    steps_real line[COLS > KC ? COLS : KC];
    read_row(t, x, (x->transposed ? j0 : i0) + i, x->transposed ? i0 : j0, inner, step == 1 ? z + i * far : line);
    for (size_t j = 0; step != 1 && j < inner; j++) z[i * far + j * step] = line[j];
  }
}

/* Where product k stands in the piece, which is unpacked first if it does not hold it. */
static size_t piece_with(steps_tile *t, size_t k) {
  const hu_gemm_call *g = t->g;
  if (k - t->k0 < t->kc) return k - t->k0;
  t->k0 = k;
  t->kc = hui_least(g->k - k, t->most);
  unpack(t, &g->a, t->i0, k, t->rows, t->kc, t->a, 1, ROWS);
  unpack(t, &g->b, k, t->j0, t->kc, t->cols, t->b, COLS, 1);
  return 0;
}

static void multiply(steps_tile *t, const steps_grid *q, steps_real *z, size_t k) {
  multiply_at(t, q, z, piece_with(t, k));
}

/* ---- models: the sums of products k ... past - 1 on top of s, in s ---- */

static void seq2(steps_tile *t, const steps_grid *sum, size_t k, size_t past, steps_real *s) {
  for (; k < past; k++) {
    multiply(t, &t->w->product, t->product, k);
    add(t, sum, s, s, t->product);
  }
}

static void chunks(steps_tile *t, size_t k, size_t past, steps_real *s) {
  for (size_t length = t->g->accum->length, end; k < past; k = end) {
    end = k + hui_least(past - k, length);
    fill(t->chunk);
    seq2(t, &t->w->product, k, end, t->chunk);
    add(t, &t->w->sum, s, s, t->chunk);
  }
}

static void kahan(steps_tile *t, size_t k, size_t past, steps_real *s) {
  const steps_grid *q = &t->w->sum;
  steps_real *c = t->carry, *y = t->product, *sum = s, *next = t->first;
  fill(c);
  for (; k < past; k++) {
    steps_real *last = sum;
    multiply(t, q, y, k);
    subtract(t, q, y, y, c);
    add(t, q, next, sum, y);
    subtract(t, q, c, next, sum);
    subtract(t, q, c, c, y);
    sum = next;
    next = last;
  }
  if (sum != s) memcpy(s, sum, PLANE * sizeof *s);
}

static void neumaier(steps_tile *t, size_t k, size_t past, steps_real *s) {
  const steps_grid *q = &t->w->sum;
  steps_real *c = t->carry, *v = t->product, *sum = s, *next = t->first;
  fill(c);
  for (; k < past; k++) {
    steps_real *error = sum;
    multiply(t, q, v, k);
    add(t, q, next, sum, v);
    sort(t, sum, v);
    subtract(t, q, error, sum, next);
    add(t, q, error, error, v);
    add(t, q, c, c, error);
    sum = next;
    next = error;
  }
  add(t, q, s, sum, c);
}

/* The tree over products k ... past - 1, in t->level[l]. */
static void halves(steps_tile *t, size_t k, size_t past, size_t l) {
  if (past - k == 1) {
    multiply(t, &t->w->sum, t->level[l], k);
    return;
  }
  size_t mid = k + (past - k) / 2;
  halves(t, k, mid, l);
  halves(t, mid, past, l + 1);
  add(t, &t->w->sum, t->level[l], t->level[l], t->level[l + 1]);
}

/* That over products i, i + h, i + 2 h ... of `n` from k on; width: the power of two from n on. */
static void strides(steps_tile *t, size_t k, size_t n, size_t width, size_t i, size_t h, size_t l) {
  if (i >= n) {
    fill(t->level[l]);
  } else if (h >= width) {
    multiply(t, &t->w->sum, t->level[l], k + i);
  } else {
    strides(t, k, n, width, i, 2 * h, l);
    strides(t, k, n, width, i + h, 2 * h, l + 1);
    add(t, &t->w->sum, t->level[l], t->level[l], t->level[l + 1]);
  }
}

static void tree(steps_tile *t, size_t k, size_t past, steps_real *s) {
  size_t width = 1;
  while (width < past - k) width *= 2;
  if (t->g->accum->kind == HU_ACCUM_PAIRWISE) {
    halves(t, k, past, 0);
  } else {
    strides(t, k, past - k, width, 0, 1, 0);
  }
  add(t, &t->w->sum, s, t->level[0], s);
}

/* Any model but chains of fused steps. */
static void sum_by_model(steps_tile *t, size_t k, size_t past, steps_real *s) {
  switch (t->g->accum->kind) {
    case HU_ACCUM_SEQ2: seq2(t, &t->w->sum, k, past, s); break;
    case HU_ACCUM_CHUNK: chunks(t, k, past, s); break;
    case HU_ACCUM_KAHAN: kahan(t, k, past, s); break;
    case HU_ACCUM_NEUMAIER: neumaier(t, k, past, s); break;
    default: tree(t, k, past, s);
  }
}
