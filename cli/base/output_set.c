/* SPDX-License-Identifier: MIT */
/* Several files that belong together: see cli_set_write in io.h.
 *
 * All bytes are on the disk in temporary files before the first name changes. Then, under a lock of the folder that
 * other writers respect: a second name for every old file, so that it can come back; the old first file moves to its
 * second name; the others take their places (where the file system has no second names, the old one moves away just
 * before); the first one comes last. Where that fails half-way the old files come back in the same order. So the first
 * file is there only while those beside it are its own, whenever the process is killed. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/output.h"
#include "cli/base/path.h"

typedef struct member {
  output_draft draft;
  char *old;  /* second name of the file that is replaced; NULL: there is none */
  int lock;   /* on that file, so that no one takes it for one that a killed command has left; -1: none */
  int was;    /* 1: there is an old file */
  int moves;  /* 1: it has no second name yet, but moves there */
  int away;   /* 1: it is there alone */
  int placed; /* 1: the new one has its name */
} member;

enum { PAUSE_MS = 2, TOLD_AFTER_MS = 1000 };

/* Opens a lock file. In a folder where everybody may write but not remove (/tmp) Linux refuses to open another user's
 * file as one to be made (sysctl fs.protected_regular). If someone put a pipe there, open would wait for it. */
static int open_lock(const char *path) {
  const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  int fd = open(path, flags | O_CREAT, 0644);
  if (fd >= 0 || errno != EACCES) return fd;
  fd = open(path, flags);
  if (fd < 0 && errno == ENOENT) errno = EAGAIN; /* its owner has left it meanwhile */
  return fd;
}

static int refuse_lock(const char *path, int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
  (void)cli_fail(path, "is no ordinary file, and cannot be the lock that writers of this folder need; remove it");
  return OUTPUT_SAID;
}

/* Takes a lock file in the folder. Its holder removes it: one that waits looks whether it has locked the file that is
 * there. Where the file system has no locks, or no lasting numbers of files, no one waits. A note reports a wait of
 * more than a second. Returns 0 or errno. */
static int take_lock(const char *path, int *fd) {
  struct stat ours, there;
  for (int others = 0, waited = 0;;) {
    *fd = open_lock(path);
    /* A socket, a folder, a link; a pipe can be opened. */
    int other = *fd < 0 ? errno == ENXIO || errno == EISDIR || errno == ELOOP
                        : fstat(*fd, &ours) == 0 && !S_ISREG(ours.st_mode);
    if (other) return refuse_lock(path, fd);
    if (*fd < 0 && errno != EAGAIN) return errno;
    int busy = *fd < 0 || (flock(*fd, LOCK_EX | LOCK_NB) && (errno == EWOULDBLOCK || errno == EINTR));
    int same = !busy && fstat(*fd, &ours) == 0 && stat(path, &there) == 0 && ours.st_dev == there.st_dev &&
               ours.st_ino == there.st_ino;
    if (same || (!busy && ++others == 1000)) return 0;
    if (*fd >= 0) close(*fd);
    *fd = -1;
    if (output_interrupted()) return EINTR;
    if (busy && waited++ == TOLD_AFTER_MS / PAUSE_MS)
      (void)cli_fail(path, "another program holds this lock; waiting for it");
    nanosleep(&(struct timespec){0, PAUSE_MS * 1000000}, NULL);
  }
}

static void leave_lock(const char *path, int fd) {
  if (fd < 0) return;
  unlink(path);
  close(fd);
}

/* Makes a second name for the old file; `first`, or where a file system has none: a name to move to. 0 or errno. */
static int keep_old(member *file, int first) {
  struct stat info;
  int fd;
  file->was = lstat(file->draft.real, &info) == 0;
  if (!file->was) return 0;
  file->lock = open(file->draft.real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file->lock >= 0) (void)flock(file->lock, LOCK_SH | LOCK_NB);
  int error = cli_temporary_open(&fd, &file->old, file->draft.real);
  if (error) return error;
  close(fd);
  unlink(file->old);
  file->moves = first || link(file->draft.real, file->old) != 0;
  return 0;
}

static int move_away(member *file) {
  if (!file->moves) return 0;
  if (rename(file->draft.real, file->old)) return errno;
  file->away = 1;
  return 0;
}

static int place(member *file) {
  int error = draft_publish(&file->draft);
  file->placed = !error;
  return error;
}

/* Renames all files, which are ready: only names change from here on. */
static int place_all(member *list, size_t count) {
  int error = move_away(&list[0]);
  for (size_t i = 1; i < count && !error; i++) {
    error = move_away(&list[i]);
    if (!error) error = place(&list[i]);
  }
  return error ? error : place(&list[0]);
}

static int come_back(member *file) {
  if (rename(file->old, file->draft.real)) return 0;
  file->away = 0;
  return 1;
}

/* Brings the old files back, the first only if the others could. */
static void bring_back(member *list, size_t count) {
  int whole = 1;
  for (size_t i = 1; i < count; i++) {
    member *file = &list[i];
    if (!file->placed && !file->away) continue;
    if (file->was)
      whole &= come_back(file);
    else
      unlink(file->draft.real);
  }
  if (whole && list[0].away) (void)come_back(&list[0]);
}

static void forget(member *list, size_t count, int error) {
  for (size_t i = 0; i < count; i++) {
    /* What could not come back is nowhere else. */
    if (list[i].old && !(error && list[i].away)) unlink(list[i].old);
    free(list[i].old);
    if (list[i].lock >= 0) close(list[i].lock);
    draft_end(&list[i].draft, error && !list[i].placed);
  }
}

/* Writes all files. at: the one that is being written, for the error line. */
static int write_all(member *list, const cli_member *files, size_t count, size_t *at) {
  int error = 0;
  for (size_t i = count; i-- > 0 && !error;) {
    *at = i;
    error = draft_open(&list[i].draft, files[i].path);
    if (!error) error = draft_write(&list[i].draft, files[i].pieces, files[i].count);
    if (!error) error = draft_flush(&list[i].draft);
  }
  return error;
}

static int replace_all(member *list, size_t count) {
  int fd, error;
  char *lock = cli_beside(list[0].draft.real, CLI_LOCK);
  if (!lock) return ENOMEM;
  error = take_lock(lock, &fd);
  for (size_t i = 0; i < count && !error; i++) error = keep_old(&list[i], i == 0);
  if (!error && output_interrupted()) error = EINTR;
  if (!error) {
    error = place_all(list, count);
    if (error)
      bring_back(list, count);
    else
      cli_folder_sync(list[0].draft.real);
    for (size_t i = 0; i < count && !error; i++) cli_leftovers_remove(list[i].draft.real);
  }
  leave_lock(lock, fd);
  free(lock);
  return error;
}

static int check(const cli_member *files, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (cli_is_stream(files[i].path) || cli_is_special(files[i].path))
      return cli_fail(files[i].path, "cannot write: an ordinary file is required");
    for (size_t j = 0; j < i; j++)
      if (cli_same_file(files[i].path, files[j].path))
        return cli_fail(files[i].path, "is the same file as %s; the two are written with different contents",
                        files[j].path);
  }
  return CLI_OK;
}

int cli_set_write(const cli_member *files, size_t count) {
  sigset_t before;
  size_t at = 0;
  if (check(files, count)) return CLI_BAD;
  member *list = calloc(count, sizeof *list);
  if (!list) return cli_fail(files[0].path, "out of memory");
  for (size_t i = 0; i < count; i++) list[i].draft.fd = list[i].lock = -1;
  output_hold(&before);
  int error = write_all(list, files, count, &at);
  if (!error) error = replace_all(list, count);
  forget(list, count, error);
  output_release(&before);
  free(list);
  return error ? output_fail(files[at].path, error) : CLI_OK;
}
