/* SPDX-License-Identifier: MIT */
/* Loads parallel text: sentences of two languages, line by line, as words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/data/subwords.h"

enum { SOURCE = 0, TARGET = 1, LANGUAGES = 2, PARTS = 2, NAME_SIZE = 300, SIDE_MOST = 65536 };

/* ---- lines ---- */

static size_t count_lines(const hu_bytes *file) {
  size_t lines = file->data[file->size - 1] != '\n';
  for (size_t i = 0; i < file->size; i++) lines += file->data[i] == '\n';
  return lines;
}

/* Returns the number of the byte behind so many lines. */
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
  hu_status status = hui_bytes_check_plain(file, why);
  size_t line = status == HU_OK ? line_with_end(file) : 0;
  if (line) return hui_data_wrong(why, HU_E_DATA, file->name, "word of line %zu: <eos>, which ends every line", line);
  return status;
}

/* Both files of a part have the same number of lines, *lines. */
static hu_status check_pair(const hu_bytes *source, const hu_bytes *target, size_t *lines, char *why) {
  hu_status status = check_file(source, why);
  if (status == HU_OK) status = check_file(target, why);
  if (status != HU_OK) return status;
  size_t there = count_lines(target);
  *lines = count_lines(source);
  if (*lines == there) return HU_OK;
  return hui_data_wrong(why, HU_E_DATA, target->name, "lines: %zu, and %s has %zu", there, source->name, *lines);
}

/* ---- the file of a language: its first nine tenths of lines, and the rest ---- */

typedef struct cut_files {
  hu_bytes part[PARTS];
  char name[NAME_SIZE];
} cut_files;

static void cut_file(cut_files *cut, const hu_bytes *file, size_t lines) {
  size_t at = behind(file, lines), n = strlen(file->name), most = NAME_SIZE - 32;
  snprintf(cut->name, sizeof cut->name, "%s (from line %zu on)", n > most ? file->name + (n - most) : file->name,
           lines + 1);
  cut->part[0] = (hu_bytes){file->name, file->data, at};
  cut->part[1] = (hu_bytes){cut->name, file->data + at, file->size - at};
}

/* ---- pairs ---- */

/* A language that is being read: tokens, and where its parts begin and reading stands in them. */
typedef struct one_language {
  hu_words words;
  uint32_t end, unknown;
  size_t first[PARTS], at;
} one_language;

static void find_markers(one_language *language) {
  for (uint32_t i = 0; i < language->words.kinds; i++) {
    if (strcmp(language->words.words[i], HU_WORD_END) == 0) language->end = i;
    if (strcmp(language->words.words[i], HU_WORD_UNKNOWN) == 0) language->unknown = i;
  }
}

static hu_status read_language(one_language *language, const hu_bytes part[PARTS], const hu_word_rules *rules,
                               char *why) {
  hu_status status = hui_words_read(&language->words, part, PARTS, rules->most, rules->by_count, why);
  if (status != HU_OK) return status;
  language->first[1] = language->words.parts[0];
  find_markers(language);
  return HU_OK;
}

static hu_status read_languages(one_language language[LANGUAGES], const hu_bytes *const part[LANGUAGES],
                                const hu_word_rules *rules, char *why) {
  hu_status status = read_language(&language[SOURCE], part[SOURCE], rules, why);
  return status == HU_OK ? read_language(&language[TARGET], part[TARGET], rules, why) : status;
}

/* ---- parts of words, of both languages together ---- */

static size_t count_tokens(const hu_bytes *file) {
  hu_scan scan = hui_scan_of(file);
  hu_word word;
  size_t n = 0;
  while (hui_next_word(&scan, &word)) n++;
  return n;
}

/* Reads the training parts of both languages, one behind the other, then the test parts, as one text. */
static hu_status read_joined(hu_words *words, const hu_bytes coded[2 * PARTS], const hu_word_rules *rules, char *why) {
  const size_t sizes[LANGUAGES] = {coded[SOURCE].size, coded[TARGET].size};
  uint8_t *both = malloc(sizes[SOURCE] + sizes[TARGET]);
  if (!both) return hui_data_wrong(why, HU_E_MEMORY, coded->name, "out of memory for both languages");
  memcpy(both, coded[SOURCE].data, sizes[SOURCE]);
  memcpy(both + sizes[SOURCE], coded[TARGET].data, sizes[TARGET]);
  const hu_bytes parts[1 + LANGUAGES] = {
      {coded->name, both, sizes[SOURCE] + sizes[TARGET]}, coded[LANGUAGES + SOURCE], coded[LANGUAGES + TARGET]};
  hu_status status = hui_words_read(words, parts, 1 + LANGUAGES, rules->most, rules->by_count, why);
  free(both);
  return status;
}

/* Makes one list of tokens and one vocabulary, which the record of the source owns. */
static hu_status read_subwords(one_language language[LANGUAGES], const hu_bytes *const part[LANGUAGES],
                               const hu_word_rules *rules, char *why) {
  enum { FILES = LANGUAGES * PARTS };
  const hu_bytes files[FILES] = {part[SOURCE][0], part[TARGET][0], part[SOURCE][1], part[TARGET][1]};
  hu_bytes coded[FILES];
  hu_status status = hui_subwords_code(rules->subwords, rules->learn, LANGUAGES, files, FILES, coded, why);
  if (status != HU_OK) return status;
  hu_words *all = &language[SOURCE].words;
  status = read_joined(all, coded, rules, why);
  if (status == HU_OK) {
    find_markers(&language[SOURCE]);
    language[TARGET] = language[SOURCE];
    language[SOURCE].first[1] = all->parts[0];
    language[TARGET].first[0] = count_tokens(&coded[SOURCE]);
    language[TARGET].first[1] = all->parts[0] + all->parts[1];
  }
  for (size_t i = 0; i < FILES; i++) hui_bytes_free(&coded[i]);
  return status;
}

/* Returns the number of tokens of the line that begins here, its end among them. */
static size_t length_of(const one_language *language) {
  size_t n = 0;
  while (language->words.tokens[language->at + n] != language->end) n++;
  return n + 1;
}

/* n tokens, and the end as often as there is buffer. */
static void put(float *z, size_t buffer, const one_language *language, const uint32_t *tokens, size_t n) {
  for (size_t i = 0; i < buffer; i++) z[i] = (float)(i < n ? tokens[i] : language->end);
}

/* A pair as an example: the source; how many tokens it has; the end, then the target without its end. */
static void put_pair(float *z, size_t window, const one_language *language, const size_t n[LANGUAGES]) {
  put(z, window, &language[SOURCE], language[SOURCE].words.tokens + language[SOURCE].at, n[SOURCE]);
  z[window] = (float)n[SOURCE];
  z[window + 1] = (float)language[TARGET].end;
  put(z + window + 2, window - 1, &language[TARGET], language[TARGET].words.tokens + language[TARGET].at,
      n[TARGET] - 1);
}

/* Pairs of a part, `lines` of them, into z if it is not NULL; both languages move on. Returns how many fit; *line: the
 * first one that does not, from 1, or 0. */
static size_t walk(one_language language[LANGUAGES], size_t lines, size_t window, hu_data *data, size_t *line) {
  size_t kept = 0;
  *line = 0;
  for (size_t i = 1; i <= lines; i++) {
    const size_t n[LANGUAGES] = {length_of(&language[SOURCE]), length_of(&language[TARGET])};
    int fits = n[SOURCE] <= window && n[TARGET] <= window;
    if (fits && data) put_pair(data->x + kept * (2 * window + 1), window, language, n);
    if (!fits && !*line) *line = i;
    kept += (size_t)fits;
    for (int k = 0; k < LANGUAGES; k++) language[k].at += n[k];
  }
  return kept;
}

static void go_to(one_language language[LANGUAGES], int part) {
  for (int k = 0; k < LANGUAGES; k++) language[k].at = language[k].first[part];
}

/* The same, with buffer made for them. Of part 1, for testing, no line is left out. */
static hu_status take_part(hu_data *data, one_language language[LANGUAGES], size_t lines, size_t window,
                           const char *name, int part, char *why) {
  const size_t shape[3] = {1, 1, 2 * window + 1};
  size_t line;
  go_to(language, part);
  const size_t kept = walk(language, lines, window, NULL, &line);
  if (part && line)
    return hui_data_wrong(why, HU_E_DATA, name,
                          "line %zu: more than %zu words in one of the languages, and a sentence that is tested is not "
                          "left out",
                          line, window - 1);
  if (!kept)
    return hui_data_wrong(why, HU_E_DATA, name, "lines: none has at most %zu words in both languages", window - 1);
  go_to(language, part);
  hu_status status = hui_data_make(data, kept, shape, 0, 0);
  if (status != HU_OK)
    return hui_data_wrong(why, status, name, "out of memory for %zu pairs of %zu words", kept, window);
  (void)walk(language, lines, window, data, &line);
  return HU_OK;
}

static hu_status take_pairs(hu_parallel *parallel, one_language language[LANGUAGES], const size_t lines[PARTS],
                            const char *const *names, char *why) {
  hu_status status = take_part(&parallel->training, language, lines[0], parallel->window, names[0], 0, why);
  if (status == HU_OK) status = take_part(&parallel->test, language, lines[1], parallel->window, names[1], 1, why);
  if (status != HU_OK) return status;
  parallel->left_out = lines[0] - parallel->training.count;
  parallel->source_kinds = language[SOURCE].words.kinds;
  parallel->target_kinds = language[TARGET].words.kinds;
  parallel->end = language[TARGET].end;
  parallel->unknown = language[TARGET].unknown;
  parallel->words = language[TARGET].words.words;
  language[TARGET].words.words = NULL;
  return HU_OK;
}

/* ---- all of it ---- */

void hu_parallel_free(hu_parallel *parallel) {
  if (!parallel) return;
  hu_data_free(&parallel->training);
  hu_data_free(&parallel->test);
  free((void *)parallel->words);
  memset(parallel, 0, sizeof *parallel);
}

/* Reads all parts; part[k] has the files of language k. */
static hu_status read_parts(hu_parallel *parallel, const hu_bytes *const part[LANGUAGES], const size_t lines[PARTS],
                            const hu_word_rules *rules, char *why) {
  one_language language[LANGUAGES];
  const char *const names[PARTS] = {part[SOURCE][0].name, part[SOURCE][1].name};
  const int joined = rules->subwords != NULL;
  memset(language, 0, sizeof language);
  parallel->joined = joined;
  hu_status status = joined ? read_subwords(language, part, rules, why) : read_languages(language, part, rules, why);
  if (status == HU_OK) status = take_pairs(parallel, language, lines, names, why);
  if (joined && parallel->words) language[SOURCE].words.words = NULL; /* the same list */
  hu_words_free(&language[SOURCE].words);
  if (!joined) hu_words_free(&language[TARGET].words);
  return status;
}

hu_status hui_parallel_read_by(hu_parallel *parallel, const hu_bytes *source, const hu_bytes *target, size_t n,
                               size_t window, const hu_word_rules *rules, char *why) {
  hu_parallel pairs;
  size_t lines[PARTS] = {0, 0};
  cut_files cuts[LANGUAGES];
  const hu_bytes *part[LANGUAGES] = {source, target};
  memset(&pairs, 0, sizeof pairs);
  pairs.window = window;
  hu_status status = HU_OK;
  for (size_t i = 0; i < n && status == HU_OK; i++) status = check_pair(&source[i], &target[i], &lines[i], why);
  if (status != HU_OK) return status;
  if (n == 1) {
    if (lines[0] < 10) return hui_data_wrong(why, HU_E_DATA, source->name, "lines: %zu, fewer than 10", lines[0]);
    lines[1] = lines[0] - lines[0] / 10 * 9;
    lines[0] -= lines[1];
    for (int k = 0; k < LANGUAGES; k++) {
      cut_file(&cuts[k], part[k], lines[0]);
      part[k] = cuts[k].part;
    }
  }
  status = read_parts(&pairs, part, lines, rules, why);
  if (status == HU_OK) {
    *parallel = pairs;
  } else {
    hu_parallel_free(&pairs);
  }
  return status;
}

hu_status hui_parallel_read(hu_parallel *parallel, const hu_bytes *source, const hu_bytes *target, size_t n,
                            size_t window, uint32_t most, int by_count, char *why) {
  return hui_parallel_read_by(parallel, source, target, n, window, &(hu_word_rules){.most = most, .by_count = by_count},
                              why);
}

hu_status hui_parallel_load(hu_parallel *parallel, const char *const *source, const char *const *target, size_t files,
                            size_t window, const hu_word_rules *rules, char *why) {
  hu_bytes from[PARTS] = {{NULL, NULL, 0}}, to[PARTS] = {{NULL, NULL, 0}};
  hu_status status = HU_OK;
  if (!parallel || !source || !target) return hui_data_wrong(why, HU_E_NULL, "parallel", "z, source, target: NULL");
  if (files == 0 || files > PARTS) return hui_data_wrong(why, HU_E_SHAPE, "parallel", "files: %zu, not 1 or 2", files);
  if (window < 2 || window > SIDE_MOST)
    return hui_data_wrong(why, HU_E_SHAPE, "parallel", "window: %zu, not from 2 to %d", window, SIDE_MOST);
  hu_status words = hui_words_check_most(rules->most, why);
  if (words != HU_OK) return words;
  for (size_t i = 0; i < files && status == HU_OK; i++) {
    status = hui_bytes_read(&from[i], source[i], why);
    if (status == HU_OK) status = hui_bytes_read(&to[i], target[i], why);
  }
  if (status == HU_OK) status = hui_parallel_read_by(parallel, from, to, files, window, rules, why);
  for (size_t i = 0; i < PARTS; i++) {
    hui_bytes_free(&from[i]);
    hui_bytes_free(&to[i]);
  }
  return status;
}

hu_status hu_parallel_load(hu_parallel *parallel, const char *const *source, const char *const *target, size_t files,
                           size_t window, uint32_t most, int by_count, char *why) {
  return hui_parallel_load(parallel, source, target, files, window,
                           &(hu_word_rules){.most = most, .by_count = by_count}, why);
}

size_t hu_parallel_labels(const hu_parallel *parallel, const float *example, uint32_t *labels) {
  const float *given = example + parallel->window + 1;
  size_t n = 0;
  for (size_t j = 0, ended = 0; j < parallel->window; j++) {
    uint32_t next = j + 1 < parallel->window ? (uint32_t)given[j + 1] : parallel->end;
    labels[j] = ended ? UINT32_MAX : next;
    n += !ended;
    ended |= next == parallel->end;
  }
  return n;
}
