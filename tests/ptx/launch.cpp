/* SPDX-License-Identifier: MIT */
/* tests/ptx/launch.cpp - a grid, block by block; what is printed when something is wrong. */
#include <cxxabi.h>
#include <stdlib.h>

#include <algorithm>

#include "tests/ptx/run.h"

std::string demangled(const std::string &name) {
  int status = 0;
  char *text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string z = status == 0 && text ? text : name;
  free(text);
  return z;
}

void give_up(const std::string &what) {
  fflush(stdout);
  fprintf(stderr, "ptx: %s\n", what.c_str());
  _Exit(99);
}

void fault(const Warp &w, const Instruction &i, int lane, uint64_t address, const std::string &what) {
  const Block &b = *w.block;
  const Function &kernel = *b.kernel, &f = w.now.call ? *w.now.call->function : kernel;
  std::string text = "fault: " + what + "\n  kernel  " + demangled(kernel.name);
  if (&f != &kernel) text += "\n  in      " + demangled(f.name);
  text += "\n  PTX     line " + std::to_string(i.line) + ": " + f.module->line(i.line);
  text += "\n  block   " + std::to_string(b.at[0]) + " " + std::to_string(b.at[1]) + " " + std::to_string(b.at[2]);
  if (lane >= 0)
    text += ", thread " + std::to_string(w.thread(lane)) + " (warp " + std::to_string(w.number) + ", lane " +
            std::to_string(lane) + ")";
  char where[40];
  snprintf(where, sizeof where, "\n  address 0x%llx", (unsigned long long)address);
  if (address != NOWHERE) text += where;
  give_up(text);
}

/* ---- blocks ---- */

static bool has_ended(const Warp &w) { return w.alive == 0; }

/* All threads that have not ended are at a barrier: it must be the same one. Then they go on. */
static void release(Block &b, std::vector<Warp> &warps) {
  const Instruction *at = nullptr;
  for (Warp &w : warps) {
    for (Group &g : w.others) {
      const Instruction &i = g.call->function->code[g.pc - 1];
      if (at && at != &i)
        fault(w, i, __builtin_ctz(g.lanes), NOWHERE,
              "threads wait at different barriers: others at line " + std::to_string(at->line));
      at = &i;
      g.wait = RUNS;
    }
  }
  b.when++;
}

static void run_block(Block &b, std::vector<Warp> &warps, bool last_first) {
  b.when++;
  for (Shadow &s : b.shadow) s.written = 0;
  for (uint32_t n = 0; n < warps.size(); n++) {
    uint32_t left = b.threads - n * LANES;
    warp_begin(warps[n], b, n, left >= LANES ? ~0u : (1u << left) - 1);
  }
  for (;;) {
    for (size_t n = 0; n < warps.size(); n++) warp_run(warps[last_first ? warps.size() - 1 - n : n]);
    if (std::all_of(warps.begin(), warps.end(), has_ended)) return;
    release(b, warps);
  }
}

/* Parameters as they stand in the memory of the kernel. */
static std::vector<char> parameters_of(const Function &f, void **arguments) {
  std::vector<char> bytes(f.formals.empty() ? 0 : f.formals.back().at + f.formals.back().size);
  for (size_t n = 0; n < f.formals.size(); n++) memcpy(bytes.data() + f.formals[n].at, arguments[n], f.formals[n].size);
  return bytes;
}

void launch(Function &kernel, const uint32_t grid[3], const uint32_t size[3], void **arguments, uint32_t dynamic) {
  static std::vector<Warp> warps; /* kept for their memory */
  static Block b;
  const char *order = getenv("HU_PTX_ORDER");
  const bool last_first = order && strcmp(order, "reverse") == 0;
  function_decode(kernel);
  std::vector<char> params = parameters_of(kernel, arguments);
  b.kernel = &kernel;
  b.threads = size[0] * size[1] * size[2];
  b.params = params.data();
  b.param_bytes = (uint32_t)params.size();
  memcpy(b.grid, grid, sizeof b.grid);
  memcpy(b.size, size, sizeof b.size);
  shadow_begin(b, dynamic);
  warps.resize((b.threads + LANES - 1) / LANES);
  for (Warp &w : warps) w.steps = w.lane_steps = 0;
  const uint64_t blocks = (uint64_t)grid[0] * grid[1] * grid[2];
  for (uint64_t n = 0; n < blocks; n++) {
    uint64_t k = last_first ? blocks - 1 - n : n;
    b.at[0] = (uint32_t)(k % grid[0]);
    b.at[1] = (uint32_t)(k / grid[0] % grid[1]);
    b.at[2] = (uint32_t)(k / grid[0] / grid[1]);
    run_block(b, warps, last_first);
  }
  kernel.launches++;
  kernel.threads += blocks * b.threads;
  for (const Warp &w : warps) {
    kernel.steps += w.steps;
    kernel.lane_steps += w.lane_steps;
  }
}
