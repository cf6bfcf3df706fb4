/* SPDX-License-Identifier: MIT */
/* Files: see io.h. */
#include "cli/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

static int is_stream(const char *path) { return strcmp(path, "-") == 0; }

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
  if (is_stream(path)) return read_stream(bytes, STDIN_FILENO, "standard input");
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return cli_fail(path, "%s", strerror(errno));
  int status = CLI_OK;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
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

/* One that is ignored (nohup, a job in the background) stays so: blocked, it would be pending, as if it were meant. One
 * that the command handles itself is the handler's business. */
static void stop_signals(sigset_t *set) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
  sigemptyset(set);
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
    struct sigaction now;
    if (sigaction(signals[i], NULL, &now) || now.sa_handler == SIG_DFL) sigaddset(set, signals[i]);
  }
}

static int interrupted(void) {
  sigset_t pending;
  return sigpending(&pending) == 0 && (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
                                       sigismember(&pending, SIGHUP) == 1);
}

/* In chunks short enough for an interrupt to be heard soon. at: where in the file, or -1 to go on. 0, or errno. */
static int write_all(int fd, const uint8_t *data, size_t left, off_t at) {
  enum { CHUNK = 4 << 20 };
  while (left) {
    size_t part = left < CHUNK ? left : CHUNK;
    if (interrupted()) return EINTR;
    ssize_t n = at < 0 ? write(fd, data, part) : pwrite(fd, data, part, at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    data += n;
    left -= (size_t)n;
    if (at >= 0) at += n;
  }
  return 0;
}

static int write_pieces(int fd, const cli_piece *pieces, size_t count) {
  int error = 0;
  for (size_t i = 0; i < count && !error; i++) error = write_all(fd, pieces[i].data, pieces[i].size, -1);
  return error;
}

/* New files get the permissions an ordinary creation would give; mkstemp's are for the owner alone. */
static int give_permissions(int fd, const char *path) {
  struct stat old;
  mode_t mask = umask(0);
  umask(mask);
  mode_t wanted = stat(path, &old) == 0 ? (old.st_mode & 07777) : (0666 & ~mask);
  return fchmod(fd, wanted) ? errno : 0;
}

/* The temporary file takes its name, unless there was an error. */
static int finish_file(int fd, const char *temporary, const char *path, int error) {
  if (!error) error = give_permissions(fd, path);
  if (!error && fsync(fd) && errno != EINVAL) error = errno; /* EINVAL: this file system has no such thing */
  if (close(fd) && !error) error = errno;
  if (!error && interrupted()) error = EINTR;
  if (!error && rename(temporary, path)) error = errno;
  if (error) unlink(temporary);
  return error;
}

static int replace_file(char *temporary, const char *path, const cli_piece *pieces, size_t count) {
  int fd = mkstemp(temporary);
  return fd < 0 ? errno : finish_file(fd, temporary, path, write_pieces(fd, pieces, count));
}

/* Devices, pipes: there is nothing to rename over. */
static int is_special(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

static int write_special(const char *path, const cli_piece *pieces, size_t count) {
  int fd = is_stream(path) ? STDOUT_FILENO : open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  if (is_stream(path)) fflush(stdout);
  int error = write_pieces(fd, pieces, count);
  if (!is_stream(path) && close(fd) && !error) error = errno;
  return error;
}

/* A name for mkstemp beside the file. Short, since the file's own name may be as long as names can be. */
static char *temporary_beside(const char *path) {
  static const char name[] = ".halfulp-XXXXXX";
  const char *slash = strrchr(path, '/');
  size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
  char *temporary = malloc(folder + sizeof name);
  if (!temporary) return NULL;
  memcpy(temporary, path, folder);
  memcpy(temporary + folder, name, sizeof name);
  return temporary;
}

/* What a link leads to is replaced, not the link; one that leads nowhere stays a link, to the new file. */
static char *follow_links(const char *path) {
  char target[4096];
  char *real = realpath(path, NULL);
  if (real) return real;
  ssize_t n = readlink(path, target, sizeof target - 1);
  if (n <= 0) return strdup(path);
  target[n] = 0;
  const char *slash = strrchr(path, '/');
  int folder = target[0] == '/' || !slash ? 0 : (int)(slash - path) + 1;
  return asprintf(&real, "%.*s%s", folder, path, target) < 0 ? NULL : real;
}

static int write_file(const char *path, const cli_piece *pieces, size_t count) {
  char *real = follow_links(path), *temporary = real ? temporary_beside(real) : NULL;
  int error = temporary ? replace_file(temporary, real, pieces, count) : ENOMEM;
  free(temporary);
  free(real);
  return error;
}

int cli_file_write(const char *path, const cli_piece *pieces, size_t count) {
  sigset_t stop, before;
  stop_signals(&stop);
  sigprocmask(SIG_BLOCK, &stop, &before);
  int special = is_stream(path) || is_special(path);
  int error = special ? write_special(path, pieces, count) : write_file(path, pieces, count);
  sigprocmask(SIG_SETMASK, &before, NULL); /* a pending interrupt takes effect here */
  if (!error) return CLI_OK;
  return cli_fail(is_stream(path) ? "standard output" : path, "cannot write: %s", strerror(error));
}

int cli_text_write(const char *path, void (*print)(FILE *out, const void *what), const void *what) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) return cli_fail(path, "out of memory");
  print(out, what);
  int status = fclose(out) ? cli_fail(path, "out of memory") : CLI_OK;
  cli_piece piece = {text, size};
  if (status == CLI_OK) status = cli_file_write(path, &piece, 1);
  free(text);
  return status;
}

int cli_output_open(cli_output *output, const char *path) {
  sigset_t stop;
  *output = (cli_output){path, NULL, NULL, -1, 0, {{0}}};
  if (is_stream(path) || is_special(path)) return cli_fail(path, "cannot write: an ordinary file is wanted");
  stop_signals(&stop);
  sigprocmask(SIG_BLOCK, &stop, &output->before);
  output->real = follow_links(path);
  output->temporary = output->real ? temporary_beside(output->real) : NULL;
  output->fd = output->temporary ? mkstemp(output->temporary) : -1;
  if (output->fd >= 0) return CLI_OK;
  output->error = output->temporary ? errno : ENOMEM;
  return cli_output_close(output, 1);
}

int cli_output_at(cli_output *output, size_t at, const void *data, size_t size) {
  int error = output->error ? output->error : write_all(output->fd, data, size, (off_t)at);
  if (error) output->error = error;
  return error ? CLI_BAD : CLI_OK;
}

int cli_output_stopped(cli_output *output) {
  if (!output->error && interrupted()) output->error = EINTR;
  return output->error != 0;
}

int cli_output_close(cli_output *output, int keep) {
  int error = output->error;
  if (output->fd >= 0)
    error = finish_file(output->fd, output->temporary, output->real, error || keep ? error : ECANCELED);
  free(output->temporary);
  free(output->real);
  sigprocmask(SIG_SETMASK, &output->before, NULL); /* a pending interrupt takes effect here */
  if (!error) return CLI_OK;
  return keep ? cli_fail(output->path, "cannot write: %s", strerror(error)) : CLI_BAD;
}

int cli_file_try(const char *path) {
  if (is_stream(path) || is_special(path)) return CLI_OK;
  char *real = follow_links(path), *temporary = real ? temporary_beside(real) : NULL;
  int fd = temporary ? mkstemp(temporary) : -1, error = temporary ? errno : ENOMEM;
  if (fd >= 0) {
    unlink(temporary);
    close(fd);
  }
  free(temporary);
  free(real);
  return fd >= 0 ? CLI_OK : cli_fail(path, "cannot write: %s", strerror(error));
}

/* The folder that a path's last name is in, and that name. */
static const char *find_folder(struct stat *info, const char *path) {
  const char *slash = strrchr(path, '/');
  char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
  int good = folder && stat(folder, info) == 0;
  free(folder);
  return !good ? NULL : slash ? slash + 1 : path;
}

int cli_same_file(const char *x, const char *y) {
  struct stat a, b;
  if (is_stream(x) || is_stream(y) || is_special(x) || is_special(y)) return 0;
  int there = (stat(x, &a) == 0) + (stat(y, &b) == 0);
  if (there == 1) return 0;
  if (there == 2) return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
  char *p = follow_links(x), *q = follow_links(y);
  const char *u = p ? find_folder(&a, p) : NULL, *v = q ? find_folder(&b, q) : NULL;
  int same = u && v ? a.st_dev == b.st_dev && a.st_ino == b.st_ino && !strcmp(u, v) : !strcmp(x, y);
  free(p);
  free(q);
  return same;
}

int cli_folder_lock(int *lock, const char *folder, const char *who) {
  *lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (*lock < 0) return cli_fail(folder, "%s", strerror(errno));
  if (flock(*lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return CLI_OK;
  return cli_fail(folder, "another %s is at work in this folder", who);
}

int cli_lines_open(cli_lines *lines, const char *path) {
  *lines = (cli_lines){stdin, "standard input", NULL, 0, 0};
  if (is_stream(path)) return CLI_OK;
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
  fflush(stdout);
  fprintf(stderr, "halfulp: %s:%lu: %s\n", lines->name, lines->number, what);
  return CLI_BAD;
}

void cli_folder_sync(const char *path) {
  const char *slash = strrchr(path, '/');
  char *folder = slash == path ? strdup("/") : slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
  int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  free(folder);
  if (fd < 0) return;
  (void)fsync(fd);
  (void)close(fd);
}
