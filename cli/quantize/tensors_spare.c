/* SPDX-License-Identifier: MIT */
/* Keeps codes, and what scales them, from being rounded: see tensors.h and cli/tensors/quantized.h. */
#include <string.h>

#include "cli/quantize/tensors.h"
#include "cli/tensors/quantized.h"

#define REMEDY "; they stay as they are, and others are rounded where --include names them"

/* What is known of a file before any of it is rounded. */
typedef struct state {
  const tensors_input *in;
  const cli_quantize_state *asked;
  quantized found;
  tensors_notes notes;
} state;

/* Returns the first tensor in codes that no note of `quantize --codes` describes, one that scales nothing first. */
static const st_tensor *first_in_codes(const state *known) {
  const st_tensor *first = NULL;
  for (size_t i = 0; i < known->in->file.count; i++) {
    const st_tensor *tensor = &known->in->file.tensors[i];
    if (known->found.what[i] != QUANTIZED_CODES || tensors_is_part(tensor, &known->notes)) continue;
    if (!first) first = tensor;
    if (!known->found.scales[i]) return tensor;
  }
  return first;
}

static int refuse_codes(const state *known, const st_tensor *tensor) {
  char shown[ST_NAME_MAX], other[ST_NAME_MAX];
  const st_tensor *with = known->found.with[tensor - known->in->file.tensors];
  st_printable(shown, tensor->name);
  if (!with)
    return cli_fail(known->in->name, "quantized already: tensor '%s' holds codes (%s)" REMEDY, shown,
                    tensors_type_name(known->in, tensor));
  return cli_fail(known->in->name,
                  "quantized already: tensor '%s' holds codes (%s), with scales or the like in '%s'" REMEDY, shown,
                  tensors_type_name(known->in, tensor), st_printable(other, with->name));
}

static int refuse_notes(const state *known) {
  char shown[ST_NAME_MAX];
  return cli_fail(known->in->name,
                  "quantized already: 'halfulp.%s' in its metadata is of an earlier --codes, which stay as they are; "
                  "give --include or --exclude to round other tensors, or decode the file first",
                  st_printable(shown, known->notes.list[0].name));
}

static int refuse(const state *known) {
  const cli_quantize_state *asked = known->asked;
  const st_tensor *tensor = asked->includes ? NULL : first_in_codes(known);
  if (asked->includes || known->in->is_array) return CLI_OK;
  if (tensor) return refuse_codes(known, tensor);
  if (known->found.says)
    return cli_fail(known->in->name, "quantized already: %s has '%s'; tensors are rounded where --include names them",
                    known->found.says, known->found.key);
  return known->notes.count && !asked->excludes ? refuse_notes(known) : CLI_OK;
}

int tensors_is_named(const cli_quantize_state *asked, const st_tensor *tensor) {
  for (int i = 0; i < asked->includes; i++)
    if (!strcmp(asked->include[i], tensor->name)) return 1;
  return 0;
}

/* Reports one that --include names in full: it is not passed over without a message. */
static int refuse_named(const state *known, const st_tensor *tensor) {
  char shown[ST_NAME_MAX];
  return cli_fail(known->in->name, "--include '%s': holds codes or scales others, and is never rounded",
                  st_printable(shown, tensor->name));
}

/* Spares it; where nothing but the end of a name speaks of scales, an --include of the whole name decides. */
static int spare(tensors_results *results, const state *known) {
  int unsure = known->found.unsure && !known->notes.count;
  for (size_t i = 0; i < results->count; i++) {
    const st_tensor *tensor = &known->in->file.tensors[i];
    int part = tensors_is_part(tensor, &known->notes), named = tensors_is_named(known->asked, tensor);
    if (!part && !known->found.what[i]) continue;
    if (unsure && named) continue;
    if (!part && named) return refuse_named(known, tensor);
    results->list[i].left = unsure && results->list[i].done;
    results->list[i].done = 0;
  }
  return CLI_OK;
}

int tensors_spare(tensors_results *results, const tensors_input *in) {
  state known = {.in = in, .asked = results->asked};
  if (in->is_array) return CLI_OK;
  int code = tensors_notes_read(&known.notes, in);
  if (code == CLI_OK &&
      !quantized_read(&known.found, &in->file, in->gguf, in->model != NULL, in->model ? NULL : in->path))
    code = cli_fail(in->name, "out of memory");
  if (code == CLI_OK) code = refuse(&known);
  if (code == CLI_OK) code = spare(results, &known);
  quantized_free(&known.found);
  tensors_notes_free(&known.notes);
  return code;
}
