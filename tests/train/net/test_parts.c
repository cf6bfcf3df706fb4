/* SPDX-License-Identifier: MIT */
/* Gradients that parts of a value give to it, against whole matrices of zeros with the part's numbers in them, which
 * are added one after another: the same bits, zeros' signs among them. */
#include <stdlib.h>
#include <string.h>

#include "tests/support/cmocka.h"
#include "tests/support/support.h"
#include "train/net/net.h"

enum { BATCH = 3, STEPS = 4, COLS = 6, NUMBERS = BATCH * STEPS * COLS, READERS = 5, NETS = 400 };

/* Zeros of both signs, numbers that E5M2 makes zeros, others. */
static float some_number(t_random *random) {
  static const float numbers[] = {0, -0.0f, 1, -1, 0.5f, -0x1p-20f, 0x1p-20f, -3};
  return numbers[t_below(random, sizeof numbers / sizeof *numbers)];
}

static int input_like(hu_net *net, int x) { return hu_net_input(net, net->value[x].rows / BATCH, net->value[x].cols); }

/* One reader of h; a value that sums may take. */
static int add_reader(hu_net *net, t_random *random, int h) {
  size_t from = t_below(random, COLS), cols = 1 + t_below(random, (uint32_t)(COLS - from));
  switch (t_below(random, 6)) {
    case 0: return hu_net_gru(net, h, 2, 0);
    case 1: return hu_net_lstm(net, h, 2, 0);
    case 2: return hu_net_multiply(net, h, input_like(net, h));
    default: break;
  }
  int z = hu_net_columns(net, h, from, cols);
  return hu_net_multiply(net, z, input_like(net, z));
}

/* A network whose value *h has up to READERS readers. */
static hu_net *random_net(t_random *random, int *h) {
  hu_rounding keep = hu_rounding_keep(), narrow = keep;
  int readers[READERS], count = 1 + (int)t_below(random, READERS);
  hu_net *net = hu_net_new(BATCH, 1);
  assert_int_equal(hu_rounding_parse(&narrow, "float8_e5m2", NULL), HU_OK);
  *h = hu_net_linear(net, hu_net_input(net, STEPS, 2), COLS, 0);
  for (int i = 0; i < count; i++) readers[i] = add_reader(net, random, *h);
  int loss = hu_net_squared_error(net, hu_net_sum(net, (size_t)count, readers), 1);
  assert_true(loss >= 0);
  for (int i = 0; i < loss; i++) assert_int_equal(hu_net_round_value(net, i, &keep, i == *h ? &keep : &narrow), HU_OK);
  assert_int_equal(hu_net_initialize(net, t_below(random, 1000)), HU_OK);
  return net;
}

static void run(hu_net *net, t_random *random, float scale) {
  float x[NUMBERS];
  const float targets[BATCH] = {0.25f, -0.25f, 0};
  for (int i = 0; i < net->values; i++) {
    const hu_value *v = &net->value[i];
    if (v->made || v->rows * v->cols > NUMBERS) continue;
    for (size_t k = 0; k < v->rows * v->cols; k++) x[k] = some_number(random);
    assert_int_equal(hu_net_feed(net, i, x), HU_OK);
  }
  assert_int_equal(hu_net_targets(net, targets), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  assert_int_equal(hu_net_backward(net, scale), HU_OK);
}

/* What an operator gives to h, as a whole matrix; 0: it does not read h. */
static int gift_of(const hu_net *net, const hu_operator *op, int h, float *gift) {
  const hu_value *x = &net->value[h], *z = &net->value[op->out];
  if (op->in[0] != h || !z->gradient) return 0;
  memset(gift, 0, NUMBERS * sizeof *gift);
  if (strcmp(op->kind->name, "multiply") == 0) {
    for (size_t k = 0; k < NUMBERS; k++) gift[k] = z->dv[k] * net->value[op->in[1]].v[k];
    return 1;
  }
  assert_string_equal(op->kind->name, "part");
  for (size_t i = 0; i < z->rows; i++) {
    size_t row = i * (x->rows / z->rows) + op->part.step;
    for (size_t j = 0; j < z->cols; j++) gift[row * COLS + op->part.from + j] = z->dv[i * z->cols + j];
  }
  return 1;
}

/* Returns how many zeros would have another sign if a part left all other numbers alone. */
static size_t compare(const hu_net *net, int h, unsigned number) {
  float expected[NUMBERS] = {0}, alone[NUMBERS] = {0}, gift[NUMBERS];
  size_t count = 0, different = 0;
  for (int i = net->operators; i-- > 0;) {
    if (!gift_of(net, &net->op[i], h, gift)) continue;
    for (size_t k = 0; k < NUMBERS; k++) expected[k] = count ? expected[k] + gift[k] : gift[k];
    for (size_t k = 0; k < NUMBERS; k++) {
      if (!count) alone[k] = gift[k];
      if (count && t_bits32(gift[k])) alone[k] += gift[k];
    }
    count++;
  }
  for (size_t k = 0; k < NUMBERS; k++) {
    if (t_bits32(expected[k]) != t_bits32(net->value[h].dv[k]))
      fail_msg("net %u, number %zu: %a, want %a", number, k, (double)net->value[h].dv[k], (double)expected[k]);
    different += t_bits32(expected[k]) != t_bits32(alone[k]);
  }
  return different;
}

static void zeros_keep_their_signs(void **state) {
  (void)state;
  t_random random = {20261127};
  size_t different = 0;
  for (unsigned i = 0; i < NETS; i++) {
    int h;
    hu_net *net = random_net(&random, &h);
    for (int pass = 0; pass < 2; pass++) {
      run(net, &random, pass ? 0x1p-16f : 1); /* E5M2 makes zeros of most gradients of the second pass */
      different += compare(net, h, i);
    }
    hu_net_free(net);
  }
  assert_true(different > NETS); /* the signs are there to be wrong */
}

/* A step of a recurrent layer takes time in proportion to its length: parts touch their own rows, not all. */
static size_t touched;
static hu_status (*run_before)(void *self, int kernel, const hu_task *task);
static hu_status count_run(void *self, int kernel, const hu_task *task) {
  touched += task->rows * task->cols;
  return run_before(self, kernel, task);
}

static size_t numbers_touched(size_t steps) {
  hu_engine engine = *hui_engine_cpu();
  run_before = engine.run;
  engine.run = count_run;
  hu_net *net = hu_net_new_on(&engine, 2, 1);
  int x = hu_net_input(net, steps, 3);
  int h = hu_net_lstm(net, hu_net_linear(net, x, 4, 0), 4, 1);
  assert_true(hu_net_squared_error(net, hu_net_linear(net, h, 1, 0), 1) >= 0);
  assert_int_equal(hu_net_initialize(net, 1), HU_OK);
  float *in = calloc(2 * steps * 3, sizeof *in);
  const float targets[2] = {1, -1};
  assert_non_null(in);
  assert_int_equal(hu_net_feed(net, x, in), HU_OK);
  assert_int_equal(hu_net_targets(net, targets), HU_OK);
  assert_int_equal(hu_net_forward(net, 1, NULL), HU_OK);
  touched = 0;
  assert_int_equal(hu_net_backward(net, 1), HU_OK);
  free(in);
  hu_net_free(net);
  return touched;
}

static void time_is_linear_in_steps(void **state) {
  (void)state;
  size_t few = numbers_touched(64), many = numbers_touched(512);
  if (many > 9 * few) fail_msg("64 steps touch %zu numbers, 512 steps %zu", few, many);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(zeros_keep_their_signs),
                                     cmocka_unit_test(time_is_linear_in_steps)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
