/* SPDX-License-Identifier: MIT */
/* tests/ptx/programs.cpp - what nvcc's objects register before main: their PTX, and which function is which kernel.
 *
 * Objects are compiled with --no-compress, so that their PTX is text. A fat binary is a header and then entries with
 * headers of their own; of these one has the PTX. */
#include "tests/ptx/programs.h"

#include <stdio.h>
#include <stdlib.h>

#include <algorithm>

namespace {

struct Wrapper { /* what an object registers */
  uint32_t magic, version;
  const char *data;
  const char *file;
};
struct Header {
  uint32_t magic;
  uint16_t version, header_bytes;
  uint64_t bytes;
};
struct Entry {
  uint16_t kind, version;
  uint32_t header_bytes;
  uint64_t bytes;
};
enum { PTX_KIND = 1 };

struct Program {
  std::string text;
  std::unique_ptr<Module> module; /* read when the first of its kernels is launched, or a variable is asked for */
};
struct Kernel {
  Program *program;
  std::string name;
  Function *function;
};

std::map<const void *, Kernel> &kernels() {
  static std::map<const void *, Kernel> *all = new std::map<const void *, Kernel>;
  return *all;
}
std::map<const void *, std::pair<Program *, std::string>> &variables() {
  static std::map<const void *, std::pair<Program *, std::string>> *all =
      new std::map<const void *, std::pair<Program *, std::string>>;
  return *all;
}
std::vector<std::unique_ptr<Program>> &programs() {
  static std::vector<std::unique_ptr<Program>> *all = new std::vector<std::unique_ptr<Program>>;
  return *all;
}

std::string ptx_of(const Wrapper &w) {
  Header h;
  memcpy(&h, w.data, sizeof h);
  if (w.magic != 0x466243B1 || h.magic != 0xBA55ED50) give_up("what was registered is not a fat binary");
  for (uint64_t at = h.header_bytes; at + sizeof(Entry) <= h.header_bytes + h.bytes;) {
    Entry e;
    memcpy(&e, w.data + at, sizeof e);
    const char *text = w.data + at + e.header_bytes;
    if (e.kind == PTX_KIND) {
      std::string ptx(text, strnlen(text, e.bytes));
      if (ptx.find(".version") == std::string::npos)
        give_up("the PTX of a fat binary is compressed: compile with --no-compress");
      return ptx;
    }
    at += e.header_bytes + e.bytes;
  }
  return ""; /* machine code alone, as of wgmma */
}

/* NULL: it has no PTX. */
Module *module_of(Program &p) {
  if (p.text.empty() && !p.module) return nullptr;
  if (!p.module) p.module = module_read(std::move(p.text));
  return p.module.get();
}

/* A table of what ran, if HU_PTX_COUNTS names a file for it ("-": stderr). */
void print_counts() {
  const char *name = getenv("HU_PTX_COUNTS");
  if (!name) return;
  FILE *to = strcmp(name, "-") == 0 ? stderr : fopen(name, "a");
  if (!to) give_up(std::string("cannot write ") + name);
  std::vector<const Function *> ran;
  uint64_t all = 0;
  for (const auto &k : kernels()) {
    if (k.second.function && k.second.function->launches) ran.push_back(k.second.function);
  }
  std::sort(ran.begin(), ran.end(), [](const Function *a, const Function *b) { return a->lane_steps > b->lane_steps; });
  fprintf(to, "%10s %12s %16s %12s %8s  kernel\n", "launches", "threads", "instructions", "of a thread", "lanes");
  for (const Function *f : ran) {
    all += f->lane_steps;
    fprintf(to, "%10llu %12llu %16llu %12.1f %8.2f  %s\n", (unsigned long long)f->launches,
            (unsigned long long)f->threads, (unsigned long long)f->lane_steps,
            (double)f->lane_steps / (double)f->threads, (double)f->lane_steps / (double)f->steps,
            demangled(f->name).c_str());
  }
  fprintf(to, "%llu instructions of threads in all\n", (unsigned long long)all);
  if (to != stderr) fclose(to);
}

}  // namespace

Function *kernel_of(const void *host) {
  auto at = kernels().find(host);
  if (at == kernels().end()) return nullptr;
  Kernel &k = at->second;
  if (k.function) return k.function;
  Module *m = module_of(*k.program);
  if (!m) return nullptr;
  auto f = m->functions.find(k.name);
  if (f == m->functions.end()) give_up("the PTX has no kernel " + k.name);
  return k.function = f->second.get();
}

void *device_variable(const void *host) {
  auto at = variables().find(host);
  Module *m = at == variables().end() ? nullptr : module_of(*at->second.first);
  if (!m) return nullptr;
  auto v = m->variables.find(at->second.second);
  if (v == m->variables.end()) give_up("the PTX has no variable " + at->second.second);
  return (void *)v->second.at;
}

extern "C" {

void **__cudaRegisterFatBinary(void *wrapper) {
  static bool first = (atexit(print_counts), true);
  (void)first;
  programs().emplace_back(new Program);
  programs().back()->text = ptx_of(*(const Wrapper *)wrapper);
  return (void **)programs().back().get();
}
void __cudaRegisterFatBinaryEnd(void **) {}
void __cudaUnregisterFatBinary(void **) {}
char __cudaInitModule(void **) { return 1; }

void __cudaRegisterFunction(void **program, const char *host, char *, const char *name, int, void *, void *, void *,
                            void *, int *) {
  kernels()[host] = {(Program *)program, name, nullptr};
}
void __cudaRegisterVar(void **program, char *host, char *, const char *name, int, size_t, int, int) {
  variables()[host] = {(Program *)program, name};
}

/* kernel<<<...>>>: what is between the brackets waits for the launch. */
struct Dim {
  unsigned x, y, z;
};
static thread_local struct {
  Dim grid, size;
  size_t dynamic;
  void *stream;
} pushed;
unsigned __cudaPushCallConfiguration(Dim grid, Dim size, size_t dynamic, void *stream) {
  pushed = {grid, size, dynamic, stream};
  return 0;
}
int __cudaPopCallConfiguration(Dim *grid, Dim *size, size_t *dynamic, void *stream) {
  *grid = pushed.grid;
  *size = pushed.size;
  *dynamic = pushed.dynamic;
  *(void **)stream = pushed.stream;
  return 0;
}

}  // extern "C"
