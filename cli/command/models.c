/* SPDX-License-Identifier: MIT */
/* halfulp models - the accumulation models: those with parameters of one's own, and the presets. */
#include <string.h>

#include "cli/accum/text.h"
#include "cli/base/names.h"

enum { KEY_GRAMMAR = CLI_KEY_FREE };

typedef struct models_state {
  int json, grammar, verbose;
} models_state;

static int set(void *context, int key, const char *value) {
  models_state *state = context;
  (void)value;
  if (key == CLI_KEY_JSON) state->json = 1;
  if (key == KEY_GRAMMAR) state->grammar = 1;
  if (key == 'v') state->verbose = 1;
  return CLI_OK;
}

static const cli_option options[] = {
    {'v', "verbose", NULL, "also print each model's text, the hardware, and who says so"},
    {KEY_GRAMMAR, "grammar", NULL, "the texts of models of your own: their forms, and the keys of block(...)"},
    CLI_OPTION_JSON,
    {0}};
static const cli_command command = {
    "models",
    "[PART]",
    "List the accumulation models with parameters, source and confidence",
    "Of each named model a line: confidence, K (the depth of its instruction), the elements of A, B and of C and D. "
    "With\n"
    "-v, and of one model that is named in full, also the model as text, the hardware, and who says so. Confidence: "
    "HW, reproduces results recorded on hardware; SIM,\n"
    "tested on hardware by the model's authors, or equal to their model; DOC, the vendor's manual; TABLE, follows a\n"
    "published table alone; OPEN, assumed in part. The last line counts them. PART keeps the models whose names or\n"
    "forms contain it. A named model is that of a unit: it begins with takes(A,B,C, and refuses operands of other\n"
    "formats; `any(MODEL)` is the same model without that.",
    "  halfulp models\n  halfulp models nv.hopper\n  halfulp models --grammar\n  halfulp models --json",
    options,
    0,
    1,
    set};

static void print_json(const hu_accum_preset *preset, const char *const text[4], int first) {
  cli_json(stdout,
           "?\n  {'id': ?, 'accum': ?, 'k': ?, 'a': ?, 'b': ?, 'c': ?, 'unit': ?, 'confidence': ?, 'source': ?}",
           cli_plain(first ? "" : ","), JSON(preset->name), JSON(text[3]), JSON(preset->k), JSON(text[0]),
           JSON(text[1]), JSON(text[2]), JSON(preset->unit), JSON(preset->confidence), JSON(preset->source));
}

/* Names C without its NaN, which only the code of a NaN result depends on. */
static const char *short_name(char text[CLI_NAME_MAX], hu_type element) {
  if (element.kind == HU_TYPE_CODES && element.format.nan == HU_NAN_IEEE_ONES) element.format.nan = HU_NAN_IEEE;
  return cli_element_name(text, element);
}

static void print_lines(const hu_accum_preset *preset, const char *const text[4], int verbose) {
  char c[CLI_NAME_MAX];
  printf("%-34s %-5s %3u  %s x %s + %s\n", preset->name, preset->confidence, (unsigned)preset->k, text[0], text[1],
         short_name(c, preset->c));
  if (verbose) printf("    %s\n    %s. %s\n", text[3], preset->unit, preset->source);
}

static void print_preset(const hu_accum_preset *preset, const models_state *state, int first) {
  char a[CLI_NAME_MAX], b[CLI_NAME_MAX], c[CLI_NAME_MAX], model[HU_ACCUM_TEXT_MAX] = "";
  hu_accum_text(model, sizeof model, &preset->accum);
  const char *const text[4] = {cli_element_name(a, preset->a), cli_element_name(b, preset->b),
                               cli_element_name(c, preset->c), model};
  if (state->json)
    print_json(preset, text, first);
  else
    print_lines(preset, text, state->verbose);
}

/* Prints how well the named models are known, in the words of the help. */
static void print_counts(void) {
  static const char *const words[] = {"HW", "SIM", "DOC", "TABLE", "OPEN"};
  enum { WORDS = sizeof words / sizeof words[0] };
  size_t counts[WORDS] = {0};
  for (size_t i = 0; i < hu_accum_preset_count(); i++) {
    hu_accum_preset preset;
    if (hu_accum_preset_at(&preset, i) != HU_OK) continue;
    for (size_t width = 0; width < WORDS; width++) counts[width] += strcmp(preset.confidence, words[width]) == 0;
  }
  printf(
      "\n%zu models with evidence: %zu HW, %zu SIM, %zu DOC\n"
      "%zu more follow a published table alone (TABLE), %zu are assumed in part (OPEN)\n",
      counts[0] + counts[1] + counts[2], counts[0], counts[1], counts[2], counts[3], counts[4]);
}

static void print_form(const cli_form *form) {
  enum { INDENT = 49 };
  printf("  %-46s ", form->text);
  cli_print_folded(form->meaning, strlen(form->meaning), INDENT, INDENT);
}

/* Prints the forms that contain the part. */
static int print_forms(const char *part) {
  int shown = 0;
  for (size_t i = 0; i < cli_form_count; i++) {
    if (!strstr(cli_forms[i].text, part)) continue;
    if (!shown++) printf("Models with parameters (docs/numerics.md section 11; F, P: formats; MODE: a rounding)\n");
    print_form(&cli_forms[i]);
  }
  return shown;
}

static int print_grammar(int json) {
  if (json) {
    cli_json_grammar();
    return CLI_OK;
  }
  printf("F, P, A, B, C: formats; MODE: a rounding, absent: rne; docs/numerics.md section 11\n");
  for (size_t i = 0; i < cli_form_count; i++) print_form(&cli_forms[i]);
  putchar('\n');
  cli_print_grammar();
  return CLI_OK;
}

int cli_models(int argc, char **argv) {
  models_state state = {0};
  char **operands;
  int count, shown = 0, formed = 0, status = cli_parse(&command, &state, argc, argv, &operands, &count);
  if (status >= 0) return status;
  if (state.grammar && count) return cli_fail(NULL, "models: --grammar takes no PART");
  if (state.grammar) return print_grammar(state.json);
  if (state.json)
    putchar('[');
  else if (!count) {
    printf("Models with parameters (docs/numerics.md section 11; F, P: formats; MODE: a rounding, absent: rne)\n");
    for (size_t i = 0; i < cli_form_count; i++) print_form(&cli_forms[i]);
    printf("\n%-34s %-4s %3s  A x B + C (-v: the model, hardware and source)\n", "name", "", "K");
  }
  if (count && !state.json) formed = print_forms(operands[0]);
  hu_accum_preset named;
  if (count && hu_accum_preset_find(&named, operands[0]) == HU_OK) state.verbose = 1;
  for (size_t i = 0; i < hu_accum_preset_count(); i++) {
    hu_accum_preset preset;
    if (hu_accum_preset_at(&preset, i) != HU_OK || (count && !strstr(preset.name, operands[0]))) continue;
    print_preset(&preset, &state, shown++ == 0);
  }
  if (state.json) printf("\n]\n");
  if (!state.json && !count) print_counts();
  return shown || formed || state.json ? CLI_OK : cli_fail_model_name(operands[0]);
}
