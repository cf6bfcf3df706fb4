/* SPDX-License-Identifier: MIT */
/* tests/ptx/warp.h - what a warp and its block are while a kernel runs, and how instructions see them. */
#ifndef HALFULP_TESTS_PTX_WARP_H
#define HALFULP_TESTS_PTX_WARP_H

#include <string.h>

#include <memory>

#include "tests/ptx/ptx.h"

/* A call that lanes are in, and the one that made it. */
struct Call {
  const Function *function = nullptr;
  uint32_t back = 0;      /* the caller's instruction after it */
  uint32_t registers = 0; /* where those of this call begin, in bytes */
  uint32_t memory = 0;    /* the same for its local memory, in bytes of a lane */
  uint32_t depth = 0;
  std::shared_ptr<Call> caller;
};

enum Wait : uint8_t { RUNS, AT_BARRIER, AT_EXCHANGE };

/* Lanes that are at the same instruction. */
struct Group {
  uint32_t lanes = 0, pc = 0;
  Wait wait = RUNS;
  std::shared_ptr<Call> call;
};

/* The last accesses to a word of shared memory, for races. `when` counts the barriers of the launch, `turn` those of
 * the warp. */
struct Access {
  uint32_t when = 0, turn = 0;
  uint16_t thread = 0;
  uint8_t bytes = 0, many = 0; /* many: 1 for other lanes of the warp, 2 for other warps */
};
struct Shadow {
  Access write, read;
  bool atomic = false;
  uint8_t live = 0, written = 0; /* bytes that variables have; bytes that were written in this block */
};

struct Block {
  const Function *kernel = nullptr;
  uint32_t grid[3] = {}, size[3] = {}, at[3] = {};
  uint32_t threads = 0, when = 0;
  const char *params = nullptr;
  uint32_t param_bytes = 0;
  std::vector<char> shared;
  std::vector<Shadow> shadow;
};

struct alignas(64) Line {
  char bytes[64];
};

struct Warp {
  Block *block = nullptr;
  uint32_t number = 0;
  Group now; /* the lanes that run */
  std::vector<Group> others;
  uint32_t alive = 0;
  uint32_t meet = 0; /* the instruction at which another group may be next */
  char *registers = nullptr;
  const char *constants = nullptr;
  std::vector<Line> register_file;
  std::vector<char> memory;
  uint32_t memory_at = 0, memory_end = 0; /* the part of a lane's memory that the call has */
  /* Of __syncwarp: how many there were, the last of all lanes, and the last that two lanes took part in. */
  uint32_t turn = 1, turn_of_all = 1, turn_of[LANES][LANES] = {};
  uint64_t steps = 0, lane_steps = 0;

  template <class T>
  T *to(Ref r) {
    return (T *)(registers + r);
  }
  template <class T>
  const T *from(Ref r) const {
    return (const T *)((r & CONSTANT ? constants : registers) + (r & ~CONSTANT));
  }
  uint32_t thread(int lane) const { return number * LANES + (uint32_t)lane; }
};

/* f(lane) for each of the lanes; the loop over all of them is left to the compiler to make vectors of. */
template <class F>
inline void each(uint32_t lanes, F f) {
  if (lanes == ~0u) {
#pragma GCC ivdep
    for (int l = 0; l < LANES; l++) f(l);
  } else {
    for (; lanes; lanes &= lanes - 1) f(__builtin_ctz(lanes));
  }
}

/* Prints what is wrong, where, and ends the process. `lane` may be -1. */
const uint64_t NOWHERE = ~UINT64_C(0);
[[noreturn]] void fault(const Warp &w, const Instruction &i, int lane, uint64_t address, const std::string &what);
[[noreturn]] void give_up(const std::string &what);

void launch(Function &kernel, const uint32_t grid[3], const uint32_t size[3], void **arguments, uint32_t dynamic);

/* Memory of the device. */
const Range *range_of(uint64_t address);
void range_add(const void *begin, uint64_t size);
bool range_drop(const void *begin);

void shadow_begin(Block &b, uint32_t dynamic);
/* Memory that a lane accesses, after the checks. */
enum How : uint8_t { READ, WRITE, ATOMIC };
char *memory_at(Warp &w, const Instruction &i, int lane, Space space, uint64_t address, uint32_t bytes, How how);

#endif
