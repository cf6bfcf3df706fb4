/* SPDX-License-Identifier: MIT */
/* halfulp path - expressions element by element under rules of rounding: values, where rules part, which rule gives
 * recorded results. */
#include "halfulp/path.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/names.h"
#include "cli/base/numbers.h"
#include "cli/tensors/codes.h"
#include "halfulp/scalar.h"

enum { KEY_RULE = CLI_KEY_FREE, KEY_RULES, KEY_DATA, RULES_MAX = 32 };

/* A rule, and what it gives. */
typedef struct judged {
  const char *name;
  hu_path_rule rule;
  const char *refused; /* what it leaves open of the path; NULL: nothing */
  uint8_t *codes;
  size_t different, first; /* from the reference: elements, and the first of them */
  size_t right;            /* elements that are others where the right one of two products is joined to a sum */
} judged;

typedef struct asked {
  cli_numeric numeric; /* json and the stream alone */
  hu_path path;
  const char *text, *output, *data;
  judged rules[RULES_MAX];
  int count, lists, all; /* all: every rule that is listed, for --data */
  npy_info shape;        /* of the arrays; one number where there is none */
  const char *shaped;    /* the first array's name */
  size_t off_grid;
  uint8_t *operands[HU_PATH_OPERANDS], *recorded;
} asked;

static int add_rule(asked *given, const char *text) {
  size_t where = 0;
  if (given->count == RULES_MAX) return cli_fail(NULL, "--rule: more than %d rules", RULES_MAX);
  judged *one = &given->rules[given->count++];
  one->name = text;
  hu_status status = hu_path_rule_parse(&one->rule, text, &where);
  if (status == HU_OK) return CLI_OK;
  const char *part = text + where;
  if (status == HU_E_NAME)
    return cli_fail(NULL, "--rule '%s': no rule of that name; `halfulp path --rules` lists them", text);
  return cli_fail(NULL, "--rule '%s': wrong from character %zu on, '%s'; `halfulp path --rules` lists keys and words",
                  text, where + 1, part);
}

static int set(void *context, int key, const char *value) {
  asked *given = context;
  if (key == KEY_RULE) return add_rule(given, value);
  if (key == KEY_RULES) return !(given->lists = 1);
  if (key == KEY_DATA) {
    given->data = value;
    return CLI_OK;
  }
  if (key == 'o') {
    given->output = value;
    return CLI_OK;
  }
  int shared = cli_set_numeric(&given->numeric, key, value);
  return shared > 0 ? CLI_OK : CLI_BAD;
}

static const cli_option options[] = {
    {KEY_RULE | CLI_REPEATS, "rule", "RULE",
     "a rule's name, or items KEY=WORD; NAME;KEY=WORD changes one; default each"},
    {KEY_RULES, "rules", NULL, "list the rules and the keys"},
    {KEY_DATA, "data", "Z.npy", "recorded results: which of the rules gives them; default: all that are listed"},
    {'o', "output", "OUT", "write the results under the one rule given, an .npy file"},
    CLI_OPTIONS_STREAM,
    CLI_OPTION_JSON,
    {0}};
static const cli_command command = {
    "path",
    "EXPRESSION [NAME=]NUMBER|X.npy...",
    "Compute an expression element by element under rules of rounding, and show where two programs part",
    "EXPRESSION is FORMAT: SUM or FORMAT: SUM : RESULT, as in 'bf16: relu(x * w + b) : float8_e4m3fn'. An\n"
    "operand is a number or an array, with its name or in the order in which the names first appear. Elements\n"
    "that are no values of FORMAT are first rounded into it, ties to even; a note says how many. Unsigned\n"
    "integers, and the types of ml_dtypes, are codes.\n"
    "Of one element the result of each rule is printed; of more the number of elements that differ from the\n"
    "first rule, and the first of these. With --data the results are held against recorded ones, and the exit\n"
    "code is 1 where no rule gives them. docs/paths.md defines the rules and every bit.",
    "  halfulp path 'bf16: relu(x * w + b)' --rule eager --rule inductor x=1.0078125 w=1.0078125 b=-1.015625\n"
    "  halfulp path 'bf16: x * w : float8_e4m3fn' --rule torch.cpu --rule inductor.cpu digits_weights.npy 0.3\n"
    "  halfulp path 'binary16: x / 3 + b' --rule 'end;by-constant=reciprocal' digits_weights.npy 0.1 -o /tmp/z.npy\n"
    "  halfulp path --rules",
    options,
    0,
    1 + HU_PATH_OPERANDS,
    set};

/* ---- the lists ---- */

static int print_rules(int json) {
  if (json) printf("{\"rules\": [");
  for (size_t i = 0; i < hu_path_rule_count(); i++) {
    hu_path_rule_entry entry = hu_path_rule_at(i);
    if (json)
      cli_json(stdout, "?{'id': ?, 'text': ?, 'of': ?}", cli_comma(i == 0), JSON(entry.name), JSON(entry.text),
               JSON(entry.of));
    else
      printf("%-22s %s\n%-22s %s\n", entry.name, entry.of, "", entry.text);
  }
  printf(json ? "], \"keys\": [" : "\n");
  for (size_t i = 0; i < HU_PATH_KEYS; i++) {
    hu_path_key key = hu_path_key_at(i);
    if (json)
      cli_json(stdout, "?{'key': ?, 'words': ?, 'what': ?}", cli_comma(i == 0), JSON(key.name), JSON(key.words),
               JSON(key.what));
    else
      printf("%-22s %s\n%-22s %s\n", key.name, key.words, "", key.what);
  }
  if (json) printf("]}\n");
  return CLI_OK;
}

/* ---- what is asked ---- */

static int read_path(asked *given, const char *text) {
  size_t where = 0;
  const char *why = "";
  given->text = text;
  hu_status status = hu_path_parse(&given->path, text, &where, &why);
  if (status == HU_OK) return CLI_OK;
  const char *part = text + (where < strlen(text) ? where : strlen(text));
  if (status == HU_E_NAME && where == 0) return cli_fail_name("format", text, strcspn(text, ":"), 0);
  if (*why) return cli_fail(NULL, "'%s': %s, from character %zu on: '%s'", text, why, where + 1, part);
  if (status == HU_E_NAME) return cli_fail(NULL, "'%s': no function or format of that name: '%s'", text, part);
  if (!*part) return cli_fail(NULL, "'%s': something is missing at the end", text);
  return cli_fail(NULL, "'%s': '%s' cannot stand there (character %zu)", text, part, where + 1);
}

/* Returns the number of an operand that "NAME=..." names, and moves the text behind the mark; -1: it names none. */
static int named_operand(const asked *given, const char **text) {
  size_t n = strcspn(*text, "=");
  for (uint32_t i = 0; (*text)[n] && i < given->path.operands; i++) {
    if (strlen(given->path.name[i]) != n || strncmp(given->path.name[i], *text, n) != 0) continue;
    *text += n + 1;
    return (int)i;
  }
  return -1;
}

/* Sorts the texts of the operands: texts[i] belongs to operand i. */
static int place_operands(const asked *given, const char *texts[HU_PATH_OPERANDS], char **operands, int count) {
  uint32_t next = 0;
  if (count != (int)given->path.operands)
    return cli_fail(NULL, "path: %d operands for the %u of '%s'", count, (unsigned)given->path.operands, given->text);
  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < count; k++) {
      const char *text = operands[k];
      int i = named_operand(given, &text);
      if ((pass == 0) != (i >= 0)) continue;
      while (i < 0 && texts[next]) next++;
      if (i < 0) i = (int)next;
      if (texts[i]) return cli_fail(NULL, "path: operand '%s' is given twice", given->path.name[i]);
      texts[i] = text;
    }
  return CLI_OK;
}

static int take_shape(asked *given, const cli_array *x) {
  char shape[NPY_SHAPE_MAX], other[NPY_SHAPE_MAX];
  npy_info *known = &given->shape;
  if (!given->shaped) {
    *known = x->info;
    known->fortran = 0;
    given->shaped = x->name;
    return CLI_OK;
  }
  if (x->info.dims == known->dims && !memcmp(x->info.shape, known->shape, known->dims * sizeof known->shape[0]))
    return CLI_OK;
  return cli_fail(x->name, "shape %s, but %s has %s", npy_shape(shape, &x->info), given->shaped,
                  npy_shape(other, known));
}

static int load(uint8_t **codes, asked *given, const char *path, hu_format format, size_t *off_grid) {
  cli_array x;
  if (cli_array_load_codes(&x, path)) return CLI_BAD;
  if (x.info.whole) x.info.kind = 'i'; /* numbers, as they are to all commands but those of codes */
  int code = take_shape(given, &x);
  if (code == CLI_OK) *codes = cli_alloc(x.info.count, hu_limits_of(format).storage / 8);
  if (code == CLI_OK) code = *codes ? cli_array_to_codes(*codes, &x, format, off_grid) : CLI_BAD;
  cli_array_free(&x);
  return code;
}

/* Makes an array of one number. */
static int repeat(uint8_t **codes, asked *given, const char *text, number z) {
  hu_format format = given->path.format;
  size_t size = hu_limits_of(format).storage / 8;
  uint32_t events, code = hu_encode64(format, (hu_mode){0}, z.value, 0, &events);
  uint8_t bytes[4] = {(uint8_t)code};
  if (!number_suffices(z, format, (hu_mode){0})) return cli_fail(NULL, "path: too many digits of '%s'", text);
  if (size == 2) memcpy(bytes, &(uint16_t){(uint16_t)code}, 2);
  if (size == 4) memcpy(bytes, &code, 4);
  given->off_grid += (events & HU_EVENT_INEXACT) != 0;
  *codes = cli_alloc(given->shape.count, size);
  for (size_t i = 0; *codes && i < given->shape.count; i++) memcpy(*codes + i * size, bytes, size);
  return *codes ? CLI_OK : CLI_BAD;
}

static int load_operands(asked *given, const char *const texts[HU_PATH_OPERANDS]) {
  number z;
  int code = CLI_OK;
  given->shape.count = 1;
  given->shape.kind = 'f';
  for (uint32_t i = 0; i < given->path.operands && code == CLI_OK; i++)
    if (!number_parse(&z, texts[i]))
      code = load(&given->operands[i], given, texts[i], given->path.format, &given->off_grid);
  for (uint32_t i = 0; i < given->path.operands && code == CLI_OK; i++)
    if (number_parse(&z, texts[i])) code = repeat(&given->operands[i], given, texts[i], z);
  return code;
}

/* Makes NaNs canonical, as those of the rules are. */
static int settle_nans(uint8_t *codes, size_t n, hu_format format) {
  hu_status status = hu_convert_n(n, codes, 1, format, codes, 1, format, (hu_mode){0}, NULL, NULL);
  return status == HU_OK ? CLI_OK : cli_fail_status("--data", status);
}

static int load_recorded(asked *given) {
  hu_format format = given->path.result.format;
  size_t off_grid = 0;
  if (!given->data) return CLI_OK;
  if (load(&given->recorded, given, given->data, format, &off_grid)) return CLI_BAD;
  char name[CLI_NAME_MAX];
  if (off_grid)
    return cli_fail(given->data, "%zu elements are no values of %s, the format of the result", off_grid,
                    cli_format_name(name, format));
  return settle_nans(given->recorded, given->shape.count, format);
}

/* ---- results ---- */

static int apply(uint8_t **codes, const asked *given, const hu_path_rule *rule) {
  hu_view x[HU_PATH_OPERANDS];
  hu_format format = given->path.result.format;
  hu_exec exec = {1, 0, given->numeric.stream, {0}};
  *codes = cli_alloc(given->shape.count, hu_limits_of(format).storage / 8);
  if (!*codes) return CLI_BAD;
  for (uint32_t i = 0; i < given->path.operands; i++) x[i] = hu_codes(given->operands[i], 1, given->path.format);
  hu_output z = hu_codes_out(*codes, 1, format);
  hu_status status = hu_path_apply(given->shape.count, &z, x, &given->path, rule, &exec);
  return status == HU_OK ? CLI_OK : cli_fail_status("path", status);
}

/* Counts the elements that depend on which of two products a compiler joins to a sum, where the rule joins one. */
static int count_right(judged *one, const asked *given) {
  enum { LEFT = 1, RIGHT = 2 };
  hu_path_rule rule = one->rule;
  uint8_t *codes = NULL;
  size_t size = hu_limits_of(given->path.result.format).storage / 8;
  if (rule.word[HU_PATH_FMA] != LEFT) return CLI_OK;
  rule.word[HU_PATH_FMA] = RIGHT;
  int status = apply(&codes, given, &rule);
  for (size_t i = 0; i < given->shape.count && status == CLI_OK; i++)
    one->right += memcmp(one->codes + i * size, codes + i * size, size) != 0;
  free(codes);
  return status;
}

static int compute(judged *one, const asked *given) {
  if (hu_path_check(&given->path, &one->rule, &one->refused) == HU_E_MODE) return CLI_OK;
  one->refused = NULL;
  return apply(&one->codes, given, &one->rule) || count_right(one, given) ? CLI_BAD : CLI_OK;
}

/* Counts where a rule's results are others than the reference's. */
static void judge(judged *one, const uint8_t *reference, size_t n, size_t size) {
  if (!one->codes || !reference) return;
  for (size_t i = 0; i < n; i++) {
    if (!memcmp(one->codes + i * size, reference + i * size, size)) continue;
    if (!one->different++) one->first = i;
  }
}

static int compute_all(asked *given) {
  size_t size = hu_limits_of(given->path.result.format).storage / 8;
  for (int k = 0; k < given->count; k++) {
    judged *one = &given->rules[k];
    if (compute(one, given)) return CLI_BAD;
    if (one->refused && !given->data)
      return cli_fail(NULL, "--rule '%s' leaves the bits of '%s' open: %s", one->name, given->text, one->refused);
    judge(one, given->data ? given->recorded : given->rules[0].codes, given->shape.count, size);
  }
  return CLI_OK;
}

/* ---- what is said ---- */

static uint32_t code_at(const uint8_t *codes, hu_format format, size_t i) {
  uint32_t size = hu_limits_of(format).storage / 8, code = 0;
  if (size == 1) return codes[i];
  if (size == 4) memcpy(&code, codes + 4 * i, 4);
  if (size == 2) code = ((const uint16_t *)(const void *)codes)[i];
  return code;
}

static void print_number(FILE *out, const uint8_t *codes, hu_format format, size_t i) {
  char hex[NUMBER_TEXT_MAX];
  uint32_t code = code_at(codes, format, i);
  double value = hu_decode64(format, code);
  fprintf(out, "0x%0*x = %s = %s", (int)code_digits(format), code, number_hex(hex, value), DECIMAL(value));
}

static cli_value number_value(const uint8_t *codes, hu_format format, size_t i) {
  uint32_t code = code_at(codes, format, i);
  return cli_code((int)code_digits(format), code, hu_decode64(format, code));
}

/* Prints the first element on which a rule and the reference part. */
static void print_first(FILE *out, const asked *given, const judged *one, const uint8_t *reference) {
  char index[CLI_INDEX_MAX];
  hu_format format = given->path.result.format;
  fprintf(out, "  %s:", cli_index_text(index, &given->shape, one->first));
  for (uint32_t i = 0; i < given->path.operands; i++) {
    uint32_t code = code_at(given->operands[i], given->path.format, one->first);
    fprintf(out, " %s = %s", given->path.name[i], DECIMAL(hu_decode64(given->path.format, code)));
  }
  fprintf(out, "\n    %-22s ", given->data ? "recorded" : given->rules[0].name);
  print_number(out, reference, format, one->first);
  fprintf(out, "\n    %-22s ", one->name);
  print_number(out, one->codes, format, one->first);
  fputc('\n', out);
}

static int gives(const judged *one) { return !one->refused && !one->different; }

static void print_given(FILE *out, const asked *given) {
  int count = 0;
  for (int k = 0; k < given->count; k++) {
    if (!gives(&given->rules[k])) continue;
    fprintf(out, "%s%s", count++ ? ", " : "given by ", given->rules[k].name);
  }
  fputs(count ? "\n" : "no rule gives them\n", out);
}

static void print_text(FILE *out, const asked *given, const uint8_t *reference) {
  int single = given->shape.count == 1 && !given->data;
  if (given->off_grid)
    fprintf(out, "note: %zu elements were no values of the format and were rounded first\n", given->off_grid);
  for (int k = 0; k < given->count; k++) {
    const judged *one = &given->rules[k];
    fprintf(out, "%-22s ", one->name);
    if (one->refused)
      fprintf(out, "leaves it open: %s\n", one->refused);
    else if (given->count == 1 && !single && !given->data)
      fprintf(out, "%zu elements\n", given->shape.count);
    else if (single)
      print_number(out, one->codes, given->path.result.format, 0);
    else
      fprintf(out, "%zu of %zu differ\n", one->different, given->shape.count);
    if (single) fputc('\n', out);
    if (one->right)
      fprintf(out, "  note: %zu depend on which of two products is joined to a sum, here the left one (fma=right)\n",
              one->right);
    if (!single && one->different && !given->all) print_first(out, given, one, reference);
  }
  if (given->data) print_given(out, given);
}

static void json_first(FILE *out, const asked *given, const judged *one, const uint8_t *reference) {
  char index[CLI_INDEX_MAX];
  hu_format format = given->path.result.format;
  cli_json(out, "{'index': ?, 'operands': [", cli_plain(cli_index_text(index, &given->shape, one->first)));
  for (uint32_t i = 0; i < given->path.operands; i++)
    cli_json(out, "?{'name': ?, ?}", cli_comma(i == 0), JSON(given->path.name[i]),
             number_value(given->operands[i], given->path.format, one->first));
  cli_json(out, "], 'result': {?}, 'reference': {?}}", number_value(one->codes, format, one->first),
           number_value(reference, format, one->first));
}

static void print_json(FILE *out, const asked *given, const uint8_t *reference) {
  char name[CLI_NAME_MAX], other[CLI_NAME_MAX], text[HU_PATH_RULE_TEXT_MAX];
  cli_json(out, "{'path': ?, 'format': ?, 'result': ?, 'elements': ?, 'off_grid': ?, 'data': ?, 'rules': [",
           JSON(given->text), JSON(cli_format_name(name, given->path.format)),
           JSON(cli_format_name(other, given->path.result.format)), JSON(given->shape.count), JSON(given->off_grid),
           JSON(given->data));
  for (int k = 0; k < given->count; k++) {
    const judged *one = &given->rules[k];
    (void)hu_path_rule_text(text, sizeof text, &one->rule);
    cli_json(out, "?{'rule': ?, 'text': ?, 'open': ?", cli_comma(k == 0), JSON(one->name), JSON(text),
             JSON(one->refused));
    if (!one->refused) cli_json(out, ", 'different': ?, 'right': ?", JSON(one->different), JSON(one->right));
    if (!one->refused && given->shape.count == 1)
      cli_json(out, ", 'value': {?}", number_value(one->codes, given->path.result.format, 0));
    if (one->different) {
      fputs(", \"first\": ", out);
      json_first(out, given, one, reference);
    }
    fputc('}', out);
  }
  fputs("]}\n", out);
}

static int run(asked *given, char **operands, int count) {
  const char *texts[HU_PATH_OPERANDS] = {0};
  if (read_path(given, operands[0]) || place_operands(given, texts, operands + 1, count - 1)) return CLI_BAD;
  for (uint32_t i = 0; given->output && i < given->path.operands; i++)
    if (cli_spare_input(given->output, texts[i], "give -o another name")) return CLI_BAD;
  if (given->output && given->data && cli_spare_input(given->output, given->data, "give -o another name"))
    return CLI_BAD;
  int code = load_operands(given, texts);
  if (code == CLI_OK) code = load_recorded(given);
  if (code == CLI_OK) code = compute_all(given);
  if (code == CLI_OK && given->output)
    code = cli_array_save_values(given->output, given->shape, given->rules[0].codes, given->path.result.format);
  FILE *out = given->output ? cli_report_file(given->output, given->numeric.json) : stdout;
  const uint8_t *reference = given->data ? given->recorded : given->rules[0].codes;
  if (code == CLI_OK && out && given->numeric.json) print_json(out, given, reference);
  if (code == CLI_OK && out && !given->numeric.json) print_text(out, given, reference);
  int given_by = !given->data;
  for (int k = 0; k < given->count; k++) given_by |= gives(&given->rules[k]);
  return code == CLI_OK && !given_by ? CLI_DIFFERENT : code;
}

static void free_all(asked *given) {
  for (int i = 0; i < HU_PATH_OPERANDS; i++) free(given->operands[i]);
  for (int k = 0; k < given->count; k++) free(given->rules[k].codes);
  free(given->recorded);
}

int cli_path(int argc, char **argv) {
  asked given = {0};
  char **operands;
  int count, status = cli_parse(&command, &given, argc, argv, &operands, &count);
  if (status >= 0) return status;
  if (given.lists) return count ? cli_fail(NULL, "path: --rules takes no operands") : print_rules(given.numeric.json);
  if (!count) return cli_fail(NULL, "path: an expression is missing, as 'bf16: x * w + b'");
  if (given.output && given.count > 1)
    return cli_fail(NULL, "path: -o writes the results of one rule; give one --rule");
  given.all = !given.count && given.data;
  if (!given.count && !given.data && add_rule(&given, hu_path_rule_at(0).name)) return CLI_BAD;
  for (size_t i = 0; given.all && i < hu_path_rule_count(); i++)
    if (add_rule(&given, hu_path_rule_at(i).name)) return CLI_BAD;
  status = run(&given, operands, count);
  free_all(&given);
  return status;
}
