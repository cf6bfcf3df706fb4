/* SPDX-License-Identifier: MIT */
/* tests/ptx/warp.cpp - how lanes part and meet: branches, calls, and what a warp does until its block must wait.
 *
 * Lanes at the same instruction in the same calls are one group. Of several groups the one in the deepest call runs, of
 * these the one that is furthest behind; so those that parted meet again as soon as they can. */
#include "tests/ptx/run.h"

static bool same_calls(const Call *a, const Call *b) {
  for (; a != b; a = a->caller.get(), b = b->caller.get()) {
    if (!a || !b || a->function != b->function || a->back != b->back) return false;
  }
  return true;
}

static bool same_place(const Group &a, const Group &b) {
  return a.pc == b.pc && same_calls(a.call.get(), b.call.get());
}

/* The call's registers, constants and memory. */
static void enter(Warp &w) {
  const Call &c = *w.now.call;
  size_t lines = (c.registers + c.function->register_bytes) / sizeof(Line),
         rows = c.memory / 16 + c.function->memory_rows;
  if (w.register_file.size() < lines) w.register_file.resize(2 * lines);
  if (w.memory.size() < rows * 16 * LANES) w.memory.resize(2 * rows * 16 * LANES);
  w.registers = w.register_file[0].bytes + c.registers;
  w.constants = c.function->constants.data();
  w.memory_at = c.memory;
  w.memory_end = (uint32_t)rows * 16;
}

/* ---- groups ---- */

/* Lanes leave those that run, and become a group that is at instruction pc. */
static void part(Warp &w, uint32_t lanes, uint32_t pc, Wait wait) {
  Group g = w.now;
  g.lanes = lanes;
  g.pc = pc;
  g.wait = wait;
  w.now.lanes &= ~lanes;
  w.others.push_back(g);
  w.meet = 0;
}

static void join(Warp &w) {
  for (size_t a = 0; a < w.others.size(); a++) {
    for (size_t b = a + 1; b < w.others.size();) {
      Group &x = w.others[a], &y = w.others[b];
      bool barrier = x.wait == AT_BARRIER || y.wait == AT_BARRIER;
      if (barrier || !same_place(x, y)) {
        b++;
        continue;
      }
      x.lanes |= y.lanes;
      x.wait = RUNS;
      w.others.erase(w.others.begin() + (long)b);
    }
  }
}

/* Takes the group that is next, or says that none can go on. */
static bool choose(Warp &w) {
  if (w.now.lanes) w.others.push_back(w.now);
  w.now.lanes = 0;
  w.now.call.reset();
  if (w.others.size() > 1) join(w);
  const Group *best = nullptr;
  for (const Group &g : w.others) {
    if (g.wait != RUNS) continue;
    uint32_t depth = best ? best->call->depth : 0;
    if (!best || g.call->depth > depth || (g.call->depth == depth && g.pc < best->pc)) best = &g;
  }
  if (!best) return false;
  w.now = *best;
  w.others.erase(w.others.begin() + (best - w.others.data()));
  w.meet = ~0u;
  for (const Group &g : w.others) {
    if (g.wait == AT_BARRIER || g.call->depth != w.now.call->depth) continue;
    uint32_t at = g.pc > w.now.pc ? g.pc : 0; /* one that waits behind may be met after any branch */
    if (at < w.meet) w.meet = at;
  }
  enter(w);
  return true;
}

static std::string lanes_text(uint32_t lanes) {
  char text[24];
  snprintf(text, sizeof text, "0x%08X", lanes);
  return text;
}

/* Lanes that wait for others which never come. */
static void stuck(Warp &w) {
  for (const Group &g : w.others) {
    if (g.wait != AT_EXCHANGE) continue;
    Group waits = g;
    std::string where;
    for (const Group &o : w.others) {
      const Instruction &i = o.call->function->code[o.wait == AT_BARRIER ? o.pc - 1 : o.pc];
      where += "; lanes " + lanes_text(o.lanes) + " are at line " + std::to_string(i.line);
    }
    w.now = waits;
    fault(w, waits.call->function->code[waits.pc], __builtin_ctz(waits.lanes), NOWHERE,
          "lanes of its mask never come here" + where);
  }
}

void warp_begin(Warp &w, Block &b, uint32_t number, uint32_t lanes) {
  w.block = &b;
  w.number = number;
  w.others.clear();
  w.alive = w.now.lanes = lanes;
  w.now.pc = 0;
  w.now.wait = RUNS;
  w.now.call = std::make_shared<Call>();
  w.now.call->function = b.kernel;
  w.turn = w.turn_of_all = 1;
  memset(w.turn_of, 0, sizeof w.turn_of);
}

void warp_run(Warp &w) {
  if (!choose(w)) return;
  for (const Instruction *code = w.now.call->function->code.data();;) {
    const Instruction &i = code[w.now.pc++];
    uint32_t lanes = w.now.lanes;
    w.steps++;
    w.lane_steps += (uint32_t)__builtin_popcount(lanes);
    if (i.guard != NONE) lanes &= *w.from<uint32_t>(i.guard) ^ (i.unless ? ~0u : 0);
    if (lanes) i.run(w, i, lanes);
    if (w.now.pc < w.meet) continue;
    if (!choose(w)) break;
    code = w.now.call->function->code.data();
  }
  stuck(w);
}

/* ---- flow ---- */

static void branch(Warp &w, const Instruction &i, uint32_t lanes) {
  if (lanes != w.now.lanes) part(w, w.now.lanes & ~lanes, w.now.pc, RUNS);
  w.now.pc = i.target;
}

static void leave(Warp &w, const Instruction &, uint32_t lanes) {
  w.now.lanes &= ~lanes;
  w.alive &= ~lanes;
  w.meet = 0;
}

/* 16 bytes of each of the lanes, row by row. */
static void move_rows(Warp &w, uint32_t lanes, uint32_t from, uint32_t to, uint32_t rows) {
  for (uint32_t n = 0; n < rows; n++) {
    const char *a = w.memory.data() + (from / 16 + n) * (16 * LANES);
    char *d = w.memory.data() + (to / 16 + n) * (16 * LANES);
    for (uint32_t l = 0; l < LANES; l++) {
      if (lanes >> l & 1) memcpy(d + 16 * l, a + 16 * l, 16);
    }
  }
}

static void call(Warp &w, const Instruction &i, uint32_t lanes) {
  if (lanes != w.now.lanes) part(w, w.now.lanes & ~lanes, w.now.pc, RUNS);
  function_decode(*const_cast<Function *>(i.callee));
  auto c = std::make_shared<Call>();
  const Call &caller = *w.now.call;
  c->function = i.callee;
  c->back = w.now.pc;
  c->registers = caller.registers + caller.function->register_bytes;
  c->memory = caller.memory + 16 * caller.function->memory_rows;
  c->depth = caller.depth + 1;
  c->caller = w.now.call;
  if (c->depth > 64) fault(w, i, -1, NOWHERE, "more than 64 calls within each other");
  w.now.call = c;
  w.now.pc = 0;
  enter(w);
  for (size_t n = 0; n < i.count; n++)
    move_rows(w, lanes, caller.memory + i.moves[3 * n], c->memory + i.moves[3 * n + 1], i.moves[3 * n + 2]);
  w.meet = 0;
}

static void give_back(Warp &w, const Instruction &, uint32_t lanes) {
  if (lanes != w.now.lanes) part(w, w.now.lanes & ~lanes, w.now.pc, RUNS);
  auto c = w.now.call;
  w.now.call = c->caller;
  w.now.pc = c->back;
  const Instruction &i = w.now.call->function->code[c->back - 1];
  for (size_t n = 3 * (size_t)i.count; n < i.moves.size(); n += 3) {
    move_rows(w, lanes, c->memory + i.moves[n], w.now.call->memory + i.moves[n + 1], i.moves[n + 2]);
  }
  w.meet = 0;
}

static void trap(Warp &w, const Instruction &i, uint32_t lanes) {
  fault(w, i, __builtin_ctz(lanes), NOWHERE, "a trap");
}
static void nothing(Warp &, const Instruction &, uint32_t) {}
static void unknown(Warp &w, const Instruction &i, uint32_t lanes) {
  fault(w, i, __builtin_ctz(lanes), NOWHERE, "an instruction that is not modelled");
}

/* The address of what a call has in local memory. */
static void own_address(Warp &w, const Instruction &i, uint32_t lanes) {
  uint64_t *d = w.to<uint64_t>(i.r[0]);
  uint64_t at = w.memory_at + (uint64_t)i.imm;
  each(lanes, [=](int l) { d[l] = at; });
}

static void special(Warp &w, const Instruction &i, uint32_t lanes) {
  uint32_t *d = w.to<uint32_t>(i.r[0]);
  const Block &b = *w.block;
  each(lanes, [=, &b, &w](int l) {
    uint32_t thread = w.thread(l), bit = 1u << l;
    const uint32_t tid[3] = {thread % b.size[0], thread / b.size[0] % b.size[1], thread / b.size[0] / b.size[1]};
    const uint32_t more[7] = {(uint32_t)l, w.number, bit, bit | (bit - 1), bit - 1, ~(bit - 1), ~(bit | (bit - 1))};
    const int64_t n = i.imm;
    d[l] = n < 3 ? tid[n] : n < 6 ? b.size[n - 3] : n < 9 ? b.at[n - 6] : n < 12 ? b.grid[n - 9] : more[n - 12];
  });
}

/* bar.sync: the lanes go on when all threads of the block have come. */
static void barrier(Warp &w, const Instruction &i, uint32_t lanes) {
  if (i.count > 1) unknown(w, i, lanes);
  part(w, lanes, w.now.pc, AT_BARRIER);
}

Run run_unknown() { return unknown; }

Run run_of_flow(const std::string &name) {
  if (name == "bra") return branch;
  if (name == "exit") return leave;
  if (name == "call") return call;
  if (name == "ret") return give_back;
  if (name == "trap") return trap;
  if (name == "fence") return nothing;
  if (name == "address") return own_address;
  if (name == "special") return special;
  if (name == "barrier") return barrier;
  return nullptr;
}

/* ---- for exchange.cpp ---- */

void wait_here(Warp &w, uint32_t lanes) { part(w, lanes, w.now.pc - 1, AT_EXCHANGE); }
