/* SPDX-License-Identifier: MIT */
/* For LD_PRELOAD: memory that runs out. FAULT_MALLOC is how many calls of malloc, calloc and
 * realloc still get some. Where
 * FAULT_MALLOC_LOG names a file, it gets the number of calls at the end. glibc alone, without a sanitizer. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#pragma GCC visibility push(default)

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

static _Atomic long calls;

static int is_over(void) {
  const char *most = getenv("FAULT_MALLOC");
  int over = calls++ >= (most ? atol(most) : __LONG_MAX__);
  if (over) errno = ENOMEM;
  return over;
}

void *malloc(size_t size) { return is_over() ? NULL : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return is_over() ? NULL : __libc_calloc(n, size); }
void *realloc(void *memory, size_t size) { return is_over() ? NULL : __libc_realloc(memory, size); }

__attribute__((destructor)) static void tell(void) {
  const char *log = getenv("FAULT_MALLOC_LOG");
  long count = calls;
  FILE *out = log ? fopen(log, "w") : NULL;
  if (out) fprintf(out, "%ld\n", count);
  if (out) fclose(out);
}
