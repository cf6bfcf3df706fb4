/* SPDX-License-Identifier: MIT */
/* See names.h. */
#include "cli/base/names.h"

#include <string.h>
#include <strings.h>

#include "cli/base/cli.h"
#include "halfulp/accum.h"
#include "halfulp/conversion.h"
#include "halfulp/formats/other.h"
#include "halfulp/number.h"
#include "halfulp/s2fp8.h"
#include "halfulp/scaled.h"

enum { NAME_MAX_SHOWN = 96 };

/* docs/numerics.md C20. */
static const char *const ambiguous[][2] = {
    {"e4m3",
     "float8_e4m3fn (OCP, NVIDIA), float8_e4m3 (as IEEE 754 has infinities), float8_e4m3fnuz (AMD MI300), "
     "float8_e4m3b11fnuz"},
    {"e3m4", "float8_e3m4 (as IEEE 754 has infinities), float8_e3m4fn"},
    {"fp8",
     "float8_e4m3fn, float8_e5m2 (OCP, NVIDIA), float8_e4m3 (as IEEE 754 has infinities), float8_e4m3fnuz, "
     "float8_e5m2fnuz (AMD MI300)"},
    {"fp4",
     "float4_e2m1fn (OCP, NVIDIA), float4_e1m2, float4_e3m0; for whole tensors nvfp4, mxfp4; fp4_bnb "
     "(bitsandbytes)"},
    {"bf8", "float8_e5m2 (OCP), float8_e5m2fnuz (AMD MI300)"},
    {"fp6", "float6_e2m3fn, float6_e3m2fn (OCP)"},
    {"mxfp8", "mxfp8_e4m3, mxfp8_e5m2"},
    {"mxfp6", "mxfp6_e2m3, mxfp6_e3m2"}};

/* Returns "e4m3" of "fp8_e4m3", "fp8e4m3" and "f8-e4m3"; other names as they are. */
static const char *without_bits(const char *name) {
  const char *rest = name + (name[0] == 'f' || name[0] == 'F');
  if (rest == name) return name;
  if (*rest == 'p' || *rest == 'P') rest++;
  if (*rest != '8' && *rest != '6' && *rest != '4') return name;
  rest++;
  if (*rest == '_' || *rest == '-') rest++;
  return *rest == 'e' || *rest == 'E' ? rest : name;
}

const char *cli_ambiguous(const char *name) {
  name = without_bits(name);
  for (size_t i = 0; i < sizeof ambiguous / sizeof ambiguous[0]; i++)
    if (!strcasecmp(ambiguous[i][0], name)) return ambiguous[i][1];
  return NULL;
}

static void lower(char *z, const char *x) {
  size_t i = 0;
  for (; x[i]; i++) z[i] = (char)(x[i] >= 'A' && x[i] <= 'Z' ? x[i] - 'A' + 'a' : x[i]);
  z[i] = 0;
}

static int is_format(const char *name) {
  hu_format format;
  return hu_format_parse(&format, name, NULL) == HU_OK;
}

static int is_scaling(hu_format *element, const char *name) {
  hu_scaling scaling;
  hu_s2fp8 s2fp8;
  hu_hif4 hif4;
  if (hu_hif4_parse(&hif4, name, NULL) == HU_OK) {
    *element = hu_float4_e1m2();
    return 1;
  }
  if (hu_s2fp8_parse(&s2fp8, name, NULL) == HU_OK) {
    *element = s2fp8.element;
    return 1;
  }
  if (hu_scaling_parse(&scaling, name, NULL) != HU_OK && hu_scaled_rows_parse(&scaling, name, NULL) != HU_OK) return 0;
  *element = scaling.element;
  return 1;
}

static int is_system(const char *name) {
  float values[HU_TABLE_MAX];
  hu_number system;
  return hu_number_parse(&system, name, values, NULL) == HU_OK && system.kind != HU_NUMBER_FLOAT;
}

static int is_model(const char *name) {
  hu_accum accum;
  return hu_accum_parse(&accum, name, NULL) == HU_OK;
}

int cli_is_name(const char *name, unsigned taken) {
  hu_format element;
  hu_conversion conversion;
  return is_format(name) || (taken & CLI_NAMES_SCALED && is_scaling(&element, name)) ||
         (taken & CLI_NAMES_NUMBERS && is_system(name)) || (taken & CLI_NAMES_MODELS && is_model(name)) ||
         (taken & CLI_NAMES_PRESETS && hu_conversion_find(&conversion, name) == HU_OK);
}

const char *cli_ggml_name(size_t i) {
  static const char *const names[] = {"ggml.q4_0", "ggml.q4_1", "ggml.q5_0", "ggml.q5_1", "ggml.q8_0",   "ggml.q2_k",
                                      "ggml.q3_k", "ggml.q4_k", "ggml.q5_k", "ggml.q6_k", "ggml.iq4_nl", "ggml.iq4_xs"};
  return i < sizeof names / sizeof *names ? names[i] : NULL;
}

/* Writes "blocks of ggml ..." of their names. Returns 0 for another name. */
static int say_ggml(char text[SUGGEST_MAX], const char *name) {
  for (size_t i = 0; cli_ggml_name(i); i++) {
    if (strcmp(cli_ggml_name(i), name)) continue;
    snprintf(text, SUGGEST_MAX, "blocks of ggml, of whole arrays, which quantize, encode, decode and compare take");
    return 1;
  }
  return 0;
}

/* Writes what binary64 is, of its names. Returns 0 for another name. */
static int say_binary64(char text[SUGGEST_MAX], const char *name) {
  static const char *const names[] = {"binary64", "double", "float64", "fp64", "f64"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(names[i], name)) continue;
    snprintf(
        text, SUGGEST_MAX,
        "binary64, which arrays, results and operands of mma, identify and vectors can be; formats have up to 32 bits");
    return 1;
  }
  return 0;
}

int cli_other_meaning(char text[SUGGEST_MAX], const char *name, unsigned taken) {
  char element[CLI_NAME_MAX];
  hu_conversion conversion;
  hu_format format;
  *text = 0;
  if (say_ggml(text, name) || say_binary64(text, name)) return 1;
  if (!(taken & CLI_NAMES_SCALED) && is_scaling(&format, name))
    snprintf(text, SUGGEST_MAX,
             "a scaled format of whole arrays, which quantize, encode and decode take; its elements are %s",
             cli_format_name(element, format));
  else if (!(taken & CLI_NAMES_NUMBERS) && is_system(name))
    snprintf(text, SUGGEST_MAX,
             "a number system beside floating point, which encode, decode, explain, info, plot and quantize take");
  else if (!(taken & CLI_NAMES_PRESETS) && hu_conversion_find(&conversion, name) == HU_OK)
    snprintf(text, SUGGEST_MAX,
             "a preset of a conversion (`halfulp presets %s`), which encode, decode, explain and quantize take", name);
  else if (!(taken & CLI_NAMES_MODELS) && is_model(name))
    snprintf(text, SUGGEST_MAX, "an accumulation model (`halfulp models`), for gemm --accum, and no number format");
  return *text != 0;
}

static void offer_all(suggest *hint, unsigned taken) {
  for (size_t i = 0; i < hu_format_count(); i++) {
    hu_format_entry entry = hu_format_at(i);
    suggest_offer(hint, entry.id);
    suggest_offer_all(hint, entry.aliases);
  }
  for (size_t i = 0; taken & CLI_NAMES_NUMBERS && i < hu_number_count(); i++) suggest_offer(hint, hu_number_at(i).name);
  for (size_t i = 0; taken & CLI_NAMES_SCALED && i < hu_scaling_count(); i++)
    suggest_offer(hint, hu_scaling_at(i).name);
  for (size_t i = 0; taken & CLI_NAMES_SCALED && i < hu_scaling_rule_count(); i++)
    suggest_offer(hint, hu_scaling_rule_at(i).name);
  for (size_t i = 0; taken & CLI_NAMES_SCALED && i < hu_hif4_count(); i++) suggest_offer(hint, hu_hif4_at(i).name);
  if (taken & CLI_NAMES_SCALED) suggest_offer(hint, "s2fp8");
  for (size_t i = 0; taken & CLI_NAMES_PRESETS && i < hu_conversion_count(); i++)
    suggest_offer(hint, hu_conversion_at(i).name);
  for (size_t i = 0; taken & CLI_NAMES_MODELS && i < hu_accum_preset_count(); i++) {
    hu_accum_preset preset;
    if (hu_accum_preset_at(&preset, i) == HU_OK) suggest_offer(hint, preset.name);
  }
}

static const char *list_of(unsigned taken) {
  if (taken & CLI_NAMES_MODELS) return "`halfulp models` lists models, `halfulp formats` formats";
  if (taken & CLI_NAMES_SCALED)
    return "`halfulp formats`, `halfulp formats --scaled` and `halfulp presets` list what there is";
  return "`halfulp formats` lists them";
}

const char *cli_name_hint(char text[SUGGEST_MAX], const char *name, unsigned taken) {
  char small[NAME_MAX_SHOWN], end[SUGGEST_MAX];
  suggest hint;
  if (strlen(name) >= sizeof small) {
    snprintf(text, SUGGEST_MAX, "no such name; %s", list_of(taken));
    return text;
  }
  lower(small, name);
  const char *several = cli_ambiguous(small), *capitals = strcmp(small, name) ? " (in small letters)" : "";
  (void)cli_other_meaning(end, small, taken);
  if (several) {
    snprintf(text, SUGGEST_MAX, "ambiguous; one of %s", several);
  } else if (*end) {
    snprintf(text, SUGGEST_MAX, "%.*s%s", SUGGEST_MAX - 32, end, capitals);
  } else if (*capitals && cli_is_name(small, taken)) {
    snprintf(text, SUGGEST_MAX, "names have small letters; '%s' is meant", small);
  } else {
    suggest_start(&hint, small);
    offer_all(&hint, taken);
    suggest_end(end, &hint, list_of(taken));
    snprintf(text, SUGGEST_MAX, "no such name%.*s", SUGGEST_MAX - 32, end);
  }
  return text;
}

int cli_fail_name(const char *label, const char *text, size_t n, unsigned taken) {
  char name[SUGGEST_MAX], hint[SUGGEST_MAX];
  snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), text);
  return cli_fail(NULL, "%s '%s': %s", label, name, cli_name_hint(hint, name, taken));
}

int cli_fail_preset_name(const char *name) {
  char end[SUGGEST_MAX];
  suggest hint;
  if (say_ggml(end, name)) return cli_fail(NULL, "'%s': %s", name, end);
  suggest_start(&hint, name);
  for (size_t i = 0; i < hu_conversion_count(); i++) suggest_offer(&hint, hu_conversion_at(i).name);
  for (size_t i = 0; cli_ggml_name(i); i++) suggest_offer(&hint, cli_ggml_name(i));
  return cli_fail(NULL, "preset '%s': no such name%s", name, suggest_end(end, &hint, "`halfulp presets` lists them"));
}

int cli_fail_model_name(const char *part) {
  char end[SUGGEST_MAX];
  suggest hint;
  suggest_start(&hint, part);
  for (size_t i = 0; i < hu_accum_preset_count(); i++) {
    hu_accum_preset preset;
    if (hu_accum_preset_at(&preset, i) == HU_OK) suggest_offer(&hint, preset.name);
  }
  return cli_fail(NULL, "models: no name contains '%s'%s", part, suggest_end(end, &hint, "`halfulp models` lists all"));
}
