/* SPDX-License-Identifier: MIT */
/* Loads ratings of MovieLens, and makes pairs of users and items with labels from them. */
#include <stdlib.h>
#include <string.h>

#include "train/data/file.h"

enum { FIELDS = 4, STARS = 5, IDS_MOST = 1 << 24 };

/* ---- lines ---- */

/* A line of the file. */
typedef struct hu_rating {
  uint32_t user, item; /* ids */
  uint32_t line;       /* from 1 */
  uint64_t time;
} hu_rating;

typedef struct hu_field {
  const uint8_t *at;
  size_t size;
} hu_field;

/* A line's fields, between "::"; returns how many it has, of which up to FIELDS are set. */
static size_t split(hu_field field[FIELDS], const uint8_t *line, size_t size) {
  size_t fields = 0, begun = 0;
  for (size_t i = 0; i <= size; i++) {
    int ends = i == size, parts = !ends && i + 1 < size && line[i] == ':' && line[i + 1] == ':';
    if (!ends && !parts) continue;
    if (fields < FIELDS) field[fields] = (hu_field){line + begun, i - begun};
    fields++;
    begun = i + 2;
    i += (size_t)parts;
  }
  return fields;
}

/* A whole number of decimal digits alone, up to `most`; 0: it is not one. */
static int read_whole(uint64_t *z, hu_field field, uint64_t most) {
  uint64_t x = 0;
  if (field.size == 0) return 0;
  for (size_t i = 0; i < field.size; i++) {
    unsigned digit = (unsigned)field.at[i] - '0';
    if (digit > 9 || digit > most || x > (most - digit) / 10) return 0;
    x = 10 * x + digit;
  }
  *z = x;
  return 1;
}

static hu_status read_id(uint32_t *z, const hu_bytes *file, const char *name, uint32_t line, hu_field field,
                         char *why) {
  uint64_t x;
  if (!read_whole(&x, field, UINT32_MAX))
    return hui_data_wrong(why, HU_E_DATA, file->name, "%s of line %u: not a whole number up to 4294967295", name, line);
  if (x == 0) return hui_data_wrong(why, HU_E_DATA, file->name, "%s of line %u: 0, and ids begin with 1", name, line);
  *z = (uint32_t)x;
  return HU_OK;
}

static hu_status read_line(hu_rating *rating, const hu_bytes *file, const uint8_t *at, size_t size, char *why) {
  hu_field field[FIELDS];
  uint64_t stars = 0;
  size_t fields = split(field, at, size);
  if (fields != FIELDS)
    return hui_data_wrong(why, HU_E_DATA, file->name, "line %u: fields between '::': %zu, not %d", rating->line, fields,
                          FIELDS);
  hu_status status = read_id(&rating->user, file, "UserID", rating->line, field[0], why);
  if (status == HU_OK) status = read_id(&rating->item, file, "MovieID", rating->line, field[1], why);
  if (status != HU_OK) return status;
  if (!read_whole(&stars, field[2], STARS) || stars == 0)
    return hui_data_wrong(why, HU_E_DATA, file->name, "Rating of line %u: not a whole number from 1 to %d",
                          rating->line, STARS);
  if (!read_whole(&rating->time, field[3], INT64_MAX))
    return hui_data_wrong(why, HU_E_DATA, file->name, "Timestamp of line %u: not a whole number below 2^63",
                          rating->line);
  return HU_OK;
}

static size_t count_lines(const hu_bytes *file) {
  size_t lines = file->data[file->size - 1] != '\n';
  for (size_t i = 0; i < file->size; i++) lines += file->data[i] == '\n';
  return lines;
}

/* All lines, z having space for them; LF may have CR before it. */
static hu_status read_lines(hu_rating *rating, const hu_bytes *file, char *why) {
  uint32_t line = 0;
  for (size_t at = 0; at < file->size;) {
    const uint8_t *end = memchr(file->data + at, '\n', file->size - at);
    size_t size = end ? (size_t)(end - file->data) - at : file->size - at;
    size_t length = size && file->data[at + size - 1] == '\r' ? size - 1 : size;
    rating[line].line = line + 1;
    hu_status status = read_line(&rating[line], file, file->data + at, length, why);
    if (status != HU_OK) return status;
    at += size + 1;
    line++;
  }
  return HU_OK;
}

/* ---- order ---- */

static int compare(uint32_t a, uint32_t b) { return a < b ? -1 : a > b; }

static int by_line(const void *a, const void *b) {
  const hu_rating *rating = a, *y = b;
  int user = compare(rating->user, y->user);
  return user ? user : compare(rating->line, y->line);
}

static int by_item(const void *a, const void *b) {
  const hu_rating *rating = a, *y = b;
  int user = compare(rating->user, y->user), item = compare(rating->item, y->item);
  return user ? user : item ? item : compare(rating->line, y->line);
}

static int by_number(const void *a, const void *b) { return compare(*(const uint32_t *)a, *(const uint32_t *)b); }

static hu_status check_pairs(const hu_bytes *file, size_t n, const hu_rating *rating, char *why) {
  for (size_t i = 1; i < n; i++) {
    if (rating[i].user == rating[i - 1].user && rating[i].item == rating[i - 1].item)
      return hui_data_wrong(why, HU_E_DATA, file->name, "MovieID of line %u: user %u has rated movie %u in line %u too",
                            rating[i].line, rating[i].user, rating[i].item, rating[i - 1].line);
  }
  return HU_OK;
}

/* Sorts ids, keeps each once, and returns their number. */
static size_t sort_ids(size_t n, uint32_t *z) {
  size_t kept = 0;
  qsort(z, n, sizeof *z, by_number);
  for (size_t i = 0; i < n; i++) {
    if (kept == 0 || z[kept - 1] != z[i]) z[kept++] = z[i];
  }
  return kept;
}

static uint32_t place_of(uint32_t id, const uint32_t *ids, size_t n) {
  const uint32_t *at = bsearch(&id, ids, n, sizeof *ids, by_number);
  return (uint32_t)(at - ids);
}

/* ---- the record ---- */

void hu_movielens_free(hu_movielens *movielens) {
  if (!movielens) return;
  free(movielens->user_ids);
  free(movielens->item_ids);
  free(movielens->first);
  free(movielens->item);
  free(movielens->held);
  memset(movielens, 0, sizeof *movielens);
}

static int make_buffers(hu_movielens *movielens) {
  movielens->user_ids = hui_data_allocate(movielens->count, sizeof *movielens->user_ids);
  movielens->item_ids = hui_data_allocate(movielens->count, sizeof *movielens->item_ids);
  movielens->first = hui_data_allocate(movielens->count + 1, sizeof *movielens->first);
  movielens->item = hui_data_allocate(movielens->count, sizeof *movielens->item);
  movielens->held = hui_data_allocate(movielens->count, sizeof *movielens->held);
  return movielens->user_ids && movielens->item_ids && movielens->first && movielens->item && movielens->held;
}

/* The record of ratings, which are in order by user, then by line. */
static hu_status number(hu_movielens *movielens, const hu_bytes *file, const hu_rating *rating, char *why) {
  for (size_t i = 0; i < movielens->count; i++) {
    movielens->user_ids[i] = rating[i].user;
    movielens->item_ids[i] = rating[i].item;
  }
  size_t users = sort_ids(movielens->count, movielens->user_ids),
         items = sort_ids(movielens->count, movielens->item_ids), tested = 0;
  if (users > IDS_MOST || items > IDS_MOST)
    return hui_data_wrong(why, HU_E_DATA, file->name, "size: %zu users and %zu movies, more than %d", users, items,
                          IDS_MOST);
  movielens->users = (uint32_t)users;
  movielens->items = (uint32_t)items;
  for (size_t i = 0, u = 0; u < users; u++) {
    size_t held = i;
    movielens->first[u] = i;
    for (; i < movielens->count && rating[i].user == movielens->user_ids[u]; i++) {
      movielens->item[i] = place_of(rating[i].item, movielens->item_ids, items);
      if (rating[i].time >= rating[held].time) held = i;
    }
    movielens->held[u] = i - movielens->first[u] > 1 ? held : SIZE_MAX;
    tested += movielens->held[u] != SIZE_MAX;
  }
  movielens->first[users] = movielens->count;
  movielens->tested = (uint32_t)tested;
  return tested ? HU_OK : hui_data_wrong(why, HU_E_DATA, file->name, "UserID: no user has two ratings");
}

static hu_status read_all(hu_movielens *movielens, const hu_bytes *file, hu_rating *rating, char *why) {
  hu_status status = read_lines(rating, file, why);
  if (status != HU_OK) return status;
  qsort(rating, movielens->count, sizeof *rating, by_item);
  status = check_pairs(file, movielens->count, rating, why);
  if (status != HU_OK) return status;
  qsort(rating, movielens->count, sizeof *rating, by_line);
  if (!make_buffers(movielens))
    return hui_data_wrong(why, HU_E_MEMORY, file->name, "out of memory for %zu ratings", movielens->count);
  return number(movielens, file, rating, why);
}

hu_status hui_movielens_read(hu_movielens *movielens, const hu_bytes *file, char *why) {
  hu_movielens ratings;
  memset(&ratings, 0, sizeof ratings);
  hu_status status = hui_bytes_check_plain(file, why);
  if (status != HU_OK) return status;
  ratings.count = count_lines(file);
  if (ratings.count >= UINT32_MAX) return hui_data_wrong(why, HU_E_DATA, file->name, "size: %zu lines", ratings.count);
  hu_rating *rating = hui_data_allocate(ratings.count, sizeof *rating);
  status = rating ? read_all(&ratings, file, rating, why)
                  : hui_data_wrong(why, HU_E_MEMORY, file->name, "out of memory for %zu ratings", ratings.count);
  free(rating);
  if (status == HU_OK) {
    *movielens = ratings;
  } else {
    hu_movielens_free(&ratings);
  }
  return status;
}

hu_status hu_movielens_load(hu_movielens *movielens, const char *path, char *why) {
  hu_bytes file = {NULL, NULL, 0};
  if (!movielens) return hui_data_wrong(why, HU_E_NULL, "movielens", "z: NULL");
  hu_status status = hui_bytes_read(&file, path, why);
  if (status == HU_OK) status = hui_movielens_read(movielens, &file, why);
  hui_bytes_free(&file);
  return status;
}

/* ---- pairs ---- */

static void put_pair(hu_data *data, size_t at, uint32_t user, uint32_t item, uint32_t label) {
  data->x[2 * at] = (float)user;
  data->x[2 * at + 1] = (float)item;
  data->labels[at] = label;
}

/* marks[item] = user + 1 for the user's ratings, the held one too if `held`. */
static void mark(uint32_t *marks, const hu_movielens *movielens, uint32_t user, int held) {
  for (size_t i = movielens->first[user]; i < movielens->first[user + 1]; i++) {
    if (held || i != movielens->held[user]) marks[movielens->item[i]] = user + 1;
  }
}

/* Draws an item without the user's mark. There is one: a user of one rating has not rated each of the two or more
 * movies, and one of more ratings has one of them held out. */
static uint32_t draw_unmarked(const uint32_t *marks, uint32_t items, uint32_t user, hu_stream *stream) {
  uint32_t item;
  do item = hu_stream_below(stream, items);
  while (marks[item] == user + 1);
  return item;
}

hu_status hu_movielens_negatives(hu_data *data, const hu_movielens *movielens, uint32_t negatives, hu_stream stream) {
  size_t at = 0, positive = 0;
  if (!data || !movielens || !data->x || !data->labels || !movielens->item) return HU_E_NULL;
  if (hu_data_features(data) != 2 || data->count % ((size_t)negatives + 1) ||
      data->count / ((size_t)negatives + 1) != movielens->count - movielens->tested)
    return HU_E_SHAPE;
  uint32_t *marks = hui_data_allocate(movielens->items, sizeof *marks);
  if (!marks) return HU_E_MEMORY;
  for (uint32_t u = 0; u < movielens->users; u++) {
    mark(marks, movielens, u, 0);
    for (size_t i = movielens->first[u]; i < movielens->first[u + 1]; i++) {
      if (i == movielens->held[u]) continue;
      hu_stream words = hu_stream_child(stream, positive++);
      put_pair(data, at++, u, movielens->item[i], 1);
      for (uint32_t k = 0; k < negatives; k++)
        put_pair(data, at++, u, draw_unmarked(marks, movielens->items, u, &words), 0);
    }
  }
  free(marks);
  return HU_OK;
}

hu_status hu_movielens_training(hu_data *data, const hu_movielens *movielens, uint32_t negatives, hu_stream stream) {
  const size_t shape[3] = {1, 1, 2};
  hu_data made;
  size_t count;
  if (!data || !movielens || !movielens->item) return HU_E_NULL;
  if (!hui_size_product(&count, movielens->count - movielens->tested, (size_t)negatives + 1)) return HU_E_SHAPE;
  hu_status status = hui_data_make(&made, count, shape, 2, 0);
  if (status != HU_OK) return status;
  status = hu_movielens_negatives(&made, movielens, negatives, stream);
  if (status == HU_OK) {
    *data = made;
  } else {
    hu_data_free(&made);
  }
  return status;
}

static void put_candidates(hu_data *data, const hu_movielens *movielens, uint32_t candidates, uint32_t *marks,
                           hu_stream stream) {
  size_t at = 0;
  for (uint32_t u = 0; u < movielens->users; u++) {
    hu_stream words = hu_stream_child(stream, u);
    if (movielens->held[u] == SIZE_MAX) continue;
    mark(marks, movielens, u, 1);
    put_pair(data, at++, u, movielens->item[movielens->held[u]], 1);
    for (uint32_t k = 0; k < candidates; k++) {
      uint32_t item = draw_unmarked(marks, movielens->items, u, &words);
      marks[item] = u + 1;
      put_pair(data, at++, u, item, 0);
    }
  }
}

hu_status hu_movielens_test(hu_data *data, const hu_movielens *movielens, uint32_t candidates, hu_stream stream,
                            char *why) {
  const size_t shape[3] = {1, 1, 2};
  hu_data made;
  size_t count;
  if (!data || !movielens || !movielens->item) return hui_data_wrong(why, HU_E_NULL, "movielens", "z, x: NULL");
  for (uint32_t u = 0; u < movielens->users; u++) {
    size_t others = movielens->items - (movielens->first[u + 1] - movielens->first[u]);
    if (movielens->held[u] != SIZE_MAX && others < candidates)
      return hui_data_wrong(why, HU_E_SHAPE, "movielens", "candidates: user %u has not rated %zu movies, fewer than %u",
                            movielens->user_ids[u], others, candidates);
  }
  hu_status status = hui_size_product(&count, movielens->tested, (size_t)candidates + 1)
                         ? hui_data_make(&made, count, shape, 2, 0)
                         : HU_E_SHAPE;
  if (status != HU_OK) return hui_data_wrong(why, status, "movielens", "candidates: %u a user do not fit", candidates);
  uint32_t *marks = hui_data_allocate(movielens->items, sizeof *marks);
  if (!marks) {
    hu_data_free(&made);
    return hui_data_wrong(why, HU_E_MEMORY, "movielens", "out of memory");
  }
  put_candidates(&made, movielens, candidates, marks, stream);
  free(marks);
  *data = made;
  return HU_OK;
}
