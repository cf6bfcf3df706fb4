/* SPDX-License-Identifier: MIT */
/* The device's packing against the CPU's, at random lengths and places, whole buffers compared; and the device's calls
 * on host arrays. All other calls on arrays: tests/walk. */
#include "halfulp/number.h"
#include "tests/cuda_host/twin.h"

static hu_status pack(int back, size_t n, uint8_t *z, const uint8_t *x, unsigned width, int device) {
  if (device) return back ? hu_unpack_n(n, z, x, width, twin_there(NULL)) : hu_pack_n(n, z, x, width, twin_there(NULL));
  return back ? hu_unpack_n(n, z, x, width, NULL) : hu_pack_n(n, z, x, width, NULL);
}

static void packed(t_random *random, int back, size_t n) {
  unsigned width = (unsigned)t_between(random, 1, 8);
  size_t skip[2] = {t_below(random, 20), t_below(random, 20)};
  t_twin x = twin_new(n + 32), z = twin_new(n + 32);
  for (size_t i = 0; i < x.bytes; i++) x.host[i] = (uint8_t)(t_next32(random) >> (back ? 24 : 32 - width));
  twin_put(&x);
  twin_put(&z);
  assert_int_equal(pack(back, n, z.host + skip[0], x.host + skip[1], width, 0), HU_OK);
  assert_int_equal(pack(back, n, z.device + skip[0], x.device + skip[1], width, 1), HU_OK);
  if (twin_differs(&z) < z.bytes || twin_differs(&x) < x.bytes)
    fail_msg("%s of %zu codes of %u bits, places %zu %zu", back ? "unpack" : "pack", n, width, skip[0], skip[1]);
  twin_free(&x);
  twin_free(&z);
}

static void packing(void **state) {
  (void)state;
  t_random random = {t_seed("packing", 20)};
  for (unsigned i = 0; i < t_part(300); i++) packed(&random, (int)(i % 2), t_below(&random, i % 3 ? 300 : 3000));
  for (int back = 0; back < 2; back++) packed(&random, back, 200000 + t_below(&random, 1000));
}

static void host_arrays(void **state) {
  (void)state;
  t_random random = {t_seed("host_arrays", 20)};
  for (int i = 0; i < 20; i++) {
    hu_format format = t_random_format(&random, 1, 8);
    while (!hu_format_fits_binary32(format)) format = t_random_format(&random, 1, 8);
    hu_mode mode = t_random_mode(&random);
    hu_exec exec = {0, 0, {t_next64(&random), t_next64(&random)}, {0}}, there = exec;
    there.where = hu_cuda_host();
    float x[100], z[2][100];
    uint32_t codes[2][100];
    hu_events ev[2][2];
    size_t n = t_below(&random, 101);
    memset(ev, 0x11, sizeof ev);
    t_fill_pattern(z[0], sizeof z[0]);
    t_fill_pattern(z[1], sizeof z[1]);
    t_fill_pattern(codes[0], sizeof codes[0]);
    t_fill_pattern(codes[1], sizeof codes[1]);
    for (size_t j = 0; j < n; j++) x[j] = (float)t_random_operand(&random, format);
    assert_int_equal(hu_quantize_n(n, z[0], 1, x, 1, format, mode, &exec, &ev[0][0]), HU_OK);
    twin_default_stream();
    assert_int_equal(hu_quantize_n(n, z[1], 1, x, 1, format, mode, &there, &ev[1][0]), HU_OK);
    assert_int_equal(hu_encode_n(n, codes[0], 1, x, 1, format, mode, &exec, &ev[0][1]), HU_OK);
    assert_int_equal(hu_encode_n(n, codes[1], 1, x, 1, format, mode, &there, &ev[1][1]), HU_OK);
    assert_memory_equal(z[0], z[1], sizeof z[0]);
    assert_memory_equal(codes[0], codes[1], sizeof codes[0]);
    assert_memory_equal(ev[0], ev[1], sizeof ev[0]);
  }
}

/* ---- HU_OP_CONVERT of every pair of types, of those that are refused, too ---- */

enum { PAIR_MOST = 300, KINDS = 8 };

static hu_type draw_type(t_random *random, uint8_t kind, hu_number *number) {
  static const char *const systems[] = {"posit8", "posit16", "lns8", "q7", "nf4", "takum16"};
  hu_format format = t_below(random, 2) ? hu_format_at(t_below(random, (uint32_t)hu_format_count())).format
                                        : t_random_format(random, 1, 32);
  hu_type type = hu_type_values(kind, format);
  *number = hu_number_float(format);
  if (t_below(random, 2)) {
    assert_int_equal(hu_number_find(number, systems[t_below(random, 6)]), HU_OK);
    type.number = number;
  }
  return type;
}

/* The CPU alone has takums. */
static int is_takum(const hu_type *type) { return type->number && type->number->kind == HU_NUMBER_TAKUM; }

static void run_pair(t_random *random, uint8_t z, uint8_t x) {
  hu_number numbers[2];
  hu_type to = draw_type(random, z, &numbers[0]), from = draw_type(random, x, &numbers[1]);
  t_twin b[3] = {twin_new(8 * PAIR_MOST), twin_new(8 * PAIR_MOST), twin_new(sizeof(hu_events))};
  hu_exec exec = {0, 0, {t_next64(random), t_next64(random)}, {0}};
  hu_mode mode = t_random_mode(random);
  for (size_t i = 0; i < b[1].bytes; i++) b[1].host[i] = (uint8_t)t_next32(random);
  if (x == HU_TYPE_CODES) {
    hu_number_limits of = hu_number_limits_of(numbers[1]);
    twin_keep(&b[1], of.storage / 8, of.width);
  }
  memset(b[2].host, 0, b[2].bytes);
  for (int i = 0; i < 3; i++) twin_put(&b[i]);
  hu_view host = hu_view_of(b[1].host, 1, from), device = hu_view_of(b[1].device, 1, from);
  hu_how here = hu_how_of(mode, &exec, (hu_events *)(void *)b[2].host);
  hu_how there = hu_how_of(mode, twin_there(&exec), (hu_events *)(void *)b[2].device);
  size_t n = t_below(random, PAIR_MOST);
  hu_output result = hu_output_of(b[0].device, 1, to), wanted = hu_output_of(b[0].host, 1, to);
  hu_status gpu = hu_apply(HU_OP_CONVERT, n, &result, &device, &there), cpu = HU_E_NUMBER;
  if (gpu != HU_E_NUMBER || !(is_takum(&to) || is_takum(&from)))
    cpu = hu_apply(HU_OP_CONVERT, n, &wanted, &host, &here);
  int differs = 0;
  for (int i = 0; i < 3; i++) differs += twin_differs(&b[i]) != b[i].bytes;
  if (cpu != gpu || differs) fail_msg("kinds %d, %d: cpu %d, device %d, %d buffers differ", z, x, cpu, gpu, differs);
  for (int i = 0; i < 3; i++) twin_free(&b[i]);
}

static void pairs_of_types(void **state) {
  (void)state;
  t_random random = {t_seed("pairs_of_types", 20)};
  for (unsigned run = 0; run < t_part(20); run++)
    for (uint8_t z = 0; z < KINDS; z++)
      for (uint8_t x = 0; x < KINDS; x++) run_pair(&random, z, x);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(packing), cmocka_unit_test(host_arrays),
                                     cmocka_unit_test(pairs_of_types)};
  int skip = twin_skip("device arrays");
  return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
