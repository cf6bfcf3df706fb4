/* SPDX-License-Identifier: MIT */
/* Names of files: see path.h and io.h. */
#include "cli/base/path.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"

int cli_is_stream(const char *path) { return strcmp(path, "-") == 0; }

int cli_is_special(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

char *cli_follow_links(const char *path) {
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

char *cli_beside(const char *path, const char *name) {
  const char *slash = strrchr(path, '/');
  size_t folder = slash ? (size_t)(slash - path) + 1 : 0, length = strlen(name) + 1;
  char *z = malloc(folder + length);
  if (!z) return NULL;
  memcpy(z, path, folder);
  memcpy(z + folder, name, length);
  return z;
}

/* The folder that a path's last name is in, and that name. */
static const char *find_folder(struct stat *info, const char *path) {
  const char *slash = strrchr(path, '/');
  char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
  int good = folder && stat(folder, info) == 0;
  free(folder);
  return !good ? NULL : slash ? slash + 1 : path;
}

static int same_place(const struct stat *a, const struct stat *b) {
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

int cli_same_file(const char *x, const char *y) {
  struct stat a, b;
  if (cli_is_stream(x) || cli_is_stream(y) || cli_is_special(x) || cli_is_special(y)) return 0;
  int there = (stat(x, &a) == 0) + (stat(y, &b) == 0);
  if (there == 1) return 0;
  if (there == 2) return same_place(&a, &b);
  char *p = cli_follow_links(x), *q = cli_follow_links(y);
  const char *u = p ? find_folder(&a, p) : NULL, *v = q ? find_folder(&b, q) : NULL;
  int same = u && v ? same_place(&a, &b) && !strcmp(u, v) : !strcmp(x, y);
  free(p);
  free(q);
  return same;
}

/* Standard input may be a file, too. */
static int is_input(const char *out, const char *in) {
  struct stat a, b;
  if (!cli_is_stream(in)) return stat(in, &a) == 0 && cli_same_file(out, in);
  if (cli_is_stream(out) || fstat(STDIN_FILENO, &a) || !S_ISREG(a.st_mode)) return 0;
  return stat(out, &b) == 0 && same_place(&a, &b);
}

int cli_spare_input(const char *out, const char *in, const char *remedy) {
  if (!is_input(out, in)) return CLI_OK;
  const char *also = cli_is_stream(in) ? "standard input" : strcmp(in, out) ? in : "the input";
  return cli_fail(out, "is the same file as %s, which it would replace; %s", also, remedy);
}

/* What flock says where a file system has no locks; EBADF: of a folder, on NFS, which locks what can be written. */
static int lacks_locks(int error) {
  return error == ENOLCK || error == EOPNOTSUPP || error == ENOSYS || error == EINVAL || error == EBADF;
}

static int lock_error(const char *folder, const char *who, int error) {
  static int is_told;
  if (error == EWOULDBLOCK) return cli_fail(folder, "another %s is at work in this folder", who);
  if (!lacks_locks(error)) return cli_fail(folder, "cannot be locked: %s", strerror(error));
  if (!is_told++) cli_note("%s: this file system has no locks: do not start two jobs here", folder);
  return CLI_OK;
}

/* 1: the name leads to what is open. */
static int is_still_there(int open, const char *path) {
  struct stat now, then;
  return fstat(open, &then) == 0 && stat(path, &now) == 0 && same_place(&now, &then);
}

/* Who held the lock before may have removed the folder between open and flock: a lock on that keeps no one out. */
static int lock_folder(int *lock, const char *folder, const char *who, int how) {
  for (int attempt = 0; attempt < 100; attempt++) {
    *lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*lock < 0) return cli_fail(folder, "%s", strerror(errno));
    if (flock(*lock, how | LOCK_NB)) return lock_error(folder, who, errno);
    if (is_still_there(*lock, folder)) return CLI_OK;
    (void)close(*lock);
    (void)mkdir(folder, 0777);
  }
  *lock = -1;
  return cli_fail(folder, "is removed again and again");
}

int cli_folder_lock(int *lock, const char *folder, const char *who) { return lock_folder(lock, folder, who, LOCK_EX); }
int cli_folder_share(int *lock, const char *folder, const char *who) { return lock_folder(lock, folder, who, LOCK_SH); }

void cli_folder_sync(const char *path) {
  const char *slash = strrchr(path, '/');
  char *folder = slash == path ? strdup("/") : slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
  int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  free(folder);
  if (fd < 0) return;
  (void)fsync(fd);
  (void)close(fd);
}

/* A name that mkstemp has made of CLI_TEMPORARY, or the lock's. */
int cli_is_temporary(const char *name) {
  size_t fixed = strlen(CLI_TEMPORARY) - 6;
  if (!strcmp(name, CLI_LOCK)) return 1;
  if (strlen(name) != fixed + 6 || strncmp(name, CLI_TEMPORARY, fixed) != 0) return 0;
  for (const char *p = name + fixed; *p; p++)
    if (!isalnum((unsigned char)*p)) return 0;
  return 1;
}

/* 1: removed. Who writes a file holds a lock on it. */
static size_t remove_stale(int folder, const char *name) {
  struct stat info;
  int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return 0;
  int stale = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
              unlinkat(folder, name, 0) == 0;
  close(fd);
  return stale;
}

size_t cli_folder_clean(int lock) {
  size_t count = 0;
  int fd = lock < 0 ? -1 : openat(lock, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *list = fd < 0 ? NULL : fdopendir(fd);
  if (!list && fd >= 0) close(fd);
  if (!list) return 0;
  for (const struct dirent *e; (e = readdir(list)) != NULL;)
    if (cli_is_temporary(e->d_name)) count += remove_stale(lock, e->d_name);
  closedir(list);
  return count;
}
