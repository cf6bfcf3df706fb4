/* SPDX-License-Identifier: MIT */
/* The first questions: sums that every unit computes exactly, C alone, subnormal numbers, and one of them again.
 * What they show is said before a search that may take long. */
#include <string.h>

#include "cli/base/cli.h"
#include "cli/identify/failing.h"
#include "cli/identify/first.h"
#include "cli/identify/report.h"
#include "cli/question/operand.h"

enum {
  NOTHING,
  ONE,
  C_ALONE,
  ONE_AND_C,
  MINUS_ONE,
  LAST_AND_C,
  EXACT_ROWS,
  SMALL_C = EXACT_ROWS,
  SMALL_A,
  SMALL_SUM,
  LEAST_C, /* the least normal number where SMALL_C, SMALL_A and SMALL_SUM have half of it */
  LEAST_A,
  LEAST_SUM,
  AGAIN,
  ROWS
};

typedef struct first {
  id_vectors questions;
  id_operand a, b, result;
} first;

/* Puts 2^ea and 2^eb as product k. */
static void put_powers(first *look, size_t row, size_t k, int ea, int eb, int negative) {
  uint64_t a = id_operand_power(&look->a, ea);
  id_put(&look->questions, ID_A, row, k, negative ? id_operand_negated(&look->a, a) : a);
  id_put(&look->questions, ID_B, row, k, id_operand_power(&look->b, eb));
}

static void put_c(first *look, size_t row, uint64_t c) {
  if (!look->questions.shape->without_c) id_put(&look->questions, ID_C, row, 0, c);
}

/* Sets to 1 what every question contains: scales, and B where the box adds numbers. */
static void put_ones(first *look) {
  const id_shape *shape = look->questions.shape;
  for (size_t row = 0; row < ROWS; row++) {
    for (size_t k = 0; k < shape->n && shape->sums; k++)
      id_put(&look->questions, ID_B, row, k, id_operand_power(&look->b, 0));
    if (!shape->every) continue;
    id_operand scale = id_operand_of(hu_type_codes(shape->scale));
    for (size_t j = 0; j < id_column_length(shape, ID_SA); j++) {
      id_put(&look->questions, ID_SA, row, j, id_operand_power(&scale, 0));
      id_put(&look->questions, ID_SB, row, j, id_operand_power(&scale, 0));
    }
  }
}

/* Puts (2^exponent as an operand) 2^-exponent as product 0, as far as B reaches. */
static void put_operand(first *look, size_t row, int exponent) {
  put_powers(look, row, 0, exponent, look->b.emax < -exponent ? look->b.emax : -exponent, 0);
}

static void put_sum(first *look, size_t row, int exponent) {
  put_powers(look, row, 0, exponent - exponent / 2, exponent / 2, 0);
}

/* Puts subnormal numbers where the formats have them: as C, as an operand of a product near 1, as a sum. Each is half
 * the least normal number, so that no cut of digits takes it for zero; that number is asked beside it. */
static void put_small(first *look) {
  const id_operand *a = &look->a, *b = &look->b, *result = &look->result;
  const id_shape *shape = look->questions.shape;
  int half = result->emin - 1;
  if (!result->integer && result->digits) {
    put_c(look, SMALL_C, id_operand_power(result, half));
    put_c(look, LEAST_C, id_operand_power(result, half + 1));
  }
  if (!a->integer && a->digits && a->first && !shape->low[0] && !shape->sums) {
    put_operand(look, SMALL_A, a->emin - 1);
    put_operand(look, LEAST_A, a->emin);
  }
  if (!result->integer && result->digits && a->emin + b->emin <= half && !shape->sums) {
    put_sum(look, SMALL_SUM, half);
    put_sum(look, LEAST_SUM, half + 1);
  }
}

static void fill(first *look) {
  size_t last = look->questions.shape->n - 1;
  uint64_t one = id_operand_power(&look->result, 0);
  put_ones(look);
  put_powers(look, ONE, 0, 0, 0, 0);
  put_c(look, C_ALONE, one);
  put_powers(look, ONE_AND_C, 0, 0, 0, 0);
  put_c(look, ONE_AND_C, one);
  put_powers(look, MINUS_ONE, 0, 0, 0, 1);
  put_powers(look, LAST_AND_C, last, 0, 0, 0);
  put_c(look, LAST_AND_C, id_operand_negated(&look->result, one));
  put_small(look);
  id_vectors_copy(&look->questions, AGAIN, &look->questions, ONE_AND_C);
}

/* Returns the sum of a row, which binary64 and D hold. */
static uint64_t exact_sum(const first *look, size_t row) {
  const id_shape *shape = look->questions.shape;
  double z = id_value(shape->result, id_get(&look->questions, ID_C, row, 0));
  for (size_t k = 0; k < shape->n; k++)
    z += id_value(shape->a, id_get(&look->questions, ID_A, row, k)) *
         id_value(shape->b, id_get(&look->questions, ID_B, row, k));
  return id_operand_nearest(&look->result, z);
}

static uint64_t answer(const first *look, size_t row) { return id_get(&look->questions, ID_D, row, 0); }

static int is_zero(const first *look, uint64_t x) { return id_value(look->questions.shape->result, x) == 0; }

/* Returns 1 for the exact sum, a zero of either sign among them. */
static int is_exact(const first *look, size_t row) {
  uint64_t right = exact_sum(look, row), given = answer(look, row);
  return id_same(look->questions.shape, right, given) || (is_zero(look, right) && is_zero(look, given));
}

static int same_answer(const first *look, size_t i, size_t j) {
  return id_same(look->questions.shape, answer(look, i), answer(look, j));
}

/* Returns 1 if C changes no answer, though it does change the sums. */
static int ignores_c(const first *look) {
  return !look->questions.shape->without_c && same_answer(look, ONE, ONE_AND_C) && same_answer(look, ONE, LAST_AND_C) &&
         same_answer(look, NOTHING, C_ALONE) && !same_answer(look, NOTHING, ONE);
}

static void print_wrong(FILE *out, const first *look, size_t row) {
  const id_shape *shape = look->questions.shape;
  fputs("not the exact sum: ", out);
  id_vectors_print(out, &look->questions, row);
  fputs("; the box: ", out);
  id_print_answer(out, shape, answer(look, row));
  fputs("; exactly ", out);
  id_print_answer(out, shape, exact_sum(look, row));
  fputc('\n', out);
}

/* Prints the sums that every unit gets right and this box does not. C counts as 0 where it is ignored. */
static int print_sums(FILE *out, first *look) {
  int wrong = 0;
  for (size_t row = NOTHING; row < EXACT_ROWS; row++) {
    if (is_exact(look, row)) continue;
    print_wrong(out, look, row);
    wrong++;
  }
  if (wrong > EXACT_ROWS / 2)
    fputs("most of these sums are wrong: does the box read this line form, and the formats of --fa, --fb and --fd?\n",
          out);
  return wrong;
}

/* Prints what subnormal numbers are taken for, if the least normal number is taken for what it is. */
static void print_small(FILE *out, const first *look) {
  static const char *const words[] = {"C", "an operand", "a result"};
  for (size_t row = SMALL_C; row <= SMALL_SUM; row++) {
    uint64_t right = exact_sum(look, row);
    if (is_exact(look, row) || is_zero(look, right) || !is_exact(look, row + LEAST_C - SMALL_C)) continue;
    if (is_zero(look, answer(look, row)))
      fprintf(out, "a subnormal number as %s counts as zero\n", words[row - SMALL_C]);
    else
      print_wrong(out, look, row);
  }
}

/* Returns 1 if the row was asked and its subnormal number came out. */
static int is_kept(const first *look, size_t row) {
  return !is_zero(look, exact_sum(look, row)) && is_exact(look, row);
}

static int is_constant(const first *look) {
  for (size_t row = 1; row < ROWS; row++)
    if (!same_answer(look, 0, row)) return 0;
  return 1;
}

/* Says at once what the search would not come to say, and keeps it for the report. */
static void note_all(id_box *box, first *look, FILE *out) {
  if (ignores_c(look)) {
    fputs("C changes no answer: the search is for a box without C (--without-c)\n", out);
    box->shape.without_c = 1;
    for (size_t row = 0; row < ROWS; row++) id_put(&look->questions, ID_C, row, 0, 0);
  }
  print_sums(out, look);
  fflush(out);
}

static void say(const char *text) {
  for (size_t n; *text; text += n + (text[n] == '\n')) {
    n = strcspn(text, "\n");
    cli_note("identify: %.*s", (int)n, text);
  }
}

int id_look_first(id_search *search, id_result *result) {
  const id_shape *shape = &search->box->shape;
  first look = {.a = id_operand_of(shape->a), .b = id_operand_of(shape->b), .result = id_operand_of(shape->result)};
  size_t size = 0;
  FILE *out = open_memstream(&result->notes, &size);
  id_vectors_start(&look.questions, shape);
  if (!out || id_vectors_grow(&look.questions, ROWS) == SIZE_MAX) return cli_fail(NULL, "not enough memory");
  fill(&look);
  search->box->doing = "first questions";
  int status = id_ask(search->box, &look.questions, 0, ROWS);
  if (status == CLI_OK && answer(&look, ONE_AND_C) != answer(&look, AGAIN)) {
    result->verdict = ID_NOISY;
    status = id_put_failing(result, &look.questions, ONE_AND_C, answer(&look, AGAIN));
  } else if (status == CLI_OK && is_constant(&look)) {
    result->verdict = ID_CONSTANT;
    status = id_put_failing(result, &look.questions, 0, 0);
  } else if (status == CLI_OK) {
    note_all(search->box, &look, out);
    say(result->notes);
    print_small(out, &look);
    search->space.keeps_small = is_kept(&look, SMALL_A);
    search->space.gives_small = is_kept(&look, SMALL_SUM) || is_kept(&look, SMALL_C);
  }
  fclose(out);
  id_vectors_free(&look.questions);
  return status;
}
