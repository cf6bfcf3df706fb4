/* SPDX-License-Identifier: MIT */
/* Two rules of quantizers: the shortest block on which they differ, or a proof that they never do. See quantizers.h.
 *
 * The proof is for one level, scales of 8 bits and rules without a search. There the scale of a block depends on its
 * amax A alone, and never falls where A grows; a code depends on the scale and x alone, and never falls where x grows:
 * every step is a rounding, which keeps the order; in_order looks whether formulas do. So the pair of the two rules'
 * scales is constant on intervals of A, whose ends are found by halving, and for each scale the pair of codes on
 * intervals of x. Rules that are equal on every interval are equal on every block of finite numbers; infinities, NaN
 * and zeros are tried with each scale. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/audit/quantizers.h"
#include "cli/audit/report.h"

enum { PROVED, DIFFER, DRAWN, FOUND = 64 };

static float of_bits(uint32_t bits) {
  float z;
  memcpy(&z, &bits, sizeof z);
  return z;
}

int audit_is_rule(const char *text) {
  hu_scaling scaling;
  hu_conversion conversion;
  char name[CLI_TARGET_MAX];
  snprintf(name, sizeof name, "%s", text);
  char *mode = strstr(name, " -r ");
  if (mode) *mode = 0;
  if (!strncmp(name, "scaled(", 7) || !strncmp(name, "bfp(", 4)) return 1;
  if (hu_scaling_parse(&scaling, name, NULL) == HU_OK) return 1;
  return hu_conversion_find(&conversion, name) == HU_OK && *conversion.scaling;
}

/* ---- drawing ---- */

static uint32_t next_word(audit_drawing *drawing) { return hu_stream_word(drawing->stream, drawing->word++); }

/* Draws a number below `most`, of a magnitude that is often near it, with 1 to 24 digits. */
static float draw_number(audit_drawing *drawing, float most) {
  uint32_t word = next_word(drawing), bits, digits = word >> 8 & 3 ? 1 + (word >> 10 & 7) : 23;
  float near = most;
  if (!(word & 7)) near = most * of_bits((127 - (word >> 3 & 31)) << 23);
  near = near * of_bits((126 - (word >> 13 & 3)) << 23 | (next_word(drawing) >> 9)) * 2;
  memcpy(&bits, &near, sizeof bits);
  float z = of_bits(bits & UINT32_MAX << (23 - digits));
  return z > most ? most : z;
}

static float draw_amax(audit_drawing *drawing) {
  uint32_t word = next_word(drawing), digits = word & 3 ? 1 + (word >> 2 & 7) : 23;
  int exponent = word >> 5 & 7 ? (int)(word >> 8 & 31) - 16 : (int)(word >> 8 & 255) - 126;
  uint32_t fraction = next_word(drawing) >> 9 & UINT32_MAX << (23 - digits);
  return of_bits((uint32_t)(exponent > 126 ? 253 : exponent + 127) << 23 | fraction);
}

void audit_draw(audit_block *z, audit_drawing *drawing) {
  static const float rare[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN};
  uint32_t word = next_word(drawing);
  size_t most = drawing->longest < 16 ? drawing->longest : 16;
  z->n = word & 3 ? 1 + (word >> 2 & 1) : 1 + (word >> 2) % most;
  if (z->n > most) z->n = most;
  z->amax = draw_amax(drawing);
  float amax = word >> 8 & 3 ? draw_number(drawing, z->amax) : z->amax;
  for (size_t i = 0; i < z->n; i++) {
    float x = i ? draw_number(drawing, amax) : amax;
    z->x[i] = next_word(drawing) & 1 ? -x : x;
  }
  if (!(word >> 12 & 63)) z->x[next_word(drawing) % z->n] = rare[next_word(drawing) % 5];
  if (!(word >> 18 & 255)) z->x[0] = 0;
}

/* ---- the proof ---- */

typedef struct question {
  audit_block block;
  audit_made made[2];
  audit_rule rule[2];
  uint64_t asked;
  int failed;
} question;

static int differs(question *z) {
  int found = audit_block_differs(&z->block, z->made, &z->rule[0], &z->rule[1]);
  z->asked++;
  z->failed |= found < 0;
  return found > 0;
}

/* What both rules make of the last element of the block, or of its scale. */
typedef struct answer {
  float scale[2];
  uint8_t code[2];
} answer;

static answer ask(question *z, int scales) {
  answer found = {{0, 0}, {0, 0}};
  differs(z);
  for (int k = 0; k < 2; k++) {
    if (scales) found.scale[k] = z->made[k].scales[0];
    if (!scales) found.code[k] = z->made[k].codes[z->block.n - 1];
  }
  return found;
}

static int same(answer x, answer y) { return !memcmp(&x, &y, sizeof x); }

/* Returns the last pattern from `bits` to `last` for which both answer as for `bits`. The number is element `at`. */
static uint32_t last_like(question *z, uint32_t bits, uint32_t last, uint32_t sign, size_t at, int scales) {
  z->block.x[at] = of_bits(bits | sign);
  answer first = ask(z, scales);
  uint32_t low = bits, high = last;
  while (low < high) {
    uint32_t middle = low + (high - low + 1) / 2;
    z->block.x[at] = of_bits(middle | sign);
    if (same(ask(z, scales), first))
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/* Walks the codes under the scale of A; 1: one differs, and the block shows it. */
static int walk_codes(question *z, uint32_t amax) {
  for (uint32_t sign = 0; sign <= 0x80000000; sign += 0x80000000) {
    z->block.n = 2;
    z->block.x[0] = of_bits(amax);
    for (uint32_t bits = 0; bits <= amax; bits++) {
      uint32_t end = last_like(z, bits, amax, sign, 1, 0);
      z->block.x[1] = of_bits(bits | sign);
      if (differs(z)) return 1;
      bits = end;
    }
    if (sign) break;
  }
  static const float rare[] = {INFINITY, -INFINITY, NAN};
  for (size_t i = 0; i < sizeof rare / sizeof rare[0]; i++) {
    z->block.x[1] = rare[i];
    if (differs(z)) return 1;
  }
  return 0;
}

/* How a formula changes where a name grows: it does not, never falls, never rises; MIXED: neither is known. */
enum { SAME = 0, GROWS = 1, FALLS = 2, MIXED = 3 };

static int change_of_two(uint8_t op, int a, int b) {
  if (op == HU_FORMULA_OVER) b = b == GROWS ? FALLS : b == FALLS ? GROWS : b;
  if (op == HU_FORMULA_OR && a) return MIXED;
  return a | b; /* numbers are not negative; GROWS and FALLS are MIXED */
}

/* Returns how the `which`-th formula of a scaling changes with a name. Operations on one number are roundings, which
 * keep the order. */
static int change_of(const hu_formulas *formulas, int which, uint8_t name) {
  int stack[HU_FORMULA_DEEP + 1] = {SAME}, depth = 0;
  const uint8_t *at = formulas->code;
  for (; which; which--) at += strlen((const char *)at) + 1;
  for (; *at; at++) {
    if (*at < HU_FORMULA_ADD || *at >= HU_FORMULA_NUMBER) {
      stack[depth++] = *at == name ? GROWS : SAME;
    } else if (*at <= HU_FORMULA_AND) {
      depth--;
      stack[depth - 1] = change_of_two(*at, stack[depth - 1], stack[depth]);
    }
  }
  return stack[0];
}

/* Does the scale depend on A alone and never fall, and a code on the scale and the element alone? */
static int in_order(const hu_scaling *scaling) {
  enum { OF_SCALE = 2, OF_ELEMENT = 3 };
  const hu_formulas *formulas = &scaling->formulas;
  if (scaling->tensor) return 0;
  if (scaling->rule != HU_SCALE_FORMULAS) return scaling->rule <= HU_SCALE_RATIO;
  return change_of(formulas, OF_SCALE, HU_FORMULA_A) <= GROWS &&
         change_of(formulas, OF_ELEMENT, HU_FORMULA_A) == SAME &&
         change_of(formulas, OF_ELEMENT, HU_FORMULA_X) <= GROWS;
}

/* Returns PROVED, DIFFER with the block, or DRAWN: the proof is not for such rules. */
static int prove(question *z) {
  const uint32_t last = 0x7F7FFFFF;
  static const float alone[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN};
  uint32_t ends[2048];
  size_t count = 0;
  for (int k = 0; k < 2; k++) {
    const hu_scaling *scaling = &z->rule[k].scaling;
    if (!in_order(scaling) || hu_limits_of(scaling->scale).storage > 8 || hu_limits_of(scaling->element).width > 8 ||
        z->rule[k].preset.codes || z->rule[k].preset.operand)
      return DRAWN;
    if (z->rule[k].is_preset && (z->rule[k].preset.first.e || z->rule[k].preset.first.m ||
                                 (z->rule[k].preset.through && *z->rule[k].preset.through)))
      return DRAWN;
  }
  z->block = (audit_block){.n = 1, .amax = NAN};
  for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++) {
    z->block.x[0] = alone[i];
    if (differs(z)) return DIFFER;
  }
  for (uint32_t bits = 1; bits <= last && count < sizeof ends / sizeof ends[0]; bits++) {
    uint32_t end = last_like(z, bits, last, 0, 0, 1);
    z->block.x[0] = of_bits(bits);
    if (differs(z)) return DIFFER;
    z->block.x[0] = of_bits(bits | 0x80000000);
    if (differs(z)) return DIFFER;
    ends[count++] = bits = end;
  }
  if (count == sizeof ends / sizeof ends[0]) return DRAWN;
  for (size_t i = 0; i < count; i++)
    if (walk_codes(z, ends[i])) return DIFFER;
  return z->failed ? DRAWN : PROVED;
}

/* Draws blocks, and keeps the shortest of the first ones that differ. */
static int draw(question *z, uint64_t tries, uint64_t seed) {
  const hu_scaling *scaling = &z->rule[0].scaling;
  uint32_t side = scaling->cols == 1 ? scaling->rows : scaling->cols;
  audit_drawing drawing = {{seed, 0}, 0, side ? side : 16};
  audit_block best = {.n = 0};
  for (uint64_t i = 0, found = 0; i < tries && found < FOUND && best.n != 1; i++) {
    audit_draw(&z->block, &drawing);
    if (!differs(z)) continue;
    audit_block_shorten(&z->block, z->made, &z->rule[0], &z->rule[1], 1);
    if (!found++ || z->block.n < best.n) best = z->block;
  }
  z->block = best;
  return best.n ? DIFFER : DRAWN;
}

/* Finds a block of ordinary numbers, where there is one as short as the shortest. */
static int find(question *z, uint64_t tries, uint64_t seed) {
  enum { FIRST = 20000 };
  int drawn = draw(z, tries < FIRST ? tries : FIRST, seed);
  if (drawn == DIFFER && z->block.n == 1) return DIFFER;
  audit_block best = z->block;
  int found = prove(z);
  if (found == DRAWN && drawn != DIFFER) return draw(z, tries, seed);
  if (found == DIFFER) audit_block_shorten(&z->block, z->made, &z->rule[0], &z->rule[1], 1);
  if (drawn == DIFFER && (found != DIFFER || z->block.n >= best.n)) z->block = best;
  return drawn == DIFFER ? DIFFER : found;
}

/* ---- the command ---- */

static int same_formats(const audit_rule *x, const audit_rule *y) {
  const hu_scaling *a = &x->scaling, *b = &y->scaling;
  return hu_format_equal(a->element, b->element) && hu_format_equal(a->scale, b->scale) && a->rows == b->rows &&
         a->cols == b->cols && !a->tensor == !b->tensor && a->coding == b->coding;
}

static void print(const question *z, int found, const char *part, char *const text[2], int json) {
  const audit_tensor like = {.quantized = 1, .scaled = 1, .scale = z->rule[0].scaling.scale};
  const audit_tensor *const sides[2] = {&like, &like};
  const char *const names[2] = {text[0], text[1]};
  if (json) {
    cli_json(stdout, "{'differ': ?, 'proof': ?, 'questions': ?, 'part': ?", cli_truth(found == DIFFER),
             cli_truth(found != DRAWN), JSON(z->asked), JSON(part));
    if (found == DIFFER) cli_json(stdout, ", 'block': ?", audit_shown_value(&z->block.shown));
    printf("}\n");
  } else if (found == PROVED && !z->asked) {
    printf("equal: both are the same rule\n");
  } else if (found == PROVED) {
    printf("equal: every block has the same scale and the same codes; %llu blocks prove it\n",
           (unsigned long long)z->asked);
  } else if (found == DRAWN) {
    printf("no difference found in %llu drawn blocks, which is no proof\n", (unsigned long long)z->asked);
  } else {
    printf("they part on the %s\n", part);
    if (z->block.shown.there) audit_print_block(stdout, "  ", &z->block.shown, sides, names);
  }
}

int audit_distinguish(char *const text[2], uint64_t tries, uint64_t seed, int json) {
  char part[AUDIT_PART_TEXT];
  question *z = cli_alloc(1, sizeof *z);
  int code = z ? CLI_OK : CLI_BAD, found = DIFFER;
  if (z) memset(z, 0, sizeof *z);
  for (int k = 0; k < 2 && code == CLI_OK; k++) code = audit_rule_read(&z->rule[k], text[k]);
  for (int k = 0; k < 2 && code == CLI_OK; k++) code = audit_made_alloc(&z->made[k], AUDIT_BLOCK, AUDIT_BLOCK);
  if (code == CLI_OK) {
    int parts = audit_rules_part(part, &z->rule[0], &z->rule[1]);
    if (!parts) found = PROVED;
    if (parts && same_formats(&z->rule[0], &z->rule[1])) {
      found = find(z, tries, seed);
    }
    print(z, found, part, text, json);
    code = found == DIFFER ? CLI_DIFFERENT : CLI_OK;
  }
  for (int k = 0; z && k < 2; k++) audit_made_free(&z->made[k]);
  free(z);
  return code;
}
