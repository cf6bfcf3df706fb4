/* SPDX-License-Identifier: MIT */
/* Says why a text is not an accumulation model: which rule, key or argument is missing, and what may stand there. */
#include <string.h>

#include "cli/base/accum_text.h"
#include "cli/base/names.h"
#include "files/suggest.h"

const cli_form cli_forms[] = {
    {"exact", "no rounding until the one into the result"},
    {"fp32", "fused multiply-adds in binary32, k ascending"},
    {"fp64", "the same in binary64"},
    {"int32, int32(sat,N)", "integers, modulo 2^32, or saturated once every N products"},
    {"seq(F,MODE)", "fused: one rounding into F a step"},
    {"seq2(P,F,MODE)", "product rounded into P, then the sum into F; seq2(F,MODE): P is F"},
    {"chunk(L,P,F,MODE)", "chunks of L summed in P, their sums in F (Wang et al. 2018)"},
    {"pairwise(F,MODE)", "halves, recursively"},
    {"strided(F,MODE)", "elements n/2 apart, then n/4, ... 1"},
    {"kahan(F,MODE)", "compensated"},
    {"neumaier(F,MODE)", "compensated, the larger addend first"},
    {"promote(N,MODEL,F)", "sums of N products by MODEL, added in F; promote(N,MODEL,F,scaled): scaled first"},
    {"splitk(S,MODEL)", "S slices of K by MODEL, their sums added"},
    {"block(align,l=,f=,emin=,...)", "terms aligned to the largest, cut, added"},
    {"block(groups,l=,f=,emin=,g=,every=,scale=,...)", "groups added exactly, scaled, aligned, cut, added"},
    {"block(late,l=,f=,f2=,...)", "products aligned and cut without C, which joins with floors"},
    {"block(exact,l=,...)", "products and C added exactly, one rounding a block"},
    {"block(tree,l=,...)", "a tree of rounded additions"},
    {"block(chain,l=,...)", "fused multiply-adds"},
    {"block(lanes,l=,...)", "two chains, even and odd k"},
    {"takes(A,B,C,MODEL)", "MODEL for operands of these formats alone, as units are; any: whatever it is"},
    {"any(MODEL)", "a unit without the formats that it takes"},
};
const size_t cli_form_count = sizeof cli_forms / sizeof cli_forms[0];

static const char *const rules[HU_BLOCK_RULES] = {"align", "groups", "late", "exact", "tree", "chain", "lanes"};

/* The keys of block(...), the table of halfulp/accum.h: bit r of the masks is rule r. */
enum {
  ALIGN = 1 << HU_BLOCK_ALIGN,
  GROUPS = 1 << HU_BLOCK_GROUPS,
  LATE = 1 << HU_BLOCK_LATE,
  TREE = 1 << HU_BLOCK_TREE,
  CHAIN = 1 << HU_BLOCK_CHAIN,
  LANES = 1 << HU_BLOCK_LANES,
  ALL = (1 << HU_BLOCK_RULES) - 1
};
static const struct {
  const char *name;
  unsigned rules, required;
  const char *value;
} keys[] = {
    {"l", ALL, ALL, "1 to 4096 (tree: a power of two; order=mod4: even)"},
    {"f", ALIGN | GROUPS | LATE, ALIGN | GROUPS | LATE, "0 to 40"},
    {"f2", LATE, LATE, "f to 40"},
    {"emin", ALIGN | GROUPS, ALIGN | GROUPS, "-4096 to 4096"},
    {"lanes", LATE, 0, "2"},
    {"far", LATE, 0, "1 to 64"},
    {"big", LATE, 0, "1 to 1023"},
    {"in", ALL & ~GROUPS, 0, "1 to 30"},
    {"g", GROUPS, GROUPS, "1 to 4096, a divisor of l and of every"},
    {"every", ALIGN | GROUPS, GROUPS, "1 to 4096, with scale="},
    {"cut", ALIGN | GROUPS, 0, "trunc, floor, rne"},
    {"order", ALIGN | CHAIN, 0, "up, mod4 (chain: up, down)"},
    {"c", ALIGN, 0, "first, last"},
    {"daz", TREE | CHAIN | LANES, 0, "none, sign, plus"},
    {"ftz", TREE | CHAIN | LANES, 0, "none, after, tiny, before"},
    {"products", TREE, 0, "rounded, exact (with l=2)"},
    {"as", ALL & ~GROUPS, 0, "a format"},
    {"scale", ALIGN | GROUPS, GROUPS, "an unsigned format without infinities, of m up to 3 (align: 0), with every="},
    {"acc", ALIGN | GROUPS | LATE, 0, "a format"},
    {"out", ALL, 0, "a format"},
    {"round", ALL, 0, "a rounding mode"},
    {"sat", ALL, 0, "default, none, finite, propagate"},
    {"over", ALL, 0, "mode, inf (where out= has infinities)"}};
enum { KEYS = sizeof keys / sizeof keys[0], LINE = 512 };

void cli_print_grammar(void) {
  printf(
      "block(align,l=4,f=13,emin=-28,out=binary16)\n"
      "        |     |    |      |       `-- the accumulator: the sum is rounded into it (round=, sat= choose how)\n"
      "        |     |    |      `-- the largest exponent is never taken lower than this\n"
      "        |     |    `-- 13 digits kept below the largest exponent (cut=trunc, floor or rne)\n"
      "        |     `-- 4 products and C at a time, then the result is the next C\n"
      "        `-- align to the largest exponent; or another rule\n\n"
      "%-10s %-76s %s\n",
      "key", "values", "rules (*: required)");
  for (size_t i = 0; i < KEYS; i++) {
    printf("%-10s %-76s", keys[i].name, keys[i].value);
    for (unsigned r = 0; r < HU_BLOCK_RULES; r++)
      if (keys[i].rules >> r & 1) printf(" %s%s", rules[r], keys[i].required >> r & 1 ? "*" : "");
    putchar('\n');
  }
}

/* Where the argument list begins that character `at` is in: behind its parenthesis; 0: in none. */
static size_t list_begin(const char *text, size_t at) {
  int depth = 0;
  for (size_t i = at; i-- > 0;) {
    if (text[i] == ')') depth++;
    if (text[i] == '(' && depth-- == 0) return i + 1;
  }
  return 0;
}

static size_t word_begin(const char *text, size_t end) {
  while (end && strchr("abcdefghijklmnopqrstuvwxyz0123456789", text[end - 1])) end--;
  return end;
}

static int key_is(size_t key, const char *text, size_t n) {
  return strlen(keys[key].name) == n && !strncmp(keys[key].name, text, n);
}

/* Whether an argument list has a key, up to its end. */
static int has_key(const char *list, size_t key) {
  int depth = 0;
  for (const char *p = list; *p && depth >= 0; p++) {
    if (*p == '(') depth++;
    if (*p == ')') depth--;
    if (*p == ',' && !depth && key_is(key, p + 1, strcspn(p + 1, "=,)"))) return 1;
  }
  return 0;
}

/* "l= f= emin=" of a rule: those it must have, or those it may have. */
static void list_keys(char line[LINE], unsigned rule, int required, const char *but_those_of) {
  size_t n = 0;
  *line = 0;
  for (size_t i = 0; i < KEYS; i++) {
    unsigned mask = required ? keys[i].required : keys[i].rules & ~keys[i].required;
    if (!(mask >> rule & 1) || (but_those_of && has_key(but_those_of, i))) continue;
    n += (size_t)snprintf(line + n, LINE - n, "%s%s=", n ? " " : "", keys[i].name);
  }
}

static int fail_key(const char *what, const char *text, unsigned rule, const char *list, const char *part) {
  char missing[LINE], must[LINE], may[LINE];
  size_t n = strcspn(part, "=,)");
  list_keys(missing, rule, 1, list);
  list_keys(must, rule, 1, NULL);
  list_keys(may, rule, 0, NULL);
  if (part[-1] == '=') {
    const char *begin = part - 1;
    while (begin[-1] != ',') begin--;
    for (size_t i = 0; i < KEYS; i++)
      if (key_is(i, begin, (size_t)(part - 1 - begin)))
        return cli_fail(NULL, "%s '%s': %s= takes %s, and not '%.*s' here", what, text, keys[i].name, keys[i].value,
                        (int)strcspn(part, ",)"), part);
  }
  if (part[-1] == ',' && n) {
    for (size_t i = 0; i < KEYS; i++)
      if (key_is(i, part, n) && keys[i].rules >> rule & 1)
        return cli_fail(NULL, "%s '%s': %s= is given twice, or lacks its value: %s", what, text, keys[i].name,
                        keys[i].value);
    return cli_fail(NULL, "%s '%s': block(%s,...) has no key '%.*s'; it must have %s and may have %s", what, text,
                    rules[rule], (int)n, part, must, may);
  }
  if (*missing && (*part == ')' || !*part))
    return cli_fail(NULL, "%s '%s': block(%s,...) lacks %s; it must have %s and may have %s", what, text, rules[rule],
                    missing, must, may);
  if (!*part) return cli_fail(NULL, "%s '%s': the closing parenthesis is missing", what, text);
  return -1;
}

static int fail_block(const char *what, const char *text, const char *list, const char *part) {
  size_t n = strcspn(list, ",)");
  for (unsigned r = 0; r < HU_BLOCK_RULES; r++)
    if (strlen(rules[r]) == n && !strncmp(rules[r], list, n)) return fail_key(what, text, r, list, part);
  return cli_fail(NULL,
                  "%s '%s': '%.*s' is no rule of block(...): align, groups, late, exact, tree, chain, lanes; `halfulp "
                  "models block` says what they do",
                  what, text, (int)n, list);
}

/* The form of a model of n letters at `word`; NULL: no model with arguments is called so. */
static const char *form_of(const char *word, size_t n) {
  for (size_t i = 0; i < cli_form_count; i++)
    if (!strncmp(cli_forms[i].text, word, n) && cli_forms[i].text[n] == '(') return cli_forms[i].text;
  return NULL;
}

int cli_fail_model(const char *what, const char *text, hu_status status, size_t where) {
  const char *part = text + where;
  size_t list = list_begin(text, where), end = list ? list - 1 : where, word = word_begin(text, end);
  size_t n = strcspn(part, "(),");
  if (end - word == 5 && list && !strncmp(text + word, "block", 5)) {
    int code = status == HU_E_NAME ? -1 : fail_block(what, text, text + list, part);
    if (code >= 0) return code;
  }
  int is_place = where == 0 || text[where - 1] == '(' || text[where - 1] == ',' || text[where - 1] == '=';
  if (status == HU_E_NAME || (where == 0 && n)) return cli_fail_name(what, part, n, CLI_NAMES_MODELS);
  if (is_place && n && *part >= 'A' && *part <= 'Z') return cli_fail_name(what, part, n, CLI_NAMES_MODELS);
  const char *form = form_of(text + word, end - word);
  char wrong[LINE];
  if (*part)
    snprintf(wrong, sizeof wrong, "wrong from character %zu on: '%.200s'", where + 1, part);
  else
    snprintf(wrong, sizeof wrong, "something is missing at the end");
  return cli_fail(NULL, "%s '%s': %s%s%s", what, text, wrong, form ? "; the form is " : "", form ? form : "");
}
