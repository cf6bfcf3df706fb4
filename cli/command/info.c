/* SPDX-License-Identifier: MIT */
/* halfulp info - the card of a format; what this build has of IEEE P3109. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/names.h"
#include "cli/base/numbers.h"
#include "cli/explain/hif4_card.h"
#include "cli/explain/number.h"
#include "cli/explain/s2fp8_card.h"
#include "cli/explain/scaled_card.h"
#include "cli/quantize/model_info.h"
#include "cli/quantize/quantize.h"
#include "halfulp/p3109.h"
#include "halfulp/scalar.h"
#include "halfulp/status.h"

enum { TABLE_WIDTH_MAX = 16, KEY_P3109 = CLI_KEY_FREE, KEY_LAYOUT };

typedef struct info_state {
  int json, table, p3109;
  const char *layout;
} info_state;

static int set(void *context, int key, const char *value) {
  info_state *state = context;
  if (key == CLI_KEY_JSON) state->json = 1;
  if (key == 't') state->table = 1;
  if (key == KEY_P3109) state->p3109 = 1;
  if (key == KEY_LAYOUT) state->layout = value;
  return CLI_OK;
}

static const cli_option options[] = {
    {'t', "table", NULL, "every code with its value, instead of the card (formats of up to 16 bits)"},
    {KEY_P3109, "p3109", NULL, "no FORMAT: declare what this build has of IEEE P3109, draft standard D1"},
    CLI_OPTION_LAYOUT(KEY_LAYOUT),
    CLI_OPTION_JSON,
    {0}};
static const cli_command command = {
    "info",
    "FORMAT | MODEL | --p3109",
    "Print the card of a format or another number system: every axis, limits, special codes; or the tensors of a model",
    "Of a scaled format the card has elements, scales, blocks, bits per element, and how a scale is made;\n"
    "of s2fp8 the two statistics of a tensor and how codes are made of them; of hifloat4 the bytes of a block\n"
    "and the choices on which its sources differ.\n\n"
    "MODEL is a .safetensors or .gguf file, a .safetensors.index.json, or a folder of them. Each tensor has a line: "
    "the\n"
    "layout of another program in which it is (docs/checkpoints.md), elements, scales and the block that has one,\n"
    "shape, the least and the largest finite value, and of its codes the shares of those of the largest magnitude\n"
    "(saturated), of zeros and of NaN.\n\n"
    "--p3109: two YAML documents on standard output, Configurations and Profiles, as the exemplars of the P3109 "
    "working\n"
    "group have them, made from the library's own list: operations, rounding and saturation modes, formats. All\n"
    "operations are correctly rounded, so there is no kappa-approximation. The standard is an unapproved draft; the\n"
    "documents say what agrees with it, and claim no compliance. docs/p3109.md says how each operation was tested.",
    "  halfulp info float8_e4m3fn\n  halfulp info 'fp(4,3,4):finite' --table\n  halfulp info bfloat16 --json\n  "
    "halfulp info posit16\n  halfulp info nvfp4\n  halfulp info s2fp8\n  halfulp info hifloat4\n"
    "  halfulp info --p3109",
    options,
    0,
    1,
    set};

static const char *pick(const char *const *words, unsigned n, unsigned i) { return i < n ? words[i] : "?"; }
#define WORD(list, i) pick(list, sizeof list / sizeof list[0], i)

static const char *const zero_words[] = {"field", "code", "none"};
static const char *const subnormal_words[] = {"gradual", "none", "flush"};
static const char *const inf_words[] = {"none", "ieee", "top"};
static const char *const nan_words[] = {"none", "ieee", "ieee1", "ones", "negzero", "top"};
static const char *const overflow_words[] = {"inf", "nan", "max"};
static const char *const negative_words[] = {"nan", "low", "stop"};
static const char *const negative_help[] = {"nan", "low", "nan (rtz and rtp: low, for numbers)"};
static const char *const zero_help[] = {"exponent field 0 holds zero and the subnormals",
                                        "code 0 alone is zero, the rest of exponent field 0 is normal",
                                        "there is no zero"};
static const char *const subnormal_help[] = {"kept", "the grid lacks them", "a result that rounds to one becomes zero"};
static const char *const inf_help[] = {"", "exponent field all ones, trailing significand 0",
                                       "the largest magnitude code that is not NaN"};
static const char *const nan_help[] = {"",
                                       "exponent field all ones and not an infinity, canonical: top trailing bit",
                                       "exponent field all ones and not an infinity, canonical: all ones",
                                       "all bits below the sign",
                                       "the code 10...0",
                                       "the code 1...1"};

static void print_code(const char *label, hu_format format, uint32_t code) {
  char hex[NUMBER_TEXT_MAX], decimal[NUMBER_TEXT_MAX];
  double x = hu_decode64(format, code);
  printf("  %-20s 0x%0*x   %-18s %s\n", label, (int)code_digits(format), code, number_hex(hex, x),
         number_decimal(decimal, x));
}

static void print_axes(hu_format format, hu_limits limits) {
  printf("  %-20s %u (sign %u, exponent %u, trailing significand %u); stored in %u\n", "bits", limits.width,
         format.sign, format.e, format.m, limits.storage);
  printf("  %-20s %d (additional bias %d)\n", "bias", limits.bias, format.b);
  if (format.e) printf("  %-20s %u bits\n", "precision", format.m + 1u);
  if (format.e)
    printf("  %-20s %d .. %d\n", "exponents", limits.emin, limits.emax);
  else
    printf("  %-20s none: whole multiples of 2^%d\n", "exponents", limits.emin - format.m);
  printf("  %-20s %s: %s\n", "zero", WORD(zero_words, format.zero), WORD(zero_help, format.zero));
  printf("  %-20s %s: %s\n", "subnormals", WORD(subnormal_words, format.subnormal),
         WORD(subnormal_help, format.subnormal));
  printf("  %-20s %s%s%s\n", "infinities", WORD(inf_words, format.inf), format.inf ? ": " : "",
         WORD(inf_help, format.inf));
  printf("  %-20s %s%s%s\n", "NaN", WORD(nan_words, format.nan), format.nan ? ": " : "", WORD(nan_help, format.nan));
  printf("  %-20s %s\n", "negative zero", format.negzero ? "yes" : "no");
  printf("  %-20s %s under policy none; the default policy is %s\n", "overflow", WORD(overflow_words, format.overflow),
         format.inf ? "none" : "finite");
  if (!format.sign)
    printf("  %-20s %s under policy none\n", "below the range",
           WORD(negative_help, limits.has_nan ? format.negative : HU_NEGATIVE_LOW));
}

static void print_limits(hu_format format, hu_limits limits) {
  uint32_t one = hu_encode64(format, (hu_mode){0}, 1.0, 0, NULL);
  print_code("max", format, limits.max_code);
  if (limits.min_normal_code != HU_NO_CODE) print_code("min normal", format, limits.min_normal_code);
  print_code("min > 0", format, limits.min_code);
  if (hu_decode64(format, one) == 1.0) print_code("one", format, one);
  if (limits.inf_code != HU_NO_CODE) print_code("infinity", format, limits.inf_code);
  if (limits.inf_code != HU_NO_CODE && format.sign) print_code("-infinity", format, limits.inf_code | limits.sign_mask);
  if (limits.has_nan) print_code("NaN (canonical)", format, limits.nan_code);
  if (format.negzero) print_code("negative zero", format, limits.sign_mask);
  printf("  %-20s %llu finite, %llu NaN\n", "codes", (unsigned long long)limits.finite_codes,
         (unsigned long long)limits.nan_codes);
  printf("  %-20s %s\n", "fits binary32", hu_format_fits_binary32(format) ? "yes: float arrays hold its grid" : "no");
}

static void print_same(hu_format format, const char *name) {
  int first = 1;
  for (size_t i = 0; i < hu_format_count(); i++) {
    hu_format_entry entry = hu_format_at(i);
    if (!hu_format_equal(entry.format, format) || !strcmp(entry.id, name)) continue;
    if (first)
      printf("  %-20s %s", "same format as", entry.id);
    else
      printf(" %s", entry.id);
    first = 0;
  }
  if (!first) putchar('\n');
}

static void print_card(hu_format format, const char *given) {
  char name[CLI_NAME_MAX], text[HU_FORMAT_TEXT_MAX];
  hu_limits limits = hu_limits_of(format);
  hu_format_entry entry = cli_format_entry(format, given);
  hu_format_text(text, sizeof text, format);
  cli_shown_name(name, format, entry.id ? entry.id : given);
  printf("%s\n  %-20s %s\n", name, "text", text);
  print_same(format, name);
  if (entry.id && *entry.aliases) printf("  %-20s %s\n", "other names", entry.aliases);
  if (entry.id) printf("  %-20s %s\n", "defined in", entry.source);
  if (entry.id && *entry.open) printf("  %-20s %s\n", "left open there", entry.open);
  print_axes(format, limits);
  print_limits(format, limits);
}

static void json_code(const char *key, hu_format format, uint32_t code, int there) {
  cli_json(stdout, there ? ", ?: {?}" : ", ?: null", JSON(key),
           cli_code((int)code_digits(format), code, there ? hu_decode64(format, code) : 0));
}

static void json_card(hu_format format, const char *given) {
  char name[CLI_NAME_MAX], text[HU_FORMAT_TEXT_MAX];
  hu_limits limits = hu_limits_of(format);
  hu_format_text(text, sizeof text, format);
  cli_json(stdout, "{'id': ?, 'text': ?, 'width': ?, 'storage': ?, 'sign': ?, 'e': ?, 'm': ?, 'b': ?, ",
           JSON(cli_shown_name(name, format, given)), JSON(text), JSON(limits.width), JSON(limits.storage),
           JSON(format.sign), JSON(format.e), JSON(format.m), JSON(format.b));
  cli_json(stdout, "'bias': ?, 'emin': ?, 'emax': ?, 'zero': ?, 'subnormals': ?, 'infinities': ?, ", JSON(limits.bias),
           JSON(limits.emin), JSON(limits.emax), JSON(WORD(zero_words, format.zero)),
           JSON(WORD(subnormal_words, format.subnormal)), JSON(WORD(inf_words, format.inf)));
  cli_json(stdout, "'nan': ?, 'negative_zero': ?, 'overflow': ?, 'negative': ?", JSON(WORD(nan_words, format.nan)),
           cli_truth(format.negzero), JSON(WORD(overflow_words, format.overflow)),
           JSON(WORD(negative_words, format.negative)));
  json_code("max", format, limits.max_code, 1);
  json_code("min_normal", format, limits.min_normal_code, limits.min_normal_code != HU_NO_CODE);
  json_code("min", format, limits.min_code, 1);
  json_code("infinity", format, limits.inf_code, limits.inf_code != HU_NO_CODE);
  json_code("nan_code", format, limits.nan_code, (int)limits.has_nan);
  cli_json(stdout, ", 'finite_codes': ?, 'nan_codes': ?, 'fits_binary32': ?}\n", JSON(limits.finite_codes),
           JSON(limits.nan_codes), cli_truth(hu_format_fits_binary32(format)));
}

static void print_table(hu_format format, int json) {
  char hex[NUMBER_TEXT_MAX];
  uint32_t codes = (uint32_t)1 << hu_limits_of(format).width;
  int digits = (int)code_digits(format);
  for (uint32_t c = 0; c < codes; c++) {
    double x = hu_decode64(format, c);
    if (json)
      cli_json(stdout, "?{?}", cli_plain(c ? ",\n " : "["), cli_code(digits, c, x));
    else
      printf("%0*x %s\n", digits, c, number_hex(hex, x));
  }
  if (json) printf("]\n");
}

/* ---- IEEE P3109, in the YAML form of the draft's exemplars ---- */

/* What is not sure, or not here. */
static const char *const open_points[] = {
    "report v4.0.3 was seen through two programs alone; in TanPi and ArcTan2 it was not seen",
    "the scaled forms are those of Add, Subtract and Multiply",
    "RoundOf and SatOf are not operations here: a projection is the caller's own",
};

static void print_metadata(const char *document) {
  printf("---\n# %s\nMetadata:\n", document);
  printf("  conformance: \"agrees with the unapproved draft IEEE SA P3109; no claim of compliance\"\n");
  printf("  version: \"D1\"\n  other_versions: [\"July 2026\", \"4.0\"]\n  open_points:\n");
  for (size_t i = 0; i < sizeof open_points / sizeof *open_points; i++) printf("    - \"%s\"\n", open_points[i]);
  printf("  provider: \"halfulp\"\n  implementation:\n    name: \"halfulp\"\n");
  printf("    version: \"%s\"\n", HU_VERSION_STRING);
}

/* Prints the operations, a list for each group, and those of blocks. */
static void print_operations(int of_blocks) {
  const char *group = "";
  for (int op = 0; op < HU_P3109_COUNT; op++) {
    hu_p3109_operation operation = hu_p3109_at(op);
    if (of_blocks && !operation.block) continue;
    if (strcmp(group, operation.group) != 0) printf("      - %s%s:\n", of_blocks ? "block " : "", operation.group);
    group = operation.group;
    printf("          - %s%s\n", of_blocks ? "Block" : "", operation.name);
  }
}

/* A word of the draft, and what it is here. What is declared is what hu_p3109_projection_check lets through. */
typedef struct draft_word {
  const char *name;
  hu_mode mode;
} draft_word;

static const draft_word saturation[] = {{"SatNone", {.saturate = HU_SAT_NONE}},
                                        {"SatFinite", {.saturate = HU_SAT_FINITE}},
                                        {"SatPropagate", {.saturate = HU_SAT_PROPAGATE}}};
enum { SATURATION = sizeof saturation / sizeof *saturation };

static int is_here(hu_mode mode) {
  hu_p3109_projection rho = {mode, HU_P3109_D1};
  return hu_p3109_projection_check(rho) == HU_OK;
}

/* Returns the most random bits of a stochastic rounding, one of those above. */
static unsigned most_bits(hu_mode mode) {
  while (mode.bits < UINT8_MAX) {
    mode.bits++;
    if (!is_here(mode)) return mode.bits - 1u;
  }
  return UINT8_MAX;
}

static draft_word rounding_word(int round) {
  return (draft_word){hu_mode_round_words((uint32_t)round).p3109, {.round = (uint8_t)round, .bits = round >= HU_SRA}};
}

static draft_word saturation_word(int i) { return saturation[i]; }

static int is_declared(const draft_word *word) { return word->name[0] && is_here(word->mode); }

static void print_words(draft_word (*word_of)(int), int count, const char *quote) {
  const char *between = "";
  for (int i = 0; i < count; i++) {
    draft_word word = word_of(i);
    if (!is_declared(&word)) continue;
    printf("%s%s%s%s", between, quote, word.name, quote);
    between = ", ";
  }
}

static void print_configuration(void) {
  static const char *const reductions[] = {"BlockReduceAdd", "BlockReduceMultiply", "BlockDotProduct"};
  static const char *const conversions[] = {"ConvertFromBlock", "ConvertToBlock", "ConvertToBlockMaxAbsFinite"};
  printf("\nExact:\n  - IEEE754: [binary32, binary64]\n  - Projections:\n      - Rounding:\n");
  for (int round = 0; round < HU_ROUND_COUNT; round++) {
    draft_word word = rounding_word(round);
    if (!is_declared(&word)) continue;
    printf("          - %s%s\n", word.name, word.mode.bits ? ":" : "");
    if (word.mode.bits) printf("              - bits: ( [1..%u] )\n", most_bits(word.mode));
  }
  printf("      - Saturation: [ ");
  print_words(saturation_word, SATURATION, "");
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

/* Prints all names of K bits that a descriptor can have: each in quotes, after what stands before it. */
static void declare_formats(unsigned k, const char *before, const char *between, const char *quote) {
  for (unsigned precision = 1; precision <= k; precision++)
    for (int rest = 0; rest < 4; rest++) {
      int is_signed = !(rest & 2), extended = !(rest & 1);
      if (is_signed && precision == k) continue;
      if (hu_format_check(hu_format_p3109(k, precision, is_signed, extended), NULL) != HU_OK) continue;
      printf("%s%sBinary%up%u%c%c%s", before, quote, k, precision, is_signed ? 's' : 'u', extended ? 'e' : 'f', quote);
      before = between;
    }
}

static void print_profiles(void) {
  printf("\nProfiles:\n");
  for (unsigned k = 3; k <= 16; k++) {
    declare_formats(k, "  - formats: [ ", ", ", "");
    printf(" ]\n    configuration: Exact\n");
  }
}

static void json_declaration(void) {
  cli_json(stdout, "{'draft': 'IEEE P3109/D1', 'version': ?, 'rounding': [", JSON(HU_VERSION_STRING));
  print_words(rounding_word, HU_ROUND_COUNT, "\"");
  printf("], \"random_bits\": [1, %u], \"saturation\": [", most_bits(rounding_word(HU_ROUND_COUNT - 1).mode));
  print_words(saturation_word, SATURATION, "\"");
  printf("], \"kappa_approximate\": [], \"operations\": [");
  for (int op = 0; op < HU_P3109_COUNT; op++) {
    hu_p3109_operation operation = hu_p3109_at(op);
    cli_json(stdout, "?\n  {'operation': ?, 'group': ?, 'operands': ?, 'block': ?}", cli_plain(op ? "," : ""),
             JSON(operation.name), JSON(operation.group), JSON(operation.operands), cli_truth(operation.block));
  }
  printf("\n], \"formats\": [");
  for (unsigned k = 3; k <= 16; k++) declare_formats(k, k == 3 ? "\n  " : ",\n  ", ", ", "\"");
  printf("\n]}\n");
}

static int declare(int json) {
  if (json) return json_declaration(), CLI_OK;
  print_metadata("Configurations");
  print_configuration();
  print_metadata("Profiles");
  print_profiles();
  return CLI_OK;
}

/* Says what is wrong with the name of a file: those of formats have no '/'. */
static int check_name(const char *name) {
  int there = access(name, F_OK) == 0;
  if (!strchr(name, '/') && !(there && strchr(name, '.'))) return CLI_OK;
  if (!there) return cli_fail(name, "%s", strerror(errno));
  return cli_fail(name, "has no ending of a model: .safetensors, .index.json, .gguf, .pt, .pth, .ckpt, .bin, .onnx");
}

int cli_info(int argc, char **argv) {
  info_state state = {0};
  char **operands;
  float values[HU_TABLE_MAX];
  hu_number system;
  hu_format format;
  int count, status = cli_parse(&command, &state, argc, argv, &operands, &count);
  if (status >= 0) return status;
  if (state.p3109 && (count || state.table)) return cli_fail(NULL, "info: --p3109 stands without FORMAT and --table");
  if (state.p3109) return declare(state.json);
  if (!count) return cli_fail(NULL, "info: requires FORMAT, MODEL or --p3109; see `halfulp info --help`");
  int model = cli_is_model(operands[0]) || cli_ends(operands[0], ".gguf");
  if (model && state.table) return cli_fail(NULL, "info: --table goes with a format");
  if (model) return cli_model_info(operands[0], state.layout, state.json);
  if (state.layout) return cli_fail(NULL, "info: --layout goes with a model");
  if (check_name(operands[0])) return CLI_BAD;
  if (!state.table && (cli_scaled_card(operands[0], state.json) || cli_s2fp8_card(operands[0], state.json) ||
                       cli_hif4_card(operands[0], state.json)))
    return CLI_OK;
  int other = cli_read_system(&system, operands[0], values);
  if (other < 0 || (!other && cli_read_format_or(&format, operands[0], CLI_NAMES_NUMBERS))) return CLI_BAD;
  unsigned width = other ? hu_number_limits_of(system).width : hu_limits_of(format).width;
  if (state.table && width > TABLE_WIDTH_MAX)
    return cli_fail(NULL, "format '%s': a table is printed for up to %d bits, this one has %u", operands[0],
                    TABLE_WIDTH_MAX, width);
  if (other) {
    if (state.table)
      cli_system_table(system, state.json);
    else
      cli_system_card(system, operands[0], state.json);
    return CLI_OK;
  }
  if (state.table)
    print_table(format, state.json);
  else if (state.json)
    json_card(format, operands[0]);
  else
    print_card(format, operands[0]);
  return CLI_OK;
}
