/* SPDX-License-Identifier: MIT */
/* Prints the card of a kind of shifted and squeezed tensors (docs/s2fp8.md): elements, the two statistics of a tensor,
 * and how codes and values are made of them. */
#include "cli/explain/s2fp8_card.h"

#include "cli/base/cli.h"
#include "cli/base/numbers.h"
#include "halfulp/s2fp8.h"
#include "halfulp/scalar.h"

static const char *const specials[][2] = {
    {"nan", "not in the statistics; a NaN element, and an infinite one too, becomes NaN"},
    {"element", "not in the statistics; both follow the element format"}};

/* Returns the bits of a code as it is stored: codes of up to 8 bits are packed. */
static unsigned bits_of(const hu_s2fp8 *kind) {
  hu_limits limits = hu_limits_of(kind->element);
  return limits.width > 8 ? limits.storage : limits.width;
}

static void print_line(const char *label, const char *value) { printf("  %-20s %s\n", label, value); }

static void print_card(const hu_s2fp8 *kind) {
  char text[HU_S2FP8_TEXT_MAX], element[CLI_NAME_MAX];
  hu_limits limits = hu_limits_of(kind->element);
  unsigned target = hu_s2fp8_target(kind);
  hu_s2fp8_text(text, sizeof text, kind);
  printf("%s\n", text);
  print_line("defined in", "Cambier et al., Shifted and Squeezed 8-bit Floating Point (ICLR 2020); docs/s2fp8.md");
  printf("  %-20s %s, %u bits, max %s\n", "elements", cli_format_name(element, kind->element), limits.width,
         DECIMAL(hu_decode64(kind->element, limits.max_code)));
  printf("  %-20s T = %u: the largest magnitude of a tensor gets the code of 2^%u\n", "target", target, target);
  print_line("logarithm", "L(x) = log2|x| to the nearest multiple of 2^-40");
  print_line("tensor, m", "the largest L(x) of the elements that are finite and not 0");
  print_line("tensor, mu", "the mean of these L(x), rounded to a multiple of 2^-40, ties to even");
  printf("  %-20s %u, and 64 per tensor for alpha = T / (m - mu), beta = -alpha mu\n", "bits per element",
         bits_of(kind));
  print_line("code of x", "sign(x) 2^(T (L(x) - mu) / (m - mu)), rounded once into the elements' format");
  print_line("value of code P", "sign(P) 2^(mu + log2|P| (m - mu) / T), rounded once to binary32");
  printf("  %-20s %s: %s\n", "infinity, NaN", specials[kind->special][0], specials[kind->special][1]);
  print_line("one magnitude alone", "mu = m - T: the values come back as they were");
  print_line("all zeros", "mu = 0, m = T");
}

static void json_card(const hu_s2fp8 *kind, const char *given) {
  char text[HU_S2FP8_TEXT_MAX], element[CLI_NAME_MAX];
  hu_s2fp8_text(text, sizeof text, kind);
  cli_json(stdout, "{'id': ?, 'kind': 's2fp8', 'text': ?, 'element': ?, 'target': ?, 'special': ?, ", JSON(given),
           JSON(text), JSON(cli_format_name(element, kind->element)), JSON(hu_s2fp8_target(kind)),
           JSON(specials[kind->special][0]));
  cli_json(stdout, "'statistics': ['mu', 'm'], 'bits_per_element': ?, 'bits_per_tensor': 64}\n", JSON(bits_of(kind)));
}

int cli_s2fp8_card(const char *text, int json) {
  hu_s2fp8 kind;
  if (hu_s2fp8_parse(&kind, text, NULL) != HU_OK) return 0;
  if (json)
    json_card(&kind, text);
  else
    print_card(&kind);
  return 1;
}
