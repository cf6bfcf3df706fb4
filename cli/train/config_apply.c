/* SPDX-License-Identifier: MIT */
/* A configuration and the trainer's keys: see cli/base/config.h. */
#include <stdlib.h>
#include <string.h>

#include "cli/accum/text.h"
#include "cli/base/cli.h"
#include "cli/base/config.h"
#include "cli/base/names.h"
#include "files/spelling.h"
#include "files/suggest.h"

static const char *behind_dot(const char *key) {
  const char *dot = strchr(key, '.');
  return dot ? dot + 1 : key;
}

const char *config_nearest(const char *key) {
  const char *best = NULL;
  size_t fewest = 3;
  for (size_t i = 0; i < hu_trainer_key_count(); i++) {
    const char *name = hu_trainer_key_at(i).name;
    size_t distance = spelling_distance(key, name);
    if (distance > 2 && !strcmp(behind_dot(key), behind_dot(name))) distance = 2; /* in another section */
    if (distance >= fewest) continue;
    fewest = distance;
    best = name;
  }
  return best;
}

/* ---- lines of a value ---- */

enum { PART_MAX = CONFIG_LINE_MAX - 60 }; /* of a part of a value; a key has less than the rest */

static int is_blank(char c) { return c == ' ' || c == '\t'; }

/* Returns where to break what does not fit a line: where neither side has a blank or begins a comment; 0: nowhere. */
static size_t cut_of(const char *value) {
  size_t n = PART_MAX;
  while (n && (is_blank(value[n]) || is_blank(value[n - 1]) || value[n] == ';' || value[n] == '#' ||
               ((unsigned char)value[n] & 0xC0) == 0x80))
    n--;
  return n;
}

static int fits_lines(const char *value) {
  while (strlen(value) > PART_MAX) {
    size_t n = cut_of(value);
    if (!n) return 0;
    value += n;
  }
  return 1;
}

static void print_value(FILE *out, const char *key, const char *value) {
  fprintf(out, "%s =%s", key, *value ? " " : "");
  while (strlen(value) > PART_MAX) {
    size_t n = cut_of(value);
    fprintf(out, "%.*s\n  ", (int)n, value);
    value += n;
  }
  fprintf(out, "%s\n", value);
}

/* ---- setting ---- */

int config_refuse(const char *where, const char *key, const char *value, const char *why) {
  char name[SUGGEST_WORD], hint[SUGGEST_MAX], *label = NULL;
  const unsigned taken = CLI_NAMES_SCALED | CLI_NAMES_NUMBERS;
  hu_accum accum;
  size_t at = 0, n = strcspn(value, ",");
  hu_status error = hu_accum_parse(&accum, value, &at);
  if (strstr(key, "accum") && error != HU_OK) {
    if (asprintf(&label, "%s: %s:", where, key) < 0) return cli_fail(where, "out of memory");
    int status = cli_fail_model(label, value, error, at);
    free(label);
    return status;
  }
  if (!strstr(why, "is not a rounding") || memchr(value, '(', n) || !n || n >= sizeof name)
    return cli_fail(where, "%s", why);
  snprintf(name, sizeof name, "%.*s", (int)n, value);
  const char *several = cli_ambiguous(name);
  if (several) return cli_fail(where, "%s: '%s' is ambiguous; one of %s", key, name, several);
  if (!cli_is_name(name, taken) && cli_other_meaning(hint, name, taken))
    return cli_fail(where, "%s: '%s' is %s", key, name, hint);
  return cli_fail(where, "%s", why);
}

/* Sets a key; `where` is "FILE:12: " or "--set: " before the sentence. */
static int set(hu_trainer *trainer, const char *where, const char *key, const char *value) {
  char why[HU_DATA_WHY_MAX] = "";
  hu_status status = hu_trainer_set(trainer, key, value, why);
  if (status == HU_OK && fits_lines(value)) return CLI_OK;
  if (status == HU_OK)
    return cli_fail(where, "%s: more than %d bytes, and blanks wherever a line could be broken", key, PART_MAX);
  if (hu_trainer_get(trainer, key)) return config_refuse(where, key, value, *why ? why : hu_status_text(status));
  const char *nearest = config_nearest(key);
  return nearest ? cli_fail(where, "%s: there is no such key; perhaps %s is meant", key, nearest)
                 : cli_fail(where, "%s: there is no such key; `halfulp train --keys` lists them", key);
}

static int set_entry(hu_trainer *trainer, const config_entry *entry, const char *path) {
  char *where = NULL;
  if (asprintf(&where, "%s:%u", path, entry->line) < 0) return cli_fail(path, "out of memory");
  int status = set(trainer, where, entry->key, entry->value);
  free(where);
  return status;
}

int config_apply(hu_trainer *trainer, const config *file, const char *path) {
  int status = CLI_OK;
  for (int system = 1; system >= 0; system--)
    for (size_t i = 0; i < file->count && status == CLI_OK; i++) {
      const config_entry *entry = &file->list[i];
      if (!entry->used && (strcmp(entry->key, "precision.system") == 0) == system)
        status = set_entry(trainer, entry, path);
    }
  return status;
}

/* Returns 0 for a value that has no place in a file: a comment begins at a semicolon behind a blank. */
static int fits_file(const char *value) {
  size_t n = strlen(value);
  for (size_t i = 0; i < n; i++)
    if (value[i] == ';' && (i == 0 || value[i - 1] == ' ')) return 0;
  return !strchr(value, '\t') && (!n || (value[0] != ' ' && value[n - 1] != ' '));
}

int config_set(hu_trainer *trainer, const char *text) {
  const char *equals = strchr(text, '=');
  if (!config_is_text(text, strlen(text))) return cli_fail("--set", "not UTF-8 text, or a control character");
  if (!equals) return cli_fail("--set", "'%s' is not section.key=value", text);
  if (!fits_file(equals + 1))
    return cli_fail("--set", "'%s': a value has no tabs, no blanks around it and no semicolon behind one", text);
  char *key = strndup(text, (size_t)(equals - text));
  int status = key ? set(trainer, "--set", key, equals + 1) : cli_fail(NULL, "out of memory");
  free(key);
  return status;
}

void config_print(FILE *out, const hu_trainer *trainer) {
  const char *section = "";
  for (size_t i = 0; i < hu_trainer_key_count(); i++) {
    const char *name = hu_trainer_key_at(i).name, *value = hu_trainer_get(trainer, name);
    size_t n = (size_t)(behind_dot(name) - name);
    if (strncmp(section, name, n)) fprintf(out, "%s[%.*s]\n", *section ? "\n" : "", (int)n - 1, name);
    section = name;
    print_value(out, behind_dot(name), value ? value : "");
  }
}

char *config_folder(const char *path) {
  const char *slash = strrchr(path, '/');
  if (!slash) return strdup(".");
  return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

char *config_beside(const char *path, const char *suffix) {
  const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.'), *name = path;
  char *z;
  if (!strcmp(path, "-")) name = "halfulp";
  int n = name == path && dot && dot > (slash ? slash + 1 : path) ? (int)(dot - path) : (int)strlen(name);
  return asprintf(&z, "%.*s.%s", n, name, suffix) < 0 ? NULL : z;
}
