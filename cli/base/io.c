/* SPDX-License-Identifier: MIT */
/* Files and lines in: see io.h. */
#include "cli/base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/held.h"
#include "cli/base/path.h"

void *cli_alloc(size_t n, size_t size) {
  void *memory = n > SIZE_MAX / 2 / size ? NULL : malloc(n ? n * size : 1);
  if (!memory) cli_fail(NULL, "out of memory for %zu elements of %zu bytes", n, size);
  return memory;
}

static int read_stream(cli_bytes *bytes, int fd, const char *name) {
  size_t capacity = 1 << 16, size = 0;
  uint8_t *data = malloc(capacity);
  for (;;) {
    if (data && size == capacity) {
      uint8_t *more = capacity > SIZE_MAX / 2 ? NULL : realloc(data, capacity *= 2);
      if (!more) free(data);
      data = more;
    }
    if (!data) return cli_fail(name, "out of memory");
    ssize_t n = read(fd, data + size, capacity - size);
    if (n == 0) break;
    if (n > 0) size += (size_t)n;
    if (n < 0 && errno != EINTR) {
      int status = cli_fail(name, "%s", strerror(errno));
      free(data);
      return status;
    }
  }
  *bytes = (cli_bytes){data, size, 0};
  return CLI_OK;
}

/* Takes over the descriptor. */
static int read_open(cli_bytes *bytes, int fd, const char *path) {
  struct stat info;
  int status = CLI_OK, known = fstat(fd, &info) == 0;
  if (known && S_ISDIR(info.st_mode)) {
    close(fd);
    return cli_fail(path, "is a folder; a file is required");
  }
  int plain = known && S_ISREG(info.st_mode) && info.st_size > 0;
  const uint8_t *data = plain ? held_map(fd, (size_t)info.st_size, path) : NULL;
  if (data) {
    *bytes = (cli_bytes){data, (size_t)info.st_size, 1};
    return CLI_OK;
  }
  status = read_stream(bytes, fd, path);
  close(fd);
  return status;
}

int cli_bytes_read(cli_bytes *bytes, const char *path) {
  if (cli_is_stream(path)) return read_stream(bytes, STDIN_FILENO, "standard input");
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  return fd < 0 ? cli_fail(path, "%s", strerror(errno)) : read_open(bytes, fd, path);
}

/* ---- files whose names halfulp chose ---- */

/* Opens the file. ENXIO, which a socket gives by itself, is said of everything that is no ordinary file. */
int cli_own_open(const char *path) {
  struct stat info;
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0 || (fstat(fd, &info) == 0 && S_ISREG(info.st_mode))) return fd;
  close(fd);
  errno = ENXIO;
  return -1;
}

FILE *cli_own_stream(const char *path) {
  int fd = cli_own_open(path);
  FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
  if (!file && fd >= 0) close(fd);
  return file;
}

int cli_own_read(cli_bytes *bytes, const char *path) {
  int fd = cli_own_open(path);
  return fd < 0 ? cli_own_fail(path, errno) : read_open(bytes, fd, path);
}

int cli_own_lines(cli_lines *lines, const char *path) {
  *lines = (cli_lines){.file = cli_own_open(path), .name = path};
  return lines->file >= 0 ? CLI_OK : cli_own_fail(path, errno);
}

void cli_bytes_free(cli_bytes *bytes) {
  if (bytes->mapped)
    held_unmap(bytes->data, bytes->size);
  else
    free((void *)(uintptr_t)bytes->data);
  *bytes = (cli_bytes){NULL, 0, 0};
}

int cli_inputs_check(void) {
  const char *name = held_changed();
  return name ? cli_fail(name, "was cut or written again by another program while it was read") : CLI_OK;
}

char *cli_scratch(const char *name) {
  char *path;
  const char *folder = getenv("TMPDIR");
  return asprintf(&path, "%s/%s", folder && *folder ? folder : "/tmp", name) < 0 ? NULL : path;
}

FILE *cli_scratch_file(void) {
  char *path = cli_scratch("halfulp-XXXXXX");
  int fd = path ? mkostemp(path, O_CLOEXEC) : -1;
  if (fd >= 0) unlink(path);
  free(path);
  FILE *file = fd >= 0 ? fdopen(fd, "w+") : NULL;
  if (!file && fd >= 0) close(fd);
  return file;
}

/* Bytes that are read at a time, unless a line is longer. */
enum { LINES_SIZE = 1 << 16 };

int cli_lines_open(cli_lines *lines, const char *path) {
  *lines = (cli_lines){.file = STDIN_FILENO, .name = "standard input"};
  if (cli_is_stream(path)) return CLI_OK;
  lines->name = path;
  lines->file = open(path, O_RDONLY | O_CLOEXEC);
  return lines->file >= 0 ? CLI_OK : cli_fail(path, "%s", strerror(errno));
}

/* Provides space behind what was read for more of it and for a zero byte. */
static int make_space(cli_lines *lines) {
  if (lines->first) memmove(lines->data, lines->data + lines->first, lines->end - lines->first);
  lines->end -= lines->first;
  lines->first = 0;
  if (lines->end + 1 < lines->capacity) return CLI_OK;
  size_t capacity = lines->capacity ? lines->capacity : LINES_SIZE;
  while (capacity <= lines->end + 1 && capacity <= SIZE_MAX / 2) capacity *= 2;
  char *more = realloc(lines->data, capacity);
  if (!more) return cli_fail(lines->name, "out of memory");
  lines->data = more;
  lines->capacity = capacity;
  return CLI_OK;
}

/* Reads on; an exit code after an error line. */
static int read_on(cli_lines *lines) {
  ssize_t n;
  if (make_space(lines)) return CLI_BAD;
  /* Another program may wait for the answer to its last line before it writes the next one. */
  fflush(stdout);
  do n = read(lines->file, lines->data + lines->end, lines->capacity - lines->end - 1);
  while (n < 0 && errno == EINTR);
  if (n < 0) return cli_fail(lines->name, "cannot read: %s", strerror(errno));
  lines->end += (size_t)n;
  lines->ended = n == 0;
  return CLI_OK;
}

int cli_lines_next(cli_lines *lines) {
  char *stop = lines->data ? memchr(lines->data + lines->first, '\n', lines->end - lines->first) : NULL;
  while (!stop && !lines->ended) {
    size_t seen = lines->end - lines->first;
    int status = read_on(lines);
    if (status != CLI_OK) return -status;
    stop = memchr(lines->data + seen, '\n', lines->end - seen);
  }
  if (!stop && lines->first == lines->end) return 0;
  lines->line = lines->data + lines->first;
  size_t n = stop ? (size_t)(stop - lines->line) : lines->end - lines->first;
  lines->first += n + (stop != NULL);
  lines->line[n] = 0;
  lines->number++;
  if (strlen(lines->line) != n) return -cli_lines_fail(lines, "holds a zero byte");
  while (n > 0 && strchr(" \t\r\n", lines->line[n - 1])) lines->line[--n] = 0;
  return 1;
}

void cli_lines_close(cli_lines *lines) {
  if (lines->file > STDIN_FILENO) close(lines->file);
  free(lines->data);
}

int cli_lines_fail(const cli_lines *lines, const char *what) {
  return cli_fail(NULL, "%s:%lu: %s", lines->name, lines->number, what);
}
