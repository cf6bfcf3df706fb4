/* SPDX-License-Identifier: MIT */
/* Keeps codes, and what scales them, from being rounded: see tensors.h and cli/tensors/quantized.h. */
#include <string.h>

#include "cli/quantize/tensors.h"
#include "cli/tensors/quantized.h"

#define WAY "; they stay as they are, and others are rounded where --include names them"

/* What is known of a file before any of it is rounded. */
typedef struct state {
  const tensors_input *in;
  const cli_quantize_state *asked;
  quantized found;
  tensors_notes notes;
} state;

/* Returns the first tensor in codes that no note of `quantize --codes` describes, one that scales nothing first. */
static const st_tensor *first_in_codes(const state *s) {
  const st_tensor *first = NULL;
  for (size_t i = 0; i < s->in->file.count; i++) {
    const st_tensor *t = &s->in->file.tensors[i];
    if (s->found.what[i] != QUANTIZED_CODES || tensors_is_part(t, &s->notes)) continue;
    if (!first) first = t;
    if (!s->found.scales[i]) return t;
  }
  return first;
}

static int refuse_codes(const state *s, const st_tensor *t) {
  char shown[ST_NAME_MAX], other[ST_NAME_MAX];
  const st_tensor *with = s->found.with[t - s->in->file.tensors];
  st_printable(shown, t->name);
  if (!with)
    return cli_fail(s->in->name, "quantized already: tensor '%s' holds codes (%s)" WAY, shown,
                    tensors_type_name(s->in, t));
  return cli_fail(s->in->name, "quantized already: tensor '%s' holds codes (%s), with scales or the like in '%s'" WAY,
                  shown, tensors_type_name(s->in, t), st_printable(other, with->name));
}

static int refuse_notes(const state *s) {
  char shown[ST_NAME_MAX];
  return cli_fail(s->in->name,
                  "quantized already: 'halfulp.%s' in its metadata is of an earlier --codes, which stay as they are; "
                  "give --include or --exclude to round other tensors, or decode the file first",
                  st_printable(shown, s->notes.list[0].name));
}

static int refuse(const state *s) {
  const cli_quantize_state *asked = s->asked;
  const st_tensor *t = asked->includes ? NULL : first_in_codes(s);
  if (asked->includes || s->in->is_array) return CLI_OK;
  if (t) return refuse_codes(s, t);
  if (s->found.says)
    return cli_fail(s->in->name, "quantized already: %s has '%s'; tensors are rounded where --include names them",
                    s->found.says, s->found.key);
  return s->notes.count && !asked->excludes ? refuse_notes(s) : CLI_OK;
}

int tensors_is_named(const cli_quantize_state *s, const st_tensor *t) {
  for (int i = 0; i < s->includes; i++)
    if (!strcmp(s->include[i], t->name)) return 1;
  return 0;
}

/* Reports one that --include names in full: it is not passed over without a message. */
static int refuse_named(const state *s, const st_tensor *t) {
  char shown[ST_NAME_MAX];
  return cli_fail(s->in->name, "--include '%s': holds codes or scales others, and is never rounded",
                  st_printable(shown, t->name));
}

/* Spares it; where nothing but the end of a name speaks of scales, an --include of the whole name decides. */
static int spare(tensors_results *r, const state *s) {
  int unsure = s->found.unsure && !s->notes.count;
  for (size_t i = 0; i < r->count; i++) {
    const st_tensor *t = &s->in->file.tensors[i];
    int part = tensors_is_part(t, &s->notes), named = tensors_is_named(s->asked, t);
    if (!part && !s->found.what[i]) continue;
    if (unsure && named) continue;
    if (!part && named) return refuse_named(s, t);
    r->list[i].left = unsure && r->list[i].done;
    r->list[i].done = 0;
  }
  return CLI_OK;
}

int tensors_spare(tensors_results *r, const tensors_input *in) {
  state s = {.in = in, .asked = r->asked};
  if (in->is_array) return CLI_OK;
  int code = tensors_notes_read(&s.notes, in);
  if (code == CLI_OK && !quantized_read(&s.found, &in->file, in->gguf, in->path))
    code = cli_fail(in->name, "out of memory");
  if (code == CLI_OK) code = refuse(&s);
  if (code == CLI_OK) code = spare(r, &s);
  quantized_free(&s.found);
  tensors_notes_free(&s.notes);
  return code;
}
