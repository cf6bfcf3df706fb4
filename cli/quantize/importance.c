/* SPDX-License-Identifier: MIT */
/* What --importance gives: see quantize.h. */
#include <string.h>

#include "cli/quantize/quantize.h"

static int read_file(cli_importances *z) {
  cli_bytes bytes;
  if (cli_ends(z->path, ".npy")) return cli_importances_array(z);
  if (cli_ends(z->path, ".safetensors")) return cli_importances_safetensors(z);
  if (cli_bytes_read(&bytes, z->path)) return CLI_BAD;
  int gguf = bytes.size >= 4 && !memcmp(bytes.data, "GGUF", 4);
  int code =
      gguf ? cli_importances_gguf(z, bytes.data, bytes.size) : cli_importances_earlier(z, bytes.data, bytes.size);
  cli_bytes_free(&bytes);
  return code;
}

int cli_read_importance(cli_quantize_state *state, const char *out) {
  char name[CLI_TARGET_MAX];
  if (!state->importance) return CLI_OK;
  if (state->has_amax) return cli_fail(NULL, "--importance: scales are searched for, and --amax gives them");
  if (!cli_target_weighs(&state->target))
    return cli_fail(
        NULL,
        "--importance: %s has no search for scales; ggml.q4_0 to ggml.iq4_xs have one but ggml.q8_0, and formats "
        "whose scales are powers of two by a rule (mxfp4)",
        cli_target_name(name, &state->target));
  if (cli_spare_input(out, state->importance, "name another file")) return CLI_BAD;
  state->weights.path = state->importance;
  return read_file(&state->weights) || cli_importances_end(&state->weights) ? CLI_BAD : CLI_OK;
}

int cli_set_importance(cli_job *job, const cli_quantize_state *state, const char *tensor, uint32_t dims,
                       const size_t *shape) {
  const cli_columns *found = state->importance ? cli_importances_of(&state->weights, tensor) : NULL;
  size_t experts = dims == 3 && !job->transpose.channels ? shape[0] : 1;
  if (!found) return CLI_OK;
  job->importance = (cli_importance){found->numbers, found->count == job->cols ? 1 : experts};
  if (found->count == job->cols * job->importance.matrices) return CLI_OK;
  return cli_fail(state->importance, "%zu numbers for %s, whose rows have %zu columns", found->count, job->name,
                  job->cols);
}
