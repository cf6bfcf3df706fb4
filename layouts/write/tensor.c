/* SPDX-License-Identifier: MIT */
/* One tensor to its places in the files, piece by piece: see write.h. A piece is whole blocks, or a part of a row where
 * a scale is of more than a piece has; then the tensor's, or the row's, largest magnitude is found before. */
#include <stdlib.h>
#include <string.h>

#include "halfulp/array.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"
#include "halfulp/scalar.h"
#include "layouts/write/piece.h"

enum { ONE = 0x3F800000 };

static const hu_mode nearest = {0};

static size_t least_of(size_t a, size_t b) { return a < b ? a : b; }
static size_t parts(size_t n, size_t of) { return n / of + (n % of != 0); }

/* ---- writing ---- */

static void put_code(uint8_t *bytes, uint32_t code, unsigned width) {
  for (unsigned i = 0; i < width; i++) bytes[i] = (uint8_t)(code >> 8 * i);
}

static hu_format format_of_dtype(int dtype) {
  switch (dtype) {
    case ST_F8_E4M3: return hu_float8_e4m3fn();
    case ST_F8_E5M2: return hu_float8_e5m2();
    case ST_BF16: return hu_bfloat16();
    case ST_F16: return hu_binary16();
    default: return hu_binary32();
  }
}

static hu_format scale_format(const hui_work *work) {
  if (work->scale_dtype == ST_U8)
    return work->target->scale_type == HUI_SCALE_E8M0 ? hu_float8_e8m0fnu() : hu_float8_e4m3fn();
  return format_of_dtype(work->scale_dtype);
}

/* Writes the scales of the piece, or its biases, row by row of blocks. */
static hu_status write_factors(hui_work *work, const hui_piece *piece, int which) {
  hui_writing *all = work->all;
  hu_format format = scale_format(work);
  unsigned width = st_dtype_bits(work->scale_dtype) / 8;
  const uint32_t *block = work->target->block;
  size_t across = block[1] ? parts(work->cols, block[1]) : 1, down = parts(work->rows, work->block_rows);
  size_t some = block[1] ? piece->across : 1;
  hu_status status = HU_OK;
  for (size_t i = 0; i < (block[0] ? piece->down : 1) && status == HU_OK; i++) {
    for (size_t j = 0; j < some; j++) {
      const hui_factor *factor = &work->factors[i * piece->across + j];
      uint32_t bits = which == HUI_BIAS_PLACE ? factor->bias : factor->stored;
      put_code(work->bytes + j * width, hu_convert(format, nearest, hu_binary32(), bits, 0, NULL), width);
    }
    size_t at = (piece->m * down + piece->r / work->block_rows + i) * across;
    if (block[1]) at += piece->c / block[1];
    status =
        hui_write_bytes(all, all->places[work->place][which], block[0] ? at * width : 0, work->bytes, some * width);
  }
  return status;
}

static size_t line_bytes(const hui_work *work) {
  size_t bits = work->cols * work->target->bits;
  unsigned word = st_dtype_bits(work->target->dtype);
  return parts(bits, word) * (word / 8);
}

/* Writes the codes of the piece: two in a byte, the even one in the low half, or one. */
static hu_status write_codes(hui_work *work, const hui_piece *piece) {
  hui_writing *all = work->all;
  size_t line = line_bytes(work), whole = piece->cols == work->cols;
  size_t size = whole ? line : piece->cols * work->target->bits / 8;
  hu_status status = HU_OK;
  for (size_t i = 0; i < piece->rows; i++) {
    const uint8_t *codes = work->codes + i * piece->cols;
    uint8_t *bytes = work->bytes + i * size;
    memset(bytes, 0, size);
    for (size_t k = 0; k < piece->cols; k++)
      bytes[k * work->target->bits / 8] |= (uint8_t)(work->target->bits == 4 ? codes[k] << 4 * (k & 1) : codes[k]);
  }
  size_t row = piece->m * work->rows + piece->r;
  if (whole)
    return hui_write_bytes(all, all->places[work->place][HUI_CODE_PLACE], row * line, work->bytes, size * piece->rows);
  for (size_t i = 0; i < piece->rows && status == HU_OK; i++)
    status = hui_write_bytes(all, all->places[work->place][HUI_CODE_PLACE],
                             (row + i) * line + piece->c * work->target->bits / 8, work->bytes + i * size, size);
  return status;
}

static hu_status write_piece(hui_work *work, const hui_piece *piece) {
  hu_status status = write_codes(work, piece);
  int first = work->target->block[0] || (!piece->m && !piece->r && !piece->c);
  int row = !work->target->block[1] && piece->c; /* the scale of a row that continues */
  if (status == HU_OK && first && !row) status = write_factors(work, piece, HUI_SCALE_PLACE);
  if (status == HU_OK && work->target->bias) status = write_factors(work, piece, HUI_BIAS_PLACE);
  return status;
}

/* Writes what a tensor has once: its second scale, its sizes, the scale of its layer's activations. */
static hu_status write_once(hui_work *work) {
  hui_writing *all = work->all;
  uint8_t bytes[16] = {0};
  hu_status status = HU_OK;
  put_code(bytes, work->calc.second, 4);
  if (work->target->second) status = hui_write_bytes(all, all->places[work->place][HUI_SECOND_PLACE], 0, bytes, 4);
  if (status == HU_OK && all->order->activations) {
    const hui_raw *input = hui_write_input(all, work->source);
    if (!input) return hui_write_no_memory(all);
    put_code(bytes, hui_scale_bits(input, HUI_SCALE_DTYPE, 0), 4);
    status = hui_write_bytes(all, all->places[work->place][HUI_INPUT_PLACE], 0, bytes, 4);
  }
  if (status != HU_OK || !work->target->sizes) return status;
  for (unsigned i = 0; i < 8; i++) {
    bytes[i] = (uint8_t)((uint64_t)work->rows >> 8 * i);
    bytes[8 + i] = (uint8_t)((uint64_t)work->cols >> 8 * i);
  }
  return hui_write_bytes(all, all->places[work->place][HUI_SIZES_PLACE], 0, bytes, 16);
}

/* ---- passes over a tensor ---- */

typedef hu_status step_of(hui_work *work, hui_piece *piece);

/* Calls step for all pieces of a row band, or for all of the tensor. */
static hu_status pieces(hui_work *work, size_t m, size_t r, size_t end, step_of *step, int counts) {
  size_t cols = work->cols, some = HUI_PIECE / work->block_rows;
  hu_status status = HU_OK;
  if (some < work->block_cols) some = work->block_cols;
  some = some >= cols ? cols : some / work->block_cols * work->block_cols;
  size_t band = some == cols ? HUI_PIECE / cols / work->block_rows * work->block_rows : work->block_rows;
  if (band < work->block_rows) band = work->block_rows;
  for (; r < end && status == HU_OK; r += band) {
    for (size_t c = 0; c < cols && status == HU_OK; c += some) {
      hui_piece piece = {m, r, c, least_of(band, end - r), least_of(some, cols - c), 0, 0};
      piece.down = parts(piece.rows, work->block_rows);
      piece.across = parts(piece.cols, work->block_cols);
      status = step(work, &piece);
      if (status == HU_OK && counts) status = hui_write_step(work->all, piece.rows * piece.cols);
    }
    hui_work_let_go(work, (m * work->rows + r) * cols, least_of(band, end - r) * cols);
  }
  return status;
}

static hu_status all_pieces(hui_work *work, step_of *step, int counts) {
  const hui_tensor *source = work->source;
  size_t matrices = work->rows && work->cols ? source->count / work->rows / work->cols : 0;
  hu_status status = HU_OK;
  for (size_t m = 0; m < matrices && status == HU_OK; m++) status = pieces(work, m, 0, work->rows, step, counts);
  return status;
}

static hu_status find_top(hui_work *work, hui_piece *piece) {
  hu_status status = hui_piece_read(work, piece, 1);
  uint32_t amax = status == HU_OK ? hui_piece_amax(work, piece->rows * piece->cols) : 0;
  if (amax > work->calc.top) work->calc.top = amax;
  return status == HU_OK ? hui_write_step(work->all, 0) : status;
}

static hu_status encode_piece(hui_work *work, hui_piece *piece) {
  hu_status status = hui_piece_read(work, piece, 1);
  if (status == HU_OK) hui_piece_count_narrowed(work, piece);
  if (status == HU_OK) status = hui_piece_round(work, piece);
  if (status == HU_OK) hui_piece_count(work, piece);
  return status == HU_OK ? write_piece(work, piece) : status;
}

/* Rows that have a scale each and are longer than a piece: the largest magnitude of a row before its pieces. */
static hu_status encode_rows(hui_work *work) {
  const hui_tensor *source = work->source;
  size_t rows = work->cols ? source->count / work->cols : 0;
  hu_status status = HU_OK;
  for (size_t r = 0; r < rows && status == HU_OK; r++) {
    work->calc.top = 0;
    status = pieces(work, r / work->rows, r % work->rows, r % work->rows + 1, find_top, 0);
    if (status == HU_OK) status = pieces(work, r / work->rows, r % work->rows, r % work->rows + 1, encode_piece, 1);
  }
  return status;
}

/* ---- codes that are moved ---- */

static hu_status move_piece(hui_work *work, hui_piece *piece) {
  const hui_tensor *source = work->source;
  hu_status status = hui_piece_read(work, piece, 0);
  for (size_t i = 0; i < piece->rows; i++)
    for (size_t k = 0; k < piece->cols; k++)
      work->codes[i * piece->cols + k] = (uint8_t)hui_code(&source->codes, piece->m, piece->r + i, piece->c + k);
  for (size_t i = 0; i < piece->down; i++)
    for (size_t j = 0; j < piece->across; j++)
      work->factors[i * piece->across + j].stored = hui_scale_bits(
          source->scale, source->scale_type,
          hui_scale_place(source, piece->m, piece->r + i * work->block_rows, piece->c + j * work->block_cols));
  if (status == HU_OK) hui_piece_count(work, piece);
  return status == HU_OK ? write_piece(work, piece) : status;
}

/* Copies the second scale of the source by the target's convention. */
static void move_second(hui_work *work) {
  if (!work->source->second) return;
  uint32_t z = hui_scale_bits(work->source->second, HUI_SCALE_DTYPE, 0);
  int divides = work->target->reader == HUI_FOR_CT;
  work->calc.second = divides == work->source->layout->divide ? z : hui_quotient(hu_binary32(), ONE, z);
}

/* ---- values ---- */

/* One rounding of the exact value into a dtype; those of plain F8 saturate as PyTorch's do. */
static hu_status value_piece(hui_work *work, hui_piece *piece) {
  hui_writing *all = work->all;
  hu_checkpoint_change *change = &all->changes[work->place];
  int dtype = work->scale_dtype; /* of the numbers, here */
  hu_mode mode = {.saturate = dtype == ST_F8_E4M3 ? HU_SAT_FINITE : HU_SAT_NONE};
  hu_format format = format_of_dtype(dtype);
  size_t n = piece->rows * piece->cols, width = st_dtype_bits(dtype) / 8;
  hu_status status = hui_piece_read(work, piece, 0);
  if (status == HU_OK) status = hu_encode64_n(n, work->quotient, 1, work->exact, 1, format, mode, NULL, NULL);
  for (size_t k = 0; k < n && status == HU_OK; k++) {
    uint32_t code = width == 4   ? work->quotient[k]
                    : width == 2 ? ((uint16_t *)work->quotient)[k]
                                 : ((uint8_t *)work->quotient)[k];
    put_code(work->bytes + k * width, code, (unsigned)width);
    hui_change_count(change, work->exact[k], hu_decode64(format, code));
  }
  for (size_t i = 0; i < piece->rows && status == HU_OK; i++) {
    size_t first = (piece->m * work->rows + piece->r + i) * work->cols + piece->c;
    status = hui_write_bytes(all, all->places[work->place][HUI_CODE_PLACE], first * width,
                             work->bytes + i * piece->cols * width, piece->cols * width);
  }
  return status;
}

static hu_status copy_tensor(hui_work *work) {
  hui_writing *all = work->all;
  size_t size, chunk = (size_t)4 << 20;
  const uint8_t *bytes = hu_checkpoint_bytes(all->model, work->place, &size);
  hu_status status = HU_OK;
  for (size_t at = 0; at < size && status == HU_OK; at += chunk) {
    status = hui_write_bytes(all, all->places[work->place][HUI_CODE_PLACE], at, bytes + at, least_of(chunk, size - at));
    if (status == HU_OK) status = hui_write_step(all, 0);
  }
  hui_work_let_go(work, 0, work->source->count);
  return status == HU_OK ? hui_write_step(all, work->source->count) : status;
}

/* ---- a tensor ---- */

/* Groups with a bias are computed in binary32, whatever the type. */
static hu_format type_of(const hui_work *work) {
  const hui_tensor *source = work->source;
  if (source->layout || source->plain || work->target->bias) return hu_binary32();
  return format_of_dtype(source->raw->tensor->dtype);
}

/* Takes the rule that was given, or the program's for the type of the tensor. */
static hu_status take_rule(hui_work *work) {
  const hui_target *target = work->target;
  hu_format type = work->calc.type;
  const char *narrow = hu_format_equal(type, hu_bfloat16())   ? target->narrow[0]
                       : hu_format_equal(type, hu_binary16()) ? target->narrow[1]
                                                              : NULL;
  work->scaling = work->all->scaling;
  if (work->all->order->rule || target->integers) return HU_OK;
  return hu_scaling_parse(&work->scaling, narrow ? narrow : target->said.rule, NULL);
}

static void describe(hui_work *work) {
  const hui_target *target = work->target;
  int values = work->all->changes[work->place].what == HU_CHECKPOINT_VALUES;
  work->ieee = hui_is_ieee();
  hui_write_sides(work->source, &work->rows, &work->cols);
  work->element = target->bits == 4 ? hu_float4_e2m1fn() : hu_float8_e4m3fn();
  work->calc.type = type_of(work);
  work->block_rows = target->block[0] && !values ? target->block[0] : 1;
  work->block_cols = target->block[1] && !values ? target->block[1] : least_of(work->cols, HUI_PIECE);
  if (!work->block_cols) work->block_cols = 1;
  work->scale_dtype = target->scale_dtype;
  if (target->scale_dtype < 0) {
    int dtype = work->source->layout || work->source->plain ? ST_F32 : work->source->raw->tensor->dtype;
    work->scale_dtype = dtype == ST_BF16 || dtype == ST_F16 ? dtype : ST_F32;
  }
  if (values) work->scale_dtype = target->scale ? work->all->values : target->dtype;
  for (unsigned code = 0; code < 1u << target->bits && target->bits <= 8; code++)
    work->numbers[code] = target->codes_are == HUI_CODES_OFFSET     ? (double)code - 8
                          : target->codes_are == HUI_CODES_UNSIGNED ? code
                                                                    : hu_decode64(work->element, code);
}

static hu_status run(hui_work *work) {
  uint32_t what = work->all->changes[work->place].what;
  int top = work->target->second || !work->target->block[0];
  hu_status status = HU_OK;
  if (what == HU_CHECKPOINT_COPIED) return copy_tensor(work);
  if (what == HU_CHECKPOINT_VALUES) return all_pieces(work, value_piece, 1);
  if (what == HU_CHECKPOINT_MOVED) {
    move_second(work);
    status = all_pieces(work, move_piece, 1);
  } else {
    status = take_rule(work);
    if (status == HU_OK && top) status = all_pieces(work, find_top, 0);
    int rows = work->target->block[0] == 1 && !work->target->block[1] && work->cols > HUI_PIECE;
    if (status == HU_OK) status = rows ? encode_rows(work) : all_pieces(work, encode_piece, 1);
  }
  return status == HU_OK ? write_once(work) : status;
}

hu_status hui_write_tensor(hui_writing *x, size_t i) {
  hui_work work = {.all = x, .source = &x->model->tensors[i], .target = x->target, .place = i};
  describe(&work);
  size_t room = (size_t)HUI_PIECE + 128 * 128;
  work.exact = malloc(room * sizeof *work.exact);
  work.x = malloc(room * sizeof *work.x);
  work.by = malloc(room * sizeof *work.by);
  work.quotient = malloc(room * sizeof *work.quotient);
  work.codes = malloc(room);
  work.bytes = malloc(room * 4);
  work.factors = calloc(room, sizeof *work.factors);
  int good = work.exact && work.x && work.by && work.quotient && work.codes && work.bytes && work.factors;
  hu_status status = good ? run(&work) : hui_write_no_memory(x);
  free(work.exact);
  free(work.x);
  free(work.by);
  free(work.quotient);
  free(work.codes);
  free(work.bytes);
  free(work.factors);
  return status;
}
