/* SPDX-License-Identifier: MIT */
/* Reads off whether sums are kept in a register of a fixed place: powers of two come out if they are digits of it. */
#include "cli/base/cli.h"
#include "cli/identify/search.h"
#include "cli/question/operand.h"

typedef struct scan {
  id_search *search;
  id_vectors questions;
  id_operand a, b, result;
  int low, high; /* exponents */
  int by_c;      /* the number is C, not a product */
} scan;

static int larger(int x, int y) { return x > y ? x : y; }
static int smaller(int x, int y) { return x < y ? x : y; }

static void put_power(scan *look, size_t row, int exponent) {
  if (look->by_c) {
    id_put(&look->questions, ID_C, row, 0, id_operand_power(&look->result, exponent));
    return;
  }
  int ea = larger(look->a.emin, smaller(look->a.emax, exponent / 2));
  if (exponent - ea > look->b.emax) ea = exponent - look->b.emax;
  if (exponent - ea < look->b.emin) ea = exponent - look->b.emin;
  id_put(&look->questions, ID_A, row, 0, id_operand_power(&look->a, ea));
  id_put(&look->questions, ID_B, row, 0, id_operand_power(&look->b, exponent - ea));
}

/* Returns 1 if 2^exponent came out of this row. */
static int came_out(const scan *look, size_t row, int exponent) {
  return id_get(&look->questions, ID_D, row, 0) == id_operand_power(&look->result, exponent);
}

/* Asks powers low, low + step, ... as rows; *lost: one of them did not come out. */
static int ask_powers(scan *look, int step, int *lost) {
  size_t count = (size_t)((look->high - look->low) / step) + 1;
  look->questions.count = 0;
  if (id_vectors_grow(&look->questions, count) == SIZE_MAX) return cli_fail(NULL, "not enough memory");
  for (size_t i = 0; i < count; i++) put_power(look, i, look->low + (int)i * step);
  int status = id_ask(look->search->box, &look->questions, 0, count);
  *lost = 0;
  for (size_t i = 0; i < count && status == CLI_OK; i++) *lost |= !came_out(look, i, look->low + (int)i * step);
  return status;
}

/* Notes the digits that came out, if they stand together. Where they reach an end of the range that was asked, the
 * register is taken to be as long as one can be. */
static void note_place(const scan *look) {
  id_space *space = &look->search->space;
  int most = hu_block_key_at(HU_BLOCK_KEY_WIDE)->high + hu_block_key_at(HU_BLOCK_KEY_F)->high;
  int first = 0, past = 0, runs = 0, before = 0;
  for (int exponent = look->low; exponent <= look->high; exponent++) {
    int now = came_out(look, (size_t)(exponent - look->low), exponent);
    if (now && !before) first = exponent;
    if (now) past = exponent + 1;
    runs += now && !before;
    before = now;
  }
  if (runs != 1) return;
  if (past > look->high) {
    space->least_known = 2;
    space->least = first;
    space->least_by_c = look->by_c;
  }
  if (past > look->high) past = first + most;
  if (first == look->low) first = past - most;
  space->has_place = 1;
  space->place_low = first;
  space->place_high = past;
  if (look->search->log) fprintf(look->search->log, "powers of two come out from 2^%d to 2^%d\n", first, past - 1);
}

static int scan_all(scan *look, int by_c) {
  int low = look->a.emin + look->b.emin, high = look->a.emax + look->b.emax, lost = 0, status;
  look->by_c = by_c;
  look->low = by_c ? look->result.emin : larger(low, look->result.emin);
  look->high = by_c ? look->result.emax : smaller(high, look->result.emax);
  if (look->high <= look->low) return CLI_OK;
  status = ask_powers(look, look->high - look->low, &lost); /* the ends alone */
  if (status == CLI_OK && !lost && !look->search->space.least_known) {
    look->search->space.least_known = 1;
    look->search->space.least = look->low;
    look->search->space.least_by_c = by_c;
  }
  if (status == CLI_OK && lost) status = ask_powers(look, 1, &lost);
  if (status == CLI_OK && lost) note_place(look);
  return status;
}

int id_read_place(id_search *search) {
  const id_shape *shape = &search->box->shape;
  int status = CLI_OK;
  if (shape->result.kind != HU_TYPE_CODES || shape->a.kind != HU_TYPE_CODES || shape->b.kind != HU_TYPE_CODES ||
      shape->every || shape->sums)
    return CLI_OK;
  scan look = {.search = search,
               .a = id_operand_of(shape->a),
               .b = id_operand_of(shape->b),
               .result = id_operand_of(shape->result)};
  id_vectors_start(&look.questions, shape);
  if (!shape->without_c) status = scan_all(&look, 1);
  if (status == CLI_OK && !search->space.has_place) status = scan_all(&look, 0);
  id_vectors_free(&look.questions);
  return search->status = status;
}
