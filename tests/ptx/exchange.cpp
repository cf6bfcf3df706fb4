/* SPDX-License-Identifier: MIT */
/* tests/ptx/exchange.cpp - instructions of several lanes together: shfl, vote, redux, match, bar.warp, and the matrix
 * instruction of signed bytes. */
#include "tests/ptx/run.h"

namespace {

std::string hex(uint32_t bits) {
  char text[24];
  snprintf(text, sizeof text, "0x%08X", bits);
  return text;
}

/* Calls f(lanes of a mask) for each mask of which all lanes are here that have not ended. The others wait. */
template <class F>
void together(Warp &w, const Instruction &i, uint32_t lanes, Ref mask_at, F f) {
  const uint32_t *masks = w.from<uint32_t>(mask_at);
  uint32_t waiting = 0;
  for (uint32_t left = lanes; left;) {
    int l = __builtin_ctz(left);
    uint32_t mask = masks[l], here = mask & lanes;
    if (!(mask >> l & 1)) fault(w, i, l, NOWHERE, "a lane outside of the mask that it gives, " + hex(mask));
    for (uint32_t m = here; m; m &= m - 1) {
      int o = __builtin_ctz(m);
      if (masks[o] != mask)
        fault(w, i, o, NOWHERE,
              "lanes disagree on the mask: this one gives " + hex(masks[o]) + ", lane " + std::to_string(l) + " " +
                  hex(mask));
    }
    if (here == (mask & w.alive)) {
      f(here);
    } else {
      waiting |= here;
    }
    left &= ~here;
  }
  if (waiting) wait_here(w, waiting);
}

void set(Warp &w, Ref r, uint32_t lanes, uint32_t bits) {
  uint32_t *p = w.to<uint32_t>(r);
  *p = (*p & ~lanes) | (bits & lanes);
}

/* ---- shfl.sync d|p, a, b, c, mask ---- */

enum Way { UP, DOWN, BFLY, IDX };

template <Way WAY>
void shfl(Warp &w, const Instruction &i, uint32_t lanes) {
  const int k = i.count == 6 ? 2 : 1;
  together(w, i, lanes, i.r[k + 3], [&](uint32_t members) {
    uint32_t *d = w.to<uint32_t>(i.r[0]), old[LANES], inside = 0;
    memcpy(old, w.from<uint32_t>(i.r[k]), sizeof old);
    const uint32_t *b = w.from<uint32_t>(i.r[k + 1]), *c = w.from<uint32_t>(i.r[k + 2]);
    each(members, [&](int l) {
      int shift = (int)b[l] & 31, segment = (int)(c[l] >> 8) & 31, last = (int)c[l] & 31;
      int most = (l & segment) | (last & ~segment), least = l & segment;
      int j = WAY == UP ? l - shift : WAY == DOWN ? l + shift : WAY == BFLY ? l ^ shift : (least | (shift & ~segment));
      bool in = WAY == UP ? j >= most : j <= most;
      if (!in) j = l;
      inside |= (uint32_t)in << l;
      if (!(members >> j & 1))
        fault(w, i, l, NOWHERE,
              "the value of lane " + std::to_string(j) + " is wanted, which is not in the mask " + hex(members));
      d[l] = old[j];
    });
    if (k == 2) set(w, i.r[1], members, inside);
  });
}

/* ---- vote, redux, match ---- */

enum Vote { ALL, ANY, UNI, BALLOT };

template <Vote VOTE>
void vote(Warp &w, const Instruction &i, uint32_t lanes) {
  together(w, i, lanes, i.r[2], [&](uint32_t members) {
    uint32_t yes = *w.from<uint32_t>(i.r[1]) & members;
    if (VOTE == BALLOT) {
      uint32_t *d = w.to<uint32_t>(i.r[0]);
      each(members, [=](int l) { d[l] = yes; });
    } else {
      bool is = VOTE == ALL ? yes == members : VOTE == ANY ? yes != 0 : yes == members || yes == 0;
      set(w, i.r[0], members, is ? ~0u : 0);
    }
  });
}

template <class T, class Op>
void redux(Warp &w, const Instruction &i, uint32_t lanes) {
  together(w, i, lanes, i.r[2], [&](uint32_t members) {
    T *d = w.to<T>(i.r[0]);
    const T *a = w.from<T>(i.r[1]);
    T z = a[__builtin_ctz(members)];
    for (uint32_t m = members & (members - 1); m; m &= m - 1) z = Op::of(z, a[__builtin_ctz(m)]);
    each(members, [=](int l) { d[l] = z; });
  });
}
struct Add {
  static uint32_t of(uint32_t a, uint32_t b) { return a + b; }
};
struct And {
  static uint32_t of(uint32_t a, uint32_t b) { return a & b; }
};
struct Or {
  static uint32_t of(uint32_t a, uint32_t b) { return a | b; }
};
struct Xor {
  static uint32_t of(uint32_t a, uint32_t b) { return a ^ b; }
};
struct Min {
  template <class T>
  static T of(T a, T b) {
    return b < a ? b : a;
  }
};
struct Max {
  template <class T>
  static T of(T a, T b) {
    return b > a ? b : a;
  }
};

template <class T>
void match_any(Warp &w, const Instruction &i, uint32_t lanes) {
  together(w, i, lanes, i.r[2], [&](uint32_t members) {
    T a[LANES];
    memcpy(a, w.from<T>(i.r[1]), sizeof a);
    uint32_t *d = w.to<uint32_t>(i.r[0]);
    each(members, [&](int l) {
      uint32_t equal = 0;
      for (uint32_t m = members; m; m &= m - 1) equal |= (uint32_t)(a[__builtin_ctz(m)] == a[l]) << __builtin_ctz(m);
      d[l] = equal;
    });
  });
}

void activemask(Warp &w, const Instruction &i, uint32_t lanes) {
  uint32_t *d = w.to<uint32_t>(i.r[0]);
  each(lanes, [=](int l) { d[l] = lanes; });
}

/* The only one that orders accesses to memory. */
void warp_sync(Warp &w, const Instruction &i, uint32_t lanes) {
  together(w, i, lanes, i.r[0], [&](uint32_t members) {
    w.turn++;
    if (members == w.alive) w.turn_of_all = w.turn; /* what has ended does nothing more */
    for (uint32_t m = members; m && members != w.alive; m &= m - 1) {
      each(members, [&](int l) { w.turn_of[__builtin_ctz(m)][l] = w.turn; });
    }
  });
}

/* ---- mma.sync.aligned.m16n8k32 of signed bytes, sums modulo 2^32 ---- */

/* Where registers have which elements: PTX ISA, "Matrix Fragments for mma.m16n8k32". */
void mma_bytes(Warp &w, const Instruction &i, uint32_t lanes) {
  if (w.alive != ~0u)
    fault(w, i, __builtin_ctz(lanes), NOWHERE, "a matrix instruction in a warp of which lanes have ended");
  if (lanes != ~0u) {
    wait_here(w, lanes);
    return;
  }
  int8_t a[16][32], b[8][32];
  uint32_t c[16][8];
  const auto word = [&](int n, int l) { return w.from<uint32_t>(i.moves[(size_t)n])[l]; };
  for (int l = 0; l < LANES; l++) {
    const int group = l / 4, t = l % 4;
    for (int k = 0; k < 16; k++)
      a[group + k / 4 % 2 * 8][4 * t + k / 8 * 16 + k % 4] = (int8_t)(word(4 + k / 4, l) >> k % 4 * 8);
    for (int k = 0; k < 8; k++) b[group][4 * t + k / 4 * 16 + k % 4] = (int8_t)(word(8 + k / 4, l) >> k % 4 * 8);
    for (int k = 0; k < 4; k++) c[group + k / 2 * 8][2 * t + k % 2] = word(10 + k, l);
  }
  for (int row = 0; row < 16; row++) {
    for (int column = 0; column < 8; column++) {
      int32_t sum = 0;
      for (int k = 0; k < 32; k++) sum += a[row][k] * b[column][k];
      c[row][column] += (uint32_t)sum;
    }
  }
  for (int l = 0; l < LANES; l++) {
    for (int k = 0; k < 4; k++) w.to<uint32_t>(i.moves[(size_t)k])[l] = c[l / 4 + k / 2 * 8][l % 4 * 2 + k % 2];
  }
}

Run run_of_redux(const std::string &how, const std::string &type) {
  if (how == "add") return redux<uint32_t, Add>;
  if (how == "and") return redux<uint32_t, And>;
  if (how == "or") return redux<uint32_t, Or>;
  if (how == "xor") return redux<uint32_t, Xor>;
  if (how == "min") return type == "s32" ? redux<int32_t, Min> : redux<uint32_t, Min>;
  if (how == "max") return type == "s32" ? redux<int32_t, Max> : redux<uint32_t, Max>;
  return nullptr;
}

}  // namespace

Run run_of_exchange(const Words &op) {
  const std::string &name = op[0];
  if (name == "activemask") return activemask;
  if ((name == "bar" || name == "barrier") && op.size() > 1) {
    if (op[1] == "warp") return warp_sync;
    return op[1] == "sync" || (op[1] == "cta" && op[2] == "sync") ? run_of_flow("barrier") : nullptr;
  }
  if (name == "match" && op.size() == 4 && op[1] == "any")
    return op[3] == "b64" ? match_any<uint64_t> : match_any<uint32_t>;
  if (op.size() != 4 || op[1] != "sync") return nullptr;
  const std::string &how = op[2];
  if (name == "shfl")
    return how == "up" ? shfl<UP> : how == "down" ? shfl<DOWN> : how == "bfly" ? shfl<BFLY> : shfl<IDX>;
  if (name == "vote")
    return how == "all" ? vote<ALL> : how == "any" ? vote<ANY> : how == "uni" ? vote<UNI> : vote<BALLOT>;
  if (name == "redux") return run_of_redux(how, op[3]);
  return nullptr;
}

Run run_of_matrix(const Words &op) {
  static const char *const bytes[] = {"mma", "sync", "aligned", "m16n8k32", "row", "col", "s32", "s8", "s8", "s32"};
  return op == Words(bytes, bytes + 10) ? mma_bytes : nullptr;
}
