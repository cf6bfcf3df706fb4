/* SPDX-License-Identifier: MIT */
/* tests/ptx/decode.cpp - the body of a function as instructions. */
#include <stdlib.h>

#include "tests/ptx/warp.h"
#include "tests/ptx/words.h"

struct Decoder {
  Function &f;
  uint32_t shared_end;
  size_t at = 0; /* of the statement that is read */
  std::map<std::string, uint32_t> labels;
  std::vector<std::pair<size_t, std::string>> branches; /* instruction and label */

  [[noreturn]] void bad(const std::string &what) const {
    uint32_t line = f.module->line_of(at);
    give_up(what + ": PTX line " + std::to_string(line) + ": " + f.module->line(line));
  }

  /* ---- registers and constants ---- */

  void declare_registers(const Words &w) {
    bool predicate = w[1] == ".pred";
    uint8_t wide = predicate ? 0 : (uint8_t)type_bytes(w[1].substr(1));
    if (wide == 1) wide = 2;
    for (size_t k = 2; k < w.size(); k++) {
      if (w[k] == ",") continue;
      long count = 0;
      std::string name = w[k];
      if (k + 1 < w.size() && w[k + 1] == "<") {
        count = atol(w[k + 2].c_str());
        k += 3;
      }
      for (long n = 0; n < (count ? count : 1); n++) declare(count ? name + std::to_string(n) : name, wide);
    }
  }

  void declare(const std::string &name, uint8_t wide) {
    auto old = f.registers.find(name);
    if (old != f.registers.end() && old->second.wide == wide) return;
    if (wide) f.register_bytes = (uint32_t)rounded_up(f.register_bytes, 64);
    f.registers[name] = {f.register_bytes, wide};
    f.register_bytes += wide ? wide * LANES : 4;
  }

  /* A column of equal values of so many bytes; 0 for a predicate. */
  Ref constant(uint64_t bits, int wide) {
    if (wide == 0) bits = bits ? ~0u : 0;
    auto key = std::make_pair(bits, wide);
    auto old = f.constant_at.find(key);
    if (old != f.constant_at.end()) return old->second;
    size_t from = rounded_up(f.constants.size(), 64);
    f.constants.resize(from + (wide ? (size_t)wide * LANES : 4));
    for (int l = 0; l < (wide ? LANES : 1); l++)
      memcpy(&f.constants[from + (size_t)(l * wide)], &bits, wide ? (size_t)wide : 4);
    return f.constant_at[key] = (Ref)from | CONSTANT;
  }

  const Variable *variable(const std::string &name) const {
    auto own = f.variables.find(name);
    if (own != f.variables.end()) return &own->second;
    auto shared = f.module->variables.find(name);
    return shared == f.module->variables.end() ? nullptr : &shared->second;
  }

  Ref operand(const std::string &text, int wide, uint8_t *bytes) {
    auto r = f.registers.find(text);
    if (r != f.registers.end()) {
      *bytes = r->second.wide;
      return r->second.at;
    }
    *bytes = (uint8_t)wide;
    uint64_t bits = 0;
    if (number_of(text, &bits)) return constant(bits, wide);
    const Variable *v = variable(text);
    if (v && !v->of_call) return constant(v->at, wide);
    if (text == "_") {
      declare("%sink" + std::to_string(wide), (uint8_t)wide);
      return operand("%sink" + std::to_string(wide), wide, bytes);
    }
    bad("an operand that is not modelled, " + text);
  }

  /* ---- variables inside of the body ---- */

  void declare_variable(const Words &w) {
    size_t k = 1;
    std::string name;
    Variable v = variable_of(w, &k, &name);
    if (w[0] == ".shared") {
      v.space = SHARED;
      v.at = rounded_up(shared_end, 16);
      shared_end = (uint32_t)(v.at + v.size + 64);
      f.shared.push_back(v);
    } else { /* .local, .param */
      v.space = LOCAL;
      v.of_call = true;
      v.at = 16 * f.memory_rows;
      auto old = f.variables.find(name);
      if (w[0] == ".param" && old != f.variables.end() && rounded_up(old->second.size, 16) >= v.size) {
        v.at = old->second.at; /* of an earlier call */
      } else {
        f.memory_rows += (uint32_t)rounded_up(v.size, 16) / 16;
      }
    }
    f.variables[name] = v;
  }

  /* ---- instructions ---- */

  void address(Instruction &i, const std::string &text) {
    std::string inside = trimmed(text.substr(1, text.size() - 2));
    size_t plus = inside.find('+');
    std::string base = trimmed(inside.substr(0, plus));
    if (plus != std::string::npos) i.imm = strtoll(inside.c_str() + plus + 1, nullptr, 0);
    const Variable *v = variable(base);
    uint64_t bits = 0;
    if (f.registers.count(base)) {
      i.r[4] = operand(base, 8, &i.wide[4]);
      if (i.space == PARAM && !f.entry) i.space = LOCAL;
    } else if (v) {
      i.symbol = v->of_call;
      i.space = v->space;
      i.imm += (int64_t)v->at;
    } else if (number_of(base, &bits)) {
      i.imm += (int64_t)bits;
    } else {
      bad("an address that is not modelled, " + text);
    }
    if (i.r[4] == NONE && !i.symbol) i.r[4] = constant(0, i.wide[4] = 8);
  }

  void values(Instruction &i, const std::string &text, int wide) {
    Words list = text[0] == '{' ? operands_of(text.substr(1, text.size() - 2)) : Words{text};
    if (list.size() > 4) bad("a vector of more than four");
    i.count = (uint8_t)list.size();
    for (const std::string &name : list) { /* a constant is as wide as the registers beside it */
      auto r = f.registers.find(name);
      if (r != f.registers.end()) wide = r->second.wide;
    }
    for (size_t n = 0; n < list.size(); n++) i.r[n] = operand(list[n], wide, &i.wide[n]);
  }

  void memory(Instruction &i, const Words &op, const Words &o) {
    int wide = type_bytes(op.back());
    i.space = space_of(op);
    address(i, o[op[0] == "st" ? 0 : 1]);
    values(i, o[op[0] == "st" ? 1 : 0], wide);
    i.run = run_of_memory(op, i);
  }

  void atomic(Instruction &i, const Words &op, const Words &o) {
    int wide = type_bytes(op.back());
    size_t first = op[0] == "red" ? 0 : 1;
    if (first) i.r[0] = operand(o[0], wide, &i.wide[0]);
    i.space = space_of(op);
    i.run = run_of_atomic(op);
    address(i, o[first]);
    for (size_t n = first + 1; n < o.size(); n++) i.r[n - first] = operand(o[n], wide, &i.wide[n - first]);
  }

  uint32_t rows(const Variable &v) const { return (uint32_t)rounded_up(v.size, 16) / 16; }

  /* call.uni (result), name, (arguments) with the parts in parentheses left out where there are none. */
  void call(Instruction &i, const Words &o) {
    size_t k = o[0][0] == '(' ? 1 : 0;
    auto callee = f.module->functions.find(o[k]);
    if (callee == f.module->functions.end()) bad("a call of what is not in the module");
    const Function &g = *callee->second;
    Words given = o.size() > k + 1 ? operands_of(o[k + 1].substr(1, o[k + 1].size() - 2)) : Words();
    Words taken = k ? operands_of(o[0].substr(1, o[0].size() - 2)) : Words();
    if (given.size() != g.formals.size() || taken.size() > g.results.size()) bad("a call with other parameters");
    for (size_t n = 0; n < given.size(); n++) {
      const Variable *v = variable(given[n]);
      if (!v) bad("an argument that is not modelled, " + given[n]);
      i.moves.insert(i.moves.end(), {(uint32_t)v->at, (uint32_t)g.formals[n].at, rows(*v)});
    }
    i.count = (uint8_t)given.size();
    for (size_t n = 0; n < taken.size(); n++) {
      const Variable *v = variable(taken[n]);
      if (!v) bad("a result that is not modelled, " + taken[n]);
      i.moves.insert(i.moves.end(), {(uint32_t)g.results[n].at, (uint32_t)v->at, rows(*v)});
    }
    i.callee = &g;
    i.run = run_of_flow("call");
  }

  static int special(const std::string &name) {
    static const char *const names[] = {"%tid", "%ntid", "%ctaid", "%nctaid"};
    for (int n = 0; n < 4; n++) {
      for (int axis = 0; axis < 3; axis++) {
        if (name == std::string(names[n]) + "." + "xyz"[axis]) return 3 * n + axis;
      }
    }
    static const char *const more[] = {"%laneid",      "%warpid",      "%lanemask_eq", "%lanemask_le",
                                       "%lanemask_lt", "%lanemask_ge", "%lanemask_gt"};
    for (int n = 0; n < 7; n++) {
      if (name == more[n]) return 12 + n;
    }
    return -1;
  }

  void move(Instruction &i, const Words &op, const Words &o) {
    int wide = type_bytes(op.back());
    const Variable *v = variable(o[1]);
    if (o[0][0] == '{' || o[1][0] == '{') {
      bool unpack = o[0][0] == '{';
      Words parts = operands_of((unpack ? o[0] : o[1]).substr(1, (unpack ? o[0] : o[1]).size() - 2));
      for (size_t n = 0; n < parts.size(); n++)
        i.r[n + 1] = operand(parts[n], wide / (int)parts.size(), &i.wide[n + 1]);
      i.r[0] = operand(unpack ? o[1] : o[0], wide, &i.wide[0]);
      i.count = (uint8_t)parts.size();
      i.run = run_of_number({"mov", unpack ? "unpack" : "pack", op.back()}, i.wide);
    } else if (special(o[1]) >= 0 || (v && v->of_call)) {
      i.r[0] = operand(o[0], wide, &i.wide[0]);
      i.imm = v ? (int64_t)v->at : special(o[1]);
      i.run = run_of_flow(v ? "address" : i.wide[0] == 4 ? "special" : "?");
    } else {
      plain(i, op, o);
    }
  }

  /* Bytes of an operand where it is not a register: that of the type, but for counts and the like. */
  static int constant_bytes(const Words &op, size_t n, const std::string &text) {
    int wide = type_bytes(op.back());
    const std::string &name = op[0];
    if (op.back() == "pred" || (name == "vote" && n == 1) || (name == "selp" && n == 3)) return 0;
    if (((name == "shl" || name == "shr") && n == 2) || (name == "bfi" && n >= 3) || (name == "bfe" && n >= 2))
      return 4;
    if ((name == "mad" || name == "mul") && op[1] == "wide" && (n == 0 || n == 3)) return 2 * wide;
    if (name == "shfl" || name == "vote" || name == "redux" || name == "match" || name == "bar" || name == "barrier" ||
        name == "activemask")
      return 4;
    (void)text;
    return wide;
  }

  void plain(Instruction &i, const Words &op, const Words &o) {
    size_t k = 0;
    for (size_t n = 0; n < o.size(); n++) {
      Words pair = split(o[n], '|'); /* d|p */
      for (size_t part = 0; part < pair.size(); part++) {
        if (k >= 6) bad("more operands than are modelled");
        i.r[k] = operand(pair[part], constant_bytes(op, n, pair[part]), &i.wide[k]);
        k++;
      }
    }
    i.count = (uint8_t)k;
    if (!i.run) i.run = run_of_exchange(op);
    if (!i.run) i.run = run_of_number(op, i.wide);
    if (!i.run) i.run = run_of_float(op);
    if (!i.run) i.run = run_of_half(op);
  }

  /* mma.sync: the registers of D, A, B and C one after another. */
  void matrix(Instruction &i, const Words &op, const Words &o) {
    i.run = run_of_matrix(op);
    if (!i.run) return;
    for (const std::string &group : o) {
      if (group[0] != '{') bad("an operand that is not modelled, " + group);
      uint8_t wide;
      for (const std::string &name : operands_of(group.substr(1, group.size() - 2)))
        i.moves.push_back(operand(name, 4, &wide));
    }
    if (i.moves.size() != 14) bad("other registers than the instruction has");
  }

  void convert_address(Instruction &i, const Words &op, const Words &o) {
    bool to = op[1] == "to";
    const std::string &name = op[to ? 2 : 1];
    Space s = name == "shared" ? SHARED : name == "local" ? LOCAL : name == "param" ? PARAM : GLOBAL;
    if (s == PARAM && !f.entry) s = LOCAL;
    i.r[0] = operand(o[0], 8, &i.wide[0]);
    i.r[1] = operand(o[1], 8, &i.wide[1]);
    i.r[2] = constant(to ? 0 - window(s) : window(s), 8);
    i.run = i.wide[0] == 8 && i.wide[1] == 8 ? run_of_number({"add", "s64"}, i.wide) : nullptr;
  }

  void instruction(const std::string &text) {
    Instruction i;
    i.line = f.module->line_of(at);
    size_t k = 0;
    if (text[0] == '@') {
      i.unless = text[1] == '!';
      size_t from = i.unless ? 2 : 1;
      k = text.find_first_of(" \t\n", from);
      uint8_t wide;
      i.guard = operand(text.substr(from, k - from), 0, &wide);
      k = text.find_first_not_of(" \t\n", k);
    }
    size_t end = text.find_first_of(" \t\n", k);
    Words op = split(text.substr(k, end - k), '.');
    Words o = operands_of(end == std::string::npos ? "" : text.substr(end));
    const std::string &name = op[0];
    if (name == "bra") {
      branches.push_back({f.code.size(), o[0]});
      i.run = run_of_flow("bra");
    } else if (name == "ret" || name == "exit" || name == "trap") {
      i.run = run_of_flow(name == "ret" && f.entry ? "exit" : name);
    } else if (name == "call") {
      call(i, o);
    } else if (name == "ld" || name == "st") {
      memory(i, op, o);
    } else if (name == "atom" || name == "red") {
      atomic(i, op, o);
    } else if (name == "mov") {
      move(i, op, o);
    } else if (name == "cvta") {
      convert_address(i, op, o);
    } else if (name == "membar" || name == "fence") {
      i.run = run_of_flow(op.size() > 1 && op[1] == "proxy" ? "?" : "fence");
    } else if (name == "mma") {
      matrix(i, op, o);
    } else if (name != "wgmma") {
      plain(i, op, o);
    }
    if (!i.run) i.run = run_unknown();
    f.code.push_back(i);
  }

  void statement(const std::string &text) {
    if (text.compare(0, 4, ".reg") == 0) {
      declare_registers(words_of(text));
    } else if (text[0] == '.') {
      Words w = words_of(text);
      if (w[0] == ".local" || w[0] == ".shared" || w[0] == ".param") declare_variable(w);
    } else {
      instruction(text);
    }
  }

  /* Labels end with a colon, statements with a semicolon; braces that open a scope stand alone. */
  void body() {
    const std::string &text = f.module->text;
    for (size_t k = f.begin; k < f.end;) {
      if (is_blank(text[k]) || text[k] == '{' || text[k] == '}') {
        k++;
        continue;
      }
      size_t end = k;
      while (end < f.end && is_word(text[end])) end++;
      at = k;
      if (text[end] == ':' && text[end + 1] != ':') {
        labels[text.substr(k, end - k)] = (uint32_t)f.code.size();
        k = end + 1;
        continue;
      }
      end = text.find(';', k);
      statement(trimmed(text.substr(k, end - k)));
      k = end + 1;
    }
    Instruction last; /* a body may end without a ret */
    last.line = f.module->line_of(f.end);
    last.run = run_of_flow(f.entry ? "exit" : "ret");
    f.code.push_back(last);
    for (const auto &b : branches) {
      auto label = labels.find(b.second);
      if (label == labels.end()) give_up(f.name + " has no label " + b.second);
      f.code[b.first].target = label->second;
    }
  }
};

void function_decode(Function &f) {
  if (f.decoded) return;
  f.decoded = true;
  Decoder d{f, f.module->shared_end, 0, {}, {}};
  d.body();
  f.shared_end = d.shared_end;
  f.register_bytes = (uint32_t)rounded_up(f.register_bytes, 64);
  f.constants.resize(rounded_up(f.constants.size() + 1, 64));
}
