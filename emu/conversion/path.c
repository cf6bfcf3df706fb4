/* SPDX-License-Identifier: MIT */
/* Reads chains of roundings: hu_conversion_parse. */
#include <string.h>

#include "emu/format/reader.h"
#include "halfulp/conversion.h"

enum { STEPS = HU_CONVERSION_FURTHER + 2 };

/* Reads "rtz" or "rne:finite". Stochastic modes have a colon of their own. */
static int read_rounding(hu_mode *mode, const char *text) {
  char head[16];
  size_t n = strlen(text); /* up to the last colon */
  while (n && text[n - 1] != ':') n--;
  if (hu_mode_round_parse(mode, text) == HU_OK) return 1;
  if (n == 0 || n > sizeof head) return 0;
  memcpy(head, text, n - 1);
  head[n - 1] = 0;
  return hu_mode_round_parse(mode, head) == HU_OK && hu_mode_saturate_parse(mode, text + n) == HU_OK;
}

/* Reads FORMAT[:MODE[:POLICY]], the format as long as it can be. */
static hu_status read_step(void *z, const char *piece, size_t *wrong) {
  hu_conversion_step step = {0};
  char head[HU_FORMAT_TEXT_MAX];
  hu_status status = hu_format_parse(&step.format, piece, wrong);
  for (size_t n = strlen(piece); status != HU_OK && n-- > 0;) {
    if (piece[n] != ':') continue;
    memcpy(head, piece, n);
    head[n] = 0;
    status = hu_format_parse(&step.format, head, wrong);
    if (status != HU_OK || read_rounding(&step.mode, piece + n + 1)) continue;
    *wrong = n + 1;
    return HU_E_TEXT;
  }
  if (status == HU_OK) *(hu_conversion_step *)z = step;
  return status;
}

static int read_steps(hu_reader *reader, hu_conversion_step step[STEPS], int *count) {
  size_t start = reader->at;
  do {
    if (*count == STEPS) return hui_reader_failed(reader, reader->at, HU_E_TEXT);
    if (*count && step[*count - 1].mode.bits) return hui_reader_failed(reader, start, HU_E_MODE);
    start = reader->at;
    if (!hui_reader_longest(reader, &step[*count], read_step)) return 0;
    ++*count;
  } while (hui_reader_passed(reader, ','));
  if (*count < 2) return hui_reader_failed(reader, reader->at, HU_E_TEXT);
  return hui_reader_mark(reader, ')') && (!reader->text[reader->at] || hui_reader_mark(reader, 0));
}

static hu_conversion made_of(const hu_conversion_step *step, int count) {
  hu_conversion made;
  memset(&made, 0, sizeof made);
  made.format = step[count - 1].format;
  made.mode = step[count - 1].mode;
  made.first = step[0].format;
  made.first_mode = step[0].mode;
  for (int i = 1; i < count - 1; i++) made.further[i - 1] = step[i];
  made.nan_code = HU_NO_CODE;
  made.scaling = made.through = "";
  return made;
}

hu_status hu_conversion_parse(hu_conversion *conversion, const char *text, size_t *where) {
  static const char begin[] = "path(";
  hu_conversion_step step[STEPS];
  int count = 0;
  if (!conversion || !text) return HU_E_NULL;
  hu_reader reader = {text, 0, HU_E_TEXT};
  while (begin[reader.at] && text[reader.at] == begin[reader.at]) reader.at++;
  if (begin[reader.at] || !read_steps(&reader, step, &count)) {
    if (where) *where = reader.at;
    return reader.wrong;
  }
  *conversion = made_of(step, count);
  return HU_OK;
}
