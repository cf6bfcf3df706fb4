/* SPDX-License-Identifier: MIT */
/* The digests of tests/arith/pairs.h from the device's kernels. Argument "all": every pair, minutes on a device. */
#include "tests/cuda_host/twin.h"

#include "tests/arith/pairs.h"

typedef struct t_places {
  t_twin a, b, z, events;
  uint32_t step;
} t_places;

static void operate(void *context, const pairs_row *row, uint16_t a, uint16_t z[PAIRS_CODES], hu_events *events) {
  t_places *places = context;
  hu_format format = pairs_format(row);
  void *counts = places->events.device;
  memcpy(places->a.host, &a, sizeof a);
  twin_put(&places->a);
  memset(places->events.host, 0, places->events.bytes);
  twin_put(&places->events);
  hu_view x[2] = {hu_codes(places->a.device, 0, format), hu_codes(places->b.device, 1, format)};
  hu_how how = hu_how_of(t_mode(HU_RNE), twin_there(NULL), counts);
  hu_output to = hu_codes_out(places->z.device, 1, format);
  hu_status status =
      hu_apply(row->mul ? HU_OP_MUL : HU_OP_ADD, PAIRS_CODES, &to, x, &how);
  assert_int_equal(status, HU_OK);
  twin_get(&places->z);
  twin_get(&places->events);
  memcpy(z, places->z.back, PAIRS_CODES * sizeof *z);
  hu_events part;
  memcpy(&part, places->events.back, sizeof part);
  hu_events_add(events, &part);
}

static void test_pairs(void **state) {
  t_places *places = *state;
  places->a = twin_new(16);
  places->b = twin_new(PAIRS_CODES * 2);
  places->z = twin_new(PAIRS_CODES * 2);
  places->events = twin_new(sizeof(hu_events));
  pairs_fill((uint16_t *)(void *)places->b.host);
  twin_put(&places->b);
  for (int i = 0; i < PAIRS_ROWS; i++) pairs_check(&pairs_rows[i], places->step, operate, places, "device");
  twin_free(&places->a);
  twin_free(&places->b);
  twin_free(&places->z);
  twin_free(&places->events);
}

int main(int argc, char **argv) {
  t_places places;
  memset(&places, 0, sizeof places);
  places.step = argc > 1 && strcmp(argv[1], "all") == 0 ? 1 : PAIRS_SOME;
  const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(test_pairs, &places)};
  int skip = twin_skip("device pairs");
  return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
