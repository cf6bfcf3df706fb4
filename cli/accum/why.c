/* SPDX-License-Identifier: MIT */
/* Says why a text is not an accumulation model: which rule, key or argument is missing, and what may stand there. */
#include <string.h>

#include "cli/accum/text.h"
#include "cli/base/names.h"
#include "files/suggest.h"

const cli_form cli_forms[] = {
    {"exact", "no rounding until the one into the result; C is one of the terms"},
    {"fp32", "fused multiply-adds in binary32, k ascending, from C"},
    {"fp64", "the same in binary64, from C"},
    {"int32, int32(sat,N)", "integers, from C, modulo 2^32, or saturated once every N products"},
    {"seq(F,MODE)", "fused: one rounding into F per step, from C"},
    {"seq2(P,F,MODE)", "product rounded into P, then the sum into F, from C; seq2(F,MODE): P is F"},
    {"chunk(L,P,F,MODE)", "chunks of L summed in P from 0, their sums added to C in F (Wang et al. 2018)"},
    {"pairwise(F,MODE)", "halves, recursively; C last"},
    {"strided(F,MODE)", "elements n/2 apart, then n/4, ... 1; C last"},
    {"kahan(F,MODE)", "compensated, from C"},
    {"neumaier(F,MODE)", "compensated, from C, the larger addend first"},
    {"promote(N,MODEL,F)", "sums of N by MODEL from 0, added to C in F; promote(N,MODEL,F,scaled): scaled first"},
    {"splitk(S,MODEL)", "S slices of K by MODEL from 0, their sums added; C last"},
    {"block(align,l=,f=,emin=,...)", "C and products aligned to the largest, cut, added"},
    {"block(groups,l=,f=,emin=,g=,...)",
     "groups of g added exactly or in a window, perhaps scaled; aligned with C, cut, added"},
    {"block(late,l=,f=,f2=,...)", "products aligned and cut without C, which joins their sum, with floors"},
    {"block(exact,l=,...)", "products and C added exactly, one rounding a block"},
    {"block(tree,l=,...)", "a tree of rounded additions over the products, or over groups; then C"},
    {"block(chain,l=,...)", "fused multiply-adds, from C"},
    {"block(lanes,l=,...)", "two chains, even and odd k, from 0; their sum is added to C"},
    {"takes(A,B,C,MODEL)",
     "MODEL, C where it says, for operands of these formats alone, as units are; any: whatever it is"},
    {"any(MODEL)", "a unit without the formats that it takes"},
};
const size_t cli_form_count = sizeof cli_forms / sizeof cli_forms[0];

static const char *const rules[HU_BLOCK_RULES] = {"align", "groups", "late", "exact", "tree", "chain", "lanes"};

enum { LINE = 512 };

void cli_print_grammar(void) {
  printf(
      "block(align,l=4,f=3,emin=-28,out=binary16)\n"
      "        |     |   |     |      `-- the accumulator: the sum is rounded into it (round=, sat= choose how)\n"
      "        |     |   |     `-- the largest exponent is never taken lower than this\n"
      "        |     |   `-- 3 digits are kept below the largest exponent (cut=trunc, floor, rne or odd)\n"
      "        |     `-- 4 products and C at a time, then the result is the next C\n"
      "        `-- the terms are aligned to the largest exponent; or another rule\n\n"
      "A = 8 1.25 0.75 0.125, B = 1 1 -1 1, C = 1 in it, step by step:\n\n"
      "  term    value   exponent   in binary   cut below 2^(3-3)\n"
      "  C           1          0    0001.000    0001 =  1\n"
      "  a0 b0       8          3    1000.000    1000 =  8\n"
      "  a1 b1    1.25          0    0001.010    0001 =  1\n"
      "  a2 b2   -0.75         -1   -0000.110    0000 =  0\n"
      "  a3 b3   0.125         -3    0000.001    0000 =  0\n"
      "  sum     9.625    E =   3                       10, which binary16 holds: 0x4900\n\n"
      "  echo 48003d003a003000 3c003c00bc003c00 3c00 | halfulp mma 'block(align,l=4,f=3,emin=-28,out=binary16)' \\\n"
      "      --fa binary16 --fb binary16 --fd binary16\n\n"
      "%-10s %-76s %s\n",
      "key", "values; below, what it is", "rules (*: required)");
  for (unsigned i = 0; i < HU_BLOCK_KEY_COUNT; i++) {
    const hu_block_key *key = hu_block_key_at(i);
    printf("%-10s %-76s", key->name, key->values);
    for (unsigned rule = 0; rule < HU_BLOCK_RULES; rule++)
      if (key->rules >> rule & 1) printf(" %s%s", rules[rule], key->required >> rule & 1 ? "*" : "");
    printf("\n%10s %s\n", "", key->meaning);
  }
}

static void json_rules(const char *name, unsigned mask) {
  int first = 1;
  cli_json(stdout, ", ?: [", JSON(name));
  for (unsigned rule = 0; rule < HU_BLOCK_RULES; rule++) {
    if (!(mask >> rule & 1)) continue;
    cli_json(stdout, "??", cli_comma(first), JSON(rules[rule]));
    first = 0;
  }
  putchar(']');
}

void cli_json_grammar(void) {
  printf("{\"forms\": [");
  for (size_t i = 0; i < cli_form_count; i++) {
    cli_json(stdout, "?\n  {'form': ?, 'meaning': ?}", cli_plain(i ? "," : ""), JSON(cli_forms[i].text),
             JSON(cli_forms[i].meaning));
  }
  printf("\n ], \"keys\": [");
  for (unsigned i = 0; i < HU_BLOCK_KEY_COUNT; i++) {
    const hu_block_key *key = hu_block_key_at(i);
    cli_json(stdout, "?\n  {'key': ?, 'values': ?, 'meaning': ?", cli_plain(i ? "," : ""), JSON(key->name),
             JSON(key->values), JSON(key->meaning));
    json_rules("rules", key->rules);
    json_rules("required", key->required);
    putchar('}');
  }
  printf("\n ]}\n");
}

/* Returns where the argument list begins that character `at` is in, behind its parenthesis; 0 if it is in none. */
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

static int key_is(unsigned key, const char *text, size_t n) {
  return strlen(hu_block_key_at(key)->name) == n && !strncmp(hu_block_key_at(key)->name, text, n);
}

/* Returns 1 if an argument list has a key, up to its end. */
static int has_key(const char *list, unsigned key) {
  int depth = 0;
  for (const char *at = list; *at && depth >= 0; at++) {
    if (*at == '(') depth++;
    if (*at == ')') depth--;
    if (*at == ',' && !depth && key_is(key, at + 1, strcspn(at + 1, "=,)"))) return 1;
  }
  return 0;
}

/* Writes "l= f= emin=" of a rule: those it must have, or those it may have. */
static void list_keys(char line[LINE], unsigned rule, int required, const char *but_those_of) {
  size_t n = 0;
  *line = 0;
  for (unsigned i = 0; i < HU_BLOCK_KEY_COUNT; i++) {
    const hu_block_key *key = hu_block_key_at(i);
    unsigned mask = required ? key->required : key->rules & ~key->required;
    if (!(mask >> rule & 1) || (but_those_of && has_key(but_those_of, i))) continue;
    n += (size_t)snprintf(line + n, LINE - n, "%s%s=", n ? " " : "", key->name);
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
    for (unsigned i = 0; i < HU_BLOCK_KEY_COUNT; i++)
      if (key_is(i, begin, (size_t)(part - 1 - begin)))
        return cli_fail(NULL, "%s '%s': %s= takes %s, and not '%.*s' here", what, text, hu_block_key_at(i)->name,
                        hu_block_key_at(i)->values, (int)strcspn(part, ",)"), part);
  }
  if (part[-1] == ',' && n) {
    for (unsigned i = 0; i < HU_BLOCK_KEY_COUNT; i++)
      if (key_is(i, part, n) && hu_block_key_at(i)->rules >> rule & 1)
        return cli_fail(NULL, "%s '%s': %s= is given twice, or lacks its value: %s", what, text,
                        hu_block_key_at(i)->name, hu_block_key_at(i)->values);
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
  for (unsigned rule = 0; rule < HU_BLOCK_RULES; rule++)
    if (strlen(rules[rule]) == n && !strncmp(rules[rule], list, n)) return fail_key(what, text, rule, list, part);
  return cli_fail(NULL,
                  "%s '%s': '%.*s' is no rule of block(...): align, groups, late, exact, tree, chain, lanes; `halfulp "
                  "models block` says what they do",
                  what, text, (int)n, list);
}

/* Returns the form of a model of n letters at `word`; NULL if no model with arguments is called so. */
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
