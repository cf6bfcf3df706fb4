/* SPDX-License-Identifier: MIT */
/* Loads parallel text: sentences of two languages, line by line, as words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/data/file.h"

enum { SOURCE = 0, TARGET = 1, LANGUAGES = 2, PARTS = 2, NAME_ROOM = 300, SIDE_MOST = 65536 };

/* ---- lines ---- */

static size_t count_lines(const hu_bytes *file) {
  size_t lines = file->data[file->size - 1] != '\n';
  for (size_t i = 0; i < file->size; i++) lines += file->data[i] == '\n';
  return lines;
}

/* The byte behind so many lines. */
static size_t behind(const hu_bytes *file, size_t lines) {
  size_t at = 0;
  for (; lines; lines--) {
    const uint8_t *end = memchr(file->data + at, '\n', file->size - at);
    at = end ? (size_t)(end - file->data) + 1 : file->size;
  }
  return at;
}

static int ends_word(const hu_bytes *file, size_t at) {
  return at >= file->size || memchr(" \t\v\f\r\n", file->data[at], 6) != NULL;
}

/* The line of the first word "<eos>" of a file, from 1; 0: there is none. */
static size_t line_with_end(const hu_bytes *file) {
  size_t line = 1;
  for (size_t i = 0; i + 5 <= file->size; i++) {
    int begins = i == 0 || ends_word(file, i - 1);
    if (begins && memcmp(file->data + i, "<eos>", 5) == 0 && ends_word(file, i + 5)) return line;
    line += file->data[i] == '\n';
  }
  return 0;
}

static hu_status check_file(const hu_bytes *file, char *why) {
  hu_status s = hu_bytes_check_plain(file, why);
  size_t line = s == HU_OK ? line_with_end(file) : 0;
  if (line) return hu_data_wrong(why, HU_E_DATA, file->name, "word of line %zu: <eos>, which ends every line", line);
  return s;
}

/* Both files of a part have the same number of lines, *lines. */
static hu_status check_pair(const hu_bytes *source, const hu_bytes *target, size_t *lines, char *why) {
  hu_status s = check_file(source, why);
  if (s == HU_OK) s = check_file(target, why);
  if (s != HU_OK) return s;
  size_t there = count_lines(target);
  *lines = count_lines(source);
  if (*lines == there) return HU_OK;
  return hu_data_wrong(why, HU_E_DATA, target->name, "lines: %zu, and %s has %zu", there, source->name, *lines);
}

/* ---- one file a language: its first nine tenths of lines, and the rest ---- */

typedef struct cut {
  hu_bytes part[PARTS];
  char name[NAME_ROOM];
} cut;

static void cut_file(cut *z, const hu_bytes *file, size_t lines) {
  size_t at = behind(file, lines), n = strlen(file->name), most = NAME_ROOM - 32;
  snprintf(z->name, sizeof z->name, "%s (from line %zu on)", n > most ? file->name + (n - most) : file->name,
           lines + 1);
  z->part[0] = (hu_bytes){file->name, file->data, at};
  z->part[1] = (hu_bytes){z->name, file->data + at, file->size - at};
}

/* ---- pairs ---- */

/* A language on its way: tokens, and where reading stands in them. */
typedef struct language {
  hu_words words;
  uint32_t end, unknown;
  size_t at;
} language;

static hu_status read_language(language *z, const hu_bytes part[PARTS], uint32_t most, int by_count, char *why) {
  hu_status s = hu_words_read(&z->words, part, PARTS, most, by_count, why);
  for (uint32_t i = 0; s == HU_OK && i < z->words.kinds; i++) {
    if (strcmp(z->words.words[i], "<eos>") == 0) z->end = i;
    if (strcmp(z->words.words[i], "<unk>") == 0) z->unknown = i;
  }
  return s;
}

/* Tokens of the line that begins here, its end among them. */
static size_t length_of(const language *l) {
  size_t n = 0;
  while (l->words.tokens[l->at + n] != l->end) n++;
  return n + 1;
}

/* n tokens, and the end as often as there is room. */
static void put(float *z, size_t room, const language *l, const uint32_t *tokens, size_t n) {
  for (size_t i = 0; i < room; i++) z[i] = (float)(i < n ? tokens[i] : l->end);
}

/* A pair as an example: the source; how many tokens it has; the end, then the target without its end. */
static void put_pair(float *z, size_t window, const language *l, const size_t n[LANGUAGES]) {
  put(z, window, &l[SOURCE], l[SOURCE].words.tokens + l[SOURCE].at, n[SOURCE]);
  z[window] = (float)n[SOURCE];
  z[window + 1] = (float)l[TARGET].end;
  put(z + window + 2, window - 1, &l[TARGET], l[TARGET].words.tokens + l[TARGET].at, n[TARGET] - 1);
}

/* Pairs of a part, `lines` of them, into z if it is not NULL; both languages move on. Returns how many fit; *line: the
 * first one that does not, from 1, or 0. */
static size_t walk(language l[LANGUAGES], size_t lines, size_t window, hu_data *z, size_t *line) {
  size_t kept = 0;
  *line = 0;
  for (size_t i = 1; i <= lines; i++) {
    const size_t n[LANGUAGES] = {length_of(&l[SOURCE]), length_of(&l[TARGET])};
    int fits = n[SOURCE] <= window && n[TARGET] <= window;
    if (fits && z) put_pair(z->x + kept * (2 * window + 1), window, l, n);
    if (!fits && !*line) *line = i;
    kept += (size_t)fits;
    for (int k = 0; k < LANGUAGES; k++) l[k].at += n[k];
  }
  return kept;
}

/* The same, with room made for them. all: 1: no line is left out. */
static hu_status take_part(hu_data *z, language l[LANGUAGES], size_t lines, size_t window, const char *name, int all,
                           char *why) {
  const size_t shape[3] = {1, 1, 2 * window + 1}, at[LANGUAGES] = {l[SOURCE].at, l[TARGET].at};
  size_t line, kept = walk(l, lines, window, NULL, &line);
  if (all && line)
    return hu_data_wrong(why, HU_E_DATA, name,
                         "line %zu: more than %zu words in one of the languages, and a sentence that is tested is not "
                         "left out",
                         line, window - 1);
  if (!kept)
    return hu_data_wrong(why, HU_E_DATA, name, "lines: none has at most %zu words in both languages", window - 1);
  for (int k = 0; k < LANGUAGES; k++) l[k].at = at[k];
  hu_status s = hu_data_make(z, kept, shape, 0, 0);
  if (s != HU_OK) return hu_data_wrong(why, s, name, "out of memory for %zu pairs of %zu words", kept, window);
  (void)walk(l, lines, window, z, &line);
  return HU_OK;
}

static hu_status take_pairs(hu_parallel *z, language l[LANGUAGES], const size_t lines[PARTS], const char *const *names,
                            char *why) {
  hu_status s = take_part(&z->training, l, lines[0], z->window, names[0], 0, why);
  if (s == HU_OK) s = take_part(&z->test, l, lines[1], z->window, names[1], 1, why);
  if (s != HU_OK) return s;
  z->left_out = lines[0] - z->training.count;
  z->source_kinds = l[SOURCE].words.kinds;
  z->target_kinds = l[TARGET].words.kinds;
  z->end = l[TARGET].end;
  z->unknown = l[TARGET].unknown;
  return HU_OK;
}

/* ---- all of it ---- */

void hu_parallel_free(hu_parallel *z) {
  if (!z) return;
  hu_data_free(&z->training);
  hu_data_free(&z->test);
  memset(z, 0, sizeof *z);
}

/* part[k]: the files of language k. */
static hu_status read_parts(hu_parallel *z, const hu_bytes *const part[LANGUAGES], const size_t lines[PARTS],
                            uint32_t most, int by_count, char *why) {
  language l[LANGUAGES];
  const char *const names[PARTS] = {part[SOURCE][0].name, part[SOURCE][1].name};
  memset(l, 0, sizeof l);
  hu_status s = read_language(&l[SOURCE], part[SOURCE], most, by_count, why);
  if (s == HU_OK) s = read_language(&l[TARGET], part[TARGET], most, by_count, why);
  if (s == HU_OK) s = take_pairs(z, l, lines, names, why);
  for (int k = 0; k < LANGUAGES; k++) hu_words_free(&l[k].words);
  return s;
}

hu_status hu_parallel_read(hu_parallel *z, const hu_bytes *source, const hu_bytes *target, size_t n, size_t window,
                           uint32_t most, int by_count, char *why) {
  hu_parallel p;
  size_t lines[PARTS] = {0, 0};
  cut cuts[LANGUAGES];
  const hu_bytes *part[LANGUAGES] = {source, target};
  memset(&p, 0, sizeof p);
  p.window = window;
  hu_status s = HU_OK;
  for (size_t i = 0; i < n && s == HU_OK; i++) s = check_pair(&source[i], &target[i], &lines[i], why);
  if (s != HU_OK) return s;
  if (n == 1) {
    if (lines[0] < 10) return hu_data_wrong(why, HU_E_DATA, source->name, "lines: %zu, fewer than 10", lines[0]);
    lines[1] = lines[0] - lines[0] / 10 * 9;
    lines[0] -= lines[1];
    for (int k = 0; k < LANGUAGES; k++) {
      cut_file(&cuts[k], part[k], lines[0]);
      part[k] = cuts[k].part;
    }
  }
  s = read_parts(&p, part, lines, most, by_count, why);
  if (s == HU_OK) {
    *z = p;
  } else {
    hu_parallel_free(&p);
  }
  return s;
}

hu_status hu_parallel_load(hu_parallel *z, const char *const *source, const char *const *target, size_t files,
                           size_t window, uint32_t most, int by_count, char *why) {
  hu_bytes from[PARTS] = {{NULL, NULL, 0}}, to[PARTS] = {{NULL, NULL, 0}};
  hu_status s = HU_OK;
  if (!z || !source || !target) return hu_data_wrong(why, HU_E_NULL, "parallel", "z, source, target: NULL");
  if (files == 0 || files > PARTS) return hu_data_wrong(why, HU_E_SHAPE, "parallel", "files: %zu, not 1 or 2", files);
  if (window < 2 || window > SIDE_MOST)
    return hu_data_wrong(why, HU_E_SHAPE, "parallel", "window: %zu, not from 2 to %d", window, SIDE_MOST);
  hu_status words = hu_words_check_most(most, why);
  if (words != HU_OK) return words;
  for (size_t i = 0; i < files && s == HU_OK; i++) {
    s = hu_bytes_read(&from[i], source[i], why);
    if (s == HU_OK) s = hu_bytes_read(&to[i], target[i], why);
  }
  if (s == HU_OK) s = hu_parallel_read(z, from, to, files, window, most, by_count, why);
  for (size_t i = 0; i < PARTS; i++) {
    hu_bytes_free(&from[i]);
    hu_bytes_free(&to[i]);
  }
  return s;
}

size_t hu_parallel_labels(const hu_parallel *x, const float *example, uint32_t *labels) {
  const float *given = example + x->window + 1;
  size_t n = 0;
  for (size_t j = 0, ended = 0; j < x->window; j++) {
    uint32_t next = j + 1 < x->window ? (uint32_t)given[j + 1] : x->end;
    labels[j] = ended ? UINT32_MAX : next;
    n += !ended;
    ended |= next == x->end;
  }
  return n;
}
