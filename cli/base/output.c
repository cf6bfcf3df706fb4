/* SPDX-License-Identifier: MIT */
/* Files out: see io.h. */
#include "cli/base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/held.h"
#include "cli/base/path.h"

/* ---- signals ---- */

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU};
enum { SIGNALS = sizeof signals / sizeof signals[0] };

/* Adds a signal unless it is ignored (nohup, a job in the background): blocked, it would be pending, as if it were
 * meant. One that the command handles itself is left to that handler. */
static void add_default(sigset_t *set, int number) {
  struct sigaction now;
  if (sigaction(number, NULL, &now) || now.sa_handler == SIG_DFL) sigaddset(set, number);
}

/* Blocks them and SIGPIPE, which an error line raises where no one reads the pipe: it is no reason to stop. */
void output_hold(sigset_t *before) {
  sigset_t stop;
  sigemptyset(&stop);
  for (int i = 0; i < SIGNALS; i++) add_default(&stop, signals[i]);
  add_default(&stop, SIGPIPE);
  sigprocmask(SIG_BLOCK, &stop, before);
}

void output_release(const sigset_t *before) { sigprocmask(SIG_SETMASK, before, NULL); }

int output_interrupted(void) {
  sigset_t pending;
  if (sigpending(&pending)) return 0;
  for (int i = 0; i < SIGNALS; i++)
    if (sigismember(&pending, signals[i]) == 1) return 1;
  return 0;
}

/* ---- bytes ---- */

/* Writes in chunks short enough for an interrupt to be heard soon, at a place in the file, or (-1) on. 0, or errno. */
static int write_all(int fd, const uint8_t *data, size_t left, off_t at) {
  enum { CHUNK = 4 << 20 };
  while (left) {
    size_t part = left < CHUNK ? left : CHUNK;
    if (output_interrupted()) return EINTR;
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

int output_fail(const char *path, int error) {
  const char *name = cli_is_stream(path) ? "standard output" : path;
  if (error == OUTPUT_SAID || (error == EFAULT && cli_inputs_check())) return CLI_BAD;
  if (error == EFBIG)
    return cli_fail(name, "cannot write: %s (a limit of the file system, or one that `ulimit -f` shows)",
                    strerror(error));
  return cli_fail(name, "cannot write: %s", strerror(error));
}

/* ---- temporary files ---- */

int draft_open(output_draft *draft, const char *path) {
  *draft = (output_draft){cli_follow_links(path), NULL, -1};
  int error = draft->real ? cli_temporary_open(&draft->fd, &draft->temporary, draft->real) : ENOMEM;
  if (error)
    draft_end(draft, 0);
  else
    held_temporary(draft->temporary);
  return error;
}

int draft_write(output_draft *draft, const cli_piece *pieces, size_t count) {
  return write_pieces(draft->fd, pieces, count);
}

/* Gives a new file the permissions of an ordinary creation; mkstemp's are for the owner alone. */
static int give_permissions(int fd, const char *path) {
  struct stat old;
  mode_t mask = umask(0);
  umask(mask);
  mode_t mode = stat(path, &old) == 0 ? (old.st_mode & 07777) : (0666 & ~mask);
  return fchmod(fd, mode) ? errno : 0;
}

int draft_flush(const output_draft *draft) {
  int error = held_changed() ? EFAULT : give_permissions(draft->fd, draft->real);
  if (!error && fsync(draft->fd) && errno != EINVAL) error = errno; /* EINVAL: this file system has no such thing */
  return error;
}

int draft_publish(const output_draft *draft) { return rename(draft->temporary, draft->real) ? errno : 0; }

void draft_end(output_draft *draft, int discard) {
  if (draft->fd >= 0 && discard) unlink(draft->temporary);
  if (draft->fd >= 0) close(draft->fd);
  held_forget(draft->temporary);
  free(draft->temporary);
  free(draft->real);
  *draft = (output_draft){NULL, NULL, -1};
}

/* Gives the temporary file its name, unless there was an error. */
static int finish(output_draft *draft, int error) {
  if (!error) error = draft_flush(draft);
  if (!error && output_interrupted()) error = EINTR;
  if (!error) error = draft_publish(draft);
  if (!error) cli_leftovers_remove(draft->real);
  draft_end(draft, error);
  return error;
}

/* ---- whole files ---- */

/* Writes to a pipe, which may wait for its reader for ever, or to a device; signals are not held. */
static int write_special(const char *path, const cli_piece *pieces, size_t count) {
  if (held_changed()) return EFAULT;
  int fd = cli_is_stream(path) ? STDOUT_FILENO : open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  if (cli_is_stream(path)) fflush(stdout);
  int error = write_pieces(fd, pieces, count);
  if (!cli_is_stream(path) && close(fd) && !error) error = errno;
  return error;
}

static int write_file(const char *path, const cli_piece *pieces, size_t count) {
  output_draft draft;
  sigset_t before;
  output_hold(&before);
  int error = draft_open(&draft, path);
  if (!error) error = finish(&draft, draft_write(&draft, pieces, count));
  output_release(&before);
  return error;
}

int cli_file_write(const char *path, const cli_piece *pieces, size_t count) {
  int error = cli_is_stream(path) || cli_is_special(path) ? write_special(path, pieces, count)
                                                          : write_file(path, pieces, count);
  return error ? output_fail(path, error) : CLI_OK;
}

int cli_own_write(const char *path, const cli_piece *pieces, size_t count) {
  if (cli_own_check(path)) return CLI_BAD;
  int error = write_file(path, pieces, count);
  return error ? output_fail(path, error) : CLI_OK;
}

static int write_text(const char *path, void (*print)(FILE *out, const void *what), const void *what,
                      int (*write)(const char *path, const cli_piece *pieces, size_t count)) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) return cli_fail(path, "out of memory");
  print(out, what);
  int status = fclose(out) ? cli_fail(path, "out of memory") : CLI_OK;
  cli_piece piece = {text, size};
  if (status == CLI_OK) status = write(path, &piece, 1);
  free(text);
  return status;
}

int cli_text_write(const char *path, void (*print)(FILE *out, const void *what), const void *what) {
  return write_text(path, print, what, cli_file_write);
}

int cli_own_text(const char *path, void (*print)(FILE *out, const void *what), const void *what) {
  return write_text(path, print, what, cli_own_write);
}

int cli_file_try(const char *path) {
  sigset_t before;
  output_draft draft;
  if (cli_is_stream(path) || cli_is_special(path)) return CLI_OK;
  output_hold(&before);
  int error = draft_open(&draft, path);
  if (!error) draft_end(&draft, 1);
  output_release(&before);
  return error ? output_fail(path, error) : CLI_OK;
}

/* ---- files in parts ---- */

int cli_output_open(cli_output *output, const char *path) {
  *output = (cli_output){path, NULL, NULL, -1, 0, {{0}}};
  if (cli_is_stream(path) || cli_is_special(path)) return cli_fail(path, "cannot write: an ordinary file is required");
  output_hold(&output->before);
  output_draft draft;
  output->error = draft_open(&draft, path);
  output->real = draft.real;
  output->temporary = draft.temporary;
  output->fd = draft.fd;
  return output->error ? cli_output_close(output, 1) : CLI_OK;
}

int cli_output_at(cli_output *output, size_t at, const void *data, size_t size) {
  int error = output->error ? output->error : write_all(output->fd, data, size, (off_t)at);
  if (error) output->error = error;
  return error ? CLI_BAD : CLI_OK;
}

int cli_output_stopped(cli_output *output) {
  if (!output->error && output_interrupted()) output->error = EINTR;
  return output->error != 0;
}

int cli_output_close(cli_output *output, int keep) {
  output_draft draft = {output->real, output->temporary, output->fd};
  int error = output->error;
  if (draft.fd >= 0) error = finish(&draft, error || keep ? error : ECANCELED);
  output_release(&output->before);
  if (!error) return CLI_OK;
  return keep ? output_fail(output->path, error) : CLI_BAD;
}
