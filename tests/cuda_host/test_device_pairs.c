/* SPDX-License-Identifier: MIT */
/* The digests of tests/arith/pairs.h from the device's kernels. Argument "all": every pair, minutes on a device. */
#include "tests/cuda_host/twin.h"

#include "tests/arith/pairs.h"

typedef struct t_places {
  t_twin a, b, z, events;
  uint32_t step;
} t_places;

static void operate(void *context, const pairs_row *row, uint16_t a, uint16_t z[PAIRS_CODES], hu_events *events) {
  t_places *p = context;
  hu_format f = pairs_format(row);
  void *counts = p->events.device;
  memcpy(p->a.host, &a, sizeof a);
  twin_put(&p->a);
  memset(p->events.host, 0, p->events.bytes);
  twin_put(&p->events);
  hu_status s = row->mul ? hu_device_mul_n(PAIRS_CODES, p->z.device, 1, f, p->a.device, 0, f, p->b.device, 1, f,
                                           t_mode(HU_RNE), NULL, counts, twin_stream())
                         : hu_device_add_n(PAIRS_CODES, p->z.device, 1, f, p->a.device, 0, f, p->b.device, 1, f,
                                           t_mode(HU_RNE), NULL, counts, twin_stream());
  assert_int_equal(s, HU_OK);
  twin_get(&p->z);
  twin_get(&p->events);
  memcpy(z, p->z.back, PAIRS_CODES * sizeof *z);
  hu_events part;
  memcpy(&part, p->events.back, sizeof part);
  hu_events_add(events, &part);
}

static void test_pairs(void **state) {
  t_places *p = *state;
  p->a = twin_new(16);
  p->b = twin_new(PAIRS_CODES * 2);
  p->z = twin_new(PAIRS_CODES * 2);
  p->events = twin_new(sizeof(hu_events));
  pairs_fill((uint16_t *)(void *)p->b.host);
  twin_put(&p->b);
  for (int i = 0; i < PAIRS_ROWS; i++) pairs_check(&pairs_rows[i], p->step, operate, p, "device");
  twin_free(&p->a);
  twin_free(&p->b);
  twin_free(&p->z);
  twin_free(&p->events);
}

int main(int argc, char **argv) {
  t_places p;
  memset(&p, 0, sizeof p);
  p.step = argc > 1 && strcmp(argv[1], "all") == 0 ? 1 : PAIRS_SOME;
  const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(test_pairs, &p)};
  int skip = twin_skip("device pairs");
  return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
