/* SPDX-License-Identifier: MIT */
/* tests/ptx/memory.cpp - what a lane may access: bounds, alignment, and races in shared memory. */
#include <algorithm>

#include "tests/ptx/warp.h"

/* ---- memory of the device ---- */

static std::map<uint64_t, std::unique_ptr<Range>> &ranges() {
  static std::map<uint64_t, std::unique_ptr<Range>> *all =
      new std::map<uint64_t, std::unique_ptr<Range>>; /* used while others end */
  return *all;
}

void range_add(const void *begin, uint64_t size) {
  std::unique_ptr<Range> r(new Range);
  r->begin = (uint64_t)begin;
  r->end = r->begin + size;
  ranges()[r->begin] = std::move(r);
}

bool range_drop(const void *begin) {
  auto at = ranges().find((uint64_t)begin);
  if (at == ranges().end()) return false;
  at->second->begin = at->second->end = 0;
  (void)at->second.release(); /* instructions may remember it */
  ranges().erase(at);
  return true;
}

const Range *range_of(uint64_t address) {
  static const Range none;
  auto after = ranges().upper_bound(address);
  if (after == ranges().begin()) return &none;
  const Range *r = std::prev(after)->second.get();
  return address < r->end ? r : &none;
}

/* ---- shared memory ---- */

static void live(Block &b, uint64_t from, uint64_t size) {
  for (uint64_t at = from; at < from + size; at++) b.shadow[at / 4].live |= (uint8_t)(1u << at % 4);
}

/* Made anew for a launch: what variables a kernel has, and nothing written. */
void shadow_begin(Block &b, uint32_t dynamic) {
  const Function &f = *b.kernel;
  if (f.shared_end > DYNAMIC) give_up("more shared memory than a kernel can have");
  uint64_t size = dynamic ? DYNAMIC + dynamic : f.shared_end;
  b.shared.assign(size + 16, (char)0xA5);
  b.shadow.assign(size / 4 + 4, Shadow());
  b.when = 1;
  for (const std::vector<Variable> *list : {&f.shared, (const std::vector<Variable> *)&f.module->shared}) {
    for (const Variable &v : *list) {
      if (v.size) live(b, v.at, v.size);
    }
  }
  live(b, DYNAMIC, dynamic);
}

static std::string name_of(const Warp &w, uint32_t thread) {
  return thread / LANES == w.number ? "lane " + std::to_string(thread % LANES) + " of the warp"
                                    : "thread " + std::to_string(thread);
}

/* Whether the last access that `a` holds comes before what this lane does now: by a barrier, or by a __syncwarp that
 * both took part in. */
static bool before(const Warp &w, const Access &a, int lane, uint8_t bytes) {
  if (a.when != w.block->when || !(a.bytes & bytes)) return true;
  if (a.thread == w.thread(lane) && !a.many) return true;
  if (a.thread / LANES != w.number || a.many == 2) return false;
  if (w.turn_of_all > a.turn) return true;
  return !a.many && w.turn_of[a.thread % LANES][lane] > a.turn;
}

static void note(const Warp &w, Access &a, int lane, uint8_t bytes) {
  uint16_t thread = (uint16_t)w.thread(lane);
  bool same = a.when == w.block->when && a.turn == w.turn;
  if (same && a.thread == thread) {
    a.bytes |= bytes;
    return;
  }
  uint8_t many = 0; /* of one word the bytes that were accessed last are kept */
  if (a.when == w.block->when && (a.bytes & bytes))
    many = a.thread / LANES != w.number ? 2 : a.many == 2 ? 2 : a.turn == w.turn && a.thread != thread ? 1 : 0;
  a.bytes = (uint8_t)(many ? a.bytes | bytes : bytes);
  a.when = w.block->when;
  a.turn = w.turn;
  a.thread = thread;
  a.many = many;
}

static void race(const Warp &w, const Instruction &i, int lane, uint64_t address, const Access &a, const char *did) {
  fault(w, i, lane, address,
        "a race in shared memory: " + (a.many ? "other threads" : name_of(w, a.thread)) + " " + did +
            " this, and nothing orders the two");
}

static void shared_word(Warp &w, const Instruction &i, int lane, uint64_t address, uint8_t bytes, How how) {
  Shadow &s = w.block->shadow[address / 4];
  if ((s.live & bytes) != bytes) fault(w, i, lane, address, "outside of every variable in shared memory");
  if (!(how == ATOMIC && s.atomic) && !before(w, s.write, lane, bytes)) race(w, i, lane, address, s.write, "wrote");
  if (how != READ && !before(w, s.read, lane, bytes)) race(w, i, lane, address, s.read, "read");
  if (how != WRITE && (s.written & bytes) != bytes)
    fault(w, i, lane, address, "shared memory is read before it is written");
  if (how == READ) {
    note(w, s.read, lane, bytes);
  } else {
    bool kept = s.atomic && how == ATOMIC;
    if (kept) {
      note(w, s.write, lane, bytes);
    } else {
      s.write = Access();
      note(w, s.write, lane, bytes);
    }
    s.atomic = how == ATOMIC;
    s.written |= bytes;
  }
}

static char *shared_at(Warp &w, const Instruction &i, int lane, uint64_t address, uint32_t bytes, How how) {
  Block &b = *w.block;
  if (address >= b.shared.size() || address + bytes > b.shared.size())
    fault(w, i, lane, address, "outside of shared memory");
  for (uint64_t at = address; at < address + bytes;) {
    uint64_t end = std::min(address + bytes, at / 4 * 4 + 4);
    uint8_t mask = (uint8_t)(((1u << (end - at)) - 1) << at % 4);
    shared_word(w, i, lane, at, mask, how);
    at = end;
  }
  return b.shared.data() + address;
}

/* ---- any memory ---- */

/* Of local memory 16 bytes of a lane stand beside those of the next one. */
static char *local_at(Warp &w, const Instruction &i, int lane, uint64_t address, uint32_t bytes) {
  if (address >= w.memory_end || address + bytes > w.memory_end) fault(w, i, lane, address, "outside of local memory");
  return w.memory.data() + address / 16 * (16 * LANES) + (uint32_t)lane * 16 + address % 16;
}

char *memory_at(Warp &w, const Instruction &i, int lane, Space space, uint64_t address, uint32_t bytes, How how) {
  if (address & (bytes - 1))
    fault(w, i, lane, address, "an address that is not a multiple of " + std::to_string(bytes));
  if (space == GENERIC) {
    space = (Space)(address >> 56);
    address &= (UINT64_C(1) << 56) - 1;
  }
  switch (space) {
    case SHARED: return shared_at(w, i, lane, address, bytes, how);
    case LOCAL: return local_at(w, i, lane, address, bytes);
    case PARAM:
      if (address + bytes > w.block->param_bytes) fault(w, i, lane, address, "outside of the kernel's parameters");
      if (how != READ) fault(w, i, lane, address, "a kernel's parameters are not written");
      return (char *)w.block->params + address;
    default: break;
  }
  const Range *r = i.range;
  if (!r || address < r->begin || address >= r->end) r = i.range = range_of(address);
  if (address < r->begin || address + bytes > r->end || r->begin == 0)
    fault(w, i, lane, address, "outside of all memory of the device");
  return (char *)address;
}

/* ---- ld and st ---- */

namespace {

/* The address that a lane has in its register, or the one that the instruction names. */
template <class A>
inline uint64_t address_of(const Warp &w, const Instruction &i, int lane) {
  return (uint64_t)w.from<A>(i.r[4])[lane] + (uint64_t)i.imm;
}

template <class T, class R, class A>
void load(Warp &w, const Instruction &i, uint32_t lanes) {
  const uint32_t bytes = sizeof(T) * i.count;
  for (; lanes; lanes &= lanes - 1) {
    int l = __builtin_ctz(lanes);
    const char *p = memory_at(w, i, l, i.space, address_of<A>(w, i, l), bytes, READ);
    for (int n = 0; n < i.count; n++) {
      T x;
      memcpy(&x, p + (size_t)n * sizeof(T), sizeof(T));
      w.to<R>(i.r[n])[l] = (R)x;
    }
  }
}
template <class T, class R, class A>
void store(Warp &w, const Instruction &i, uint32_t lanes) {
  const uint32_t bytes = sizeof(T) * i.count;
  for (; lanes; lanes &= lanes - 1) {
    int l = __builtin_ctz(lanes);
    char *p = memory_at(w, i, l, i.space, address_of<A>(w, i, l), bytes, WRITE);
    for (int n = 0; n < i.count; n++) {
      T x = (T)w.from<R>(i.r[n])[l];
      memcpy(p + (size_t)n * sizeof(T), &x, sizeof(T));
    }
  }
}

/* The same where the instruction names a place in the call's own memory: the lanes' are 16 bytes apart. */
template <class T, class R>
void load_own(Warp &w, const Instruction &i, uint32_t lanes) {
  uint64_t at = w.memory_at + (uint64_t)i.imm;
  int first = __builtin_ctz(lanes);
  const char *p = memory_at(w, i, first, LOCAL, at, sizeof(T) * i.count, READ) - first * 16;
  for (int n = 0; n < i.count; n++) {
    R *d = w.to<R>(i.r[n]);
    const char *q = p + (size_t)n * sizeof(T);
    each(lanes, [=](int l) {
      T x;
      memcpy(&x, q + l * 16, sizeof(T));
      d[l] = (R)x;
    });
  }
}
template <class T, class R>
void store_own(Warp &w, const Instruction &i, uint32_t lanes) {
  uint64_t at = w.memory_at + (uint64_t)i.imm;
  int first = __builtin_ctz(lanes);
  char *p = memory_at(w, i, first, LOCAL, at, sizeof(T) * i.count, WRITE) - first * 16;
  for (int n = 0; n < i.count; n++) {
    const R *a = w.from<R>(i.r[n]);
    char *q = p + (size_t)n * sizeof(T);
    each(lanes, [=](int l) {
      T x = (T)a[l];
      memcpy(q + l * 16, &x, sizeof(T));
    });
  }
}

template <class T, class R>
Run run_access(bool is_store, const Instruction &i) {
  if (i.symbol) return is_store ? (Run)store_own<T, R> : load_own<T, R>;
  if (i.wide[4] == 4) return is_store ? (Run)store<T, R, uint32_t> : load<T, R, uint32_t>;
  return is_store ? (Run)store<T, R, uint64_t> : load<T, R, uint64_t>;
}
/* A register may be wider than what is loaded into it: a signed value is extended by its sign. */
template <class T, class R2, class R4, class R8>
Run run_width(bool is_store, const Instruction &i) {
  switch (i.wide[0]) {
    case 1: return is_store ? run_access<T, uint8_t>(true, i) : nullptr;
    case 2: return run_access<T, R2>(is_store, i);
    case 4: return run_access<T, R4>(is_store, i);
    case 8: return run_access<T, R8>(is_store, i);
    default: return nullptr;
  }
}

}  // namespace

Space space_of(const Words &op) {
  for (const std::string &word : op) {
    if (word == "global" || word == "const") return GLOBAL;
    if (word.compare(0, 6, "shared") == 0) return SHARED;
    if (word == "local") return LOCAL;
    if (word == "param") return PARAM;
  }
  return GENERIC;
}

Run run_of_memory(const Words &op, const Instruction &i) {
  for (int n = 1; n < i.count; n++) {
    if (i.wide[n] != i.wide[0]) return nullptr;
  }
  bool is_store = op[0] == "st";
  const std::string &type = op.back();
  bool is_signed = type[0] == 's';
  switch (type_bytes(type)) {
    case 1:
      return is_signed ? run_width<int8_t, int16_t, int32_t, int64_t>(is_store, i)
                       : run_width<uint8_t, uint16_t, uint32_t, uint64_t>(is_store, i);
    case 2:
      return is_signed ? run_width<int16_t, int16_t, int32_t, int64_t>(is_store, i)
                       : run_width<uint16_t, uint16_t, uint32_t, uint64_t>(is_store, i);
    case 4:
      return is_signed ? run_width<int32_t, int16_t, int32_t, int64_t>(is_store, i)
                       : run_width<uint32_t, uint16_t, uint32_t, uint64_t>(is_store, i);
    case 8: return run_width<uint64_t, uint16_t, uint32_t, uint64_t>(is_store, i);
    default: return nullptr;
  }
}

/* ---- atom and red ---- */

namespace {

struct AtomicAdd {
  template <class T>
  static T of(T old, T b, T) {
    return (T)(old + b);
  }
};
struct AtomicMin {
  template <class T>
  static T of(T old, T b, T) {
    return b < old ? b : old;
  }
};
struct AtomicMax {
  template <class T>
  static T of(T old, T b, T) {
    return b > old ? b : old;
  }
};
struct AtomicAnd {
  template <class T>
  static T of(T old, T b, T) {
    return old & b;
  }
};
struct AtomicOr {
  template <class T>
  static T of(T old, T b, T) {
    return old | b;
  }
};
struct AtomicXor {
  template <class T>
  static T of(T old, T b, T) {
    return old ^ b;
  }
};
struct AtomicExch {
  template <class T>
  static T of(T, T b, T) {
    return b;
  }
};
struct AtomicCas {
  template <class T>
  static T of(T old, T b, T c) {
    return old == b ? c : old;
  }
};
struct AtomicInc {
  template <class T>
  static T of(T old, T b, T) {
    return old >= b ? (T)0 : (T)(old + 1);
  }
};
struct AtomicDec {
  template <class T>
  static T of(T old, T b, T) {
    return old == 0 || old > b ? b : (T)(old - 1);
  }
};

template <class Op, class T>
void atomic(Warp &w, const Instruction &i, uint32_t lanes) {
  for (; lanes; lanes &= lanes - 1) {
    int l = __builtin_ctz(lanes);
    uint64_t address = i.symbol         ? w.memory_at + (uint64_t)i.imm
                       : i.wide[4] == 4 ? address_of<uint32_t>(w, i, l)
                                        : address_of<uint64_t>(w, i, l);
    char *p = memory_at(w, i, l, i.space, address, sizeof(T), ATOMIC);
    T old, b = w.from<T>(i.r[1])[l], c = i.r[2] == NONE ? b : w.from<T>(i.r[2])[l];
    memcpy(&old, p, sizeof old);
    T now = Op::template of<T>(old, b, c);
    memcpy(p, &now, sizeof now);
    if (i.r[0] != NONE) w.to<T>(i.r[0])[l] = old;
  }
}
template <class Op>
Run run_atomic(const std::string &type) {
  if (type == "u32" || type == "b32") return atomic<Op, uint32_t>;
  if (type == "s32") return atomic<Op, int32_t>;
  if (type == "u64" || type == "b64") return atomic<Op, uint64_t>;
  if (type == "s64") return atomic<Op, int64_t>;
  return nullptr;
}

}  // namespace

Run run_of_atomic(const Words &op) {
  const std::string &type = op.back(), &name = op[op.size() - 2];
  if (name == "add") return run_atomic<AtomicAdd>(type);
  if (name == "min") return run_atomic<AtomicMin>(type);
  if (name == "max") return run_atomic<AtomicMax>(type);
  if (name == "and") return run_atomic<AtomicAnd>(type);
  if (name == "or") return run_atomic<AtomicOr>(type);
  if (name == "xor") return run_atomic<AtomicXor>(type);
  if (name == "exch") return run_atomic<AtomicExch>(type);
  if (name == "cas") return run_atomic<AtomicCas>(type);
  if (name == "inc" && type == "u32") return atomic<AtomicInc, uint32_t>;
  if (name == "dec" && type == "u32") return atomic<AtomicDec, uint32_t>;
  return nullptr;
}
