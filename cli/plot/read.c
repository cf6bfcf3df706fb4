/* SPDX-License-Identifier: MIT */
/* Reads what `plot -f` names: see plot.h. */
#include <stdlib.h>

#include "cli/base/names.h"
#include "cli/explain/number.h"
#include "cli/plot/plot.h"

/* Says why a line of values cannot show a target. */
static int refuse(const char *text) {
  const struct {
    const cli_target_kind *kind;
    const char *why;
  } kinds[] = {{&cli_kind_s2fp8, "a tensor's shift and squeeze move each of its values"},
               {&cli_kind_hif4, "the values of an element depend on three levels of its block"},
               {&cli_kind_ggml, "a block of ggml has more than a scale"},
               {&cli_kind_conversion, "a preset is another program's rounding; name the format that it rounds into"}};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    if (kinds[i].kind->claims(text))
      return cli_fail(NULL, "plot: '%s': %s; number formats, number systems and scaled formats can be drawn", text,
                      kinds[i].why);
  return CLI_OK;
}

static int read_scaled(plot_state *state, const char *text) {
  state->scaled = 1;
  if (cli_target_read(&state->target, text)) return CLI_BAD;
  state->numeric.format = state->target.scaling.element;
  return CLI_OK;
}

int plot_read(plot_state *state, const char *text) {
  state->numeric.format_text = text;
  if (cli_kind_scaled.claims(text)) return read_scaled(state, text);
  if (refuse(text)) return CLI_BAD;
  state->other = cli_read_system(&state->system, text, state->values);
  if (state->other < 0) return CLI_BAD;
  if (state->other) return CLI_OK;
  return cli_read_format_or(&state->numeric.format, text, CLI_NAMES_SCALED | CLI_NAMES_NUMBERS);
}

void plot_state_free(plot_state *state) {
  free(state->block.values);
  state->block.values = NULL;
}
