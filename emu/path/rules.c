/* SPDX-License-Identifier: MIT */
/* The keys of a rule, the rules of programs, and the texts of rules. */
#include <string.h>

#include "emu/base/text.h"
#include "halfulp/path.h"

static const hu_path_key keys[HU_PATH_KEYS] = {
    {"compute", "binary32 operand", "the format in which an operation is done"},
    {"round", "each end", "where results go back into the operands' format"},
    {"fma", "off on right", "which product is joined to a sum: none, the left one, the right one"},
    {"division", "rn none", "a quotient of two operands: one operation, or refused"},
    {"by-constant", "division reciprocal none", "x / c: a quotient, a product with the rounded 1 / c, or refused"},
    {"of-constant", "division product products none",
     "c / x: a quotient, a product with the rounded 1 / x, the same as two operations, or refused"},
    {"constants", "compute operand sums exact",
     "a constant's format: that of compute, the operands', the operands' in sums; or it must be of the operands'"},
    {"functions", "correct sqrt sqrt16 none", "the functions that are defined, correctly rounded"},
    {"relu", "comparison maximum number", "-0 and NaN stay; +0 and NaN; +0 and +0"},
    {"casts", "kept elided", "whether casts into formats of 16 bits round"},
};

hu_path_key hu_path_key_at(size_t i) {
  const hu_path_key none = {NULL, NULL, NULL};
  return i < HU_PATH_KEYS ? keys[i] : none;
}

#define TESTED "tests run it against PyTorch 2.15"
#define SOURCE "by its published source as of November 2026; no test runs it"
#define THREE \
  "compute=operand;round=each;division=none;by-constant=none;of-constant=none;constants=exact;functions=none;"
static const hu_path_rule_entry rules[] = {
    {"each", "round=each", "our own: each operation is rounded; correct division and functions"},
    {"end", "round=end", "our own: binary32 to the end"},
    {"fma", "round=end;fma=on", "our own: binary32 to the end, products joined to sums"},
    {"torch.cpu", "round=each;of-constant=products;constants=sums;functions=sqrt16", "PyTorch eager on a CPU; " TESTED},
    {"torch.cuda", "round=each;by-constant=reciprocal;of-constant=products;constants=exact;functions=none",
     "PyTorch eager on CUDA; " SOURCE},
    {"inductor.cpu", "round=end;of-constant=product;constants=sums;functions=sqrt;casts=elided",
     "torch.compile on a CPU; " TESTED},
    {"inductor.cpu.emulate", "round=each;of-constant=products;constants=operand;functions=sqrt",
     "the same with emulate_precision_casts; " TESTED},
    {"inductor.triton",
     "round=end;fma=on;division=none;by-constant=reciprocal;of-constant=none;constants=exact;functions=none;casts="
     "elided",
     "torch.compile on CUDA; " SOURCE},
    {"inductor.strict", "round=each;by-constant=reciprocal;of-constant=product;constants=exact;functions=none",
     "the same with numerics=strict; " SOURCE},
    {"triton.sm90", THREE "fma=on;relu=number", "a kernel of Triton 3.9 for compute capability 9.0; " SOURCE},
    {"triton.3.10", THREE "relu=number", "the same where products are not joined, from 3.10 on; " SOURCE},
    {"xla.cpu", "round=each;fma=on;by-constant=none;constants=operand;functions=sqrt;relu=maximum",
     "jax.jit on a CPU; tests run it against JAX 0.10.2"},
    {"xla.gpu",
     "round=end;fma=on;division=none;by-constant=none;of-constant=none;constants=exact;functions=none;relu=maximum;"
     "casts=elided",
     "XLA on a GPU; " SOURCE},
    {"nvcc.sm90", THREE "fma=on;relu=number",
     "CUDA C++ for compute capability 9.0, operators of its types; by the machine code of nvcc 13; no test runs it"},
    {"nvcc.sm90.fmad0", THREE "relu=number", "the same with -fmad=false"},
};
enum { RULES = sizeof rules / sizeof *rules };
static const char *const short_names[][2] = {{"eager", "torch.cpu"}, {"inductor", "inductor.cpu"}, {"xla", "xla.cpu"}};

size_t hu_path_rule_count(void) { return RULES; }

hu_path_rule_entry hu_path_rule_at(size_t i) {
  const hu_path_rule_entry none = {NULL, NULL, NULL};
  return i < RULES ? rules[i] : none;
}

/* Returns the place of the n letters of text among words, or -1. */
static int word_of(const char *words, const char *text, size_t n) {
  for (int i = 0; n; i++) {
    size_t length = strcspn(words, " ");
    if (length == n && !strncmp(words, text, n)) return i;
    if (!words[length]) return -1;
    words += length + 1;
  }
  return -1;
}

/* Reads "key=word" of n letters; 0 and the place that is wrong. */
static int read_item(hu_path_rule *rule, const char *text, size_t n, size_t *wrong) {
  size_t equals = strcspn(text, "=;");
  *wrong = 0;
  if (text[equals] != '=') return 0;
  for (int i = 0; i < HU_PATH_KEYS; i++) {
    if (strlen(keys[i].name) != equals || strncmp(keys[i].name, text, equals) != 0) continue;
    int word = word_of(keys[i].words, text + equals + 1, n - equals - 1);
    *wrong = equals + 1;
    if (word < 0) return 0;
    rule->word[i] = (uint8_t)word;
    return 1;
  }
  return 0;
}

static int read_items(hu_path_rule *rule, const char *text, size_t *where) {
  for (size_t at = 0;; at++) {
    size_t n = strcspn(text + at, ";"), wrong;
    if (!read_item(rule, text + at, n, &wrong)) {
      *where = at + wrong;
      return 0;
    }
    at += n;
    if (!text[at]) return 1;
  }
}

/* Sets the rule of a name of n letters; 0 if there is none. */
static int find(hu_path_rule *rule, const char *text, size_t n) {
  size_t ignored;
  for (size_t i = 0; i < sizeof short_names / sizeof *short_names; i++)
    if (strlen(short_names[i][0]) == n && !strncmp(short_names[i][0], text, n))
      return find(rule, short_names[i][1], strlen(short_names[i][1]));
  for (size_t i = 0; i < RULES; i++)
    if (strlen(rules[i].name) == n && !strncmp(rules[i].name, text, n))
      return read_items(rule, rules[i].text, &ignored);
  return 0;
}

hu_status hu_path_rule_parse(hu_path_rule *rule, const char *text, size_t *where) {
  hu_path_rule read;
  size_t n = text ? strcspn(text, ";") : 0, wrong = 0;
  if (!rule || !text) return HU_E_NULL;
  memset(&read, 0, sizeof read);
  hu_status status = HU_OK;
  if (memchr(text, '=', n))
    n = 0;
  else if (!find(&read, text, n))
    status = n ? HU_E_NAME : HU_E_TEXT;
  if (status == HU_OK && (n == 0 || text[n])) {
    size_t from = n ? n + 1 : 0;
    if (!read_items(&read, text + from, &wrong)) status = HU_E_TEXT;
    wrong += from;
  }
  if (status == HU_OK)
    *rule = read;
  else if (where)
    *where = wrong;
  return status;
}

/* Returns word i of a list and its length; NULL if there is none. */
static const char *word_at(const char *words, unsigned i, size_t *n) {
  for (; i; i--) {
    words += strcspn(words, " ");
    if (!*words++) return NULL;
  }
  *n = strcspn(words, " ");
  return words;
}

size_t hu_path_rule_text(char *text, size_t size, const hu_path_rule *rule) {
  hu_writer writer = {text, text ? size : 0, 0};
  char piece[24];
  size_t n;
  if (!rule) return 0;
  for (int i = 0; i < HU_PATH_KEYS; i++) {
    const char *word = word_at(keys[i].words, rule->word[i], &n);
    if (!word) return 0;
    if (!rule->word[i]) continue;
    memcpy(piece, word, n);
    piece[n] = 0;
    if (writer.length) hui_put(&writer, ";");
    hui_put(&writer, keys[i].name);
    hui_put(&writer, "=");
    hui_put(&writer, piece);
  }
  if (!writer.length) hui_put(&writer, "each");
  return hui_put_end(&writer);
}
