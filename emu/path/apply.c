/* SPDX-License-Identifier: MIT */
/* hu_path_check, hu_path_apply: node by node, some elements at a time, each by hu_apply. */
#include <string.h>

#include "emu/base/array_extent.h"
#include "emu/base/exec.h"
#include "emu/core/bits.h"
#include "emu/core/round.h"
#include "emu/path/words.h"
#include "halfulp/array.h"
#include "halfulp/arith.h"
#include "halfulp/scalar.h"

enum { BLOCK = 256 };

/* ---- what a rule leaves open ---- */

static int is_constant(const hu_path *path, unsigned i) { return path->node[i].kind == HU_PATH_CONSTANT; }

/* How many nodes a node is made of; -1: no such node. */
static int operands_of(const hu_path *path, const hu_path_node *node) {
  if (node->kind == HU_PATH_CONSTANT) return 0;
  if (node->kind == HU_PATH_OPERAND) return node->operation < path->operands ? 0 : -1;
  if (node->kind != HU_PATH_OPERATION) return node->kind <= HU_PATH_CAST ? 1 : -1;
  int op = node->operation;
  int known = op <= HU_OP_DIV || op == HU_OP_SQRT || op == HU_OP_FMA || (op >= HU_OP_FUNCTION && op <= HU_OP_POW);
  return known ? hu_operation_at((size_t)op).operands : -1;
}

static int is_well_made(const hu_path *path) {
  if (!path->nodes || path->nodes > HU_PATH_NODES || !path->operands || path->operands > HU_PATH_OPERANDS) return 0;
  if (hu_format_check(path->format, NULL) != HU_OK || !hu_format_fits_binary32(path->format)) return 0;
  if (hu_conversion_check(&path->result) != HU_OK || *path->result.scaling) return 0;
  for (uint32_t i = 0; i < path->nodes; i++) {
    const hu_path_node *node = &path->node[i];
    int count = operands_of(path, node);
    if (count < 0) return 0;
    for (int k = 0; k < count; k++)
      if (node->x[k] >= i) return 0;
    if (node->kind == HU_PATH_CAST &&
        (hu_format_check(node->format, NULL) != HU_OK || !hu_format_fits_binary32(node->format)))
      return 0;
  }
  return 1;
}

/* What the rule leaves open of an operation; NULL: nothing. */
static const char *open_operation(const hu_path *path, const hu_path_rule *rule, const hu_path_node *node) {
  int op = node->operation, functions = rule->word[HU_PATH_FUNCTIONS];
  uint32_t width = (uint32_t)path->format.sign + path->format.e + path->format.m;
  if (op == HU_OP_DIV && is_constant(path, node->x[1]))
    return rule->word[HU_PATH_BY_CONSTANT] == BY_NONE ? "a quotient by a constant: by-constant=none" : NULL;
  if (op == HU_OP_DIV && is_constant(path, node->x[0]))
    return rule->word[HU_PATH_OF_CONSTANT] == OF_NONE ? "a quotient of a constant: of-constant=none" : NULL;
  if (op == HU_OP_DIV) return rule->word[HU_PATH_DIVISION] == DIVISION_NONE ? "a quotient: division=none" : NULL;
  if (op == HU_OP_SQRT && functions == FUNCTIONS_SQRT16)
    return width > 16 ? "sqrt of more than 16 bits: functions=sqrt16" : NULL;
  if (op == HU_OP_SQRT) return functions == FUNCTIONS_NONE ? "sqrt: functions=none" : NULL;
  if (op >= HU_OP_FUNCTION && functions != FUNCTIONS_CORRECT)
    return "a function whose bits the program's library decides; functions=correct rounds it correctly";
  return NULL;
}

/* Says of a constant that it has to be one of the operands' format, and is not; NULL: nothing. */
static const char *open_constant(const hu_path *path, const hu_path_rule *rule, float x) {
  const hu_mode rne = {0};
  if (rule->word[HU_PATH_CONSTANTS] != CONSTANTS_EXACT || hu_quantize(path->format, rne, x, 0, NULL) == x) return NULL;
  return "a constant that the operands' format lacks: constants=exact";
}

static int is_rule(const hu_path_rule *rule) {
  char text[HU_PATH_RULE_TEXT_MAX];
  return hu_path_rule_text(text, sizeof text, rule) != 0;
}

hu_status hu_path_check(const hu_path *path, const hu_path_rule *rule, const char **why) {
  const char *open = NULL;
  if (!path || !rule) return HU_E_NULL;
  if (!is_well_made(path)) return HU_E_SHAPE;
  if (!is_rule(rule)) open = "a word that its key does not have";
  for (uint32_t i = 0; i < path->nodes && !open; i++) {
    const hu_path_node *node = &path->node[i];
    if (node->kind == HU_PATH_OPERATION) open = open_operation(path, rule, node);
    if (node->kind == HU_PATH_CONSTANT) open = open_constant(path, rule, node->constant);
  }
  if (why) *why = open ? open : "";
  return open ? HU_E_MODE : HU_OK;
}

/* ---- some elements ---- */

/* The values of a node, as codes. */
typedef struct slot {
  hu_format format;
  uint32_t code[BLOCK]; /* in the low bytes: the storage of hu_apply */
} slot;

typedef struct run {
  const hu_path *path;
  const hu_path_rule *rule;
  hu_format compute;
  hu_exec exec;
  size_t n;
  hu_status status; /* cannot become another than HU_OK: everything was checked */
  slot node[HU_PATH_NODES], spare, other;
} run;

static hu_view view_of(const slot *x) { return hu_codes(x->code, 1, x->format); }

/* z = an operation of slots, rounded into a format. z may be one of them. */
static void apply(run *call, int op, slot *z, hu_format format, const slot *a, const slot *b, const slot *c) {
  hu_view x[HU_OPERANDS_MAX] = {view_of(a), view_of(b ? b : a), view_of(c ? c : a)};
  hu_output to = hu_codes_out(call->spare.code, 1, format);
  const hu_how how = {{0}, &call->exec, NULL};
  if (call->status == HU_OK) call->status = hu_apply(op, call->n, &to, x, &how);
  memcpy(z->code, call->spare.code, call->n * hui_code_bytes(format));
  z->format = format;
}

static void convert(run *call, slot *z, hu_format format) {
  if (!hu_format_equal(z->format, format)) apply(call, HU_OP_CONVERT, z, format, z, NULL, NULL);
}

static void fill(run *call, slot *z, hu_format format, float value) {
  const hu_mode rne = {0};
  size_t size = hui_code_bytes(format);
  uint32_t code = hu_encode(format, rne, value, 0, NULL);
  for (size_t i = 0; i < call->n; i++) hui_store_code((uint8_t *)z->code + i * size, size, code);
  z->format = format;
}

/* z = -x, exactly: -0 - x. */
static void negate(run *call, slot *z, const slot *x) {
  slot *zero = &call->other;
  fill(call, zero, call->compute, -0.0F);
  apply(call, HU_OP_SUB, z, call->compute, zero, x, NULL);
}

/* Rounds a node into the operands' format, where the rule does so after each operation. */
static void settle(run *call, slot *z) {
  if (call->rule->word[HU_PATH_ROUND] == ROUND_EACH) convert(call, z, call->path->format);
}

static void do_relu(run *call, slot *z, const slot *x) {
  int8_t order[BLOCK];
  unsigned word = call->rule->word[HU_PATH_RELU_OF];
  slot *zero = &call->other;
  size_t size = hui_code_bytes(call->compute);
  fill(call, zero, call->compute, 0);
  if (word != RELU_COMPARISON) {
    apply(call, word == RELU_NUMBER ? HU_OP_MAXIMUM_NUMBER : HU_OP_MAXIMUM, z, call->compute, x, zero, NULL);
    return;
  }
  hu_view both[2] = {view_of(x), view_of(zero)};
  hu_output to = hu_int8_out(order, 1);
  memset(order, 0, sizeof order);
  if (call->status == HU_OK) call->status = hu_apply(HU_OP_COMPARE, call->n, &to, both, NULL);
  apply(call, HU_OP_CONVERT, z, call->compute, x, NULL, NULL);
  for (size_t i = 0; i < call->n; i++)
    if (order[i] == HU_LESS) memcpy((uint8_t *)z->code + i * size, zero->code, size);
}

/* Is a quotient of the rule a product? Then its divisor's slot has been made the reciprocal. */
static int is_product(const run *call, const hu_path_node *node) {
  if (node->kind != HU_PATH_OPERATION || node->inside) return 0;
  if (node->operation == HU_OP_MUL) return 1;
  if (node->operation != HU_OP_DIV) return 0;
  if (is_constant(call->path, node->x[1])) return call->rule->word[HU_PATH_BY_CONSTANT] == BY_RECIPROCAL;
  return is_constant(call->path, node->x[0]) && call->rule->word[HU_PATH_OF_CONSTANT] != OF_DIVISION;
}

static void do_quotient(run *call, unsigned i) {
  const hu_path_node *node = &call->path->node[i];
  slot *a = &call->node[node->x[0]], *b = &call->node[node->x[1]];
  if (!is_product(call, node)) {
    apply(call, HU_OP_DIV, &call->node[i], call->compute, a, b, NULL);
    return;
  }
  apply(call, HU_OP_RECIPROCAL, b, call->compute, b, NULL, NULL);
  if (is_constant(call->path, node->x[0]) && call->rule->word[HU_PATH_OF_CONSTANT] == OF_PRODUCTS) settle(call, b);
  apply(call, HU_OP_MUL, &call->node[i], call->compute, a, b, NULL);
}

/* Does the rule join products to sums here? It does not where it rounds them first. */
static int joins(const run *call) {
  return call->rule->word[HU_PATH_FMA] != FMA_OFF &&
         (call->rule->word[HU_PATH_ROUND] == ROUND_END || hu_format_equal(call->compute, call->path->format));
}

/* Does the rule leave this cast out? */
static int is_elided(const run *call, const hu_path_node *node) {
  unsigned width = (unsigned)node->format.sign + node->format.e + node->format.m;
  return node->kind == HU_PATH_CAST && width == 16 && call->rule->word[HU_PATH_CASTS] == CASTS_ELIDED;
}

/* The node below casts that are left out. */
static const hu_path_node *without_casts(const run *call, unsigned i) {
  const hu_path_node *node = &call->path->node[i];
  while (is_elided(call, node)) node = &call->path->node[node->x[0]];
  return node;
}

/* The product that operand k of a sum is, perhaps below a minus sign; NULL: another operation. */
static const hu_path_node *product_of(const run *call, unsigned i, int *negative) {
  const hu_path_node *node = without_casts(call, i);
  *negative = node->kind == HU_PATH_NEGATIVE;
  if (*negative) node = without_casts(call, node->x[0]);
  return is_product(call, node) ? node : NULL;
}

/* Joins operand k of a sum, if it is a product; 0: it is not. */
static int join(run *call, unsigned i, int k) {
  const hu_path_node *node = &call->path->node[i];
  int negative, minus = node->operation == HU_OP_SUB;
  const hu_path_node *product = product_of(call, node->x[k], &negative);
  if (!product) return 0;
  slot *z = &call->node[i], *rest = &call->node[node->x[1 - k]], *a = &call->node[product->x[0]];
  if (negative != (minus && k == 1)) {
    negate(call, z, a);
    a = z;
  }
  if (minus && k == 0) negate(call, rest, rest); /* which nothing else reads */
  apply(call, HU_OP_FMA, z, call->compute, a, &call->node[product->x[1]], rest);
  return 1;
}

static void do_sum(run *call, unsigned i) {
  const hu_path_node *node = &call->path->node[i];
  int first = call->rule->word[HU_PATH_FMA] == FMA_RIGHT;
  for (int k = 0; k < 2; k++)
    if (is_constant(call->path, node->x[k]) && call->rule->word[HU_PATH_CONSTANTS] == CONSTANTS_SUMS)
      convert(call, &call->node[node->x[k]], call->path->format);
  if (joins(call) && (join(call, i, first) || join(call, i, 1 - first))) return;
  apply(call, node->operation, &call->node[i], call->compute, &call->node[node->x[0]], &call->node[node->x[1]], NULL);
}

static void do_operation(run *call, unsigned i) {
  const hu_path_node *node = &call->path->node[i];
  const slot *x[HU_OPERANDS_MAX];
  int operands = operands_of(call->path, node);
  for (int k = 0; k < HU_OPERANDS_MAX; k++) x[k] = &call->node[node->x[k < operands ? k : 0]];
  if (node->operation == HU_OP_ADD || node->operation == HU_OP_SUB)
    do_sum(call, i);
  else if (node->operation == HU_OP_DIV)
    do_quotient(call, i);
  else
    apply(call, node->operation, &call->node[i], call->compute, x[0], x[1], x[2]);
  if (node->inside != 1) settle(call, &call->node[i]);
}

static void do_cast(run *call, unsigned i) {
  const hu_path_node *node = &call->path->node[i];
  call->node[i] = call->node[node->x[0]];
  if (!is_elided(call, node)) convert(call, &call->node[i], node->format);
}

/* Loads an operand, with canonical NaNs. */
static void load(run *call, slot *z, const hu_view *x, size_t first) {
  ptrdiff_t size = (ptrdiff_t)hui_code_bytes(call->path->format);
  hu_view part = hu_codes((const char *)x->data + (ptrdiff_t)first * x->stride * size, x->stride, call->path->format);
  hu_output to = hu_codes_out(z->code, 1, call->path->format);
  if (call->status == HU_OK) call->status = hu_apply(HU_OP_CONVERT, call->n, &to, &part, NULL);
  z->format = call->path->format;
}

static void do_node(run *call, unsigned i, const hu_view *x, size_t first) {
  const hu_path_node *node = &call->path->node[i];
  slot *z = &call->node[i];
  unsigned constants = call->rule->word[HU_PATH_CONSTANTS];
  int wide = constants == CONSTANTS_COMPUTE || constants == CONSTANTS_SUMS;
  switch (node->kind) {
    case HU_PATH_OPERAND: load(call, z, &x[node->operation], first); return;
    case HU_PATH_CONSTANT: fill(call, z, wide ? call->compute : call->path->format, node->constant); return;
    case HU_PATH_OPERATION: do_operation(call, i); return;
    case HU_PATH_CAST: do_cast(call, i); return;
    case HU_PATH_RELU: do_relu(call, z, &call->node[node->x[0]]); break;
    default:
      negate(call, z, &call->node[node->x[0]]);
      if (node->kind == HU_PATH_MAGNITUDE)
        apply(call, HU_OP_MAXIMUM, z, call->compute, z, &call->node[node->x[0]], NULL);
  }
  settle(call, z);
}

/* ---- the call ---- */

static hu_status check_arrays(size_t n, const hu_output *z, const hu_view *x, const hu_path *path) {
  hu_strided to = {z->data, hui_code_bytes(path->result.format), z->stride};
  hu_status status = HU_OK;
  for (uint32_t k = 0; k < path->operands && status == HU_OK; k++) {
    hu_strided from = {x[k].data, hui_code_bytes(path->format), x[k].stride};
    if (x[k].type.kind != HU_TYPE_CODES || x[k].type.number || !hu_format_equal(x[k].type.format, path->format))
      return HU_E_FORMAT;
    status = hui_check_pair(n, &to, &from);
  }
  for (uint32_t k = 0; k < path->operands && status == HU_OK; k++)
    status = hu_codes_check_n(n, x[k].data, x[k].stride, path->format, NULL, NULL);
  return status;
}

/* Converts what the last node has into the result. */
static void store(run *call, const hu_output *z, size_t first) {
  float value[BLOCK];
  const slot *root = &call->node[call->path->nodes - 1];
  ptrdiff_t size = (ptrdiff_t)hui_code_bytes(call->path->result.format);
  char *to = (char *)z->data + (ptrdiff_t)first * z->stride * size;
  if (call->status == HU_OK) call->status = hu_decode_n(call->n, value, 1, root->code, 1, root->format, NULL);
  if (call->status == HU_OK)
    call->status = hu_conversion_encode_n(call->n, to, z->stride, value, 1, &call->path->result, &call->exec, NULL);
}

hu_status hu_path_apply(size_t n, const hu_output *z, const hu_view *x, const hu_path *path, const hu_path_rule *rule,
                        const hu_exec *exec) {
  if (hui_is_elsewhere(exec)) return HU_E_DEVICE;
  if (!z || !x) return HU_E_NULL;
  hu_status status = hu_path_check(path, rule, NULL);
  if (status == HU_OK && (z->type.kind != HU_TYPE_CODES || z->type.number)) status = HU_E_FORMAT;
  if (status == HU_OK) status = check_arrays(n, z, x, path);
  if (status != HU_OK) return status;
  run call;
  call.path = path;
  call.rule = rule;
  call.compute = rule->word[HU_PATH_COMPUTE] == COMPUTE_OPERAND ? path->format : hui_format_binary32();
  call.exec = hui_exec_levels(exec);
  call.exec.stream = hui_exec_stream(exec);
  call.status = HU_OK;
  for (size_t first = 0; first < n; first += BLOCK) {
    call.n = n - first < BLOCK ? n - first : BLOCK;
    for (uint32_t i = 0; i < path->nodes; i++) do_node(&call, i, x, first);
    store(&call, z, first);
    call.exec.stream.counter += call.n;
  }
  return call.status;
}
