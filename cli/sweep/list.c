/* SPDX-License-Identifier: MIT */
/* The lists of values and of seeds: see sweep.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/sweep/sweep.h"

enum { LIST_MAX = 1000, DIGITS_MAX = 15 };

/* ---- values ---- */

/* 1: there is one outside brackets. */
static int has_outside(const char *text, char c) {
  int depth = 0;
  for (; *text; text++) {
    depth += (*text == '(') - (*text == ')');
    if (*text == c && depth == 0) return 1;
  }
  return 0;
}

const char *sweep_item_end(const char *text, char separator) {
  int depth = 0;
  for (; *text; text++) {
    depth += (*text == '(') - (*text == ')');
    if (*text == separator && depth <= 0) break;
  }
  return text;
}

const char *sweep_shown(const char *value) { return *value ? value : "(empty)"; }

/* Values between semicolons may be empty, as lists of names are. */
static int add_value(sweep_setup *sweep, const char *text, size_t n, int may_be_empty) {
  while (n && isspace((unsigned char)*text)) text++, n--;
  while (n && isspace((unsigned char)text[n - 1])) n--;
  if (!n && !may_be_empty)
    return cli_fail(NULL, "--values: value %zu is empty; where it is meant, semicolons stand between values",
                    sweep->values + 1);
  for (size_t i = 0; i < sweep->values; i++) {
    if (strlen(sweep->value[i]) == n && memcmp(sweep->value[i], text, n) == 0)
      return cli_fail(NULL, "--values: '%s' is there twice", sweep->value[i]);
  }
  if (sweep->values == LIST_MAX) return cli_fail(NULL, "--values: more than %d", LIST_MAX);
  sweep->value[sweep->values] = strndup(text, n);
  return sweep->value[sweep->values] ? (sweep->values++, CLI_OK) : cli_fail(NULL, "out of memory");
}

/* A decimal numeral as digits / 10^places. */
typedef struct decimal {
  int64_t digits;
  int places;
} decimal;

static int read_decimal(decimal *z, const char *text) {
  int negative = *text == '-', point = 0, count = 0;
  *z = (decimal){0, 0};
  for (text += negative; *text; text++) {
    if (*text == '.' && !point) {
      point = 1;
      continue;
    }
    if (!isdigit((unsigned char)*text) || ++count > DIGITS_MAX) return 0;
    z->digits = 10 * z->digits + (*text - '0');
    z->places += point;
  }
  if (negative) z->digits = -z->digits;
  return count > 0;
}

static int bring_to(decimal *z, int places) {
  for (; z->places < places; z->places++) {
    if (llabs(z->digits) > INT64_MAX / 100) return 0;
    z->digits *= 10;
  }
  return 1;
}

static int add_decimal(sweep_setup *sweep, decimal x) {
  char text[64];
  while (x.places && x.digits % 10 == 0) x.digits /= 10, x.places--;
  uint64_t one = 1, size = (uint64_t)llabs(x.digits);
  for (int i = 0; i < x.places; i++) one *= 10;
  int n = snprintf(text, sizeof text, "%s%llu", x.digits < 0 ? "-" : "", (unsigned long long)(size / one));
  if (x.places) n += snprintf(text + n, sizeof text - (size_t)n, ".%0*llu", x.places, (unsigned long long)(size % one));
  return add_value(sweep, text, (size_t)n, 0);
}

/* Adds the values between the last two and `last`. */
static int add_progression(sweep_setup *sweep, const char *last) {
  decimal a, b, c;
  if (sweep->values < 2 || !read_decimal(&a, sweep->value[sweep->values - 2]) ||
      !read_decimal(&b, sweep->value[sweep->values - 1]) || !read_decimal(&c, last))
    return cli_fail(NULL, "--values: '...' requires two decimal numbers before it and one behind it");
  int places = a.places > b.places ? a.places : b.places;
  if (c.places > places) places = c.places;
  if (!bring_to(&a, places) || !bring_to(&b, places) || !bring_to(&c, places))
    return cli_fail(NULL, "--values: too many digits around '...'");
  int64_t step = b.digits - a.digits, way = c.digits - b.digits;
  if (!step || way % step || way / step < 0)
    return cli_fail(NULL, "--values: '%s' is not reached from '%s' in steps of '%s' to '%s'", last,
                    sweep->value[sweep->values - 2], sweep->value[sweep->values - 2], sweep->value[sweep->values - 1]);
  if (way / step > LIST_MAX) return cli_fail(NULL, "--values: more than %d", LIST_MAX);
  for (b.digits += step; b.digits != c.digits + step && way; b.digits += step) {
    if (add_decimal(sweep, b)) return CLI_BAD;
  }
  return CLI_OK;
}

int sweep_read_values(sweep_setup *sweep, const char *text) {
  char separator = has_outside(text, ';') ? ';' : ',';
  for (size_t i = 0; i < sweep->values; i++) free(sweep->value[i]);
  sweep->values = 0;
  if (!sweep->value) sweep->value = calloc(LIST_MAX, sizeof *sweep->value);
  if (!sweep->value) return cli_fail(NULL, "out of memory");
  for (;;) {
    const char *end = sweep_item_end(text, separator);
    if (end - text == 3 && strncmp(text, "...", 3) == 0 && *end) {
      text = end + 1;
      end = sweep_item_end(text, separator);
      char *last = strndup(text, (size_t)(end - text));
      int status = last ? add_progression(sweep, last) : cli_fail(NULL, "out of memory");
      free(last);
      if (status) return status;
    } else if (add_value(sweep, text, (size_t)(end - text), separator == ';')) {
      return CLI_BAD;
    }
    if (!*end) return CLI_OK;
    text = end + 1;
  }
}

int sweep_is_number(const char *value) {
  char *end;
  hu_ratio ratio;
  strtod(value, &end);
  return !*end || hu_ratio_parse(&ratio, value) == HU_OK;
}

int sweep_is_numeric(const sweep_setup *sweep) {
  for (size_t i = 0; i < sweep->values; i++) {
    if (!sweep_is_number(sweep->value[i])) return 0;
  }
  return 1;
}

/* ---- keys ---- */

char *sweep_take_item(const char **text) {
  const char *end = sweep_item_end(*text, ',');
  char *item = strndup(*text, (size_t)(end - *text));
  if (!item) cli_fail(NULL, "out of memory");
  *text = *end ? end + 1 : NULL;
  return item;
}

int sweep_each_key(const sweep_setup *sweep, int (*visit)(void *context, const char *key), void *context) {
  int status = 0;
  for (const char *at = sweep->key; at && !status;) {
    char *key = sweep_take_item(&at);
    status = key ? visit(context, key) : CLI_BAD;
    free(key);
  }
  return status;
}

/* ---- seeds ---- */

static int add_seed(sweep_setup *sweep, uint64_t seed) {
  for (size_t i = 0; i < sweep->seeds; i++) {
    if (sweep->seed[i] == seed) return cli_fail(NULL, "--seeds: %llu is there twice", (unsigned long long)seed);
  }
  if (sweep->seeds == LIST_MAX) return cli_fail(NULL, "--seeds: more than %d", LIST_MAX);
  sweep->seed[sweep->seeds++] = seed;
  return CLI_OK;
}

static int add_seed_text(sweep_setup *sweep, const char *text, size_t n) {
  char word[32];
  uint64_t seed;
  if (n >= sizeof word) return cli_fail(NULL, "--seeds: '%.*s' is not a number", (int)n, text);
  snprintf(word, sizeof word, "%.*s", (int)n, text);
  if (cli_read_u64(&seed, "--seeds", word, 0, (uint64_t)1 << 53)) return CLI_BAD;
  return add_seed(sweep, seed);
}

int sweep_read_seeds(sweep_setup *sweep, const char *text) {
  uint64_t count;
  sweep->seeds = 0;
  if (!sweep->seed) sweep->seed = calloc(LIST_MAX, sizeof *sweep->seed);
  if (!sweep->seed) return cli_fail(NULL, "out of memory");
  if (!strchr(text, ',')) {
    if (cli_read_u64(&count, "--seeds", text, 1, LIST_MAX)) return CLI_BAD;
    for (uint64_t i = 0; i < count; i++) sweep->seed[sweep->seeds++] = i;
    return CLI_OK;
  }
  while (*text) {
    size_t n = strcspn(text, ",");
    if (add_seed_text(sweep, text, n)) return CLI_BAD;
    text += n + (text[n] == ',');
  }
  return CLI_OK;
}
