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

static void fail_at(const t_replay *replay, const char *what, size_t i) {
  char m[T_MODE_TEXT];
  if (i >= replay->n)
    fail_msg("%s, %s: %s: padding or event counts differ", replay->g->card.name, t_mode_text(m, replay->mode), what);
  fail_msg("%s, %s: %s of %a (below %#x '%c' '%c') is not what the line says", replay->g->card.name,
           t_mode_text(m, replay->mode), what, replay->from[i]->x, replay->from[i]->below, replay->from[i]->where,
           replay->from[i]->tiny);
}

/* The expected code, value and counts into the host sides. */
static void expect(t_replay *replay, size_t size, int fits) {
  hu_events counts;
  memset(&counts, 0, sizeof counts);
  t_fill_pattern(replay->codes.host, replay->codes.bytes);
  t_fill_pattern(replay->values.host, replay->values.bytes);
  twin_put(&replay->codes);
  twin_put(&replay->values);
  memset(replay->events.host, 0, replay->events.bytes);
  twin_put(&replay->events);
  for (size_t i = 0; i < replay->n; i++) {
    golden_answer a = golden_decide(&replay->g->card, replay->from[i], replay->mode);
    double value = hu_decode64(replay->g->card.f, a.code);
    float narrow = hu_decode(replay->g->card.f, a.code);
    memcpy(replay->codes.host + i * size, &a.code, size);
    if (replay->wide) memcpy(replay->values.host + i * 8, &value, 8);
    if (!replay->wide && fits) memcpy(replay->values.host + i * 4, &narrow, 4);
    hu_events_count(&counts, a.events);
    if (fits || replay->wide) hu_events_count(&counts, a.events); /* encode and quantize add to the same counts */
  }
  memcpy(replay->events.host, &counts, sizeof counts);
}

static void run_mode(t_replay *replay, hu_mode mode) {
  hu_format format = replay->g->card.f;
  size_t size = hu_limits_of(format).storage / 8;
  int fits = hu_format_fits_binary32(format);
  replay->mode = mode;
  expect(replay, size, fits);
  hu_events *ev = (hu_events *)(void *)replay->events.device;
  hu_status status, second = HU_OK;
  if (replay->wide) {
    status = hu_encode64_n(replay->n, replay->codes.device, 1, (double *)(void *)replay->x.device, 1, format, mode,
                           twin_there(NULL), ev);
    second = hu_quantize64_n(replay->n, (double *)(void *)replay->values.device, 1, (double *)(void *)replay->x.device,
                             1, format, mode, twin_there(NULL), ev);
  } else {
    status = hu_encode_n(replay->n, replay->codes.device, 1, (float *)(void *)replay->x.device, 1, format, mode,
                         twin_there(NULL), ev);
    if (fits)
      second = hu_quantize_n(replay->n, (float *)(void *)replay->values.device, 1, (float *)(void *)replay->x.device, 1,
                             format, mode, twin_there(NULL), ev);
  }
  assert_int_equal(status, HU_OK);
  assert_int_equal(second, HU_OK);
  size_t code = twin_differs(&replay->codes), value = twin_differs(&replay->values);
  if (code < replay->codes.bytes) fail_at(replay, "the code", code / size);
  if (value < replay->values.bytes) fail_at(replay, "the value", value / (replay->wide ? 8 : 4));
  if (twin_differs(&replay->events) < replay->events.bytes) fail_at(replay, "the events", replay->n);
  replay->answers += replay->n * (1 + (fits || replay->wide));
}

static void run_width(t_replay *replay, int wide) {
  replay->n = 0;
  replay->wide = wide;
  for (size_t i = 0; i < replay->g->n; i++) {
    if (replay->g->lines[i].wide != wide) continue;
    assert_true(replay->n < ROOM);
    float narrow = (float)replay->g->lines[i].x;
    memcpy(replay->x.host + replay->n * (wide ? 8 : 4),
           wide ? (const void *)&replay->g->lines[i].x : (const void *)&narrow, wide ? 8 : 4);
    replay->from[replay->n++] = &replay->g->lines[i];
  }
  twin_put(&replay->x);
  for (unsigned round = 0; replay->n && round < T_DETERMINISTIC; round++)
    for (unsigned policy = 0; policy < 8; policy++)
      run_mode(replay, t_policy(t_mode(round), policy % 4, policy / 4, 0));
  if (replay->n && replay->g->card.f.nan == HU_NAN_NONE)
    for (unsigned nan = 1; nan < 3; nan++)
      run_mode(replay, t_policy(t_mode(HU_RNE), HU_SAT_DEFAULT, HU_TINY_AFTER, nan));
}

/* Each text of the folder whose name begins so; how many there are. */
static size_t each_file(const char *folder, const char *prefix, void (*replay_file)(void *, const char *, char *),
                        void *state) {
  size_t files = 0;
  DIR *dir = opendir(folder);
  assert_non_null(dir);
  for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
    if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 || strstr(entry->d_name, ".txt") == NULL) continue;
    char *content = golden_read(folder, entry->d_name, NULL);
    replay_file(state, entry->d_name, content);
    free(content);
    files++;
  }
  closedir(dir);
  return files;
}

static void conversion_file(void *state, const char *name, char *content) {
  t_replay *replay = state;
  golden_file golden = golden_conversions_of(name, content);
  replay->g = &golden;
  run_width(replay, 0);
  run_width(replay, 1);
  replay->lines += golden.n;
  free(golden.lines);
}

static void conversions(void **state) {
  static t_replay replay;
  replay.x = twin_new(ROOM * 8);
  replay.codes = twin_new(ROOM * 4);
  replay.values = twin_new(ROOM * 8);
  replay.events = twin_new(sizeof(hu_events));
  size_t files = each_file(*state, "convert_", conversion_file, &replay);
  twin_free(&replay.x);
  twin_free(&replay.codes);
  twin_free(&replay.values);
  twin_free(&replay.events);
  assert_true(files >= 10);
  print_message("%zu lines of %zu files: %llu answers\n", replay.lines, files, (unsigned long long)replay.answers);
}

/* ---- sums ---- */

static size_t size_of(hu_format format) { return hu_limits_of(format).storage / 8; }

static void product(const golden_sum *sum, size_t number, size_t rows, size_t columns) {
  size_t size[4] = {size_of(sum->fa), size_of(sum->fb), size_of(sum->fc), size_of(sum->fz)}, ld = sum->n ? sum->n : 1;
  t_twin a = twin_new(rows * ld * size[0]), b = twin_new(columns * ld * size[1]),
         c = twin_new(rows * columns * size[2]);
  t_twin twin = twin_new(rows * columns * size[3] + 8), events = twin_new(sizeof(hu_events));
  hu_events counts;
  memset(&counts, 0, sizeof counts);
  memset(events.host, 0, events.bytes);
  twin_put(&twin);
  twin_put(&events);
  for (size_t k = 0; k < sum->n; k++) {
    for (size_t i = 0; i < rows; i++) memcpy(a.host + (i * ld + k) * size[0], &sum->a[k], size[0]);
    for (size_t j = 0; j < columns; j++) memcpy(b.host + (j * ld + k) * size[1], &sum->b[k], size[1]);
  }
  for (size_t i = 0; i < rows * columns; i++) {
    memcpy(c.host + i * size[2], &sum->c, size[2]);
    memcpy(twin.host + i * size[3], &sum->code, size[3]);
    hu_events_count(&counts, sum->events);
  }
  memcpy(events.host, &counts, sizeof counts);
  twin_put(&a);
  twin_put(&b);
  twin_put(&c);
  hu_view oa = hu_matrix_codes(a.device, ld, sum->fa), ob = hu_transposed(hu_matrix_codes(b.device, ld, sum->fb));
  hu_view oc = hu_matrix_codes(c.device, columns, sum->fc);
  hu_output od = hu_matrix_codes_out(twin.device, columns, sum->fz);
  assert_int_equal(hu_gemm(rows, columns, sum->n, &od, &oa, &ob, sum->has_c ? &oc : NULL, &sum->accum,
                           &(hu_how){sum->mode, twin_there(NULL), (hu_events *)(void *)events.device}),
                   HU_OK);
  if (twin_differs(&twin) < twin.bytes || twin_differs(&events) < events.bytes)
    fail_msg("sum %zu as a %zu x %zu product: code or events are not the line's", number, rows, columns);
  twin_free(&a);
  twin_free(&b);
  twin_free(&c);
  twin_free(&twin);
  twin_free(&events);
}

static void sum_file(void *state, const char *name, char *content) {
  size_t *count = state;
  golden_lines lines;
  golden_open(&lines, name, content);
  for (const char *line; (line = golden_next(&lines)) != NULL; (*count)++) {
    golden_sum sum = golden_sum_parse(&lines, line);
    product(&sum, *count, 1, 1);
    product(&sum, *count, ROWS, COLUMNS);
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
