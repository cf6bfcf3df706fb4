/* SPDX-License-Identifier: MIT */
/* Prints the card of a scaled format: elements, scales, blocks, and how a scale is made. */
#include "cli/explain/scaled_card.h"

#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/numbers.h"
#include "halfulp/scalar.h"
#include "halfulp/scaled.h"

static const char *const rules[HU_SCALE_RULES][2] = {
    {"floor", "2^(floor(log2 amax) - emax of the elements)"},
    {"ceil", "2^(ceil(log2 amax) - emax of the elements)"},
    {"even", "floor, of amax rounded to the elements' digits, ties up"},
    {"rceil", "the least power of two with amax <= max of the elements times it"},
    {"ratio", "amax / max of the elements, rounded into the scale's format"},
    {"4over6_mae", "as ratio, or 1.5 times that, by the smaller sum of |error|"},
    {"4over6_mse", "as ratio, or 1.5 times that, by the smaller sum of squares"},
    {"4over6_mae_fast", "as 4over6_mae, the errors those of the scaled tensor"},
    {"4over6_mse_fast", "as 4over6_mse, the errors those of the scaled tensor"},
    {"sweep_mse", "of all scales the one with the smallest sum of squared errors"},
    {"formulas", "the formula s of the text"},
    {"intfloat_mae", "as ratio; its sign: elements or integers, by the smaller sum of |error|"},
    {"intfloat_mse", "as ratio; its sign: elements or integers, by the smaller sum of squares"},
    {"intfloat_max", "as ratio; its sign: elements or integers, by the smaller largest error"}};
static const char *const steps[HU_STEPS_COUNT][2] = {{"exact", "exact quotients, one rounding per element"},
                                                     {"divide", "in binary32, with divisions"},
                                                     {"multiply", "in binary32, with reciprocals"},
                                                     {"encode", "in binary32, with the encode scale max / amax"},
                                                     {"reciprocal", "in binary32, with the factor (1 / t) / s"}};
static const char *const specials[][2] = {
    {"nan", "an infinity or a NaN makes the block's scale NaN"},
    {"element", "amax is that of the finite elements; the others follow the element format"},
    {"saturate", "as element, but an infinity counts as binary32's largest number"}};
static const char *const blanks[][2] = {
    {"low", "the smallest scale"}, {"one", "1"}, {"zero", "0"}, {"formula", "what the formula s gives"}};

static hu_scaling_entry entry_of(const hu_scaling *scaling, const char *text) {
  hu_scaling other;
  hu_scaling_entry none = {NULL, NULL, NULL, NULL};
  for (size_t i = 0; i < hu_scaling_count() + hu_scaling_rule_count(); i++) {
    hu_scaling_entry entry = i < hu_scaling_count() ? hu_scaling_at(i) : hu_scaling_rule_at(i - hu_scaling_count());
    int same = hu_scaling_parse(&other, entry.text, NULL) == HU_OK && memcmp(&other, scaling, sizeof other) == 0;
    if (strcmp(entry.name, text) == 0 || (same && strchr(text, '('))) return entry;
  }
  return none;
}

/* Returns the bits per element of whole blocks as stored, without the tensor's scale. 0: one block is the matrix. */
static double bits_of(const hu_scaling *scaling) {
  hu_limits limits = hu_limits_of(scaling->element);
  double width = limits.width > 8 ? limits.storage : limits.width; /* codes of up to 8 bits are packed */
  if (!scaling->rows || !scaling->cols) return 0;
  return width + (double)hu_limits_of(scaling->scale).storage / ((double)scaling->rows * (double)scaling->cols);
}

/* Returns the largest magnitude: the largest element times the largest scale. */
static double largest(const hu_scaling *scaling) {
  double element = hu_decode64(scaling->element, hu_limits_of(scaling->element).max_code);
  return element * hu_decode64(scaling->scale, hu_limits_of(scaling->scale).max_code);
}

static void side(char text[24], uint32_t n, const char *all) {
  if (n)
    snprintf(text, 24, "%u", (unsigned)n);
  else
    snprintf(text, 24, "%s", all);
}

static void print_line(const char *label, const char *value) { printf("  %-20s %s\n", label, value); }

static void print_card(const hu_scaling *scaling, const char *given) {
  char text[HU_SCALING_TEXT_MAX], element[CLI_NAME_MAX], scale[CLI_NAME_MAX], rows[24], cols[24];
  hu_scaling_entry entry = entry_of(scaling, given);
  hu_limits limits = hu_limits_of(scaling->element), c = hu_limits_of(scaling->scale);
  hu_scaling_text(text, sizeof text, scaling);
  side(rows, scaling->rows, "all rows");
  side(cols, scaling->cols, "all columns");
  printf("%s\n", entry.name ? entry.name : given);
  print_line("text", text);
  if (entry.name) print_line("defined in", entry.source);
  if (entry.name && *entry.open) print_line("left open there", entry.open);
  printf("  %-20s %s%s, %u bits, max %s\n", "elements", cli_format_name(element, scaling->element),
         scaling->coding == HU_CODING_TWOS ? " in two's complement" : "", (unsigned)limits.width,
         DECIMAL(hu_decode64(scaling->element, limits.max_code)));
  printf("  %-20s %s, %u bits, %s to %s\n", "scales", cli_format_name(scale, scaling->scale), (unsigned)c.width,
         DECIMAL(hu_decode64(scaling->scale, c.min_code)), DECIMAL(hu_decode64(scaling->scale, c.max_code)));
  printf("  %-20s %s x %s (rows x columns)%s\n", "block", rows, cols,
         scaling->pad ? "; the last ones are filled up" : "");
  if (scaling->tensor)
    print_line("tensor", scaling->tensor == HU_TENSOR_256
                             ? "a second scale for all blocks, binary32, for scales up to 256"
                             : "a second scale for all blocks, binary32");
  if (bits_of(scaling) > 0)
    printf("  %-20s %s in whole blocks\n", "bits per element", ROUNDED(bits_of(scaling), 6));
  else
    printf("  %-20s %u, and the scales\n", "bits per element", (unsigned)limits.width);
  printf("  %-20s %s%s\n", "largest value", DECIMAL(largest(scaling)),
         scaling->tensor ? ", times the tensor's scale" : "");
  printf("  %-20s %s: %s\n", "scale from amax", rules[scaling->rule][0], rules[scaling->rule][1]);
  if (scaling->rule == HU_SCALE_FORMULAS)
    print_line("computed", "by the formulas, each operation rounded to binary32");
  else
    printf("  %-20s %s: %s\n", "computed", steps[scaling->steps][0], steps[scaling->steps][1]);
  printf("  %-20s %s: %s\n", "infinity, NaN", specials[scaling->special][0], specials[scaling->special][1]);
  printf("  %-20s %s: %s\n", "scale of all zeros", blanks[scaling->blank][0], blanks[scaling->blank][1]);
}

static void json_card(const hu_scaling *scaling, const char *given) {
  char text[HU_SCALING_TEXT_MAX], element[CLI_NAME_MAX], scale[CLI_NAME_MAX];
  hu_scaling_entry entry = entry_of(scaling, given);
  double bits = bits_of(scaling);
  hu_scaling_text(text, sizeof text, scaling);
  cli_json(stdout, "{'id': ?, 'kind': 'scaled', 'text': ?, 'element': ?, 'scale': ?, 'rows': ?, 'cols': ?, ",
           JSON(entry.name ? entry.name : given), JSON(text), JSON(cli_format_name(element, scaling->element)),
           JSON(cli_format_name(scale, scaling->scale)), JSON(scaling->rows), JSON(scaling->cols));
  cli_json(stdout, "'tensor': ?, 'rule': ?, 'steps': ?, 'special': ?, 'blank': ?, ", cli_truth(scaling->tensor),
           JSON(rules[scaling->rule][0]), JSON(steps[scaling->steps][0]), JSON(specials[scaling->special][0]),
           JSON(blanks[scaling->blank][0]));
  cli_json(stdout, "'bits_per_element': ?, 'max': ?}\n", bits > 0 ? JSON(bits) : cli_text(NULL),
           JSON(largest(scaling)));
}

int cli_scaled_card(const char *text, int json) {
  hu_scaling scaling;
  if (hu_scaling_parse(&scaling, text, NULL) != HU_OK) return 0;
  if (json)
    json_card(&scaling, text);
  else
    print_card(&scaling, text);
  return 1;
}
