/* SPDX-License-Identifier: MIT */
/* The device's number systems against the CPU's: every call, number systems of every kind, modes, strides and places;
 * whole buffers are compared, and the event counts; all codes of the small ones; misuse gets the same answer. */
#include "tests/cuda_host/twin.h"

#include "halfulp/device.h"
#include "halfulp/number.h"

enum { QUANTIZE, QUANTIZE64, ENCODE, ENCODE64, DECODE, DECODE64, CONVERT, CALLS };

typedef struct t_ends {
  void *z, *x;
  ptrdiff_t incz, incx;
} t_ends;

typedef struct t_task {
  int call;
  hu_number to, from;
  hu_mode mode;
  hu_exec exec;
} t_task;

static hu_status on_cpu(const t_task *task, size_t n, t_ends ends, hu_events *ev) {
  switch (task->call) {
    case QUANTIZE:
      return hu_number_quantize_n(n, ends.z, ends.incz, ends.x, ends.incx, task->to, task->mode, &task->exec, ev);
    case QUANTIZE64:
      return hu_number_quantize64_n(n, ends.z, ends.incz, ends.x, ends.incx, task->to, task->mode, &task->exec, ev);
    case ENCODE:
      return hu_number_encode_n(n, ends.z, ends.incz, ends.x, ends.incx, task->to, task->mode, &task->exec, ev);
    case ENCODE64:
      return hu_number_encode64_n(n, ends.z, ends.incz, ends.x, ends.incx, task->to, task->mode, &task->exec, ev);
    case DECODE: return hu_number_decode_n(n, ends.z, ends.incz, ends.x, ends.incx, task->from, &task->exec);
    case DECODE64: return hu_number_decode64_n(n, ends.z, ends.incz, ends.x, ends.incx, task->from, &task->exec);
    default:
      return hu_number_convert_n(n, ends.z, ends.incz, task->to, ends.x, ends.incx, task->from, task->mode, &task->exec,
                                 ev);
  }
}

static hu_status on_device(const t_task *task, size_t n, t_ends ends, hu_events *ev) {
  const hu_exec *x = &task->exec;
  switch (task->call) {
    case QUANTIZE:
      return hu_number_quantize_n(n, ends.z, ends.incz, ends.x, ends.incx, task->to, task->mode, twin_there(x), ev);
    case QUANTIZE64:
      return hu_number_quantize64_n(n, ends.z, ends.incz, ends.x, ends.incx, task->to, task->mode, twin_there(x), ev);
    case ENCODE:
      return hu_number_encode_n(n, ends.z, ends.incz, ends.x, ends.incx, task->to, task->mode, twin_there(x), ev);
    case ENCODE64:
      return hu_number_encode64_n(n, ends.z, ends.incz, ends.x, ends.incx, task->to, task->mode, twin_there(x), ev);
    case DECODE: return hu_number_decode_n(n, ends.z, ends.incz, ends.x, ends.incx, task->from, twin_there(x));
    case DECODE64: return hu_number_decode64_n(n, ends.z, ends.incz, ends.x, ends.incx, task->from, twin_there(x));
    default:
      return hu_number_convert_n(n, ends.z, ends.incz, task->to, ends.x, ends.incx, task->from, task->mode,
                                 twin_there(x), ev);
  }
}

/* Of any kind; a table's values go to room. */
static hu_number any_number(t_random *random, float *buffer) {
  for (;;) {
    hu_number z = hu_number_at(t_below(random, (uint32_t)hu_number_count())).number;
    unsigned w = 2 + t_below(random, t_below(random, 2) ? 7 : 31), kind = t_below(random, 7);
    if (kind == 0) z = hu_number_float(t_random_format(random, 1, 32));
    if (kind == 1) z = hu_number_posit(w, t_below(random, 6));
    if (kind == 2) z = hu_number_lns(w, t_below(random, w), t_below(random, 3));
    if (kind == 3)
      z = hu_number_fixed((int)t_below(random, 2), t_below(random, w), t_below(random, w), t_below(random, 2));
    if (kind == 4) {
      size_t count = 1 + t_below(random, t_below(random, 2) ? 16 : 256);
      for (size_t i = 0; i < count; i++) buffer[i] = (float)t_between(random, -99, 99) / 16;
      z = hu_number_table(count, buffer, t_below(random, 3));
    }
    if (z.kind <= HU_NUMBER_TABLE && hu_number_check(z, NULL) == HU_OK) return z;
  }
}

static size_t bytes_of(hu_number x) { return hu_number_limits_of(x).storage / 8; }

/* Bits, or numbers near 1. */
static void fill(t_random *random, const t_twin *twin, int call, int ordinary) {
  int wide = call == QUANTIZE64 || call == ENCODE64;
  for (size_t k = 0; k + 8 <= twin->bytes; k += 8) {
    uint64_t u = t_next64(random);
    if (ordinary && wide) u = (uint64_t)t_between(random, 1015, 1031) << 52 | (u & 0x800FFFFFFFFFFFFF);
    if (ordinary && !wide && call < DECODE) {
      u = (u & 0x807FFFFF807FFFFF) | (uint64_t)t_between(random, 119, 135) << 23 |
          (uint64_t)t_between(random, 119, 135) << 55;
    }
    memcpy(twin->host + k, &u, 8);
  }
}

static void compare(const t_task *task, size_t n, t_ends host, t_ends device, const t_twin *buffers, int count) {
  for (int i = 0; i < 3; i++) twin_put(&buffers[i]);
  hu_status cpu = on_cpu(task, n, host, count ? (hu_events *)(void *)buffers[2].host : NULL);
  hu_status gpu = on_device(task, n, device, count ? (hu_events *)(void *)buffers[2].device : NULL);
  int same = cpu == HU_OK && gpu == HU_OK;
  for (int i = 0; i < 3; i++) same = same && twin_differs(&buffers[i]) == buffers[i].bytes;
  if (same) return;
  static char to[HU_NUMBER_TEXT_MAX], from[HU_NUMBER_TEXT_MAX];
  char mode[T_MODE_TEXT];
  hu_number_text(to, sizeof to, task->to);
  hu_number_text(from, sizeof from, task->from);
  fail_msg("call %d, %zu elements, to %.200s, from %.200s, %s: cpu %d, device %d", task->call, n, to, from,
           t_mode_text(mode, task->mode), cpu, gpu);
}

static void run_case(t_random *random, int call, size_t n) {
  static float rooms[2][HU_TABLE_MAX];
  t_task task = {call,
                 any_number(random, rooms[0]),
                 any_number(random, rooms[1]),
                 t_random_mode(random),
                 {0, 0, {t_next64(random), t_next64(random)}, {0}}};
  size_t zsize = call == ENCODE || call == ENCODE64 || call == CONVERT ? bytes_of(task.to)
                 : call == QUANTIZE || call == DECODE                  ? 4
                                                                       : 8;
  size_t xsize = call >= DECODE ? bytes_of(task.from) : call == QUANTIZE || call == ENCODE ? 4 : 8;
  ptrdiff_t incz = t_below(random, 3) ? 1 : t_between(random, 1, 3),
            incx = t_below(random, 3) ? 1 : t_between(random, 0, 3);
  size_t zskip = t_below(random, 5) * zsize, xskip = t_below(random, 5) * xsize;
  t_twin b[3] = {twin_new((n * (size_t)incz + 8) * zsize), twin_new((n * (size_t)incx + 8) * xsize),
                 twin_new(sizeof(hu_events))};
  fill(random, &b[1], call, (int)t_below(random, 2));
  if (call >= DECODE) twin_keep(&b[1], xsize, hu_number_limits_of(task.from).width);
  memset(b[2].host, 0, b[2].bytes);
  t_ends host = {b[0].host + zskip, b[1].host + xskip, incz, incx};
  t_ends device = {b[0].device + zskip, b[1].device + xskip, incz, incx};
  compare(&task, n, host, device, b, t_below(random, 4) != 0);
  for (int i = 0; i < 3; i++) twin_free(&b[i]);
}

static void every_call(void **state) {
  (void)state;
  t_random random = {t_seed("device-number", 61)};
  for (unsigned i = 0; i < t_part(120); i++) {
    for (int call = 0; call < CALLS; call++) run_case(&random, call, 1 + t_below(&random, 300));
  }
}

/* Every code of every small number system of the catalogue into every other. */
static void small_worlds(void **state) {
  (void)state;
  t_random random = {t_seed("device-number-small", 62)};
  for (size_t i = 0; i < hu_number_count(); i++) {
    hu_number from = hu_number_at(i).number;
    size_t n = (size_t)1 << hu_number_limits_of(from).width;
    if (n > 256 || from.kind > HU_NUMBER_TABLE) continue;
    for (size_t k = 0; k < hu_number_count(); k++) {
      if (hu_number_at(k).number.kind > HU_NUMBER_TABLE) continue; /* takums and HiFloat8: refusals */
      t_task task = {
          CONVERT, hu_number_at(k).number, from, t_mode(t_below(&random, T_DETERMINISTIC)), {0, 0, {0, 0}, {0}}};
      t_twin b[3] = {twin_new(n * 4), twin_new(n), twin_new(sizeof(hu_events))};
      for (size_t c = 0; c < n; c++) b[1].host[c] = (uint8_t)c;
      memset(b[2].host, 0, b[2].bytes);
      t_ends host = {b[0].host, b[1].host, 1, 1}, device = {b[0].device, b[1].device, 1, 1};
      compare(&task, n, host, device, b, 1);
      for (int j = 0; j < 3; j++) twin_free(&b[j]);
    }
  }
}

static void refusals(void **state) {
  (void)state;
  t_twin z = twin_new(256), x = twin_new(256);
  hu_number good = hu_number_posit(16, 2), bad = hu_number_posit(33, 2);
  hu_mode wrong = t_mode(99);
  twin_put(&z);
  for (int call = 0; call < CALLS; call++) {
    t_task task = {call, good, good, t_mode(0), {0, 0, {0, 0}, {0}}}, refused = task;
    t_ends ends = {z.device, x.device, 1, 1}, null = {NULL, x.device, 1, 1}, still = {z.device, x.device, 0, 1};
    t_ends odd = {z.device + 1, x.device, 1, 1}, over = {z.device + 8, z.device, 1, 1};
    refused.to = refused.from = bad;
    assert_int_equal(on_device(&refused, 8, ends, NULL), HU_E_NUMBER);
    refused.to = refused.from = hu_number_takum(16, 1);
    assert_int_equal(on_device(&refused, 8, ends, NULL), HU_E_NUMBER);
    refused.to = refused.from = hu_number_hifloat8();
    assert_int_equal(on_device(&refused, 8, ends, NULL), HU_E_NUMBER);
    refused = task;
    refused.mode = wrong;
    if (call != DECODE && call != DECODE64) assert_int_equal(on_device(&refused, 8, ends, NULL), HU_E_MODE);
    assert_int_equal(on_device(&task, 8, null, NULL), HU_E_NULL);
    assert_int_equal(on_device(&task, 8, still, NULL), HU_E_SHAPE);
    assert_int_equal(on_device(&task, 8, odd, NULL), HU_E_ALIGN);
    assert_int_equal(on_device(&task, 8, over, NULL), HU_E_OVERLAP);
    assert_int_equal(on_device(&task, 0, null, NULL), HU_OK);
  }
  assert_int_equal(twin_differs(&z), z.bytes);
  twin_free(&z);
  twin_free(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_call), cmocka_unit_test(small_worlds),
                                     cmocka_unit_test(refusals)};
  int skip = twin_skip("device number systems");
  return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
