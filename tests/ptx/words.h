/* SPDX-License-Identifier: MIT */
/* tests/ptx/words.h - PTX as words, for what reads it. */
#ifndef HALFULP_TESTS_PTX_WORDS_H
#define HALFULP_TESTS_PTX_WORDS_H

#include <ctype.h>

#include "tests/ptx/ptx.h"

inline bool is_blank(char c) { return isspace((unsigned char)c); }
inline bool is_word(char c) { return isalnum((unsigned char)c) || strchr("_$%.", c); }

/* Words of a declaration; brackets, parentheses, '=' and ',' are words of their own. */
inline Words words_of(const std::string &text) {
  Words words;
  for (size_t k = 0; k < text.size();) {
    size_t from = k;
    if (is_blank(text[k])) {
      k++;
      continue;
    }
    while (k < text.size() && is_word(text[k])) k++;
    if (k == from) k++;
    words.push_back(text.substr(from, k - from));
  }
  return words;
}

inline Words split(const std::string &text, char at) {
  Words parts(1);
  for (char c : text) {
    if (c == at) {
      parts.push_back("");
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

inline std::string trimmed(const std::string &text) {
  size_t a = 0, b = text.size();
  while (a < b && is_blank(text[a])) a++;
  while (a < b && is_blank(text[b - 1])) b--;
  return text.substr(a, b - a);
}

/* Operands: what commas outside of brackets separate. */
inline Words operands_of(const std::string &text) {
  Words parts;
  int depth = 0;
  std::string part;
  for (char c : text) {
    depth += strchr("{[(", c) != nullptr;
    depth -= strchr("}])", c) != nullptr;
    if (c == ',' && depth == 0) {
      parts.push_back(trimmed(part));
      part.clear();
    } else {
      part += c;
    }
  }
  if (!trimmed(part).empty()) parts.push_back(trimmed(part));
  return parts;
}

inline uint64_t rounded_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

/* A number as PTX writes it, also 0fXXXXXXXX and 0dXXXXXXXXXXXXXXXX, as bits. */
inline bool number_of(const std::string &text, uint64_t *bits) {
  size_t at = text[0] == '-' ? 1 : 0;
  if (at >= text.size() || !isdigit((unsigned char)text[at])) return false;
  char kind = at + 1 < text.size() && text[at] == '0' ? (char)tolower(text[at + 1]) : ' ';
  bool real = kind == 'f' || kind == 'd';
  *bits = strtoull(text.c_str() + at + (real ? 2 : 0), nullptr, real ? 16 : 0);
  if (at && !real) *bits = 0 - *bits;
  return true;
}

/* The variable of a declaration whose words begin at k (".param .align 8 .b8 name[16]"), and its name. k goes on. */
inline Variable variable_of(const Words &w, size_t *k, std::string *name) {
  Variable v;
  int align = 1, bytes = 1;
  for (; *k < w.size() && w[*k][0] == '.'; ++*k) {
    if (w[*k] == ".align") {
      align = atoi(w[++*k].c_str());
    } else if (w[*k] == ".ptr") { /* what a pointer points to: ".ptr .global .align 1" */
      while (*k + 1 < w.size() && (w[*k + 1][0] == '.' || isdigit((unsigned char)w[*k + 1][0]))) ++*k;
    } else if (type_bytes(w[*k].substr(1))) {
      bytes = type_bytes(w[*k].substr(1));
    }
  }
  *name = w[(*k)++];
  v.size = (uint64_t)bytes;
  while (*k < w.size() && w[*k] == "[") {
    v.size *= w[*k + 1] == "]" ? 0 : strtoull(w[*k + 1].c_str(), nullptr, 0);
    *k += w[*k + 1] == "]" ? 2 : 3;
  }
  v.align = (uint8_t)(align > bytes ? align : bytes);
  return v;
}

#endif
