/* SPDX-License-Identifier: MIT */
/* For LD_PRELOAD: makes a call on files go wrong, or stops the process before it, at a place that a test chooses.
 *
 * FAULT_LOG names a file that gets a line for each call; FAULT_AT is the number of the call, from 0, and FAULT_DO what
 * happens there: kill (SIGKILL), a number of a signal, or fail (the call fails; FAULT_ERRNO, default ENOSPC).
 * FAULT_ONLY: calls of this name alone count. FAULT_WAIT: each of them first waits so many milliseconds. FAULT_NEVER:
 * calls of this name always fail, as where a file system has no such thing. FAULT_CLOCK: the clock that does not jump
 * runs so many times as fast, so that a test need not wait for what takes long. FAULT_PROCESSOR: each look at the time
 * that processors took finds so many milliseconds more. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The calls of the process lead here. */
#pragma GCC visibility push(default)

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

static void note(const char *name) {
  const char *log = getenv("FAULT_LOG");
  int fd = log ? open(log, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
  ssize_t (*put)(int, const void *, size_t) = (ssize_t(*)(int, const void *, size_t))next("write");
  char line[32] = "";
  strncat(line, name, sizeof line - 2);
  strcat(line, "\n");
  if (fd >= 0 && put(fd, line, strlen(line)) < 0) abort();
  if (fd >= 0) close(fd);
}

/* 1: this call is to fail. */
static int meets(const char *name) {
  static int count;
  const char *at = getenv("FAULT_AT"), *act = getenv("FAULT_DO"), *only = getenv("FAULT_ONLY");
  const char *wait = getenv("FAULT_WAIT"), *never = getenv("FAULT_NEVER");
  if (never && !strcmp(never, name)) {
    errno = EPERM;
    return 1;
  }
  if (only && strcmp(only, name) != 0) return 0;
  if (wait) nanosleep(&(struct timespec){0, atol(wait) * 1000000}, NULL);
  note(name);
  if (!at || !act || count++ != atoi(at)) return 0;
  if (!strcmp(act, "fail")) {
    const char *number = getenv("FAULT_ERRNO");
    errno = number ? atoi(number) : ENOSPC;
    return 1;
  }
  kill(getpid(), !strcmp(act, "kill") ? SIGKILL : atoi(act));
  return 0;
}

#define CALL(result, name, parameters, arguments)                 \
  result name parameters;                                         \
  result name parameters {                                        \
    result(*real) parameters = (result(*) parameters)next(#name); \
    return meets(#name) ? (result)-1 : real arguments;            \
  }

CALL(int, rename, (const char *from, const char *to), (from, to))
CALL(int, link, (const char *from, const char *to), (from, to))
CALL(int, unlink, (const char *path), (path))
CALL(int, fsync, (int fd), (fd))
CALL(int, fchmod, (int fd, mode_t mode), (fd, mode))
CALL(int, flock, (int fd, int operation), (fd, operation))
CALL(int, mkostemp, (char *path, int flags), (path, flags))
CALL(int, mkostemp64, (char *path, int flags), (path, flags))

/* Not what is printed. */
ssize_t write(int fd, const void *data, size_t size) {
  ssize_t (*real)(int, const void *, size_t) = (ssize_t(*)(int, const void *, size_t))next("write");
  return fd > 2 && meets("write") ? -1 : real(fd, data, size);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off_t at) {
  ssize_t (*real)(int, const void *, size_t, off_t) = (ssize_t(*)(int, const void *, size_t, off_t))next("pwrite64");
  return meets("pwrite") ? -1 : real(fd, data, size, at);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  int (*real)(clockid_t, struct timespec *) = (int (*)(clockid_t, struct timespec *))next("clock_gettime");
  const char *times = getenv("FAULT_CLOCK");
  int status = real(clock, now);
  const char *more = getenv("FAULT_PROCESSOR");
  if (!status && more && clock == CLOCK_PROCESS_CPUTIME_ID) {
    static long long looks;
    long long ms = ++looks * atoll(more);
    *now = (struct timespec){ms / 1000, ms % 1000 * 1000000};
  }
  if (status || !times || clock != CLOCK_MONOTONIC) return status;
  long long ns = atoll(times) * (now->tv_sec * 1000000000LL + now->tv_nsec);
  *now = (struct timespec){ns / 1000000000, ns % 1000000000};
  return status;
}
