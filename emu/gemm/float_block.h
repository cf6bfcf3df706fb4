/* SPDX-License-Identifier: MIT */
/* emu/gemm/float_block.h - one block of D in a floating accumulator: pack, multiply, finish. Written once for
 * binary32, binary64 and codes of binary16; the including file must define HU_REAL, HU_READ, HU_COPY, HU_SPREAD and
 * HU_TRANSPOSE (kernels from binary32), HU_FINISH, HU_TILE_KERNEL and HU_NR, HU_MB, HU_NB, HU_KC. */

/* HU_GEMM_MR stored rows from `row` on (those past `rows` are zeros), `n` elements from `column` on, become columns:
 * z[c ldz + r]. */
static void transpose(const hu_gemm_call *call, const hu_matrix *x, size_t row, size_t rows, size_t column, size_t n,
                      HU_REAL *z, size_t ldz) {
  const float *direct = rows >= HU_GEMM_MR ? hui_gemm_direct32(x, row, column) : NULL;
  float line[HU_GEMM_MR * HU_KC];
  HU_REAL wide[HU_KC];
  if (direct) {
    HU_TRANSPOSE(n, z, ldz, direct, x->ld);
  } else if (x->carried) {
    memset(line, 0, sizeof line);
    for (size_t i = 0; i < hui_least(rows, HU_GEMM_MR); i++) hui_gemm_read32(x, row + i, column, n, line + i * HU_KC);
    HU_TRANSPOSE(n, z, ldz, line, HU_KC);
  } else { /* values that only binary64 holds */
    for (size_t i = 0; i < HU_GEMM_MR; i++) {
      memset(wide, 0, sizeof wide);
      if (i < rows) HU_READ(x, row + i, column, n, wide);
      for (size_t c = 0; c < n; c++) z[c * ldz + i] = wide[c];
    }
  }
}

static void pack_a(const hu_gemm_call *call, size_t i0, size_t k0, size_t rows, size_t kc, HU_REAL *z) {
  size_t padded = hui_up_to(rows, HU_GEMM_MR);
  if (!call->a.transposed) {
    for (size_t i = 0; i < padded; i += HU_GEMM_MR) {
      transpose(call, &call->a, i0 + i, hui_least(rows - i, HU_GEMM_MR), k0, kc, z + i * HU_KC, HU_GEMM_MR);
    }
    return;
  }
  for (size_t k = 0; k < kc; k++) {
    HU_REAL row[HU_MB];
    HU_READ(&call->a, k0 + k, i0, rows, row);
    for (size_t i = rows; i < padded; i++) row[i] = 0;
    for (size_t i = 0; i < padded; i += HU_GEMM_MR)
      memcpy(z + i * HU_KC + k * HU_GEMM_MR, row + i, HU_GEMM_MR * sizeof *z);
  }
}

static void pack_b_transposed(const hu_gemm_call *call, size_t j0, size_t k0, size_t cols, size_t kc, HU_REAL *z) {
  for (size_t j = 0; j < hui_up_to(cols, HU_NR); j += HU_GEMM_MR) {
    HU_REAL *to = z + j / HU_NR * (HU_KC * HU_NR) + j % HU_NR;
    transpose(call, &call->b, j0 + j, j < cols ? cols - j : 0, k0, kc, to, HU_NR);
  }
}

static void pack_b(const hu_gemm_call *call, size_t j0, size_t k0, size_t cols, size_t kc, HU_REAL *z) {
  if (call->b.transposed) {
    pack_b_transposed(call, j0, k0, cols, kc, z);
    return;
  }
  size_t whole = cols / HU_NR * HU_NR;
  for (size_t k = 0; k < kc; k++) {
    HU_REAL row[HU_NB], *to = z + k * HU_NR;
    const float *x = hui_gemm_direct32(&call->b, k0 + k, j0);
    if (x) {
      HU_SPREAD(whole / HU_NR, to, x);
      if (whole < cols) HU_COPY(cols - whole, to + whole * HU_KC, x + whole);
    } else {
      HU_READ(&call->b, k0 + k, j0, cols, row);
      for (size_t j = 0; j < whole; j += HU_NR) memcpy(to + j * HU_KC, row + j, HU_NR * sizeof *z);
      if (whole < cols) memcpy(to + whole * HU_KC, row + whole, (cols - whole) * sizeof *z);
    }
    for (size_t j = cols; j < hui_up_to(cols, HU_NR); j++) to[whole * HU_KC + j - whole] = 0;
  }
}

/* Copies row i of the accumulators from, or to, one piece. */
static void put_row(size_t i, size_t cols, const HU_REAL *row, HU_REAL *acc) {
  for (size_t j = 0; j < cols; j += HU_NR) {
    memcpy(acc + j * HU_MB + i * HU_NR, row + j, hui_least(HU_NR, cols - j) * sizeof *acc);
  }
}

static void get_row(size_t i, size_t cols, const HU_REAL *acc, HU_REAL *row) {
  for (size_t j = 0; j < cols; j += HU_NR) memcpy(row + j, acc + j * HU_MB + i * HU_NR, HU_NR * sizeof *acc);
}

/* acc = C; without C (and with products to come) the first piece starts from nothing. */
static void load_c(const hu_gemm_call *call, size_t i0, size_t j0, size_t rows, size_t cols, HU_REAL *acc) {
  HU_REAL line[HU_MB > HU_NB ? HU_MB : HU_NB];
  if (!call->c.data && call->k) return;
  memset(acc, 0, HU_MB * hui_up_to(cols, HU_NR) * sizeof *acc);
  if (!call->c.data) return;
  if (!call->c.transposed) {
    for (size_t i = 0; i < rows; i++) {
      HU_READ(&call->c, i0 + i, j0, cols, line);
      put_row(i, cols, line, acc);
    }
    return;
  }
  for (size_t j = 0; j < cols; j++) {
    HU_READ(&call->c, j0 + j, i0, rows, line);
    for (size_t i = 0; i < rows; i++) acc[j / HU_NR * (HU_MB * HU_NR) + i * HU_NR + j % HU_NR] = line[i];
  }
}

/* Returns the stored rows that hold elements (i0, j0) ... of x. */
static hu_ahead_run look_ahead(const hu_matrix *x, size_t i0, size_t j0, size_t rows, size_t cols) {
  hu_ahead_run run;
  size_t row = x->transposed ? j0 : i0, column = x->transposed ? i0 : j0;
  run.row = (const char *)x->data + (row * x->ld + column) * x->size;
  run.pitch = x->ld * x->size;
  run.rows = x->transposed ? cols : rows;
  run.lines = ((x->transposed ? rows : cols) * x->size + 63) / 64;
  return run;
}

static void look_at_nothing(hu_ahead *ahead) {
  memset(ahead, 0, sizeof *ahead);
  ahead->at = (const char *)ahead;
  ahead->left = SIZE_MAX;
}

/* Looks after piece k0 of block (i0, j0): at the next piece, or at the first of the next block along the row. */
static void look_after(hu_ahead *ahead, const hu_gemm_call *call, size_t i0, size_t j0, size_t k0) {
  look_at_nothing(ahead);
  k0 += HU_KC;
  if (k0 >= call->k) {
    k0 = 0;
    j0 += call->block_cols;
  }
  if (j0 >= call->n) {
    j0 = 0;
    i0 += call->block_rows;
  }
  if (i0 >= call->m) return;
  size_t kc = hui_least(call->k - k0, HU_KC);
  ahead->runs[0] = look_ahead(&call->a, i0, k0, hui_least(call->m - i0, call->block_rows), kc);
  ahead->runs[1] = look_ahead(&call->b, k0, j0, kc, hui_least(call->n - j0, call->block_cols));
  ahead->run = ahead->runs;
  ahead->past = ahead->runs + 2;
  ahead->at = ahead->row = ahead->run->row;
  ahead->rows = ahead->run->rows - 1;
  ahead->left = ahead->run->lines;
  ahead->step = 64;
}

static void run_block(const hu_gemm_call *call, size_t i0, size_t j0, hu_events *events) {
  _Alignas(64) HU_REAL acc[HU_MB * HU_NB];
  _Alignas(64) HU_REAL a[HU_KC * HU_MB];
  _Alignas(64) HU_REAL b[HU_KC * HU_NB];
  size_t rows = hui_least(call->m - i0, call->block_rows), cols = hui_least(call->n - j0, call->block_cols);
  load_c(call, i0, j0, rows, cols, acc);
  for (size_t k0 = 0; k0 < call->k; k0 += HU_KC) {
    size_t kc = hui_least(call->k - k0, HU_KC);
    hu_ahead ahead;
    look_after(&ahead, call, i0, j0, k0);
    pack_a(call, i0, k0, rows, kc, a);
    pack_b(call, j0, k0, cols, kc, b);
    HU_TILE_KERNEL(hui_up_to(rows, HU_GEMM_MR), cols, kc, a, b, acc, !call->c.data && k0 == 0, &ahead);
  }
  for (size_t i = 0; i < rows; i++) {
    HU_REAL row[HU_NB];
    get_row(i, cols, acc, row);
    HU_FINISH(call, i0 + i, j0, cols, row, events);
  }
}
