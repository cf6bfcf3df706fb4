/* SPDX-License-Identifier: MIT */
/* hu_path_parse: the grammar stands in halfulp/path.h. */
#include <string.h>

#include "emu/format/reader.h"
#include "halfulp/number.h"
#include "halfulp/path.h"

enum { DEPTH_MAX = 2 * HU_PATH_NODES, CONSTANT_MAX = 56 };

typedef struct parser {
  hu_reader reader;
  hu_path path;
  const char *why;
  int depth;
} parser;

/* Notes a failure and returns -1, which is no node. */
static int failed(parser *input, size_t at, hu_status wrong, const char *why) {
  if (input->reader.wrong == HU_OK) {
    (void)hui_reader_failed(&input->reader, at, wrong);
    input->why = why;
  }
  return -1;
}

static char next(parser *input) {
  while (input->reader.text[input->reader.at] == ' ') input->reader.at++;
  return input->reader.text[input->reader.at];
}

/* Passes this mark, which must stand here; 1, or 0 after a failure. */
static int mark(parser *input, char c) {
  if (next(input) == c) return hui_reader_passed(&input->reader, c);
  (void)failed(input, input->reader.at, HU_E_TEXT, "");
  return 0;
}

static int add(parser *input, hu_path_node node, size_t at) {
  hu_path *path = &input->path;
  if (path->nodes == HU_PATH_NODES) return failed(input, at, HU_E_TEXT, "more than 32 numbers and operations");
  path->node[path->nodes] = node;
  return (int)path->nodes++;
}

static hu_path_node node_of(uint8_t kind, int operation, int a) {
  hu_path_node node;
  memset(&node, 0, sizeof node);
  node.kind = kind;
  node.operation = (uint8_t)operation;
  node.x[0] = (uint8_t)a;
  return node;
}

static int is_constant(const parser *input, int a) { return input->path.node[a].kind == HU_PATH_CONSTANT; }

/* Adds an operation of two or three nodes, of which one at least is no constant. */
static int add_operation(parser *input, int op, const int *x, int count, size_t at) {
  hu_path_node node = node_of(HU_PATH_OPERATION, op, 0);
  int constants = 0;
  for (int i = 0; i < count; i++) {
    if (x[i] < 0) return -1;
    node.x[i] = (uint8_t)x[i];
    constants += is_constant(input, x[i]);
  }
  if (constants == count) return failed(input, at, HU_E_TEXT, "an operation on constants alone: write its result");
  return add(input, node, at);
}

static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static int is_digit(char c) { return c >= '0' && c <= '9'; }

/* Counts the letters of a number from here on: digits, a point, an exponent with its sign, or a pattern. */
static size_t constant_length(const char *text) {
  size_t n = 0;
  while (is_digit(text[n]) || text[n] == '.' || is_letter(text[n]) ||
         ((text[n] == '-' || text[n] == '+') && n && text[n - 1] == 'e' && text[1] != 'x'))
    n++;
  return n;
}

/* Reads a constant by the reader of tables, whose numbers are the same. */
static int read_constant(parser *input) {
  char table[CONSTANT_MAX + 8] = "table(";
  float value[HU_TABLE_MAX];
  hu_number number;
  size_t at = input->reader.at, n = constant_length(input->reader.text + at);
  if (n > CONSTANT_MAX) return failed(input, at, HU_E_TEXT, "no number that can be read");
  memcpy(table + 6, input->reader.text + at, n);
  memcpy(table + 6 + n, ")", 2);
  if (hu_number_parse(&number, table, value, NULL) != HU_OK || number.count != 1)
    return failed(input, at, HU_E_TEXT, "no number that can be read");
  input->reader.at += n;
  hu_path_node node = node_of(HU_PATH_CONSTANT, 0, 0);
  node.constant = value[0];
  return add(input, node, at);
}

static int read_operand(parser *input, const char *name, size_t at) {
  hu_path *path = &input->path;
  uint32_t i = 0;
  while (i < path->operands && strcmp(path->name[i], name) != 0) i++;
  if (i == HU_PATH_OPERANDS) return failed(input, at, HU_E_TEXT, "more than 8 operands");
  if (i == path->operands) memcpy(path->name[path->operands++], name, strlen(name) + 1);
  return add(input, node_of(HU_PATH_OPERAND, (int)i, 0), at);
}

/* ---- functions ---- */

static int read_sum(parser *input);

/* Every value of z, and an infinity and a NaN where it has them, is one of x. */
static int is_within(hu_format z, hu_format x) {
  hu_limits a = hu_limits_of(z), b = hu_limits_of(x);
  return z.m <= x.m && a.max <= b.max && a.emin - (int)z.m >= b.emin - (int)x.m && (!z.inf || x.inf) &&
         (!a.has_nan || b.has_nan) && (!z.sign || x.sign);
}

/* Reads "," FORMAT of a cast. */
static int read_cast(parser *input, int a, size_t at) {
  if (a < 0 || !mark(input, ',')) return -1;
  (void)next(input);
  hu_path_node node = node_of(HU_PATH_CAST, 0, a);
  size_t from = input->reader.at;
  if (!hui_reader_format(&input->reader, &node.format)) return -1;
  if (!is_within(node.format, input->path.format))
    return failed(input, from, HU_E_FORMAT, "a cast into a format with values that the operands' format lacks");
  if (is_constant(input, a)) return failed(input, at, HU_E_TEXT, "a cast of a constant: write its result");
  return add(input, node, at);
}

/* Adds x sigmoid(x). */
static int add_silu(parser *input, int a, size_t at) {
  int sigmoid = add_operation(input, HU_OP_SIGMOID, &a, 1, at);
  if (sigmoid < 0) return -1;
  input->path.node[sigmoid].inside = 1;
  int product = add_operation(input, HU_OP_MUL, (int[]){a, sigmoid}, 2, at);
  if (product >= 0) input->path.node[product].inside = 2;
  return product;
}

static int read_call(parser *input, const char *name, size_t at) {
  static const struct {
    const char *name;
    uint8_t kind;
  } exact[] = {{"abs", HU_PATH_MAGNITUDE}, {"relu", HU_PATH_RELU}};
  int op = hu_operation_find(name), x[HU_OPERANDS_MAX] = {-1, -1, -1}, count = 0;
  uint8_t kind = 0;
  for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
    if (!strcmp(name, exact[i].name)) kind = exact[i].kind;
  int cast = !strcmp(name, "to"), silu = !strcmp(name, "silu");
  int known =
      op == HU_OP_SQRT || op == HU_OP_FMA || (op >= HU_OP_FUNCTION && op <= HU_OP_POW && op != HU_OP_RECIPROCAL);
  if (!kind && !cast && !silu && !known) return failed(input, at, HU_E_NAME, "");
  int operands = known ? hu_operation_at((size_t)op).operands : 1;
  do {
    if (count == operands) return failed(input, input->reader.at, HU_E_TEXT, "too many operands of a function");
    x[count] = read_sum(input);
    if (x[count++] < 0) return -1;
    if (cast) break;
  } while (next(input) == ',' && hui_reader_passed(&input->reader, ','));
  if (count < operands) return failed(input, input->reader.at, HU_E_TEXT, "too few operands of a function");
  int made = cast   ? read_cast(input, x[0], at)
             : silu ? add_silu(input, x[0], at)
             : kind && is_constant(input, x[0])
                 ? failed(input, at, HU_E_TEXT, "an operation on constants alone: write its result")
             : kind ? add(input, node_of(kind, 0, x[0]), at)
                    : add_operation(input, op, x, count, at);
  return made < 0 || !mark(input, ')') ? -1 : made;
}

/* Reads a name, of an operand or, before a parenthesis, of a function. */
static int read_name(parser *input) {
  char name[HU_PATH_NAME_MAX];
  size_t at = input->reader.at, n = 0;
  const char *text = input->reader.text + at;
  while (is_letter(text[n]) || is_digit(text[n])) n++;
  if (n >= sizeof name) return failed(input, at, HU_E_TEXT, "a name of more than 15 letters");
  memcpy(name, text, n);
  name[n] = 0;
  input->reader.at += n;
  if (next(input) != '(') return read_operand(input, name, at);
  input->reader.at++;
  return read_call(input, name, at);
}

/* ---- sums ---- */

static int read_factor(parser *input) {
  char c = next(input);
  size_t at = input->reader.at;
  int a;
  if (++input->depth > DEPTH_MAX) return failed(input, at, HU_E_TEXT, "parentheses or signs too deep");
  if (c == '-') {
    input->reader.at++;
    a = read_factor(input);
    if (a >= 0 && is_constant(input, a))
      input->path.node[a].constant = -input->path.node[a].constant;
    else if (a >= 0)
      a = add(input, node_of(HU_PATH_NEGATIVE, 0, a), at);
  } else if (c == '(') {
    input->reader.at++;
    a = read_sum(input);
    if (a >= 0 && !mark(input, ')')) a = -1;
  } else if (is_digit(c) || c == '.') {
    a = read_constant(input);
  } else {
    a = is_letter(c) ? read_name(input) : failed(input, at, HU_E_TEXT, "");
  }
  input->depth--;
  return a;
}

/* Reads operands with these two operations between them. */
static int read_chain(parser *input, int (*read)(parser *), const char *marks, const int *ops) {
  int a = read(input);
  while (a >= 0) {
    char c = next(input);
    size_t at = input->reader.at;
    if (!c || (c != marks[0] && c != marks[1])) return a;
    input->reader.at++;
    int b = read(input);
    a = add_operation(input, ops[c == marks[1]], (int[]){a, b}, 2, at);
  }
  return -1;
}

static int read_product(parser *input) {
  static const int ops[] = {HU_OP_MUL, HU_OP_DIV};
  return read_chain(input, read_factor, "*/", ops);
}

static int read_sum(parser *input) {
  static const int ops[] = {HU_OP_ADD, HU_OP_SUB};
  return read_chain(input, read_product, "+-", ops);
}

/* ---- the whole ---- */

/* Reads the format before the colon, which has colons of its own: the longest text that is one. */
static int read_format(parser *input) {
  char piece[HU_FORMAT_TEXT_MAX];
  const char *text = input->reader.text;
  size_t best = 0, where = 0;
  hu_status status = HU_E_TEXT;
  for (size_t n = 0; n < sizeof piece && text[n]; n++) {
    if (text[n] == ':') {
      memcpy(piece, text, n);
      piece[n] = 0;
      hu_status found = hu_format_parse(&input->path.format, piece, best ? NULL : &where);
      if (found == HU_OK) best = n;
      if (!best) status = found;
    }
  }
  if (!best) return failed(input, where, status, status == HU_E_TEXT ? "a format and a colon begin a path" : "");
  if (!hu_format_fits_binary32(input->path.format))
    return failed(input, 0, HU_E_CARRIER, "a format with values that binary32 lacks");
  input->reader.at = best + 1;
  return 0;
}

/* Reads what stands behind the second colon. */
static int read_result(parser *input) {
  (void)next(input);
  const char *text = input->reader.text + input->reader.at;
  hu_conversion *result = &input->path.result;
  size_t where = 0;
  hu_status status = hu_format_parse(&result->format, text, &where);
  if (status == HU_OK) return 0;
  if (hu_conversion_find(result, text) == HU_OK && !*result->scaling) return 0;
  if (!strncmp(text, "path(", 5)) status = hu_conversion_parse(result, text, &where);
  return failed(input, input->reader.at + where, status, "no format, no path and no preset of a format");
}

static void prepare(parser *input, const char *text) {
  memset(input, 0, sizeof *input);
  input->reader.text = text;
  input->reader.wrong = HU_OK;
  input->why = "";
}

static void read_path(parser *input) {
  hu_conversion *result = &input->path.result;
  if (read_format(input) < 0) return;
  result->format = input->path.format;
  result->nan_code = HU_NO_CODE;
  result->scaling = result->through = "";
  size_t at = input->reader.at;
  int root = read_sum(input);
  if (root < 0) return;
  if (is_constant(input, root)) {
    (void)failed(input, at, HU_E_TEXT, "a constant alone");
    return;
  }
  if (next(input) == ':') {
    input->reader.at++;
    (void)read_result(input);
  } else if (next(input)) {
    (void)failed(input, input->reader.at, HU_E_TEXT, "");
  }
}

hu_status hu_path_parse(hu_path *path, const char *text, size_t *where, const char **why) {
  parser input;
  if (!path || !text) return HU_E_NULL;
  prepare(&input, text);
  read_path(&input);
  if (why) *why = input.why;
  if (input.reader.wrong == HU_OK)
    *path = input.path;
  else if (where)
    *where = input.reader.at;
  return input.reader.wrong;
}
