/* SPDX-License-Identifier: MIT */
/* Values of a piece to codes, and what changed: see piece.h. */
#include "layouts/write/piece.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "halfulp/arith.h"
#include "halfulp/array.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"

enum { ONE = 0x3F800000 };

static const hu_mode nearest = {0};

static size_t least_of(size_t a, size_t b) { return a < b ? a : b; }

/* ---- the CPU's own arithmetic, where it is that of IEEE 754 ---- */

static float number(uint32_t bits) {
  float z;
  memcpy(&z, &bits, sizeof z);
  return z;
}

static float *floats(uint32_t *bits) { return (float *)(void *)bits; }

static double of_bits(const hui_work *work, uint32_t bits) {
  return work->ieee ? (double)number(bits) : hu_decode64(hu_binary32(), bits);
}

static void divide_here(const hui_work *work, size_t n) {
  int multiply = work->target->rule->multiply;
  for (size_t k = 0; k < n; k++) {
    float x = number(work->x[k]), by = number(work->by[k]), z = multiply ? x * by : x / by;
    memcpy(&work->quotient[k], &z, sizeof z);
  }
}

/* ---- reading ---- */

/* Lets go of pages of the source that were read, so that memory does not grow with a mapped file; those in front, too,
 * which the system maps again beside one that is read. */
void hui_work_let_go(const hui_work *work, size_t first, size_t n) {
  const hui_raw *raw = work->source->raw;
  const hui_bytes *file = &raw->shard->bytes;
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), around = 32 * page, begin = (uintptr_t)file->data;
  uintptr_t at = (uintptr_t)raw->bytes, size = raw->tensor->size, count = work->source->count;
  if (!file->mapped || !count || at < begin || at + size > begin + file->size) return;
  uintptr_t from = at + (uintptr_t)((double)first / (double)count * (double)size);
  uintptr_t to = at + (uintptr_t)((double)(first + n) / (double)count * (double)size);
  from = (from - begin > around ? from - around : begin) & ~(page - 1);
  to &= ~(page - 1);
  if (to > from) (void)madvise((void *)from, to - from, MADV_DONTNEED);
}

static hu_status not_finite(const hui_work *work, const hui_piece *piece, size_t k) {
  char shown[ST_NAME_MAX];
  size_t r = piece->r + k / piece->cols, c = piece->c + k % piece->cols;
  return hui_write_wrong(work->all, HU_E_DATA,
                         "%s: tensor '%s': element [%zu, %zu] is an infinity, a NaN or beyond binary32; leave it out",
                         work->source->raw->shard->path, st_printable(shown, work->source->name),
                         piece->m * work->rows + r, c);
}

/* Reads the piece: exact values, and these in binary32; finite: others are an error. */
hu_status hui_piece_read(hui_work *work, const hui_piece *piece, int finite) {
  size_t n = piece->rows * piece->cols;
  hu_status status = HU_OK;
  for (size_t i = 0; i < piece->rows && status == HU_OK; i++) {
    size_t first = (piece->m * work->rows + piece->r + i) * work->cols + piece->c;
    status = hui_exact(work->all->model, work->place, first, piece->cols, work->exact + i * piece->cols);
  }
  if (status == HU_OK && !work->ieee)
    status = hu_encode64_n(n, work->x, 1, work->exact, 1, hu_binary32(), nearest, NULL, NULL);
  for (size_t k = 0; k < n && work->ieee; k++) floats(work->x)[k] = (float)work->exact[k];
  for (size_t k = 0; k < n && finite && status == HU_OK; k++)
    if ((work->x[k] & 0x7F800000) == 0x7F800000) status = not_finite(work, piece, k);
  return status;
}

/* ---- blocks ---- */

static void widen(const hui_work *work, uint32_t *least, uint32_t *greatest, double *low, double *high, uint32_t x) {
  double value = of_bits(work, x);
  if (value < *low) *low = value, *least = x;
  if (value > *high) *high = value, *greatest = x;
}

/* Returns the rule's factor for block i, j of the piece. */
hui_factor hui_piece_factor(const hui_work *work, const hui_piece *piece, size_t i, size_t j) {
  size_t r = least_of(work->block_rows, piece->rows - i * work->block_rows);
  size_t c = least_of(work->block_cols, piece->cols - j * work->block_cols);
  uint32_t amax = 0, least = 0, greatest = 0;
  double low = INFINITY, high = -INFINITY;
  for (size_t a = 0; a < r; a++) {
    const uint32_t *row = work->x + (i * work->block_rows + a) * piece->cols + j * work->block_cols;
    for (size_t b = 0; b < c; b++) {
      uint32_t size = row[b] & 0x7FFFFFFF;
      if (size > amax) amax = size;
      if (work->target->bias) widen(work, &least, &greatest, &low, &high, row[b]);
    }
  }
  return work->target->rule->block(&work->calc, amax, least, greatest);
}

uint32_t hui_piece_amax(const hui_work *work, size_t n) {
  uint32_t amax = 0;
  for (size_t k = 0; k < n; k++)
    if ((work->x[k] & 0x7FFFFFFF) > amax) amax = work->x[k] & 0x7FFFFFFF;
  return amax;
}

/* Checks that the piece's scales are numbers above 0 that their dtype holds. */
hu_status hui_piece_check(const hui_work *work, const hui_piece *piece) {
  char shown[ST_NAME_MAX];
  for (size_t k = 0; k < piece->down * piece->across; k++) {
    if ((work->factors[k].stored & 0x7F800000) != 0x7F800000) continue;
    return hui_write_wrong(work->all, HU_E_DATA, "%s: tensor '%s': the block at [%zu, %zu] has no finite scale",
                           work->source->raw->shard->path, st_printable(shown, work->source->name),
                           piece->m * work->rows + piece->r + k / piece->across * work->block_rows,
                           piece->c + k % piece->across * work->block_cols);
  }
  return HU_OK;
}

/* ---- codes ---- */

/* Elements of a row of the piece that share a factor. */
typedef struct span {
  size_t first, count; /* in the piece */
  const hui_factor *factor;
} span;

/* Gives span number i of the piece, row by row. */
static span span_at(const hui_work *work, const hui_piece *piece, size_t i) {
  size_t row = i / piece->across, j = i % piece->across, c = j * work->block_cols;
  return (span){row * piece->cols + c, least_of(work->block_cols, piece->cols - c),
                &work->factors[row / work->block_rows * piece->across + j]};
}

static hu_status divide_there(hui_work *work, size_t n, const hu_exec *exec) {
  hu_format f = hu_binary32();
  hu_view x[2] = {hu_codes(work->x, 1, f), hu_codes(work->by, 1, f)};
  hu_how how = hu_how_of(nearest, exec, NULL);
  hu_output to = hu_codes_out(work->quotient, 1, f);
  return hu_apply(work->target->rule->multiply ? HU_OP_MUL : HU_OP_DIV, n, &to, x, &how);
}

/* The quotient in binary32, and then in the type. Of operands of 8 and 11 digits the second rounding changes nothing,
 * since binary32 has more than twice as many. */
static hu_status divide(hui_work *work, size_t n, const hu_exec *exec) {
  float *z = floats(work->quotient);
  hu_status status = HU_OK;
  if (work->ieee)
    divide_here(work, n);
  else
    status = divide_there(work, n, exec);
  if (status != HU_OK || work->target->rule->wide == 1 || hu_format_equal(work->calc.type, hu_binary32()))
    return status;
  return hu_quantize_n(n, z, 1, z, 1, work->calc.type, nearest, exec, NULL);
}

/* Rounds to the nearest integer, ties to even, whatever the CPU's rounding direction. */
static int nearest_integer(double x, int least, int most) {
  if (!(x > least)) return least;
  if (x >= most) return most;
  int z = (int)x;
  double rest = x - z;
  if (rest > 0.5 || (rest == 0.5 && (z & 1))) z++;
  if (rest < -0.5 || (rest == -0.5 && (z & 1))) z--;
  return z;
}

static void round_integers(hui_work *work, size_t n) {
  int offset = work->target->codes_are == HUI_CODES_OFFSET;
  for (size_t k = 0; k < n; k++) {
    double value = of_bits(work, work->quotient[k]);
    work->codes[k] = (uint8_t)(offset ? nearest_integer(value, -8, 7) + 8 : nearest_integer(value, 0, 15));
  }
}

/* Makes -0 of x / by 0: what programs do that add a zero point of 0. */
static void drop_signs(uint32_t *quotient, size_t n) {
  for (size_t k = 0; k < n; k++)
    if (quotient[k] == 0x80000000) quotient[k] = 0;
}

/* Spreads what blocks have over their elements: the factor, or the bias. */
static void spread(const hui_work *work, const hui_piece *piece, uint32_t *z, int bias) {
  for (size_t i = 0; i < piece->rows * piece->across; i++) {
    span one = span_at(work, piece, i);
    uint32_t bits = bias ? one.factor->bias : one.factor->by;
    for (size_t k = 0; k < one.count; k++) z[one.first + k] = bits;
  }
}

/* Subtracts b in binary32, for rules with a bias. */
static hu_status subtract_biases(hui_work *work, const hui_piece *piece, size_t n, const hu_exec *exec) {
  hu_format f = hu_binary32();
  spread(work, piece, work->quotient, 1);
  return hu_sub_n(n, work->x, 1, f, work->x, 1, f, work->quotient, 1, f, nearest, exec, NULL);
}

hu_status hui_piece_round(hui_work *work, const hui_piece *piece) {
  const hui_quantizer *rule = work->target->rule;
  hu_exec exec = {.threads = work->all->order->threads};
  hu_mode mode = {.round = rule->round, .saturate = HU_SAT_FINITE};
  size_t n = piece->rows * piece->cols;
  hu_status status = HU_OK;
  if (work->target->bias) status = subtract_biases(work, piece, n, &exec);
  spread(work, piece, work->by, 0);
  if (status == HU_OK) status = divide(work, n, &exec);
  if (rule->plus) drop_signs(work->quotient, n);
  if (status == HU_OK && work->target->codes_are != HUI_CODES)
    round_integers(work, n);
  else if (status == HU_OK)
    status = hu_encode_n(n, work->codes, 1, floats(work->quotient), 1, work->element, mode, &exec, NULL);
  for (size_t k = 0; k < n && rule->unsigned_zero; k++)
    if (work->codes[k] == 8) work->codes[k] = 0;
  return status;
}

/* The same by a scaled format that was asked for. */
hu_status hui_piece_round_as_asked(hui_work *work, const hui_piece *piece) {
  const hu_scaling *scaling = &work->all->scaling;
  uint8_t *narrow = (uint8_t *)work->by;
  int wide = hu_format_equal(scaling->scale, hu_binary32()), one = !scaling->rows && !scaling->cols;
  float t = 1, amax = (float)of_bits(work, work->calc.top);
  hu_exec exec = {.threads = work->all->order->threads};
  hu_scaled z = {work->codes, piece->cols, work->by, piece->across, scaling->tensor ? &t : NULL};
  hu_status status = hu_scaled_encode(piece->rows, piece->cols, &z, (const float *)(const void *)work->x, piece->cols,
                                      scaling, nearest, scaling->tensor || one ? &amax : NULL, NULL, &exec, NULL);
  for (size_t k = 0; k < piece->down * piece->across && status == HU_OK; k++) {
    size_t at = one ? 0 : k;
    work->factors[k].stored =
        wide ? work->by[at] : hu_convert(hu_binary32(), nearest, scaling->scale, narrow[at], 0, NULL);
  }
  work->calc.second = hui_pattern(t);
  if (work->target->reader == HUI_FOR_CT) work->calc.second = hui_quotient(hu_binary32(), ONE, work->calc.second);
  return status;
}

/* ---- the way back, and what changed ---- */

/* Returns the factor of decoding: of two levels the product or quotient in binary32. */
static double decoding(const hui_work *work, const hui_factor *factor) {
  const hui_target *target = work->target;
  if (!target->second) return of_bits(work, factor->stored);
  uint32_t z = target->reader == HUI_FOR_CT ? hui_quotient(hu_binary32(), factor->stored, work->calc.second)
                                            : hui_product(hu_binary32(), factor->stored, work->calc.second);
  return of_bits(work, z);
}

/* Returns what a code stands for under a bias. */
static double with_bias(const hui_work *work, const hui_factor *factor, double q) {
  hu_format f = hu_binary32();
  return of_bits(work, hu_fma(f, nearest, f, hui_pattern(q), f, factor->stored, f, factor->bias, 0, NULL));
}

void hui_change_count(hu_checkpoint_change *change, double before, double after) {
  double by = fabs(after - before);
  int finite = isfinite(before) && isfinite(after);
  if (finite) change->squares += before * before;
  if (before == after || (isnan(before) && isnan(after))) return;
  change->changed++;
  change->zeroed += after == 0;
  change->to_infinity += isinf(after) != 0;
  change->to_nan += isnan(after) != 0;
  if (!finite) return;
  change->difference += by * by;
  if (by > change->largest) change->largest = by;
}

void hui_piece_count(hui_work *work, const hui_piece *piece) {
  hu_checkpoint_change *change = &work->all->changes[work->place];
  for (size_t i = 0; i < piece->rows * piece->across; i++) {
    span one = span_at(work, piece, i);
    double scale = decoding(work, one.factor);
    for (size_t k = one.first; k < one.first + one.count; k++) {
      double q = work->numbers[work->codes[k]];
      hui_change_count(change, work->exact[k], work->target->bias ? with_bias(work, one.factor, q) : q * scale);
    }
  }
}

void hui_piece_count_narrowed(hui_work *work, const hui_piece *piece) {
  hu_checkpoint_change *change = &work->all->changes[work->place];
  for (size_t k = 0; k < piece->rows * piece->cols; k++)
    change->narrowed += of_bits(work, work->x[k]) != work->exact[k];
}
