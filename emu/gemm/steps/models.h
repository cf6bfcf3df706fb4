/* SPDX-License-Identifier: MIT */
/* emu/gemm/steps/models.h - the sums of models of software over the places of a tile: each place takes the same steps,
 * whatever its numbers are, so that a model is written as in emu/core/accum.h, with planes of a tile in place of
 * numbers. A file that includes this has ROWS, COLS, PLANE (their product), KC and, before it:
 *
 *   steps_real   what a plane has at a place
 *   steps_grid   where a step rounds to
 *   steps_tile   with call, way (way->product and way->sum: steps_grid), i0, j0, rows, cols, k0, kc, most; the
 *                operands a (KC x ROWS) and b (KC x COLS) of the products k0 ... k0 + kc - 1, at most `most` of them;
 *                and the planes product, carry, first, chunk and, for trees, level[]
 *   read_row(tile, x, row, column, n, z)   n elements of a stored row
 *   add, subtract(tile, grid, z, x, y)     one rounding of x + y, x - y at all places; z may be an operand
 *   sort(tile, x, y)                       exchanges x and y where not |x| >= |y|, or not, where one is a NaN
 *   multiply_at(tile, grid, z, at)         one rounding of product k0 + at */

static void fill(steps_real *z) { memset(z, 0, PLANE * sizeof *z); }

/* Reads elements (i, j) of x from (i0, j0) on: z[i di + j dj]. */
static void unpack(const steps_tile *tile, const hu_matrix *x, size_t i0, size_t j0, size_t rows, size_t cols,
                   steps_real *z, size_t di, size_t dj) {
  size_t outer = x->transposed ? cols : rows, inner = x->transposed ? rows : cols;
  size_t far = x->transposed ? dj : di, step = x->transposed ? di : dj;
  for (size_t i = 0; i < outer; i++) {
    steps_real line[COLS > KC ? COLS : KC];
    read_row(tile, x, (x->transposed ? j0 : i0) + i, x->transposed ? i0 : j0, inner, step == 1 ? z + i * far : line);
    for (size_t j = 0; step != 1 && j < inner; j++) z[i * far + j * step] = line[j];
  }
}

/* Where product k stands in the piece, which is unpacked first if it does not hold it. */
static size_t piece_with(steps_tile *tile, size_t k) {
  const hu_gemm_call *call = tile->call;
  if (k - tile->k0 < tile->kc) return k - tile->k0;
  tile->k0 = k;
  tile->kc = hui_least(call->k - k, tile->most);
  unpack(tile, &call->a, tile->i0, k, tile->rows, tile->kc, tile->a, 1, ROWS);
  unpack(tile, &call->b, k, tile->j0, tile->kc, tile->cols, tile->b, COLS, 1);
  return 0;
}

static void multiply(steps_tile *tile, const steps_grid *grid, steps_real *z, size_t k) {
  multiply_at(tile, grid, z, piece_with(tile, k));
}

/* ---- models: the sums of products k ... past - 1 on top of total, in total ---- */

static void seq2(steps_tile *tile, const steps_grid *sum, size_t k, size_t past, steps_real *total) {
  for (; k < past; k++) {
    multiply(tile, &tile->way->product, tile->product, k);
    add(tile, sum, total, total, tile->product);
  }
}

static void chunks(steps_tile *tile, size_t k, size_t past, steps_real *total) {
  for (size_t length = tile->call->accum->length, end; k < past; k = end) {
    end = k + hui_least(past - k, length);
    fill(tile->chunk);
    seq2(tile, &tile->way->product, k, end, tile->chunk);
    add(tile, &tile->way->sum, total, total, tile->chunk);
  }
}

static void kahan(steps_tile *tile, size_t k, size_t past, steps_real *total) {
  const steps_grid *grid = &tile->way->sum;
  steps_real *c = tile->carry, *y = tile->product, *sum = total, *next = tile->first;
  fill(c);
  for (; k < past; k++) {
    steps_real *last = sum;
    multiply(tile, grid, y, k);
    subtract(tile, grid, y, y, c);
    add(tile, grid, next, sum, y);
    subtract(tile, grid, c, next, sum);
    subtract(tile, grid, c, c, y);
    sum = next;
    next = last;
  }
  if (sum != total) memcpy(total, sum, PLANE * sizeof *total);
}

static void neumaier(steps_tile *tile, size_t k, size_t past, steps_real *total) {
  const steps_grid *grid = &tile->way->sum;
  steps_real *c = tile->carry, *term = tile->product, *sum = total, *next = tile->first;
  fill(c);
  for (; k < past; k++) {
    steps_real *error = sum;
    multiply(tile, grid, term, k);
    add(tile, grid, next, sum, term);
    sort(tile, sum, term);
    subtract(tile, grid, error, sum, next);
    add(tile, grid, error, error, term);
    add(tile, grid, c, c, error);
    sum = next;
    next = error;
  }
  add(tile, grid, total, sum, c);
}

/* Sums the tree over products k ... past - 1, in tile->level[depth]. */
static void halves(steps_tile *tile, size_t k, size_t past, size_t depth) {
  if (past - k == 1) {
    multiply(tile, &tile->way->sum, tile->level[depth], k);
    return;
  }
  size_t mid = k + (past - k) / 2;
  halves(tile, k, mid, depth);
  halves(tile, mid, past, depth + 1);
  add(tile, &tile->way->sum, tile->level[depth], tile->level[depth], tile->level[depth + 1]);
}

/* Sums the tree over products i, i + step, i + 2 step ... of `n` from k on; width: the power of two from n on. */
static void strides(steps_tile *tile, size_t k, size_t n, size_t width, size_t i, size_t step, size_t depth) {
  if (i >= n) {
    fill(tile->level[depth]);
  } else if (step >= width) {
    multiply(tile, &tile->way->sum, tile->level[depth], k + i);
  } else {
    strides(tile, k, n, width, i, 2 * step, depth);
    strides(tile, k, n, width, i + step, 2 * step, depth + 1);
    add(tile, &tile->way->sum, tile->level[depth], tile->level[depth], tile->level[depth + 1]);
  }
}

static void tree(steps_tile *tile, size_t k, size_t past, steps_real *total) {
  size_t width = 1;
  while (width < past - k) width *= 2;
  if (tile->call->accum->kind == HU_ACCUM_PAIRWISE) {
    halves(tile, k, past, 0);
  } else {
    strides(tile, k, past - k, width, 0, 1, 0);
  }
  add(tile, &tile->way->sum, total, tile->level[0], total);
}

/* Sums by any model but chains of fused steps. */
static void sum_by_model(steps_tile *tile, size_t k, size_t past, steps_real *total) {
  switch (tile->call->accum->kind) {
    case HU_ACCUM_SEQ2: seq2(tile, &tile->way->sum, k, past, total); break;
    case HU_ACCUM_CHUNK: chunks(tile, k, past, total); break;
    case HU_ACCUM_KAHAN: kahan(tile, k, past, total); break;
    case HU_ACCUM_NEUMAIER: neumaier(tile, k, past, total); break;
    default: tree(tile, k, past, total);
  }
}
