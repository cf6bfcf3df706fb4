/* SPDX-License-Identifier: MIT */
/* halfulp declare - what this build has of IEEE P3109, in the YAML form of the draft's exemplars. */
#include <string.h>

#include "cli/base/cli.h"
#include "halfulp/format.h"
#include "halfulp/p3109.h"
#include "halfulp/version.h"

enum { KEY_P3109 = CLI_KEY_FREE };

typedef struct declare_state {
  int json, p3109;
} declare_state;

static int set(void *state, int key, const char *value) {
  declare_state *s = state;
  (void)value;
  if (key == CLI_KEY_JSON) s->json = 1;
  if (key == KEY_P3109) s->p3109 = 1;
  return CLI_OK;
}

static const cli_option options[] = {
    {KEY_P3109, "p3109", NULL, "what it has of IEEE P3109, draft report v4.0"}, CLI_OPTION_JSON, {0}};
static const cli_command command = {
    "declare",
    "--p3109",
    "Declare what this build has of a standard's draft",
    "Two YAML documents on standard output, Configurations and Profiles, as the exemplars of the P3109 working group\n"
    "have them, made from the library's own list: operations, rounding and saturation modes, formats. All operations\n"
    "are correctly rounded, so there is no kappa-approximation. The report is an unapproved draft; the documents say\n"
    "what agrees with it, and claim no compliance. docs/p3109.md says how each operation was tested.",
    "  halfulp declare --p3109\n  halfulp declare --p3109 > Configurations.yaml",
    options,
    0,
    0,
    set};

static void print_metadata(const char *document) {
  printf("---\n# %s\nMetadata:\n", document);
  printf("  conformance: \"agrees with the unapproved draft IEEE SA P3109; no claim of compliance\"\n");
  printf("  version: \"4.0\"\n  provider: \"halfulp\"\n  implementation:\n    name: \"halfulp\"\n");
  printf("    version: \"%s\"\n", HU_VERSION_STRING);
}

/* The operations, a list a group, and those of blocks. */
static void print_operations(int of_blocks) {
  const char *group = "";
  for (int op = 0; op < HU_P3109_COUNT; op++) {
    hu_p3109_operation o = hu_p3109_at(op);
    if (of_blocks && !o.block) continue;
    if (strcmp(group, o.group) != 0) printf("      - %s%s:\n", of_blocks ? "block " : "", o.group);
    group = o.group;
    printf("          - %s%s\n", of_blocks ? "Block" : "", o.name);
  }
}

/* A word of the draft, and what it is here. What is declared is what hu_p3109_projection_check lets through. */
typedef struct draft_word {
  const char *name;
  hu_mode mode;
} draft_word;

static const draft_word rounding[] = {{"NearestTiesToEven", {.round = HU_RNE}},
                                      {"NearestTiesToAway", {.round = HU_RNA}},
                                      {"TowardZero", {.round = HU_RTZ}},
                                      {"TowardPositive", {.round = HU_RTP}},
                                      {"TowardNegative", {.round = HU_RTN}},
                                      {"ToOdd", {.round = HU_RTO}},
                                      {"StochasticA", {.round = HU_SRA, .bits = 1}},
                                      {"StochasticB", {.round = HU_SRB, .bits = 1}},
                                      {"StochasticC", {.round = HU_SRC, .bits = 1}}},
                        saturation[] = {{"SatNone", {.saturate = HU_SAT_NONE}},
                                        {"SatFinite", {.saturate = HU_SAT_FINITE}},
                                        {"SatPropagate", {.saturate = HU_SAT_PROPAGATE}}};
enum { ROUNDING = sizeof rounding / sizeof *rounding, SATURATION = sizeof saturation / sizeof *saturation };

static int is_here(hu_mode mode) {
  hu_p3109_projection rho = {mode, HU_P3109_V4_0};
  return hu_p3109_projection_check(rho) == HU_OK;
}

/* The most random bits of a stochastic rounding, one of those above. */
static unsigned most_bits(hu_mode mode) {
  while (mode.bits < UINT8_MAX) {
    mode.bits++;
    if (!is_here(mode)) return mode.bits - 1u;
  }
  return UINT8_MAX;
}

static void print_words(const draft_word *words, int count, const char *quote) {
  const char *between = "";
  for (int i = 0; i < count; i++) {
    if (!is_here(words[i].mode)) continue;
    printf("%s%s%s%s", between, quote, words[i].name, quote);
    between = ", ";
  }
}

static void print_configuration(void) {
  static const char *const reductions[] = {"BlockReduceAdd", "BlockReduceMultiply", "BlockDotProduct"};
  static const char *const conversions[] = {"ConvertFromBlock", "ConvertToBlock", "ConvertToBlockMaxAbsFinite"};
  printf("\nExact:\n  - IEEE754: [binary32, binary64]\n  - Projections:\n      - Rounding:\n");
  for (int i = 0; i < ROUNDING; i++) {
    if (!is_here(rounding[i].mode)) continue;
    printf("          - %s%s\n", rounding[i].name, rounding[i].mode.bits ? ":" : "");
    if (rounding[i].mode.bits) printf("              - bits: ( [1..%u] )\n", most_bits(rounding[i].mode));
  }
  printf("      - Saturation: [ ");
  print_words(saturation, SATURATION, "");
  printf(" ]\n");
  printf("  - BlockSizes:\n      - supported:\n          elements: ( [1..%d] )\n", HU_P3109_BLOCK_MAX);
  printf("  - Operations:\n");
  print_operations(0);
  print_operations(1);
  printf("      - block reduction:\n");
  for (size_t i = 0; i < 3; i++) printf("          - %s\n", reductions[i]);
  printf("      - block conversions:\n");
  for (size_t i = 0; i < 3; i++) printf("          - %s\n", conversions[i]);
  printf("  - KappaApproximate: []\n");
}

/* All names of K bits that a descriptor can have: each in quotes, after what stands before it. */
static void print_formats(unsigned k, const char *before, const char *between, const char *quote) {
  for (unsigned p = 1; p <= k; p++)
    for (int rest = 0; rest < 4; rest++) {
      int is_signed = !(rest & 2), extended = !(rest & 1);
      if (is_signed && p == k) continue;
      if (hu_format_check(hu_format_p3109(k, p, is_signed, extended), NULL) != HU_OK) continue;
      printf("%s%sBinary%up%u%c%c%s", before, quote, k, p, is_signed ? 's' : 'u', extended ? 'e' : 'f', quote);
      before = between;
    }
}

static void print_profiles(void) {
  printf("\nProfiles:\n");
  for (unsigned k = 3; k <= 16; k++) {
    print_formats(k, "  - formats: [ ", ", ", "");
    printf(" ]\n    configuration: Exact\n");
  }
}

static void print_json(void) {
  printf("{\"draft\": \"IEEE P3109 v4.0\", \"version\": \"%s\"", HU_VERSION_STRING);
  printf(", \"rounding\": [");
  print_words(rounding, ROUNDING, "\"");
  printf("], \"random_bits\": [1, %u], \"saturation\": [", most_bits(rounding[ROUNDING - 1].mode));
  print_words(saturation, SATURATION, "\"");
  printf("], \"kappa_approximate\": [], \"operations\": [");
  for (int op = 0; op < HU_P3109_COUNT; op++) {
    hu_p3109_operation o = hu_p3109_at(op);
    printf("%s\n  {\"operation\": \"%s\", \"group\": \"%s\", \"operands\": %d, \"block\": %s}", op ? "," : "", o.name,
           o.group, o.operands, o.block ? "true" : "false");
  }
  printf("\n], \"formats\": [");
  for (unsigned k = 3; k <= 16; k++) print_formats(k, k == 3 ? "\n  " : ",\n  ", ", ", "\"");
  printf("\n]}\n");
}

int cli_declare(int argc, char **argv) {
  char **operands;
  declare_state state = {0};
  int count, status = cli_parse(&command, &state, argc, argv, &operands, &count);
  if (status >= 0) return status;
  if (!state.p3109) return cli_fail(NULL, "declare: which draft? --p3109");
  if (state.json) {
    print_json();
    return CLI_OK;
  }
  print_metadata("Configurations");
  print_configuration();
  print_metadata("Profiles");
  print_profiles();
  return CLI_OK;
}
