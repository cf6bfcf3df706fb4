/* SPDX-License-Identifier: MIT */
/* halfulp declare - what this build has of IEEE P3109, in the YAML form of the draft's exemplars. */
#include <string.h>

#include "cli/base/cli.h"
#include "halfulp/format.h"
#include "halfulp/p3109.h"
#include "halfulp/version.h"

enum { KEY_P3109 = CLI_KEY_FREE };

static int set(void *state, int key, const char *value) {
  (void)value;
  if (key == KEY_P3109) *(int *)state = 1;
  return CLI_OK;
}

static const cli_option options[] = {{KEY_P3109, "p3109", NULL, "of IEEE P3109, draft report v4.0"}, {0}};
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

static void print_configuration(void) {
  static const char *const reductions[] = {"BlockReduceAdd", "BlockReduceMultiply", "BlockDotProduct"};
  static const char *const conversions[] = {"ConvertFromBlock", "ConvertToBlock", "ConvertToBlockMaxAbsFinite"};
  static const char *const rounding[] = {"NearestTiesToEven", "NearestTiesToAway", "TowardZero",
                                         "TowardPositive",    "TowardNegative",    "ToOdd"};
  printf("\nExact:\n  - IEEE754: [binary32, binary64]\n  - Projections:\n      - Rounding:\n");
  for (size_t i = 0; i < sizeof rounding / sizeof *rounding; i++) printf("          - %s\n", rounding[i]);
  for (char c = 'A'; c <= 'C'; c++) printf("          - Stochastic%c:\n              - bits: ( [1..32] )\n", c);
  printf("      - Saturation: [ SatNone, SatFinite, SatPropagate ]\n");
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

/* All names with K = 3 to 16 that a descriptor can have. */
static void print_profiles(void) {
  printf("\nProfiles:\n");
  for (unsigned k = 3; k <= 16; k++) {
    const char *before = "  - formats: [ ";
    for (unsigned p = 1; p <= k; p++)
      for (int rest = 0; rest < 4; rest++) {
        int is_signed = !(rest & 2), extended = !(rest & 1);
        if (is_signed && p == k) continue;
        if (hu_format_check(hu_format_p3109(k, p, is_signed, extended), NULL) != HU_OK) continue;
        printf("%sBinary%up%u%c%c", before, k, p, is_signed ? 's' : 'u', extended ? 'e' : 'f');
        before = ", ";
      }
    printf(" ]\n    configuration: Exact\n");
  }
}

int cli_declare(int argc, char **argv) {
  char **operands;
  int p3109 = 0, count, status = cli_parse(&command, &p3109, argc, argv, &operands, &count);
  if (status >= 0) return status;
  if (!p3109) return cli_fail(NULL, "declare: which draft? --p3109");
  print_metadata("Configurations");
  print_configuration();
  print_metadata("Profiles");
  print_profiles();
  return CLI_OK;
}
