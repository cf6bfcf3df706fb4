/* SPDX-License-Identifier: MIT */
/* A command on .npy files as a black box: it is run once for each product. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/box/box.h"
#include "cli/tensors/codes.h"

enum { FILES = 4 };

struct id_files {
  const id_shape *shape;
  char **command;             /* its words, then the four files */
  char *folder, *path[FILES]; /* folder: NULL before it is made */
  id_tile tile;
  double seconds;
};

void id_files_end(id_files *f) {
  if (!f) return;
  for (int i = 0; i < FILES; i++) {
    if (f->path[i]) unlink(f->path[i]);
    free(f->path[i]);
  }
  if (f->folder) rmdir(f->folder);
  free(f->folder);
  id_tile_free(&f->tile);
  free(f->command);
  free(f);
}

static int make_folder(id_files *f) {
  static const char *const names[FILES] = {"a.npy", "b.npy", "c.npy", "d.npy"};
  char *folder = cli_scratch("halfulp-identify-XXXXXX");
  if (!folder) return cli_fail(NULL, "out of memory");
  if (!mkdtemp(folder)) {
    int status = cli_fail(folder, "cannot be made: %s; TMPDIR names another folder", strerror(errno));
    free(folder);
    return status;
  }
  f->folder = folder;
  for (int i = 0; i < FILES; i++)
    if (asprintf(&f->path[i], "%s/%s", folder, names[i]) < 0) return cli_fail(NULL, "out of memory");
  return CLI_OK;
}

id_files *id_files_start(const id_shape *shape, char *const *command, int words, size_t tile, double seconds) {
  id_files *f = calloc(1, sizeof *f);
  if (!f) return NULL;
  f->shape = shape;
  f->seconds = seconds;
  f->command = calloc((size_t)words + FILES + 1, sizeof *f->command);
  int status = f->command ? make_folder(f) : cli_fail(NULL, "out of memory");
  if (status == CLI_OK && id_tile_make(&f->tile, shape, tile) != CLI_OK) status = cli_fail(NULL, "out of memory");
  if (status != CLI_OK) {
    id_files_end(f);
    return NULL;
  }
  for (int i = 0; i < words; i++) f->command[i] = command[i];
  for (int i = 0; i < FILES; i++) f->command[words + i] = f->path[i];
  return f;
}

static npy_info info_of(hu_element e, size_t rows, size_t columns) {
  npy_info info = {.dims = 2, .size = (uint8_t)hu_element_size(e)};
  int is_half = e.kind == HU_ELEMENT_CODE && hu_format_equal(e.format, hu_format_ieee(5, 10, 0));
  int is_single = e.kind == HU_ELEMENT_CODE && e.format.e == 8 && e.format.m == 23;
  info.kind = is_half || is_single || e.kind == HU_ELEMENT_BINARY64 ? 'f' : 'u';
  info.shape[0] = rows;
  info.shape[1] = columns;
  info.count = rows * columns;
  return info;
}

static int save(const id_files *f) {
  const id_shape *s = f->shape;
  npy_info a = info_of(s->a, f->tile.rows, s->n), b = info_of(s->b, s->n, f->tile.rows);
  npy_info c = info_of(s->d, f->tile.rows, f->tile.rows);
  int status = cli_array_save(f->path[0], &a, f->tile.a);
  if (status == CLI_OK) status = cli_array_save(f->path[1], &b, f->tile.b);
  if (status == CLI_OK) status = cli_array_save(f->path[2], &c, f->tile.c);
  unlink(f->path[3]);
  return status;
}

/* Waits for the command and ends it if its time is over. */
static int wait_for(const id_files *f, pid_t pid) {
  struct timespec nap = {0, 2000000}, start, now;
  int status;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (;;) {
    pid_t done = waitpid(pid, &status, WNOHANG);
    if (done == pid) break;
    if (done < 0 && errno != EINTR) return cli_fail(f->command[0], "%s", strerror(errno));
    clock_gettime(CLOCK_MONOTONIC, &now);
    if ((double)(now.tv_sec - start.tv_sec) > f->seconds) {
      kill(pid, SIGKILL);
      waitpid(pid, &status, 0);
      return cli_fail(f->command[0], "gave no product within %g seconds", f->seconds);
    }
    nanosleep(&nap, NULL);
  }
  if (WIFSIGNALED(status)) return cli_fail(f->command[0], "ended by signal %d", WTERMSIG(status));
  if (WEXITSTATUS(status)) return cli_fail(f->command[0], "ended with exit status %d", WEXITSTATUS(status));
  return CLI_OK;
}

static int run(const id_files *f) {
  pid_t pid = fork();
  if (pid < 0) return cli_fail(f->command[0], "%s", strerror(errno));
  if (pid == 0) {
    execvp(f->command[0], f->command);
    fprintf(stderr, "halfulp: %s: %s\n", f->command[0], strerror(errno));
    _exit(127);
  }
  return wait_for(f, pid);
}

static int load(id_files *f) {
  cli_array d;
  npy_info wanted = info_of(f->shape->d, f->tile.rows, f->tile.rows);
  int status = cli_array_load_own(&d, f->path[3]);
  if (status != CLI_OK) return status;
  status = cli_array_in_rows(&d);
  if (status == CLI_OK && (d.info.count != wanted.count || d.info.size != wanted.size))
    status = cli_fail(f->path[3], "%zu elements of %u bytes; a product has %zu of %u", d.info.count, d.info.size,
                      wanted.count, wanted.size);
  if (status == CLI_OK && cli_array_is_codes(&d) && f->shape->d.kind == HU_ELEMENT_CODE)
    status = cli_codes_check(f->path[3], &d.info, d.data, cli_code_rule_of(f->shape->d.format, NULL));
  if (status == CLI_OK) memcpy(f->tile.d, d.data, wanted.count * wanted.size);
  cli_array_free(&d);
  return status;
}

int id_files_answer(void *context, size_t count, const void *a, const void *b, const void *c, const void *sa,
                    const void *sb, void *d) {
  id_files *f = context;
  int status = CLI_OK;
  (void)sa;
  (void)sb;
  for (size_t at = 0; at < count && status == CLI_OK; at += f->tile.rows) {
    size_t some = count - at < f->tile.rows ? count - at : f->tile.rows;
    id_tile_fill(&f->tile, f->shape, at, some, a, b, c);
    status = save(f);
    if (status == CLI_OK) status = run(f);
    if (status == CLI_OK) status = load(f);
    if (status == CLI_OK) id_tile_take(&f->tile, f->shape, at, some, d);
  }
  return status;
}
