/* SPDX-License-Identifier: MIT */
/* Names of files: see path.h and io.h. */
#include "cli/base/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
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

int cli_own_fail(const char *path, int error) {
  if (error != ENXIO) return cli_fail(path, "%s", strerror(error));
  return cli_fail(path, "is no ordinary file, and none that halfulp has written; remove it");
}

int cli_own_check(const char *path) { return cli_is_special(path) ? cli_own_fail(path, ENXIO) : CLI_OK; }

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

/* Finds the folder that a path's last name is in, and that name. */
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
  char *target_x = cli_follow_links(x), *target_y = cli_follow_links(y);
  const char *name_x = target_x ? find_folder(&a, target_x) : NULL,
             *name_y = target_y ? find_folder(&b, target_y) : NULL;
  int same = name_x && name_y ? same_place(&a, &b) && !strcmp(name_x, name_y) : !strcmp(x, y);
  free(target_x);
  free(target_y);
  return same;
}

/* Returns 1 if they are one file; standard input may be a file, too. */
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

/* Returns 1 if the last name of a path is in a folder, or in one below it. */
static int is_below(char *path, const struct stat *folder) {
  struct stat info;
  char *slash = path ? strrchr(path, '/') : NULL;
  if (slash) slash[1] = 0;
  char *at = path ? realpath(slash ? path : ".", NULL) : NULL;
  int below = 0;
  for (char *end; at && !below && (end = strrchr(at, '/')) != NULL; *end = 0)
    below = stat(at, &info) == 0 && same_place(&info, folder);
  free(at);
  free(path);
  return below;
}

int cli_spare_folder(const char *out, const char *in, const char *remedy) {
  struct stat folder;
  if (cli_spare_input(out, in, remedy)) return CLI_BAD;
  if (cli_is_stream(out) || cli_is_stream(in) || stat(in, &folder) || !S_ISDIR(folder.st_mode)) return CLI_OK;
  if (!is_below(strdup(out), &folder) && !is_below(cli_follow_links(out), &folder)) return CLI_OK;
  return cli_fail(out, "lies in the folder %s, which is read; %s", in, remedy);
}

/* Returns 1 where a file system has no locks, by flock's error; EBADF: NFS locks what can be written, no folder. */
static int lacks_locks(int error) {
  return error == ENOLCK || error == EOPNOTSUPP || error == ENOSYS || error == EINVAL || error == EBADF;
}

enum { FOLDER = O_RDONLY | O_DIRECTORY | O_CLOEXEC };
enum { OWN_FILE = O_RDWR | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC };

static int lock_error(const char *path, const char *who, int error, int how) {
  static int is_noted;
  if (error == EWOULDBLOCK)
    return cli_fail(path, "another %s is at work %s", who, how == FOLDER ? "in this folder" : "on this file");
  if (!lacks_locks(error)) return cli_fail(path, "cannot be locked: %s", strerror(error));
  if (!is_noted++) cli_note("%s: this file system has no locks: do not start two jobs here", path);
  return CLI_OK;
}

/* Returns 1 if the name leads to what is open. */
static int is_still_there(int open, const char *path) {
  struct stat now, then;
  return fstat(open, &then) == 0 && stat(path, &now) == 0 && same_place(&now, &then);
}

/* Locks a folder or a file. Its last holder may have removed or replaced it between open and flock: a lock on that
 * keeps no one out. */
static int lock_path(int *lock, const char *path, const char *who, int how, int kind) {
  for (int attempt = 0; attempt < 100; attempt++) {
    *lock = open(path, how, 0666);
    if (*lock < 0) return cli_fail(path, "%s", strerror(errno));
    if (flock(*lock, kind | LOCK_NB)) return lock_error(path, who, errno, how);
    if (is_still_there(*lock, path)) return CLI_OK;
    (void)close(*lock);
    if (how == FOLDER) (void)mkdir(path, 0777);
  }
  *lock = -1;
  return cli_fail(path, "is removed again and again");
}

int cli_folder_lock(int *lock, const char *folder, const char *who) {
  return lock_path(lock, folder, who, FOLDER, LOCK_EX);
}

int cli_file_lock(int *lock, const char *path, const char *who) {
  int status = cli_own_check(path);
  return status == CLI_OK ? lock_path(lock, path, who, OWN_FILE, LOCK_EX) : status;
}

int cli_file_share(int *lock, const char *path, const char *who) {
  int status = cli_own_check(path);
  return status == CLI_OK ? lock_path(lock, path, who, OWN_FILE, LOCK_SH) : status;
}

/* ---- temporary files ---- */

static const char marks[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

static const char *last_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static uint32_t hash_of(const char *text) {
  uint32_t z = 0x811C9DC5u;
  for (; *text; text++) z = (z ^ (uint8_t)*text) * 0x01000193u;
  return z;
}

/* Writes the begin of the names that temporary files of this one have. */
static void mark_name(char name[sizeof CLI_TEMPORARY], const char *path) {
  strcpy(name, CLI_TEMPORARY);
  uint32_t hash = hash_of(last_name(path));
  for (char *at = strchr(name, 'X'), *end = at + CLI_MARK; at < end; at++, hash /= 62) *at = marks[hash % 62];
}

/* Returns 1 if it is locked, or cannot be, and no one has removed it between its making and the lock. */
static int is_ours(int fd) {
  struct stat info;
  if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) return 0;
  return fstat(fd, &info) == 0 && info.st_nlink > 0;
}

int cli_temporary_open(int *fd, char **name, const char *path) {
  char own[sizeof CLI_TEMPORARY];
  for (int attempt = 0; attempt < 100; attempt++) {
    mark_name(own, path);
    *name = cli_beside(path, own);
    *fd = *name ? mkostemp(*name, O_CLOEXEC) : -1;
    int error = *fd >= 0 ? 0 : *name ? errno : ENOMEM;
    if (!error && is_ours(*fd)) return 0;
    if (!error) close(*fd);
    free(*name);
    *name = NULL;
    *fd = -1;
    if (error) return error;
  }
  return EAGAIN;
}

/* Returns 1 for a name that mkostemp has made of CLI_TEMPORARY, or the lock's. */
int cli_is_temporary(const char *name) {
  size_t fixed = strchr(CLI_TEMPORARY, 'X') - CLI_TEMPORARY;
  if (!strcmp(name, CLI_LOCK)) return 1;
  if (strlen(name) != strlen(CLI_TEMPORARY) || strncmp(name, CLI_TEMPORARY, fixed) != 0) return 0;
  return strspn(name + fixed, marks) == strlen(name + fixed);
}

/* Removes a stale file; returns 1 if it did. A writer, once it has its file's lock, looks whether the name still is. */
static size_t remove_stale(int folder, const char *name) {
  struct stat info, there;
  int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return 0;
  int stale = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
              fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && same_place(&info, &there) &&
              unlinkat(folder, name, 0) == 0;
  close(fd);
  return stale;
}

/* Removes those whose names begin so. */
static size_t remove_all(int folder, const char *begin, size_t length) {
  size_t count = 0;
  int fd = folder < 0 ? -1 : openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *list = fd < 0 ? NULL : fdopendir(fd);
  if (!list && fd >= 0) close(fd);
  if (!list) return 0;
  for (const struct dirent *entry; (entry = readdir(list)) != NULL;)
    if (cli_is_temporary(entry->d_name) && !strncmp(entry->d_name, begin, length))
      count += remove_stale(folder, entry->d_name);
  closedir(list);
  return count;
}

size_t cli_folder_clean(int lock) { return remove_all(lock, "", 0); }

static int open_folder(const char *path) {
  const char *slash = strrchr(path, '/');
  char *folder = slash == path ? strdup("/") : slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
  int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  free(folder);
  return fd;
}

/* Removes what killed commands left. Of two names of a process that share a bit, the second is left to the next one. */
void cli_leftovers_remove(const char *path) {
  static _Atomic uint32_t done[128];
  uint32_t hash = hash_of(path) % 4096, bit = (uint32_t)1 << hash % 32;
  char begin[sizeof CLI_TEMPORARY];
  if (atomic_fetch_or(&done[hash / 32], bit) & bit) return;
  int folder = open_folder(path);
  mark_name(begin, path);
  (void)remove_all(folder, begin, (size_t)(strchr(CLI_TEMPORARY, 'X') - CLI_TEMPORARY) + CLI_MARK);
  if (folder >= 0) close(folder);
}

void cli_folder_sync(const char *path) {
  int fd = open_folder(path);
  if (fd < 0) return;
  (void)fsync(fd);
  (void)close(fd);
}
