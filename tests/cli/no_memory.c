/* SPDX-License-Identifier: MIT */
/* For LD_PRELOAD: memory that runs out. FAULT_MALLOC is how many calls of malloc, calloc and realloc still get some,
 * from main() on: the constructors of a library, CUDA's runtime among them, are not asked to do without. Where
 * FAULT_MALLOC_LOG names a file, it gets the number of calls at the end. glibc alone, without a sanitizer. */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#pragma GCC visibility push(default)

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

typedef int main_function(int count, char **arguments, char **environment);
typedef int start_function(main_function *main, int count, char **arguments, void (*begin)(void), void (*end)(void),
                           void (*finish)(void), void *stack);

int __libc_start_main(main_function *main, int count, char **arguments, void (*begin)(void), void (*end)(void),
                      void (*finish)(void), void *stack);

static main_function *counted_main;
static _Atomic int has_begun;
static _Atomic long calls;

static int is_over(void) {
  if (!has_begun) return 0;
  const char *most = getenv("FAULT_MALLOC");
  int over = calls++ >= (most ? atol(most) : __LONG_MAX__);
  if (over) errno = ENOMEM;
  return over;
}

void *malloc(size_t size) { return is_over() ? NULL : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return is_over() ? NULL : __libc_calloc(n, size); }
void *realloc(void *memory, size_t size) { return is_over() ? NULL : __libc_realloc(memory, size); }

static int begin_counting(int count, char **arguments, char **environment) {
  has_begun = 1;
  return counted_main(count, arguments, environment);
}

int __libc_start_main(main_function *main, int count, char **arguments, void (*begin)(void), void (*end)(void),
                      void (*finish)(void), void *stack) {
  start_function *start;
  *(void **)&start = dlsym(RTLD_NEXT, "__libc_start_main");
  counted_main = main;
  return start(begin_counting, count, arguments, begin, end, finish, stack);
}

__attribute__((destructor)) static void tell(void) {
  const char *log = getenv("FAULT_MALLOC_LOG");
  long count = calls;
  FILE *out = log ? fopen(log, "w") : NULL;
  if (out) fprintf(out, "%ld\n", count);
  if (out) fclose(out);
}
