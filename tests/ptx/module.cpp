/* SPDX-License-Identifier: MIT */
/* tests/ptx/module.cpp - what a module declares: its functions, their parameters, its variables. */
#include <stdlib.h>

#include <algorithm>

#include "tests/ptx/warp.h"
#include "tests/ptx/words.h"

/* Space behind a variable in shared memory that belongs to none, so that an index past its end is seen. */
static const uint32_t SHARED_GAP = 64;

std::string Module::line(uint32_t n) const {
  size_t from = line_at[n - 1], to = text.find('\n', from);
  return trimmed(text.substr(from, to == std::string::npos ? to : to - from));
}

uint32_t Module::line_of(size_t at) const {
  return (uint32_t)(std::upper_bound(line_at.begin(), line_at.end(), (uint32_t)at) - line_at.begin());
}

int type_bytes(const std::string &type) {
  if (type.empty() || !strchr("busf", type[0])) return 0;
  int bits = atoi(type.c_str() + (type.compare(0, 2, "bf") == 0 ? 2 : 1));
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) return 0;
  return type.find("x2") != std::string::npos ? 4 : bits / 8;
}

static void drop_comments(std::string &text) {
  for (size_t at = 0; (at = text.find("//", at)) != std::string::npos;) {
    for (; at < text.size() && text[at] != '\n'; at++) text[at] = ' ';
  }
}

/* Parameters between the parenthesis at k and its partner. */
static std::vector<std::pair<std::string, Variable>> parameters(const Words &w, size_t *k) {
  std::vector<std::pair<std::string, Variable>> list;
  for (++*k; w[*k] != ")";) {
    if (w[*k] == ",") ++*k;
    std::string name;
    Variable v = variable_of(w, k, &name);
    list.push_back({name, v});
  }
  ++*k;
  return list;
}

/* A kernel's parameters stand one behind the other in memory that all threads read; those of other functions are part
 * of the memory of a call. */
static void place(Function &f, const std::vector<std::pair<std::string, Variable>> &list, std::vector<Variable> &out) {
  uint64_t at = 0;
  for (const auto &p : list) {
    Variable v = p.second;
    if (f.entry) {
      v.space = PARAM;
      v.at = rounded_up(at, v.align);
      at = v.at + v.size;
    } else {
      v.space = LOCAL;
      v.of_call = true;
      v.at = 16 * f.memory_rows;
      f.memory_rows += (uint32_t)rounded_up(v.size, 16) / 16;
    }
    f.variables[p.first] = v;
    out.push_back(v);
  }
}

static size_t partner(const std::string &text, size_t at) {
  for (int depth = 0; at < text.size(); at++) {
    depth += text[at] == '{';
    depth -= text[at] == '}';
    if (depth == 0) return at;
  }
  give_up("PTX ends within braces");
}

static void read_function(Module &m, const Words &w, size_t begin, size_t end) {
  size_t k = 0;
  while (w[k] != ".func" && w[k] != ".entry") k++;
  std::unique_ptr<Function> f(new Function);
  f->module = &m;
  f->entry = w[k++] == ".entry";
  f->begin = begin;
  f->end = end;
  std::vector<std::pair<std::string, Variable>> results, formals;
  if (w[k] == "(") results = parameters(w, &k);
  f->name = w[k++];
  if (k < w.size() && w[k] == "(") formals = parameters(w, &k);
  place(*f, formals, f->formals);
  place(*f, results, f->results);
  m.functions[f->name] = std::move(f);
}

/* A .global or .const variable is memory of this process for as long as that lives. */
static void read_global(Module &m, const Words &w, size_t k, const std::string &values) {
  std::string name;
  Variable v = variable_of(w, &k, &name);
  uint64_t bytes = 1;
  for (const std::string &word : w) bytes = type_bytes(word.substr(1)) ? (uint64_t)type_bytes(word.substr(1)) : bytes;
  char *memory = (char *)aligned_alloc(256, rounded_up(v.size + 1, 256));
  memset(memory, 0, v.size);
  Words list = operands_of(values);
  for (size_t n = 0; n < list.size() && (n + 1) * bytes <= v.size; n++) {
    uint64_t bits = 0;
    if (!number_of(list[n], &bits)) give_up("a value of " + name + " is not a number: " + list[n]);
    memcpy(memory + n * bytes, &bits, bytes);
  }
  v.space = GLOBAL;
  v.at = (uint64_t)memory;
  range_add(memory, v.size);
  m.variables[name] = v;
}

static void read_shared(Module &m, const Words &w, size_t k) {
  std::string name;
  Variable v = variable_of(w, &k, &name);
  v.space = SHARED;
  v.at = v.size ? rounded_up(m.shared_end, 16) : DYNAMIC;
  if (v.size) m.shared_end = (uint32_t)(v.at + v.size + SHARED_GAP);
  m.variables[name] = v;
  m.shared.push_back(v);
}

static bool has(const Words &w, const char *word) { return std::find(w.begin(), w.end(), word) != w.end(); }
static size_t index_of(const Words &w, const char *word) {
  return (size_t)(std::find(w.begin(), w.end(), word) - w.begin());
}

std::unique_ptr<Module> module_read(std::string text) {
  std::unique_ptr<Module> m(new Module);
  drop_comments(text);
  m->text = std::move(text);
  m->line_at.push_back(0);
  for (size_t k = 0; k < m->text.size(); k++) {
    if (m->text[k] == '\n') m->line_at.push_back((uint32_t)k + 1);
  }
  for (size_t at = 0;;) {
    size_t end = m->text.find_first_of(";{", at);
    if (end == std::string::npos) break;
    Words w = words_of(m->text.substr(at, end - at));
    bool body = m->text[end] == '{';
    size_t close = body ? partner(m->text, end) : end;
    if (body && (has(w, ".func") || has(w, ".entry"))) {
      read_function(*m, w, end + 1, close);
    } else if (has(w, ".shared")) {
      read_shared(*m, w, index_of(w, ".shared"));
    } else if (has(w, ".global") || has(w, ".const")) {
      size_t k = index_of(w, has(w, ".global") ? ".global" : ".const");
      std::string value = has(w, "=") ? w.back() : "";
      if (!has(w, ".func")) read_global(*m, w, k, body ? m->text.substr(end + 1, close - end - 1) : value);
    }
    at = close + 1;
  }
  return m;
}
