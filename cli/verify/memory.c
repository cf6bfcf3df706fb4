/* SPDX-License-Identifier: MIT */
/* Memory of GMP and MPFR: see cli_memory_start in cli.h. */
#include "cli/base/cli.h"

#if HU_CLI_ORACLE
#include <gmp.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/base/held.h"

static void *given(void *memory, size_t size) {
  if (memory || !size) return memory;
  (void)cli_fail(NULL, "out of memory");
  held_remove();
  _exit(CLI_BAD);
}

static void *take(size_t size) { return given(malloc(size), size); }

static void *change(void *memory, size_t before, size_t size) {
  (void)before;
  return given(realloc(memory, size), size);
}

static void leave(void *memory, size_t size) {
  (void)size;
  free(memory);
}

void cli_memory_start(void) { mp_set_memory_functions(take, change, leave); }
#else
void cli_memory_start(void) {}
#endif
