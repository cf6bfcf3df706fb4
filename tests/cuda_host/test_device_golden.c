/* SPDX-License-Identifier: MIT */
/* Replays the golden files through the device calls: every conversion line in every deterministic mode, saturation
 * policy and tininess rule, codes, values and event counts; every sum as a 1 x 1 product and as each element of a 3 x 5
 * one. (The stochastic lines give R itself, which array calls draw from the stream.)
 * usage: test_device_golden DIRECTORY, of all that tests/gen makes, or of the golden files that are stored */
#include <dirent.h>

#include "tests/cuda_host/twin.h"
#include "tests/golden/golden_file.h"

enum { ROOM = 4096, ROWS = 3, COLUMNS = 5 };

typedef struct t_replay {
  const golden_file *g;
  hu_mode mode;
  int wide;
  size_t n;
  const golden_operand *from[ROOM];
  t_twin x, codes, values, events;
  uint64_t answers;
  size_t lines;
} t_replay;

static void fail_at(const t_replay *r, const char *what, size_t i) {
  char m[T_MODE_TEXT];
  if (i >= r->n) fail_msg("%s, %s: %s: padding or event counts differ", r->g->card.name, t_mode_text(m, r->mode), what);
  fail_msg("%s, %s: %s of %a (below %#x '%c' '%c') is not what the line says", r->g->card.name, t_mode_text(m, r->mode),
           what, r->from[i]->x, r->from[i]->below, r->from[i]->where, r->from[i]->tiny);
}

/* The expected code, value and counts into the host sides. */
static void expect(t_replay *r, size_t size, int fits) {
  hu_events counts;
  memset(&counts, 0, sizeof counts);
  t_fill_pattern(r->codes.host, r->codes.bytes);
  t_fill_pattern(r->values.host, r->values.bytes);
  twin_put(&r->codes);
  twin_put(&r->values);
  memset(r->events.host, 0, r->events.bytes);
  twin_put(&r->events);
  for (size_t i = 0; i < r->n; i++) {
    golden_answer a = golden_decide(&r->g->card, r->from[i], r->mode);
    double value = hu_decode64(r->g->card.f, a.code);
    float narrow = hu_decode(r->g->card.f, a.code);
    memcpy(r->codes.host + i * size, &a.code, size);
    if (r->wide) memcpy(r->values.host + i * 8, &value, 8);
    if (!r->wide && fits) memcpy(r->values.host + i * 4, &narrow, 4);
    hu_events_count(&counts, a.events);
    if (fits || r->wide) hu_events_count(&counts, a.events); /* encode and quantize add to the same counts */
  }
  memcpy(r->events.host, &counts, sizeof counts);
}

static void run_mode(t_replay *r, hu_mode mode) {
  hu_format f = r->g->card.f;
  size_t size = hu_limits_of(f).storage / 8;
  int fits = hu_format_fits_binary32(f);
  r->mode = mode;
  expect(r, size, fits);
  hu_events *ev = (hu_events *)(void *)r->events.device;
  hu_status s, q = HU_OK;
  if (r->wide) {
    s = hu_device_encode64_n(r->n, r->codes.device, 1, (double *)(void *)r->x.device, 1, f, mode, NULL, ev,
                             twin_stream());
    q = hu_device_quantize64_n(r->n, (double *)(void *)r->values.device, 1, (double *)(void *)r->x.device, 1, f, mode,
                               NULL, ev, twin_stream());
  } else {
    s = hu_device_encode_n(r->n, r->codes.device, 1, (float *)(void *)r->x.device, 1, f, mode, NULL, ev, twin_stream());
    if (fits)
      q = hu_device_quantize_n(r->n, (float *)(void *)r->values.device, 1, (float *)(void *)r->x.device, 1, f, mode,
                               NULL, ev, twin_stream());
  }
  assert_int_equal(s, HU_OK);
  assert_int_equal(q, HU_OK);
  size_t code = twin_differs(&r->codes), value = twin_differs(&r->values);
  if (code < r->codes.bytes) fail_at(r, "the code", code / size);
  if (value < r->values.bytes) fail_at(r, "the value", value / (r->wide ? 8 : 4));
  if (twin_differs(&r->events) < r->events.bytes) fail_at(r, "the events", r->n);
  r->answers += r->n * (1 + (fits || r->wide));
}

static void run_width(t_replay *r, int wide) {
  r->n = 0;
  r->wide = wide;
  for (size_t i = 0; i < r->g->n; i++) {
    if (r->g->lines[i].wide != wide) continue;
    assert_true(r->n < ROOM);
    float narrow = (float)r->g->lines[i].x;
    memcpy(r->x.host + r->n * (wide ? 8 : 4), wide ? (const void *)&r->g->lines[i].x : (const void *)&narrow,
           wide ? 8 : 4);
    r->from[r->n++] = &r->g->lines[i];
  }
  twin_put(&r->x);
  for (unsigned round = 0; r->n && round < T_DETERMINISTIC; round++)
    for (unsigned policy = 0; policy < 8; policy++) run_mode(r, t_policy(t_mode(round), policy % 4, policy / 4, 0));
  if (r->n && r->g->card.f.nan == HU_NAN_NONE)
    for (unsigned nan = 1; nan < 3; nan++) run_mode(r, t_policy(t_mode(HU_RNE), HU_SAT_DEFAULT, HU_TINY_AFTER, nan));
}

/* Each text of the folder whose name begins so; how many there are. */
static size_t each_file(const char *folder, const char *prefix, void (*replay_file)(void *, const char *, char *),
                        void *state) {
  size_t files = 0;
  DIR *dir = opendir(folder);
  assert_non_null(dir);
  for (struct dirent *e; (e = readdir(dir)) != NULL;) {
    if (strncmp(e->d_name, prefix, strlen(prefix)) != 0 || strstr(e->d_name, ".txt") == NULL) continue;
    char *content = golden_read(folder, e->d_name, NULL);
    replay_file(state, e->d_name, content);
    free(content);
    files++;
  }
  closedir(dir);
  return files;
}

static void conversion_file(void *state, const char *name, char *content) {
  t_replay *r = state;
  golden_file g = golden_conversions_of(name, content);
  r->g = &g;
  run_width(r, 0);
  run_width(r, 1);
  r->lines += g.n;
  free(g.lines);
}

static void conversions(void **state) {
  static t_replay r;
  r.x = twin_new(ROOM * 8);
  r.codes = twin_new(ROOM * 4);
  r.values = twin_new(ROOM * 8);
  r.events = twin_new(sizeof(hu_events));
  size_t files = each_file(*state, "convert_", conversion_file, &r);
  twin_free(&r.x);
  twin_free(&r.codes);
  twin_free(&r.values);
  twin_free(&r.events);
  assert_true(files >= 10);
  print_message("%zu lines of %zu files: %llu answers\n", r.lines, files, (unsigned long long)r.answers);
}

/* ---- sums ---- */

static size_t size_of(hu_format f) { return hu_limits_of(f).storage / 8; }

static void product(const golden_sum *s, size_t number, size_t rows, size_t columns) {
  size_t size[4] = {size_of(s->fa), size_of(s->fb), size_of(s->fc), size_of(s->fz)}, ld = s->n ? s->n : 1;
  t_twin a = twin_new(rows * ld * size[0]), b = twin_new(columns * ld * size[1]),
         c = twin_new(rows * columns * size[2]);
  t_twin d = twin_new(rows * columns * size[3] + 8), e = twin_new(sizeof(hu_events));
  hu_events counts;
  memset(&counts, 0, sizeof counts);
  memset(e.host, 0, e.bytes);
  twin_put(&d);
  twin_put(&e);
  for (size_t k = 0; k < s->n; k++) {
    for (size_t i = 0; i < rows; i++) memcpy(a.host + (i * ld + k) * size[0], &s->a[k], size[0]);
    for (size_t j = 0; j < columns; j++) memcpy(b.host + (j * ld + k) * size[1], &s->b[k], size[1]);
  }
  for (size_t i = 0; i < rows * columns; i++) {
    memcpy(c.host + i * size[2], &s->c, size[2]);
    memcpy(d.host + i * size[3], &s->code, size[3]);
    hu_events_count(&counts, s->events);
  }
  memcpy(e.host, &counts, sizeof counts);
  twin_put(&a);
  twin_put(&b);
  twin_put(&c);
  hu_operand oa = {a.device, ld, s->fa, HU_STORAGE_CODES, 0}, ob = {b.device, ld, s->fb, HU_STORAGE_CODES, 1};
  hu_operand oc = {c.device, columns, s->fc, HU_STORAGE_CODES, 0};
  hu_result od = {d.device, columns, s->fz, HU_STORAGE_CODES};
  assert_int_equal(hu_device_gemm(rows, columns, s->n, &od, &oa, &ob, s->has_c ? &oc : NULL, &s->accum, s->mode, NULL,
                                  (hu_events *)(void *)e.device, twin_stream()),
                   HU_OK);
  if (twin_differs(&d) < d.bytes || twin_differs(&e) < e.bytes)
    fail_msg("sum %zu as a %zu x %zu product: code or events are not the line's", number, rows, columns);
  twin_free(&a);
  twin_free(&b);
  twin_free(&c);
  twin_free(&d);
  twin_free(&e);
}

static void sum_file(void *state, const char *name, char *content) {
  size_t *count = state;
  golden_lines lines;
  golden_open(&lines, name, content);
  for (const char *line; (line = golden_next(&lines)) != NULL; (*count)++) {
    golden_sum s = golden_sum_parse(&lines, line);
    product(&s, *count, 1, 1);
    product(&s, *count, ROWS, COLUMNS);
  }
}

static void sums(void **state) {
  size_t count = 0;
  assert_true(each_file(*state, "sums", sum_file, &count) > 0);
  assert_true(count > 300);
  print_message("%zu sums in %zu products\n", count, 2 * count);
}

int main(int argc, char **argv) {
  char *directory = argc > 1 ? argv[1] : (char *)".";
  const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(conversions, directory),
                                     cmocka_unit_test_prestate(sums, directory)};
  int skip = twin_skip("golden files on the device");
  return skip ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
