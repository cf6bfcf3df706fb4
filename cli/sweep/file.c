/* SPDX-License-Identifier: MIT */
/* The file of one run: JSON with a name and its value on every line, so that reading needs no more than lines. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/sweep/sweep.h"
#include "halfulp/version.h"

/* ---- writing ---- */

static const char *const numbers[] = {"accuracy_training", "accuracy_test",   "loss_training", "loss_test",
                                      "low_mean",          "low_end",         "bytes_weights", "bytes_state",
                                      "bytes_values",      "bytes_gradients", "seconds"};
static const char *const counts[] = {"steps", "skipped", "promoted"};
enum { NUMBERS = sizeof numbers / sizeof *numbers, COUNTS = sizeof counts / sizeof *counts };

static void list_numbers(double *z[NUMBERS], sweep_result *r) {
  double *const all[NUMBERS] = {&r->accuracy[0], &r->accuracy[1], &r->loss[0],  &r->loss[1],  &r->low,    &r->low_end,
                                &r->bytes[0],    &r->bytes[1],    &r->bytes[2], &r->bytes[3], &r->seconds};
  memcpy(z, all, sizeof all);
}

static void list_counts(uint64_t *z[COUNTS], sweep_result *r) {
  uint64_t *const all[COUNTS] = {&r->steps, &r->skipped, &r->promoted};
  memcpy(z, all, sizeof all);
}

static void print_text(FILE *out, const char *name, const char *text) {
  fprintf(out, "  \"%s\": ", name);
  if (text) {
    cli_json_string(out, text);
  } else {
    fputs("null", out);
  }
  fputs(",\n", out);
}

static void print_keys(FILE *out, const hu_trainer *t) {
  int first = 1;
  fputs("  \"keys\": {", out);
  for (size_t i = 0; i < hu_trainer_key_count(); i++) {
    hu_trainer_key k = hu_trainer_key_at(i);
    if (!k.weights) continue;
    fprintf(out, "%s\n    \"%s\": ", first ? "" : ",", k.name);
    cli_json_string(out, hu_trainer_get(t, k.name));
    first = 0;
  }
  fputs("\n  }\n", out);
}

typedef struct named {
  const sweep *sweep;
  const sweep_run *run;
} named;

static void print_file(FILE *out, const void *what) {
  const named *n = what;
  sweep_result r = n->run->result;
  double *z[NUMBERS];
  uint64_t *c[COUNTS];
  list_numbers(z, &r);
  list_counts(c, &r);
  fputs("{\n", out);
  print_text(out, "halfulp", HU_VERSION_STRING);
  print_text(out, "key", n->sweep->key);
  print_text(out, "value", n->run->value);
  fprintf(out, "  \"seed\": %llu,\n", (unsigned long long)n->run->seed);
  print_text(out, "measure", r.classes ? "accuracy" : "R^2");
  for (int i = 0; i < COUNTS; i++) fprintf(out, "  \"%s\": %llu,\n", counts[i], (unsigned long long)*c[i]);
  for (int i = 0; i < NUMBERS; i++) {
    fprintf(out, "  \"%s\": ", numbers[i]);
    if (isfinite(*z[i]))
      cli_json_double(out, *z[i]);
    else
      fputs("null", out);
    fputs(",\n", out);
  }
  fprintf(out, "  \"digest\": \"%016llx\",\n", (unsigned long long)r.digest);
  print_keys(out, n->run->trainer);
  fputs("}\n", out);
}

int sweep_file_write(const sweep *s, const sweep_run *r) {
  const named n = {s, r};
  return cli_text_write(r->path, print_file, &n);
}

/* ---- reading ---- */

static int hex_digit(char c) {
  const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;
  return at ? (int)(at - digits) : -1;
}

/* A character of a JSON text as cli_json_string writes them; *text moves behind it. -1: no such text. */
static int read_character(const char **text) {
  const char *p = *text;
  int c = (unsigned char)*p++;
  if (!c || c == '\n') return -1;
  if (c == '\\' && (*p == '"' || *p == '\\')) {
    c = *p++;
  } else if (c == '\\') {
    if (strncmp(p, "u00", 3) != 0 || hex_digit(p[3]) < 0 || hex_digit(p[4]) < 0) return -1;
    c = 16 * hex_digit(p[3]) + hex_digit(p[4]);
    p += 5;
  }
  *text = p;
  return c;
}

/* From behind the opening quote to behind the closing one. NULL: no such text. */
static char *read_quoted(const char **text) {
  char *z = malloc(strcspn(*text, "\n") + 1);
  size_t n = 0;
  if (!z) return NULL;
  while (**text != '"') {
    int c = read_character(text);
    if (c <= 0) {
      free(z);
      return NULL;
    }
    z[n++] = (char)c;
  }
  ++*text;
  z[n] = 0;
  return z;
}

static int add_pair(sweep_file *f, char *name, char *text) {
  sweep_pair *more = name && text ? realloc(f->pair, (f->pairs + 1) * sizeof *more) : NULL;
  if (!more) {
    free(name);
    free(text);
    return 0;
  }
  f->pair = more;
  f->pair[f->pairs++] = (sweep_pair){name, text};
  return 1;
}

/* One line: "name": "text" or "name": word, a comma behind it or not. Lines of brackets alone say nothing. */
static int read_pair(sweep_file *f, const char *line) {
  line += strspn(line, " ");
  if (*line == '{' || *line == '}') return 1;
  if (*line++ != '"') return 0;
  char *name = read_quoted(&line);
  if (!name || strncmp(line, ": ", 2) != 0) {
    free(name);
    return 0;
  }
  line += 2;
  if (*line != '"') return add_pair(f, name, strndup(line, strcspn(line, ",\n")));
  line++;
  return add_pair(f, name, read_quoted(&line));
}

int sweep_file_read(sweep_file *f, const char *path) {
  *f = (sweep_file){NULL, 0};
  FILE *in = fopen(path, "r");
  char *line = NULL;
  size_t room = 0;
  int good = in != NULL;
  while (good && getline(&line, &room, in) > 0) good = read_pair(f, line);
  free(line);
  if (in) fclose(in);
  if (good) return 1;
  sweep_file_free(f);
  return 0;
}

void sweep_file_free(sweep_file *f) {
  for (size_t i = 0; i < f->pairs; i++) {
    free(f->pair[i].name);
    free(f->pair[i].text);
  }
  free(f->pair);
  *f = (sweep_file){NULL, 0};
}

const char *sweep_file_get(const sweep_file *f, const char *name) {
  for (size_t i = 0; i < f->pairs; i++) {
    if (strcmp(f->pair[i].name, name) == 0) return f->pair[i].text;
  }
  return NULL;
}

static int read_whole(const sweep_file *f, const char *name, int base, uint64_t *z) {
  const char *text = sweep_file_get(f, name);
  char *end;
  if (!text || !*text) return 0;
  *z = strtoull(text, &end, base);
  return !*end;
}

static int read_double(const sweep_file *f, const char *name, double *z) {
  const char *text = sweep_file_get(f, name);
  char *end;
  *z = NAN;
  if (!text || !*text) return 0;
  if (strcmp(text, "null") == 0) return 1;
  *z = strtod(text, &end);
  return !*end;
}

int sweep_file_result(const sweep_file *f, sweep_result *z) {
  double *x[NUMBERS];
  uint64_t *c[COUNTS];
  list_numbers(x, z);
  list_counts(c, z);
  const char *measure = sweep_file_get(f, "measure");
  int good = measure && read_whole(f, "digest", 16, &z->digest);
  z->classes = measure && strcmp(measure, "accuracy") == 0;
  for (int i = 0; good && i < COUNTS; i++) good = read_whole(f, counts[i], 10, c[i]);
  for (int i = 0; good && i < NUMBERS; i++) good = read_double(f, numbers[i], x[i]);
  return good;
}
