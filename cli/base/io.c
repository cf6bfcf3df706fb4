/* SPDX-License-Identifier: MIT */
/* Files and lines in: see io.h. */
#include "cli/base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/path.h"

static int read_stream(cli_bytes *bytes, int fd, const char *name) {
  size_t room = 1 << 16, size = 0;
  uint8_t *data = malloc(room);
  for (;;) {
    if (data && size == room) {
      uint8_t *more = room > SIZE_MAX / 2 ? NULL : realloc(data, room *= 2);
      if (!more) free(data);
      data = more;
    }
    if (!data) return cli_fail(name, "out of memory");
    ssize_t n = read(fd, data + size, room - size);
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

int cli_bytes_read(cli_bytes *bytes, const char *path) {
  struct stat info;
  if (cli_is_stream(path)) return read_stream(bytes, STDIN_FILENO, "standard input");
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return cli_fail(path, "%s", strerror(errno));
  int status = CLI_OK, known = fstat(fd, &info) == 0;
  if (known && S_ISDIR(info.st_mode)) {
    close(fd);
    return cli_fail(path, "is a folder; a file is required");
  }
  if (known && S_ISREG(info.st_mode) && info.st_size > 0) {
    void *map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map != MAP_FAILED) {
      *bytes = (cli_bytes){map, (size_t)info.st_size, 1};
      close(fd);
      return CLI_OK;
    }
  }
  status = read_stream(bytes, fd, path);
  close(fd);
  return status;
}

void cli_bytes_free(cli_bytes *bytes) {
  if (bytes->mapped)
    munmap((void *)(uintptr_t)bytes->data, bytes->size);
  else
    free((void *)(uintptr_t)bytes->data);
  *bytes = (cli_bytes){NULL, 0, 0};
}

int cli_lines_open(cli_lines *lines, const char *path) {
  *lines = (cli_lines){stdin, "standard input", NULL, 0, 0};
  if (cli_is_stream(path)) return CLI_OK;
  lines->name = path;
  lines->file = fopen(path, "r");
  return lines->file ? CLI_OK : cli_fail(path, "%s", strerror(errno));
}

int cli_lines_next(cli_lines *lines) {
  errno = 0;
  ssize_t n = getline(&lines->line, &lines->room, lines->file);
  if (n < 0 && (errno || ferror(lines->file))) return -cli_fail(lines->name, "cannot read: %s", strerror(errno));
  if (n < 0) return 0;
  lines->number++;
  if (strlen(lines->line) != (size_t)n) return -cli_lines_fail(lines, "holds a zero byte");
  while (n > 0 && strchr(" \t\r\n", lines->line[n - 1])) lines->line[--n] = 0;
  return 1;
}

void cli_lines_close(cli_lines *lines) {
  if (lines->file && lines->file != stdin) fclose(lines->file);
  free(lines->line);
}

int cli_lines_fail(const cli_lines *lines, const char *what) {
  return cli_fail(NULL, "%s:%lu: %s", lines->name, lines->number, what);
}
