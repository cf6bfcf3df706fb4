/* SPDX-License-Identifier: MIT */
/* tests/ptx/ptx.h - a module of PTX in decoded form.
 *
 * A function is an array of instructions with a pointer to what executes each for the lanes of a warp. A register is a
 * column of 32 values, one for each lane; a predicate is a word with one bit for each lane. Operands are byte offsets
 * into the registers of a call or, with the highest bit set, into the constants of the function. */
#ifndef HALFULP_TESTS_PTX_PTX_H
#define HALFULP_TESTS_PTX_PTX_H

#include <stdint.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

enum { LANES = 32 };

struct Warp;
struct Instruction;
typedef void (*Run)(Warp &w, const Instruction &i, uint32_t lanes);

/* Where an address points. In a generic address the highest byte says it; device memory is memory of this process. */
enum Space : uint8_t { GENERIC, GLOBAL, SHARED, LOCAL, PARAM };
inline uint64_t window(Space s) { return s == GENERIC || s == GLOBAL ? 0 : (uint64_t)s << 56; }

/* A range of device memory, kept after it is freed (with no bytes) so that instructions may remember it. */
struct Range {
  uint64_t begin = 0, end = 0;
};

typedef uint32_t Ref;
const Ref CONSTANT = 1u << 31;
const Ref NONE = ~0u;

struct Function;

struct Instruction {
  Run run = nullptr;
  Ref r[6] = {NONE, NONE, NONE, NONE, NONE, NONE};
  Ref guard = NONE;     /* the predicate that selects lanes */
  bool unless = false;  /* ... by being false */
  uint8_t wide[6] = {}; /* bytes of a value of each operand */
  uint8_t count = 0;    /* of the values that a vector instruction moves, or of operands */
  Space space = GENERIC;
  bool symbol = false; /* an address is imm (and, in local memory, the call's own part) without a register */
  uint32_t target = 0; /* of a branch */
  uint32_t line = 0;   /* of the PTX */
  int64_t imm = 0;
  const Function *callee = nullptr;
  std::vector<uint32_t> moves;          /* of a call: from, to and rows of each argument, then those of the result; of
                                           mma.sync its registers */
  mutable const Range *range = nullptr; /* that the last access was to */
};

/* Where shared memory begins whose size a launch gives: beyond all that a kernel declares. */
const uint32_t DYNAMIC = 0x10000;

/* A variable in memory: its offset in its space and its size. */
struct Variable {
  Space space = GENERIC;
  uint64_t at = 0, size = 0;
  bool of_call = false; /* part of the memory of a call: its parameters, its results and its local variables */
  uint8_t align = 1;
};

struct Register {
  Ref at;
  uint8_t wide; /* bytes of a value; 0 for a predicate */
};

struct Module;

struct Function {
  Module *module = nullptr;
  std::string name;
  bool entry = false, decoded = false;
  size_t begin = 0, end = 0; /* its text */
  std::vector<Instruction> code;
  std::vector<Variable> formals, results;    /* parameters */
  std::map<std::string, Variable> variables; /* with those inside braces, the latest of a name */
  std::map<std::string, Register> registers;
  uint32_t register_bytes = 0, memory_rows = 0;
  std::vector<char> constants;
  std::map<std::pair<uint64_t, int>, Ref> constant_at;
  uint32_t shared_end = 0;
  std::vector<Variable> shared; /* of an entry: what it may access */
  uint64_t launches = 0, threads = 0, steps = 0, lane_steps = 0;
};

struct Module {
  std::string text;
  std::vector<uint32_t> line_at; /* where each line begins */
  std::map<std::string, std::unique_ptr<Function>> functions;
  std::map<std::string, Variable> variables;
  std::vector<Variable> shared;
  uint32_t shared_end = 0;
  std::string line(uint32_t n) const;
  uint32_t line_of(size_t at) const;
};

/* Reads what a module declares. Bodies are decoded by function_decode when they are first called. */
std::unique_ptr<Module> module_read(std::string text);
void function_decode(Function &f);

/* What executes an instruction of this name (its parts between the points), NULL if nothing does. `wide` is of its
 * operands. */
typedef std::vector<std::string> Words;
Run run_of_number(const Words &op, const uint8_t *wide);
Run run_of_float(const Words &op);
Run run_of_half(const Words &op);
Space space_of(const Words &op);
Run run_of_memory(const Words &op, const Instruction &i);
Run run_of_atomic(const Words &op);
Run run_of_exchange(const Words &op);
Run run_of_matrix(const Words &op);
Run run_of_flow(const std::string &op);
Run run_unknown();

/* Bytes of a value of a type as it is written (u32, f64, pred, ...). */
int type_bytes(const std::string &type);

#endif
