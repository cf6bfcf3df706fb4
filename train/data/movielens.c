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
static size_t split(hu_field z[FIELDS], const uint8_t *line, size_t size) {
  size_t fields = 0, begun = 0;
  for (size_t i = 0; i <= size; i++) {
    int ends = i == size, parts = !ends && i + 1 < size && line[i] == ':' && line[i + 1] == ':';
    if (!ends && !parts) continue;
    if (fields < FIELDS) z[fields] = (hu_field){line + begun, i - begun};
    fields++;
    begun = i + 2;
    i += (size_t)parts;
  }
  return fields;
}

/* A whole number of decimal digits alone, up to `most`; 0: it is not one. */
static int read_whole(uint64_t *z, hu_field f, uint64_t most) {
  uint64_t x = 0;
  if (f.size == 0) return 0;
  for (size_t i = 0; i < f.size; i++) {
    unsigned digit = (unsigned)f.at[i] - '0';
    if (digit > 9 || digit > most || x > (most - digit) / 10) return 0;
    x = 10 * x + digit;
  }
  *z = x;
  return 1;
}

static hu_status read_id(uint32_t *z, const hu_bytes *file, const char *name, uint32_t line, hu_field f, char *why) {
  uint64_t x;
  if (!read_whole(&x, f, UINT32_MAX))
    return hu_data_wrong(why, HU_E_DATA, file->name, "%s of line %u: not a whole number up to 4294967295", name, line);
  if (x == 0) return hu_data_wrong(why, HU_E_DATA, file->name, "%s of line %u: 0, and ids begin with 1", name, line);
  *z = (uint32_t)x;
  return HU_OK;
}

static hu_status read_line(hu_rating *z, const hu_bytes *file, const uint8_t *at, size_t size, char *why) {
  hu_field f[FIELDS];
  uint64_t stars = 0;
  size_t fields = split(f, at, size);
  if (fields != FIELDS)
    return hu_data_wrong(why, HU_E_DATA, file->name, "line %u: fields between '::': %zu, not %d", z->line, fields,
                         FIELDS);
  hu_status s = read_id(&z->user, file, "UserID", z->line, f[0], why);
  if (s == HU_OK) s = read_id(&z->item, file, "MovieID", z->line, f[1], why);
  if (s != HU_OK) return s;
  if (!read_whole(&stars, f[2], STARS) || stars == 0)
    return hu_data_wrong(why, HU_E_DATA, file->name, "Rating of line %u: not a whole number from 1 to %d", z->line,
                         STARS);
  if (!read_whole(&z->time, f[3], INT64_MAX))
    return hu_data_wrong(why, HU_E_DATA, file->name, "Timestamp of line %u: not a whole number below 2^63", z->line);
  return HU_OK;
}

static size_t count_lines(const hu_bytes *file) {
  size_t lines = file->data[file->size - 1] != '\n';
  for (size_t i = 0; i < file->size; i++) lines += file->data[i] == '\n';
  return lines;
}

/* All lines, z having room for them; LF may have CR before it. */
static hu_status read_lines(hu_rating *z, const hu_bytes *file, char *why) {
  uint32_t line = 0;
  for (size_t at = 0; at < file->size;) {
    const uint8_t *end = memchr(file->data + at, '\n', file->size - at);
    size_t size = end ? (size_t)(end - file->data) - at : file->size - at;
    size_t told = size && file->data[at + size - 1] == '\r' ? size - 1 : size;
    z[line].line = line + 1;
    hu_status s = read_line(&z[line], file, file->data + at, told, why);
    if (s != HU_OK) return s;
    at += size + 1;
    line++;
  }
  return HU_OK;
}

/* ---- order ---- */

static int compare(uint32_t a, uint32_t b) { return a < b ? -1 : a > b; }

static int by_line(const void *a, const void *b) {
  const hu_rating *x = a, *y = b;
  int user = compare(x->user, y->user);
  return user ? user : compare(x->line, y->line);
}

static int by_item(const void *a, const void *b) {
  const hu_rating *x = a, *y = b;
  int user = compare(x->user, y->user), item = compare(x->item, y->item);
  return user ? user : item ? item : compare(x->line, y->line);
}

static int by_number(const void *a, const void *b) { return compare(*(const uint32_t *)a, *(const uint32_t *)b); }

static hu_status check_pairs(const hu_bytes *file, size_t n, const hu_rating *x, char *why) {
  for (size_t i = 1; i < n; i++) {
    if (x[i].user == x[i - 1].user && x[i].item == x[i - 1].item)
      return hu_data_wrong(why, HU_E_DATA, file->name, "MovieID of line %u: user %u has rated movie %u in line %u too",
                           x[i].line, x[i].user, x[i].item, x[i - 1].line);
  }
  return HU_OK;
}

/* Ids in increasing order, each once; returns their number. */
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

void hu_movielens_free(hu_movielens *z) {
  if (!z) return;
  free(z->user_ids);
  free(z->item_ids);
  free(z->first);
  free(z->item);
  free(z->held);
  memset(z, 0, sizeof *z);
}

static int make_rooms(hu_movielens *z) {
  z->user_ids = hu_data_room(z->count, sizeof *z->user_ids);
  z->item_ids = hu_data_room(z->count, sizeof *z->item_ids);
  z->first = hu_data_room(z->count + 1, sizeof *z->first);
  z->item = hu_data_room(z->count, sizeof *z->item);
  z->held = hu_data_room(z->count, sizeof *z->held);
  return z->user_ids && z->item_ids && z->first && z->item && z->held;
}

/* The record of ratings, which are in order by user, then by line. */
static hu_status number(hu_movielens *z, const hu_bytes *file, const hu_rating *x, char *why) {
  for (size_t i = 0; i < z->count; i++) {
    z->user_ids[i] = x[i].user;
    z->item_ids[i] = x[i].item;
  }
  size_t users = sort_ids(z->count, z->user_ids), items = sort_ids(z->count, z->item_ids), tested = 0;
  if (users > IDS_MOST || items > IDS_MOST)
    return hu_data_wrong(why, HU_E_DATA, file->name, "size: %zu users and %zu movies, more than %d", users, items,
                         IDS_MOST);
  z->users = (uint32_t)users;
  z->items = (uint32_t)items;
  for (size_t i = 0, u = 0; u < users; u++) {
    size_t held = i;
    z->first[u] = i;
    for (; i < z->count && x[i].user == z->user_ids[u]; i++) {
      z->item[i] = place_of(x[i].item, z->item_ids, items);
      if (x[i].time >= x[held].time) held = i;
    }
    z->held[u] = i - z->first[u] > 1 ? held : SIZE_MAX;
    tested += z->held[u] != SIZE_MAX;
  }
  z->first[users] = z->count;
  z->tested = (uint32_t)tested;
  return tested ? HU_OK : hu_data_wrong(why, HU_E_DATA, file->name, "UserID: no user has two ratings");
}

static hu_status read_all(hu_movielens *z, const hu_bytes *file, hu_rating *x, char *why) {
  hu_status s = read_lines(x, file, why);
  if (s != HU_OK) return s;
  qsort(x, z->count, sizeof *x, by_item);
  s = check_pairs(file, z->count, x, why);
  if (s != HU_OK) return s;
  qsort(x, z->count, sizeof *x, by_line);
  if (!make_rooms(z)) return hu_data_wrong(why, HU_E_MEMORY, file->name, "out of memory for %zu ratings", z->count);
  return number(z, file, x, why);
}

hu_status hu_movielens_read(hu_movielens *z, const hu_bytes *file, char *why) {
  hu_movielens m;
  memset(&m, 0, sizeof m);
  hu_status s = hu_bytes_check_plain(file, why);
  if (s != HU_OK) return s;
  m.count = count_lines(file);
  if (m.count >= UINT32_MAX) return hu_data_wrong(why, HU_E_DATA, file->name, "size: %zu lines", m.count);
  hu_rating *x = hu_data_room(m.count, sizeof *x);
  s = x ? read_all(&m, file, x, why)
        : hu_data_wrong(why, HU_E_MEMORY, file->name, "out of memory for %zu ratings", m.count);
  free(x);
  if (s == HU_OK) {
    *z = m;
  } else {
    hu_movielens_free(&m);
  }
  return s;
}

hu_status hu_movielens_load(hu_movielens *z, const char *path, char *why) {
  hu_bytes file = {NULL, NULL, 0};
  if (!z) return hu_data_wrong(why, HU_E_NULL, "movielens", "z: NULL");
  hu_status s = hu_bytes_read(&file, path, why);
  if (s == HU_OK) s = hu_movielens_read(z, &file, why);
  hu_bytes_free(&file);
  return s;
}

/* ---- pairs ---- */

static void put_pair(hu_data *z, size_t at, uint32_t user, uint32_t item, uint32_t label) {
  z->x[2 * at] = (float)user;
  z->x[2 * at + 1] = (float)item;
  z->labels[at] = label;
}

/* marks[item] = user + 1 for the user's ratings, the held one too if `held`. */
static void mark(uint32_t *marks, const hu_movielens *x, uint32_t user, int held) {
  for (size_t i = x->first[user]; i < x->first[user + 1]; i++) {
    if (held || i != x->held[user]) marks[x->item[i]] = user + 1;
  }
}

/* An item without the user's mark. There is one: whoever has one rating has not rated each of the two or more movies,
 * and whoever has more keeps one of them held out. */
static uint32_t draw_unmarked(const uint32_t *marks, uint32_t items, uint32_t user, hu_stream *s) {
  uint32_t item;
  do item = hu_stream_below(s, items);
  while (marks[item] == user + 1);
  return item;
}

hu_status hu_movielens_negatives(hu_data *z, const hu_movielens *x, uint32_t negatives, hu_stream s) {
  size_t at = 0, positive = 0;
  if (!z || !x || !z->x || !z->labels || !x->item) return HU_E_NULL;
  if (hu_data_features(z) != 2 || z->count % ((size_t)negatives + 1) ||
      z->count / ((size_t)negatives + 1) != x->count - x->tested)
    return HU_E_SHAPE;
  uint32_t *marks = hu_data_room(x->items, sizeof *marks);
  if (!marks) return HU_E_MEMORY;
  for (uint32_t u = 0; u < x->users; u++) {
    mark(marks, x, u, 0);
    for (size_t i = x->first[u]; i < x->first[u + 1]; i++) {
      if (i == x->held[u]) continue;
      hu_stream words = hu_stream_child(s, positive++);
      put_pair(z, at++, u, x->item[i], 1);
      for (uint32_t k = 0; k < negatives; k++) put_pair(z, at++, u, draw_unmarked(marks, x->items, u, &words), 0);
    }
  }
  free(marks);
  return HU_OK;
}

hu_status hu_movielens_training(hu_data *z, const hu_movielens *x, uint32_t negatives, hu_stream s) {
  const size_t shape[3] = {1, 1, 2};
  hu_data d;
  size_t count;
  if (!z || !x || !x->item) return HU_E_NULL;
  if (!hu_size_product(&count, x->count - x->tested, (size_t)negatives + 1)) return HU_E_SHAPE;
  hu_status status = hu_data_make(&d, count, shape, 2, 0);
  if (status != HU_OK) return status;
  status = hu_movielens_negatives(&d, x, negatives, s);
  if (status == HU_OK) {
    *z = d;
  } else {
    hu_data_free(&d);
  }
  return status;
}

static void put_candidates(hu_data *z, const hu_movielens *x, uint32_t candidates, uint32_t *marks, hu_stream s) {
  size_t at = 0;
  for (uint32_t u = 0; u < x->users; u++) {
    hu_stream words = hu_stream_child(s, u);
    if (x->held[u] == SIZE_MAX) continue;
    mark(marks, x, u, 1);
    put_pair(z, at++, u, x->item[x->held[u]], 1);
    for (uint32_t k = 0; k < candidates; k++) {
      uint32_t item = draw_unmarked(marks, x->items, u, &words);
      marks[item] = u + 1;
      put_pair(z, at++, u, item, 0);
    }
  }
}

hu_status hu_movielens_test(hu_data *z, const hu_movielens *x, uint32_t candidates, hu_stream s, char *why) {
  const size_t shape[3] = {1, 1, 2};
  hu_data d;
  size_t count;
  if (!z || !x || !x->item) return hu_data_wrong(why, HU_E_NULL, "movielens", "z, x: NULL");
  for (uint32_t u = 0; u < x->users; u++) {
    size_t others = x->items - (x->first[u + 1] - x->first[u]);
    if (x->held[u] != SIZE_MAX && others < candidates)
      return hu_data_wrong(why, HU_E_SHAPE, "movielens", "candidates: user %u has not rated %zu movies, fewer than %u",
                           x->user_ids[u], others, candidates);
  }
  hu_status status =
      hu_size_product(&count, x->tested, (size_t)candidates + 1) ? hu_data_make(&d, count, shape, 2, 0) : HU_E_SHAPE;
  if (status != HU_OK) return hu_data_wrong(why, status, "movielens", "candidates: %u a user do not fit", candidates);
  uint32_t *marks = hu_data_room(x->items, sizeof *marks);
  if (!marks) {
    hu_data_free(&d);
    return hu_data_wrong(why, HU_E_MEMORY, "movielens", "out of memory");
  }
  put_candidates(&d, x, candidates, marks, s);
  free(marks);
  *z = d;
  return HU_OK;
}
