/* SPDX-License-Identifier: MIT */
/* Learns merges of byte-pair encoding (Sennrich, Haddow, Birch 2016) from the words of files, and codes the files. */
#include <stdlib.h>
#include <string.h>

#include "train/data/subwords.h"

/* A word as symbols: those from number `first` on. */
typedef struct hu_spelled {
  size_t first;
  uint32_t count;
  uint64_t times;
} hu_spelled;

/* Words in which a pair stood when it came into one; some may have lost it, some stand twice. */
typedef struct hu_places {
  uint32_t *word;
  size_t count, buffer;
} hu_places;

/* A pair with so many occurrences, as it was when it was put there. */
typedef struct hu_waiting {
  uint64_t times;
  uint32_t pair;
} hu_waiting;

typedef struct hu_learner {
  hu_subwords *subwords;
  hu_spelled *words;
  size_t count;
  uint32_t *symbols;
  hu_pair_table pairs; /* then of each of them: */
  uint64_t *times;
  hu_places *places;
  uint8_t *grown; /* 1: more often than before the merge that is being made */
  size_t buffer;
  uint32_t *more; /* those pairs */
  size_t mores, more_buffer;
  hu_waiting *heap; /* none comes before the one at half its number */
  size_t waiting, heap_buffer;
} hu_learner;

/* Makes space for one element more; 0: no memory. */
static int grow(void **array, size_t count, size_t *buffer, size_t size) {
  if (count < *buffer) return 1;
  void *more = *buffer > SIZE_MAX / 4 / size ? NULL : realloc(*array, (2 * *buffer + 16) * size);
  if (!more) return 0;
  *array = more;
  *buffer = 2 * *buffer + 16;
  return 1;
}

/* ---- which pair is next ---- */

/* Compares bytes; of a text and its beginning, the text is larger. */
static int compare(hu_word a, hu_word b) {
  int order = memcmp(a.at, b.at, a.size < b.size ? a.size : b.size);
  return order ? order : (a.size > b.size) - (a.size < b.size);
}

/* The more frequent pair is first; of equally frequent ones the one whose left, then right text is larger. */
static int is_before(const hu_learner *learner, hu_waiting a, hu_waiting b) {
  if (a.times != b.times) return a.times > b.times;
  const hu_known *known = learner->subwords->symbols.known;
  const hu_symbol_pair x = learner->pairs.pair[a.pair], y = learner->pairs.pair[b.pair];
  int order = compare(known[x.left].word, known[y.left].word);
  return (order ? order : compare(known[x.right].word, known[y.right].word)) > 0;
}

static int wait_for(hu_learner *learner, uint32_t pair) {
  void *heap = learner->heap;
  if (!grow(&heap, learner->waiting, &learner->heap_buffer, sizeof *learner->heap)) return 0;
  learner->heap = heap;
  const hu_waiting added = {learner->times[pair], pair};
  size_t i = learner->waiting++;
  for (; i && is_before(learner, added, learner->heap[(i - 1) / 2]); i = (i - 1) / 2)
    learner->heap[i] = learner->heap[(i - 1) / 2];
  learner->heap[i] = added;
  return 1;
}

static hu_waiting take_first(hu_learner *learner) {
  const hu_waiting first = learner->heap[0], last = learner->heap[--learner->waiting];
  size_t i = 0, n = learner->waiting;
  for (size_t next; (next = 2 * i + 1) < n; i = next) {
    next += next + 1 < n && is_before(learner, learner->heap[next + 1], learner->heap[next]);
    if (!is_before(learner, learner->heap[next], last)) break;
    learner->heap[i] = learner->heap[next];
  }
  learner->heap[i] = last;
  return first;
}

/* Goes to the pair that is merged next; 0: none occurs twice. Sets *memory to 0 if there is none. */
static int next_pair(hu_learner *learner, uint32_t *pair, int *memory) {
  while (learner->waiting && *memory) {
    const hu_waiting first = take_first(learner);
    const uint64_t now = learner->times[first.pair];
    *pair = first.pair;
    if (hui_subwords_never(learner->subwords, learner->pairs.pair[first.pair]) || now < 2) continue;
    if (now == first.times) return 1;
    if (now < first.times) *memory = wait_for(learner, first.pair); /* else it waits with the larger number, too */
  }
  return 0;
}

/* ---- occurrences ---- */

/* Returns the number of a pair, with its counts; UINT32_MAX: no memory. */
static uint32_t pair_of(hu_learner *learner, uint32_t left, uint32_t right) {
  uint32_t number = hui_pair_add(&learner->pairs, left, right);
  if (number == UINT32_MAX || number < learner->buffer) return number;
  const size_t buffer = learner->pairs.buffer, old = learner->buffer;
  uint64_t *times = realloc(learner->times, buffer * sizeof *times);
  if (times) learner->times = times;
  hu_places *places = realloc(learner->places, buffer * sizeof *places);
  if (places) learner->places = places;
  uint8_t *grown = realloc(learner->grown, buffer);
  if (grown) learner->grown = grown;
  if (!times || !places || !grown) return UINT32_MAX;
  memset(times + old, 0, (buffer - old) * sizeof *times);
  memset(places + old, 0, (buffer - old) * sizeof *places);
  memset(grown + old, 0, buffer - old);
  learner->buffer = buffer;
  return number;
}

static int place(hu_learner *learner, uint32_t pair, uint32_t word) {
  hu_places *places = &learner->places[pair];
  if (places->count && places->word[places->count - 1] == word) return 1;
  void *list = places->word;
  if (!grow(&list, places->count, &places->buffer, sizeof *places->word)) return 0;
  places->word = list;
  places->word[places->count++] = word;
  return 1;
}

static int note_growth(hu_learner *learner, uint32_t pair) {
  if (learner->grown[pair]) return 1;
  void *list = learner->more;
  if (!grow(&list, learner->mores, &learner->more_buffer, sizeof *learner->more)) return 0;
  learner->more = list;
  learner->more[learner->mores++] = pair;
  learner->grown[pair] = 1;
  return 1;
}

/* Counts the pairs of a word; those with the symbol `made`, or all where it is UINT32_MAX, have it as a new place. */
static int count_pairs(hu_learner *learner, uint32_t word, uint32_t made) {
  const hu_spelled *spelled = &learner->words[word];
  for (uint32_t i = 0; i + 1 < spelled->count; i++) {
    const uint32_t left = learner->symbols[spelled->first + i], right = learner->symbols[spelled->first + i + 1];
    uint32_t pair = pair_of(learner, left, right);
    if (pair == UINT32_MAX) return 0;
    learner->times[pair] += spelled->times;
    if (!note_growth(learner, pair)) return 0;
    if ((made == UINT32_MAX || left == made || right == made) && !place(learner, pair, word)) return 0;
  }
  return 1;
}

static void take_pairs_out(hu_learner *learner, const hu_spelled *spelled) {
  for (uint32_t i = 0; i + 1 < spelled->count; i++) {
    const uint32_t *symbols = learner->symbols + spelled->first + i;
    learner->times[hui_pair_number(&learner->pairs, symbols[0], symbols[1])] -= spelled->times;
  }
}

/* Pairs that have become more frequent wait with their new number. */
static int let_wait(hu_learner *learner) {
  int memory = 1;
  for (size_t i = 0; i < learner->mores; i++) {
    learner->grown[learner->more[i]] = 0;
    memory = memory && wait_for(learner, learner->more[i]);
  }
  learner->mores = 0;
  return memory;
}

static int merge_everywhere(hu_learner *learner, uint32_t number) {
  const hu_symbol_pair pair = learner->pairs.pair[number];
  hu_places places = learner->places[number];
  /* A text that two pairs of parts make can bring a pair back that was merged before: then it is no new merge. */
  int known = hui_pair_number(&learner->subwords->merges, pair.left, pair.right) != UINT32_MAX;
  int memory = known || hui_subwords_add(learner->subwords, pair) == HU_OK;
  const uint32_t rank = hui_pair_number(&learner->subwords->merges, pair.left, pair.right);
  const uint32_t made = memory ? learner->subwords->result[rank] : 0;
  memset(&learner->places[number], 0, sizeof places);
  for (size_t i = 0; i < places.count && memory; i++) {
    hu_spelled *spelled = &learner->words[places.word[i]];
    take_pairs_out(learner, spelled);
    spelled->count = (uint32_t)hui_subwords_merge(spelled->count, learner->symbols + spelled->first, pair, made);
    memory = count_pairs(learner, places.word[i], made);
  }
  free(places.word);
  return memory && let_wait(learner);
}

/* ---- all of it ---- */

/* Counts the words of all files; those that stand for something else are left out. */
static hu_status count_words(hu_table *table, const hu_bytes *files, size_t n, char *why) {
  hu_status status = HU_OK;
  for (size_t i = 0; i < n && status == HU_OK; i++) {
    hu_scan scan = hui_scan_of(&files[i]);
    hu_word word;
    while (status == HU_OK && hui_next_word(&scan, &word)) {
      int stands = hui_same_words(word, hui_word_of(HU_WORD_END)) || hui_same_words(word, hui_word_of(HU_WORD_UNKNOWN));
      if (!stands) status = hui_table_meet(table, word, 1);
    }
    if (status == HU_E_DATA)
      return hui_data_wrong(why, status, files[i].name, "words: more than %d different ones", HU_WORDS_MOST);
  }
  return status;
}

static hu_status spell_words(hu_learner *learner, const hu_table *table) {
  size_t bytes = 0;
  for (size_t i = 0; i < table->count; i++) bytes += table->known[i].word.size;
  learner->words = hui_data_allocate(table->count, sizeof *learner->words);
  learner->symbols = hui_data_allocate(bytes, sizeof *learner->symbols);
  if (!learner->words || !learner->symbols) return HU_E_MEMORY;
  size_t at = 0;
  for (size_t i = 0; i < table->count; i++) {
    size_t symbols = hui_subwords_spell(learner->subwords, table->known[i].word, learner->symbols + at);
    if (!symbols) return HU_E_MEMORY;
    learner->words[i] = (hu_spelled){at, (uint32_t)symbols, table->known[i].times};
    at += symbols;
  }
  learner->count = table->count;
  for (size_t i = 0; i < learner->count; i++)
    if (!count_pairs(learner, (uint32_t)i, UINT32_MAX)) return HU_E_MEMORY;
  return let_wait(learner) ? HU_OK : HU_E_MEMORY;
}

static void close_learner(hu_learner *learner) {
  for (size_t i = 0; i < learner->buffer; i++) free(learner->places[i].word);
  hui_pair_close(&learner->pairs);
  free(learner->words);
  free(learner->symbols);
  free(learner->times);
  free(learner->places);
  free(learner->grown);
  free(learner->more);
  free(learner->heap);
}

hu_status hui_subwords_learn(hu_subwords *subwords, const hu_bytes *files, size_t n, size_t most, char *why) {
  hu_table table;
  hu_learner learner;
  memset(&table, 0, sizeof table);
  memset(&learner, 0, sizeof learner);
  learner.subwords = subwords;
  hu_status status = count_words(&table, files, n, why);
  if (status == HU_E_DATA) {
    hui_table_close(&table);
    return status;
  }
  if (status == HU_OK) status = spell_words(&learner, &table);
  int memory = status == HU_OK;
  for (uint32_t pair; memory && subwords->merges.count < most && next_pair(&learner, &pair, &memory);)
    memory = merge_everywhere(&learner, pair);
  close_learner(&learner);
  hui_table_close(&table);
  if (memory) return HU_OK;
  hui_subwords_free(subwords);
  return hui_data_wrong(why, HU_E_MEMORY, files->name, "out of memory for the merges of its words");
}

hu_status hui_subwords_code(hu_subwords *subwords, size_t learn, size_t training, const hu_bytes *files, size_t n,
                            hu_bytes *coded, char *why) {
  hu_status status = HU_OK;
  memset(coded, 0, n * sizeof *coded);
  for (size_t i = 0; i < n && status == HU_OK; i++) status = hui_subwords_check(&files[i], why);
  if (status == HU_OK && learn) status = hui_subwords_learn(subwords, files, training, learn, why);
  for (size_t i = 0; i < n && status == HU_OK; i++) status = hui_subwords_apply(subwords, &files[i], &coded[i], why);
  for (size_t i = 0; i < n && status != HU_OK; i++) hui_bytes_free(&coded[i]);
  return status;
}
