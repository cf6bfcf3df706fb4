/* SPDX-License-Identifier: MIT */
/* Says why a text is not an accumulation model: which rule, key or argument is missing, and what may stand there. */
#include <string.h>

#include "cli/accum/text.h"
#include "cli/base/names.h"
#include "files/suggest.h"

const cli_form cli_forms[] = {
    {"exact", "no rounding until the one into the result"},
    {"fp32", "fused multiply-adds in binary32, k ascending, from C"},
    {"fp64", "the same in binary64"},
    {"int32, int32(sat,N)", "integers, modulo 2^32, or saturated once every N products"},
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
    {"block(groups,l=,f=,emin=,g=,every=,scale=,...)", "groups added exactly, scaled, aligned with C, cut, added"},
    {"block(late,l=,f=,f2=,...)", "products aligned and cut without C, which joins with floors"},
    {"block(exact,l=,...)", "products and C added exactly, one rounding a block"},
    {"block(tree,l=,...)", "a tree of rounded additions over the products; then C"},
    {"block(chain,l=,...)", "fused multiply-adds, from C"},
    {"block(lanes,l=,...)", "two chains, even and odd k; their sum is added to C"},
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
  EXACT = 1 << HU_BLOCK_EXACT,
  TREE = 1 << HU_BLOCK_TREE,
  CHAIN = 1 << HU_BLOCK_CHAIN,
  LANES = 1 << HU_BLOCK_LANES,
  ALL = (1 << HU_BLOCK_RULES) - 1
};
static const struct {
  const char *name;
  unsigned rules, required;
  const char *value, *meaning;
} keys[] = {
    {"l", ALL, ALL, "1 to 4096 (tree: a power of two; order=mod4: even)",
     "products in a block; the result of a block is the C of the next one"},
    {"f", ALIGN | GROUPS | LATE, ALIGN | GROUPS | LATE, "0 to 40",
     "binary digits kept below the largest exponent E: what lies below 2^(E-f) is cut"},
    {"f2", LATE, LATE, "f to 40", "digits kept where the sum of the products meets C"},
    {"emin", ALIGN | GROUPS, ALIGN | GROUPS, "-4096 to 4096", "E is never taken lower than this"},
    {"lanes", LATE, 0, "2", "2: even and odd k are aligned apart, each to its own largest exponent; default: together"},
    {"far", LATE, 0, "1 to 64", "C more than this many binades below the products is dropped; default: never"},
    {"big", LATE, 0, "1 to 1023", "a finite product of 2^big or more counts as an infinity; default: none does"},
    {"in", ALL & ~GROUPS, 0, "1 to 30",
     "trailing significand bits of A and B that are looked at, the rest are read as 0; default: all"},
    {"g", GROUPS, GROUPS, "1 to 4096, a divisor of l and of every", "products in a group, which are added exactly"},
    {"every", ALIGN | GROUPS | EXACT, GROUPS, "1 to 4096, with scale= (scaling=sum: a multiple of l)",
     "products that share a scale"},
    {"cut", ALIGN | GROUPS, 0, "trunc, floor, rne, odd",
     "how the digits below 2^(E-f) are cut: toward zero, toward minus infinity, to nearest even, to odd; default "
     "trunc"},
    {"order", ALIGN | CHAIN, 0, "up, mod4 (chain: up, down)",
     "order of k in a block; mod4: of 2 l products those with k mod 4 = 0, 1 first; default up"},
    {"c", ALIGN | EXACT | CHAIN, 0, "first, last",
     "C is among the terms that are added, or added to the block's result; default first"},
    {"last", ALIGN | EXACT | CHAIN, 0, "rne, rna, rnz, rtz, rtp, rtn, raz, rto, with c=last",
     "rounding of the addition of C, which has the policy of sat=; default rne"},
    {"daz", TREE | CHAIN | LANES, 0, "none, sign, plus",
     "subnormal operands and C are read as 0 of their sign, or these and all zeros as +0; default none"},
    {"ftz", TREE | CHAIN | LANES, 0, "none, after, tiny, before",
     "subnormal results become 0 of their sign: seen after rounding, when tiny, before rounding; default none"},
    {"products", TREE, 0, "rounded, exact (with l=2)",
     "products are rounded into out before the tree, or the two of them added exactly; default rounded"},
    {"nan", ALL & ~GROUPS, 0, "cut, kept, with in=",
     "a NaN whose digits that in= looks at are 0 is read without the others, or is a NaN; default cut"},
    {"scaling", ALIGN | EXACT, 0, "terms, sum (exact: sum; with c=last and every=)",
     "scales are applied to the products, or to the block's rounded sum before C is added; default terms"},
    {"as", ALL & ~GROUPS, 0, "a format",
     "operands are taken as values of this format, which holds theirs; default: their own"},
    {"scale", ALIGN | GROUPS | EXACT, GROUPS,
     "an unsigned format without infinities, of m up to 3 (align: 0), with every=", "format of the scales of A and B"},
    {"acc", ALIGN | GROUPS | LATE, 0, "a format",
     "format of C: its smallest exponent takes part in E; default that of out"},
    {"out", ALL, 0, "a format", "format into which each block's sum is rounded; default binary32"},
    {"round", ALL, 0, "a rounding mode", "rounding into out; default rne"},
    {"sat", ALL, 0, "default, none, finite, propagate",
     "what becomes of sums beyond the range of out (and with c=last of acc); default: as the card says"},
    {"over", ALL, 0, "mode, inf (where out= has infinities)",
     "inf: overflow gives infinity in every mode; default mode: as the rounding mode says"},
    {"zero", ALIGN | GROUPS | EXACT, 0, "sign, plus (exact: sign, ieee)",
     "a sum other than 0 that is rounded to 0 gives 0 of its sign, or +0; ieee: a sum of 0 has IEEE 754's sign, "
     "otherwise it is +0; default sign"}};
enum { KEYS = sizeof keys / sizeof keys[0], LINE = 512 };

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
  for (size_t i = 0; i < KEYS; i++) {
    printf("%-10s %-76s", keys[i].name, keys[i].value);
    for (unsigned rule = 0; rule < HU_BLOCK_RULES; rule++)
      if (keys[i].rules >> rule & 1) printf(" %s%s", rules[rule], keys[i].required >> rule & 1 ? "*" : "");
    printf("\n%10s %s\n", "", keys[i].meaning);
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
  for (size_t i = 0; i < KEYS; i++) {
    cli_json(stdout, "?\n  {'key': ?, 'values': ?, 'meaning': ?", cli_plain(i ? "," : ""), JSON(keys[i].name),
             JSON(keys[i].value), JSON(keys[i].meaning));
    json_rules("rules", keys[i].rules);
    json_rules("required", keys[i].required);
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

static int key_is(size_t key, const char *text, size_t n) {
  return strlen(keys[key].name) == n && !strncmp(keys[key].name, text, n);
}

/* Returns 1 if an argument list has a key, up to its end. */
static int has_key(const char *list, size_t key) {
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
