/* SPDX-License-Identifier: MIT */
/* Prints the card of a kind of HiFloat4 (halfulp/scaled.h): elements, the four bytes of a block, and the points on
 * which the sources differ. */
#include "cli/explain/hif4_card.h"

#include <string.h>

#include "cli/base/cli.h"
#include "halfulp/scaled.h"

static const char *const ties[][2] = {{"even", "to even"}, {"away", "away from zero"}};
static const char *const lows[][2] = {{"zero", "code 0, and all elements are 0; also where S rounds to 2^-48"},
                                      {"least", "2^-48"},
                                      {"nan", "NaN, and so are all elements"}};
static const char *const highs[][2] = {{"limit", "1.5 2^15"}, {"nan", "NaN, and so are all elements"}};
static const char *const products[][2] = {{"bfloat16", "y r is rounded to bfloat16, ties to even"},
                                          {"exact", "y r is exact"},
                                          {"mixed", "y r is exact for the bits of groups, bfloat16 for elements"}};

static void print_line(const char *label, const char *value) { printf("  %-20s %s\n", label, value); }

static void print_choice(const char *label, const char *const word[2]) {
  printf("  %-20s %s: %s\n", label, word[0], word[1]);
}

/* Returns the source of a named kind; NULL if it has no name. */
static const char *source_of(const char *text) {
  for (size_t i = 0; i < hu_hif4_count(); i++) {
    if (strcmp(hu_hif4_at(i).text, text) == 0) return hu_hif4_at(i).source;
  }
  return NULL;
}

static void print_card(const hu_hif4 *kind) {
  char text[HU_HIF4_TEXT_MAX];
  hu_hif4_text(text, sizeof text, kind);
  const char *source = source_of(text);
  printf("%s\n", text);
  print_line("defined in", source ? source : "Huawei's public code in parts; halfulp/scaled.h");
  print_line("elements", "float4_e1m2, 4 bits, max 1.75");
  print_line("block", "64 elements of a row");
  print_line("scale", "8 bits: s = 2^(c div 4 - 48) (1 + (c mod 4) / 4), c = 255 NaN, max 49152");
  print_line("groups", "a bit for each 8 elements and one for each 4, each of which doubles s");
  print_line("bits per element", "4.5");
  print_line("y", "x rounded to bfloat16, ties to even");
  print_line("S", "max |y| times 0.142578125 in bfloat16; s is S rounded to three digits, ties to even");
  print_line("bits of groups", "max |y| r >= 4 of 8 elements; of 4, over what that bit says, >= 2; r = 1 / s");
  print_line("value of code P", "P s times 2 for each bit that is set");
  print_choice("ties of elements", ties[kind->ties]);
  print_choice("S below 2^-48", lows[kind->low]);
  print_choice("S from 1.625 2^15 on", highs[kind->high]);
  print_choice("products", products[kind->products]);
  print_line("infinity, NaN", "the block's scale is NaN, and so are all elements");
}

static void json_card(const hu_hif4 *kind, const char *given) {
  char text[HU_HIF4_TEXT_MAX];
  hu_hif4_text(text, sizeof text, kind);
  cli_json(stdout, "{'id': ?, 'kind': 'hifloat4', 'text': ?, 'element': 'float4_e1m2', 'block': [1, ?], ", JSON(given),
           JSON(text), JSON(HU_HIF4_BLOCK));
  cli_json(stdout, "'ties': ?, 'low': ?, 'high': ?, 'products': ?, 'bits_per_element': 4.5}\n",
           JSON(ties[kind->ties][0]), JSON(lows[kind->low][0]), JSON(highs[kind->high][0]),
           JSON(products[kind->products][0]));
}

int cli_hif4_card(const char *text, int json) {
  hu_hif4 kind;
  if (hu_hif4_parse(&kind, text, NULL) != HU_OK) return 0;
  if (json)
    json_card(&kind, text);
  else
    print_card(&kind);
  return 1;
}
