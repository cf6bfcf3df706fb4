/* SPDX-License-Identifier: MIT */
/* Mapped inputs and temporary files: see held.h. Both are kept in lists that only grow, whose places are used again, so
 * that the handler, which may run in any thread at any time, needs no lock. */
#include "cli/base/held.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/cli.h"

/* ---- temporary files ---- */

typedef struct temporary {
  _Atomic(const char *) path; /* NULL: the place is free */
  pid_t owner;                /* a process that was forked leaves those of the other one alone */
  struct temporary *next;
} temporary;

static _Atomic(temporary *) temporaries;

void held_temporary(const char *path) {
  for (temporary *file = temporaries; file; file = file->next) {
    const char *none = NULL;
    if (!atomic_compare_exchange_strong(&file->path, &none, path)) continue;
    file->owner = getpid();
    return;
  }
  temporary *file = calloc(1, sizeof *file);
  if (!file) return; /* then the next command that writes the same name removes it */
  file->path = path;
  file->owner = getpid();
  file->next = temporaries;
  while (!atomic_compare_exchange_weak(&temporaries, &file->next, file)) continue;
}

void held_forget(const char *path) {
  for (temporary *file = temporaries; path && file; file = file->next) {
    const char *there = path;
    (void)atomic_compare_exchange_strong(&file->path, &there, NULL);
  }
}

void held_remove(void) {
  for (temporary *file = temporaries; file; file = file->next) {
    const char *path = file->path;
    if (path && file->owner == getpid()) unlink(path);
  }
}

/* ---- mapped files ---- */

typedef struct mapped {
  _Atomic(const uint8_t *) data; /* NULL: the place is free */
  size_t size;
  int fd;
  struct timespec written;
  char *name, *line; /* the file's, and the error line of one that is cut */
  struct mapped *next;
} mapped;

static _Atomic(mapped *) files;
static _Atomic(const char *) changed; /* the first that was, kept to the end */

/* Ends the command, because what it reads is gone. A second thread waits for the end here. */
static void lost(int number, siginfo_t *info, void *context) {
  static atomic_flag said = ATOMIC_FLAG_INIT;
  uintptr_t at = (uintptr_t)info->si_addr;
  (void)context;
  for (mapped *input = files; input; input = input->next) {
    uintptr_t data = (uintptr_t)input->data;
    if (!data || at < data || at - data >= input->size) continue;
    while (atomic_flag_test_and_set(&said)) pause();
    held_remove();
    ssize_t n = write(STDERR_FILENO, input->line, strlen(input->line));
    (void)n;
    _exit(CLI_BAD);
  }
  signal(number, SIG_DFL); /* of something else: it comes again, and takes its effect */
}

static void watch(void) {
  static atomic_flag done = ATOMIC_FLAG_INIT;
  struct sigaction act = {.sa_sigaction = lost, .sa_flags = SA_SIGINFO};
  sigemptyset(&act.sa_mask);
  if (!atomic_flag_test_and_set(&done)) sigaction(SIGBUS, &act, NULL);
}

/* Makes a line as cli_fail writes it, now since the handler may ask for no memory. */
static char *line_of(const char *path) {
  char *line, shown[CLI_SHOWN_MAX];
  const char *text = "halfulp: %s: became shorter, or its disk failed, while it was read\n";
  return asprintf(&line, text, cli_shown(shown, path)) < 0 ? NULL : line;
}

static mapped *free_place(void) {
  static const uint8_t taken;
  for (mapped *input = files; input; input = input->next) {
    const uint8_t *none = NULL;
    if (atomic_compare_exchange_strong(&input->data, &none, &taken)) return input;
  }
  mapped *input = calloc(1, sizeof *input);
  if (!input) return NULL;
  input->data = &taken;
  input->next = files;
  while (!atomic_compare_exchange_weak(&files, &input->next, input)) continue;
  return input;
}

static int is_changed(const mapped *input) {
  struct stat now;
  if (fstat(input->fd, &now)) return 0;
  if ((uint64_t)now.st_size != input->size) return (uint64_t)now.st_size < input->size;
  return now.st_mtim.tv_sec != input->written.tv_sec || now.st_mtim.tv_nsec != input->written.tv_nsec;
}

const uint8_t *held_map(int fd, size_t size, const char *path) {
  struct stat info;
  void *data = fstat(fd, &info) ? MAP_FAILED : mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
  mapped *input = data == MAP_FAILED ? NULL : free_place();
  if (!input) {
    if (data != MAP_FAILED) munmap(data, size);
    return NULL;
  }
  input->size = size;
  input->fd = fd;
  input->written = info.st_mtim;
  input->name = strdup(path);
  input->line = input->name ? line_of(path) : NULL;
  if (!input->line) {
    free(input->name);
    input->data = NULL;
    munmap(data, size);
    return NULL;
  }
  watch();
  input->data = data;
  return data;
}

void held_unmap(const uint8_t *data, size_t size) {
  for (mapped *input = files; input; input = input->next) {
    if (input->data != data) continue;
    const char *none = NULL;
    if (!is_changed(input) || !atomic_compare_exchange_strong(&changed, &none, input->name)) free(input->name);
    free(input->line);
    close(input->fd);
    input->data = NULL;
    break;
  }
  munmap((void *)(uintptr_t)data, size);
}

const char *held_changed(void) {
  for (mapped *input = files; input && !changed; input = input->next)
    if (input->data && is_changed(input)) return input->name;
  return changed;
}
