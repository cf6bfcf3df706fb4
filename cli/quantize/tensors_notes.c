/* SPDX-License-Identifier: MIT */
/* The metadata that say what a tensor in codes is: see tensors.h. */
#include <stdlib.h>
#include <string.h>

#include "cli/quantize/tensors.h"

static int wrong_note(const tensors_input *in, const char *key, const char *what) {
  char shown[ST_NAME_MAX];
  return cli_fail(in->name, "__metadata__: '%s': %s", st_printable(shown, key), what);
}

static const char *take_shape(tensors_note *note, const char *at) {
  if (*at++ != '[') return NULL;
  for (note->dims = 0; *at != ']'; note->dims++) {
    size_t x = 0;
    if (note->dims == ST_DIMS_MAX || *at < '0' || *at > '9') return NULL;
    for (; *at >= '0' && *at <= '9'; at++) {
      size_t digit = (size_t)(*at - '0');
      if (x > (SIZE_MAX - digit) / 10) return NULL;
      x = 10 * x + digit;
    }
    note->shape[note->dims] = x;
    if (at[0] == ',' && at[1] == ' ' && at[2] != ']')
      at += 2;
    else if (*at != ']')
      return NULL;
  }
  return at + 1;
}

static tensors_kind *new_kind(const char *text) {
  tensors_kind *kind = cli_alloc(1, sizeof *kind);
  if (!kind || cli_target_read(&kind->target, text)) {
    free(kind);
    return NULL;
  }
  memset(&kind->parts, 0, sizeof kind->parts);
  kind->target.kind->layout(&kind->parts, &kind->target, 0, 0);
  kind->native = tensors_native(&kind->target);
  return kind;
}

/* Finds the kind of a text, which most notes of a file have in common. */
static int find_kind(const tensors_kind **kind, tensors_notes *notes, const char *text) {
  size_t i = st_place(notes->texts, text);
  if (i == SIZE_MAX) {
    tensors_kind **more = realloc(notes->kinds, (notes->kind_count + 1) * sizeof *more), *made = new_kind(text);
    if (more) notes->kinds = more;
    if (!more || !made) {
      free(made);
      return more ? CLI_BAD : cli_fail(NULL, "out of memory");
    }
    i = notes->kind_count++;
    notes->kinds[i] = made;
    if (!st_place_set(&notes->texts, text, i)) return cli_fail(NULL, "out of memory");
  }
  *kind = notes->kinds[i];
  return CLI_OK;
}

static int read_note(tensors_notes *notes, const tensors_input *in, const st_entry *entry) {
  tensors_note *note = &notes->list[notes->count++];
  char dtype[16];
  const char *blank = strchr(entry->value, ' ');
  size_t length = blank ? (size_t)(blank - entry->value) : 0;
  for (const unsigned char *at = (const unsigned char *)entry->value; *at; at++)
    if (*at < 0x20 || *at > 0x7E) return wrong_note(in, entry->key, "unprintable characters");
  if (!length || length >= sizeof dtype) return wrong_note(in, entry->key, "no dtype");
  memcpy(dtype, entry->value, length);
  dtype[length] = 0;
  note->name = entry->key + strlen("halfulp.");
  note->dtype = st_dtype_find(dtype);
  if (note->dtype != ST_F64 && note->dtype != ST_F32 && note->dtype != ST_F16 && note->dtype != ST_BF16)
    return wrong_note(in, entry->key, "its dtype is not one of F64, F32, F16, BF16");
  const char *at = take_shape(note, blank + 1);
  if (!at || *at != ' ') return wrong_note(in, entry->key, "no shape");
  note->rows_out = !strncmp(at + 1, TENSORS_ROWS_OUT, strlen(TENSORS_ROWS_OUT));
  if (note->rows_out) at += strlen(TENSORS_ROWS_OUT);
  return find_kind(&note->kind, notes, at + 1);
}

int tensors_notes_read(tensors_notes *notes, const tensors_input *in) {
  int code = CLI_OK;
  *notes = (tensors_notes){NULL, 0, NULL, 0, NULL, NULL};
  notes->list = cli_alloc(in->file.entries, sizeof *notes->list);
  if (!notes->list) return CLI_BAD;
  for (size_t i = 0; i < in->file.entries && code == CLI_OK; i++) {
    if (!tensors_is_note(&in->file.metadata[i])) continue;
    code = read_note(notes, in, &in->file.metadata[i]);
    if (code == CLI_OK && !st_place_set(&notes->names, notes->list[notes->count - 1].name, notes->count - 1))
      code = cli_fail(in->name, "out of memory");
  }
  return code;
}

void tensors_notes_free(tensors_notes *notes) {
  for (size_t i = 0; i < notes->kind_count; i++) free(notes->kinds[i]);
  free(notes->kinds);
  free(notes->list);
  st_places_free(&notes->texts);
  st_places_free(&notes->names);
}

static int has_part(const tensors_kind *kind, const char *suffix) {
  for (int i = 0; i < kind->parts.count; i++)
    if (!strcmp(suffix, kind->parts.part[i].suffix)) return 1;
  return 0;
}

int tensors_is_part(const st_tensor *tensor, const tensors_notes *notes) {
  size_t i = st_place(notes->names, tensor->name);
  if (i != SIZE_MAX && notes->list[i].kind->native >= 0) return 1;
  const char *dot = strrchr(tensor->name, '.');
  char *name = dot ? strndup(tensor->name, (size_t)(dot - tensor->name)) : NULL;
  i = name ? st_place(notes->names, name) : SIZE_MAX;
  free(name);
  return i != SIZE_MAX && notes->list[i].kind->native < 0 && has_part(notes->list[i].kind, dot + 1);
}
