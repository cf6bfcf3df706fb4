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

/* ---- reading ---- */

/* Lets go of pages of the source that were read, so that memory does not grow with a mapped file; those in front, too,
 * which the system maps again beside one that is read. */
void hui_work_let_go(const hui_work *work, size_t first, size_t n) {
  const hui_raw *raw = work->source->raw;
  const hui_bytes *file = &raw->shard->bytes;
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), around = 1024 * page, begin = (uintptr_t)file->data;
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

uint32_t hui_piece_amax(const hui_work *work, size_t n) {
  uint32_t amax = 0;
  for (size_t k = 0; k < n; k++)
    if ((work->x[k] & 0x7FFFFFFF) > amax) amax = work->x[k] & 0x7FFFFFFF;
  return amax;
}

static hu_status not_scaled(const hui_work *work, const hui_piece *piece, size_t i, size_t j) {
  char shown[ST_NAME_MAX];
  return hui_write_wrong(work->all, HU_E_DATA, "%s: tensor '%s': the block at [%zu, %zu] has no finite scale",
                         work->source->raw->shard->path, st_printable(shown, work->source->name),
                         piece->m * work->rows + piece->r + i * work->block_rows, piece->c + j * work->block_cols);
}

/* Checks that the piece's scales are numbers that their dtype holds. */
static hu_status check_scales(const hui_work *work, const hui_piece *piece) {
  for (size_t k = 0; k < piece->down * piece->across; k++)
    if ((work->factors[k].stored & 0x7F800000) == 0x7F800000)
      return not_scaled(work, piece, k / piece->across, k % piece->across);
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

static hu_status round_by_integers(hui_work *work, const hui_piece *piece) {
  int biases = work->target->bias != NULL;
  for (size_t i = 0; i < piece->rows * piece->across; i++) {
    span one = span_at(work, piece, i);
    work->factors[i] =
        hui_integers_round(biases, work->calc.type, one.count, work->x + one.first, work->codes + one.first);
  }
  return check_scales(work, piece);
}

/* ---- codes by a scaled format ---- */

/* Returns the product or quotient of a block's scale and that of the tensor, as decoding makes it. */
static uint32_t scale_of(const hui_work *work, const hui_factor *factor) {
  const hui_target *target = work->target;
  if (!target->second) return factor->stored;
  return target->reader == HUI_FOR_CT ? hui_quotient(hu_binary32(), factor->stored, work->calc.second)
                                      : hui_product(hu_binary32(), factor->stored, work->calc.second);
}

/* Finds the first block whose scale is an infinity in the program. */
static hu_status check_largest(const hui_work *work, const hui_piece *piece) {
  for (size_t k = 0; k < piece->rows * piece->cols; k++)
    if ((work->x[k] & 0x7FFFFFFF) >= 0x7F600000)
      return not_scaled(work, piece, k / piece->cols / work->block_rows, k % piece->cols / work->block_cols);
  return HU_OK;
}

/* The logarithm of a quotient just above a power of two is rounded to that one's. Then all elements that this power
 * takes to M or above become M times it, which changes no code and gives that scale. */
static void lower_logarithms(hui_work *work, const hui_piece *piece) {
  hu_format f = hu_binary32();
  uint32_t most = hui_pattern(work->target->bits == 4 ? 6 : 448);
  for (size_t i = 0; i < piece->rows * piece->across; i++) {
    size_t first = i / piece->across * piece->cols + i % piece->across * work->block_cols;
    size_t count = least_of(work->block_cols, piece->cols - i % piece->across * work->block_cols);
    uint32_t amax = 0, *x = work->x + first;
    for (size_t k = 0; k < count; k++)
      if ((x[k] & 0x7FFFFFFF) > amax) amax = x[k] & 0x7FFFFFFF;
    uint32_t part = hui_quotient(f, amax, most), power = part & (part < 0x800000 ? 0x400000 : 0x7F800000);
    if (!power || part - power - 1 > 63) continue; /* a logarithm of up to 128 has 2^-17 for its last digit */
    uint32_t exponent = hui_pattern((int)(power >> 23) - 127), limit = hui_product(f, most, power);
    if (hu_log2(f, nearest, f, part, 0, NULL) != exponent) continue;
    for (size_t k = 0; k < count; k++)
      if ((x[k] & 0x7FFFFFFF) > limit) x[k] = (x[k] & 0x80000000) | limit;
  }
}

/* Where the scale is 0 the factor is an infinity: products are the largest code, and NaN for zeros. */
static void round_tiny(hui_work *work, const hui_piece *piece) {
  for (size_t i = 0; i < piece->rows * piece->across; i++) {
    span one = span_at(work, piece, i);
    for (size_t k = one.first; !one.factor->stored && k < one.first + one.count; k++)
      work->codes[k] = work->x[k] & 0x7FFFFFFF ? (uint8_t)(work->x[k] >> 31 << 7 | 0x7E) : 0x7F;
  }
}

/* Gives zeros the sign of the rule, faster than the core does. own: a quotient of -0 is 0, too, because the programs
 * add a zero point of 0 to it. */
static void sign_zeros(hui_work *work, const hui_piece *piece, int own) {
  uint8_t minus = work->target->bits == 4 ? 8 : 0x80;
  hu_format type = work->target->second ? hu_binary32() : work->calc.type;
  for (size_t i = 0; i < piece->rows * piece->across; i++) {
    span one = span_at(work, piece, i);
    uint32_t scale = scale_of(work, one.factor);
    for (size_t k = one.first; k < one.first + one.count; k++)
      if (work->codes[k] == minus && (!own || !hui_quotient(type, work->x[k] & 0x7FFFFFFF, scale))) work->codes[k] = 0;
  }
}

/* Takes the scale of the tensor as it is in the file: what values are multiplied with, or divided by. */
static void take_second(hui_work *work, float t) {
  const hu_formulas *formulas = &work->scaling.formulas;
  size_t end = 0;
  while (formulas->code[end] != HU_FORMULA_END) end++;
  int has = work->scaling.rule == HU_SCALE_FORMULAS && formulas->code[end + 1] == HU_FORMULA_END; /* S, and no t */
  work->calc.second = hui_pattern(t);
  if (has != (work->target->reader == HUI_FOR_CT))
    work->calc.second = hui_quotient(hu_binary32(), ONE, work->calc.second);
}

static hu_status round_by_scaling(hui_work *work, const hui_piece *piece) {
  hu_scaling scaling = work->scaling;
  uint8_t *narrow = (uint8_t *)work->by;
  int own = !work->all->order->rule, minus = scaling.minus;
  int known = !scaling.cols && (!scaling.rows || piece->cols < work->cols);
  int fast = own && (minus == HU_MINUS_ZERO_OWN || minus == HU_MINUS_ZERO_NONE);
  unsigned bytes = hu_limits_of(scaling.scale).storage / 8;
  float t = 1, amax = (float)of_bits(work, work->calc.top);
  if (known) { /* the amax of more than the piece: rows with this one, which lanes take */
    scaling.rows = 1;
    if (scaling.amin < work->calc.top) scaling.amin = work->calc.top;
  }
  if (fast) scaling.minus = HU_MINUS_ZERO_KEPT;
  hu_exec exec = {.threads = work->all->order->threads};
  hu_scaled z = {work->codes, piece->cols, work->by, piece->across, scaling.tensor ? &t : NULL};
  hu_status status = hu_scaled_encode(piece->rows, piece->cols, &z, (const float *)(const void *)work->x, piece->cols,
                                      &scaling, nearest, scaling.tensor ? &amax : NULL, NULL, &exec, NULL);
  for (size_t k = 0; k < piece->down * piece->across && status == HU_OK; k++) {
    uint32_t code = bytes == 4 ? work->by[k] : bytes == 2 ? ((uint16_t *)work->by)[k] : narrow[k];
    work->factors[k].stored = hu_convert(hu_binary32(), nearest, scaling.scale, code, 0, NULL);
  }
  if (scaling.tensor) take_second(work, t);
  if (status == HU_OK && fast) sign_zeros(work, piece, minus == HU_MINUS_ZERO_OWN);
  return status;
}

hu_status hui_piece_round(hui_work *work, const hui_piece *piece) {
  int odd = work->all->order->rule ? HUI_ODD_NOTHING : work->target->odd;
  hu_status status = HU_OK;
  if (work->target->integers) return round_by_integers(work, piece);
  if (odd == HUI_ODD_LARGEST) status = check_largest(work, piece);
  if (odd == HUI_ODD_LOG2 && hu_format_equal(work->calc.type, hu_binary32())) lower_logarithms(work, piece);
  if (status == HU_OK) status = round_by_scaling(work, piece);
  if (status == HU_OK && odd == HUI_ODD_TINY) round_tiny(work, piece);
  return status;
}

/* ---- the way back, and what changed ---- */

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
    double scale = of_bits(work, scale_of(work, one.factor));
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
