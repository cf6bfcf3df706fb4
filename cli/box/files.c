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

void id_files_end(id_files *files) {
  if (!files) return;
  for (int i = 0; i < FILES; i++) {
    if (files->path[i]) unlink(files->path[i]);
    free(files->path[i]);
  }
  if (files->folder) rmdir(files->folder);
  free(files->folder);
  id_tile_free(&files->tile);
  free(files->command);
  free(files);
}

const id_tile *id_files_tile(const id_files *files) { return &files->tile; }

static int make_folder(id_files *files) {
  static const char *const names[FILES] = {"a.npy", "b.npy", "c.npy", "d.npy"};
  char *folder = cli_scratch("halfulp-identify-XXXXXX");
  if (!folder) return cli_fail(NULL, "out of memory");
  if (!mkdtemp(folder)) {
    int status = cli_fail(folder, "cannot be made: %s; TMPDIR names another folder", strerror(errno));
    free(folder);
    return status;
  }
  files->folder = folder;
  for (int i = 0; i < FILES; i++)
    if (asprintf(&files->path[i], "%s/%s", folder, names[i]) < 0) return cli_fail(NULL, "out of memory");
  return CLI_OK;
}

id_files *id_files_start(const id_shape *shape, char *const *command, int words, size_t tile, double seconds) {
  id_files *files = calloc(1, sizeof *files);
  if (!files) return NULL;
  files->shape = shape;
  files->seconds = seconds;
  files->command = calloc((size_t)words + FILES + 1, sizeof *files->command);
  int status = files->command ? make_folder(files) : cli_fail(NULL, "out of memory");
  if (status == CLI_OK && id_tile_make(&files->tile, shape, tile) != CLI_OK) status = cli_fail(NULL, "out of memory");
  if (status != CLI_OK) {
    id_files_end(files);
    return NULL;
  }
  for (int i = 0; i < words; i++) files->command[i] = command[i];
  for (int i = 0; i < FILES; i++) files->command[words + i] = files->path[i];
  return files;
}

static npy_info info_of(hu_type element, size_t rows, size_t columns) {
  npy_info info = {.dims = 2, .size = (uint8_t)hu_type_size(element)};
  int is_half = element.kind == HU_TYPE_CODES && hu_format_equal(element.format, hu_format_ieee(5, 10, 0));
  int is_single = element.kind == HU_TYPE_CODES && element.format.e == 8 && element.format.m == 23;
  info.kind = is_half || is_single || element.kind == HU_TYPE_BINARY64 ? 'f' : 'u';
  info.shape[0] = rows;
  info.shape[1] = columns;
  info.count = rows * columns;
  return info;
}

static int save(const id_files *files) {
  const id_shape *shape = files->shape;
  npy_info a = info_of(shape->a, files->tile.rows, shape->n), b = info_of(shape->b, shape->n, files->tile.rows);
  npy_info c = info_of(shape->result, files->tile.rows, files->tile.rows);
  int status = cli_array_save(files->path[0], &a, files->tile.a);
  if (status == CLI_OK) status = cli_array_save(files->path[1], &b, files->tile.b);
  if (status == CLI_OK) status = cli_array_save(files->path[2], &c, files->tile.c);
  unlink(files->path[3]);
  return status;
}

/* Waits for the command and ends it if its time is over. */
static int wait_for(const id_files *files, pid_t pid) {
  struct timespec nap = {0, 2000000}, start, now;
  int status;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (;;) {
    pid_t done = waitpid(pid, &status, WNOHANG);
    if (done == pid) break;
    if (done < 0 && errno != EINTR) return cli_fail(files->command[0], "%s", strerror(errno));
    clock_gettime(CLOCK_MONOTONIC, &now);
    if ((double)(now.tv_sec - start.tv_sec) > files->seconds || id_stop_due()) {
      kill(pid, SIGKILL);
      waitpid(pid, &status, 0);
      if (id_stop_due()) return ID_STOPPED;
      return cli_fail(files->command[0], "gave no product within %g seconds", files->seconds);
    }
    nanosleep(&nap, NULL);
  }
  if (id_stop_due()) return ID_STOPPED;
  if (WIFSIGNALED(status)) return cli_fail(files->command[0], "ended by signal %d", WTERMSIG(status));
  if (WEXITSTATUS(status)) return cli_fail(files->command[0], "ended with exit status %d", WEXITSTATUS(status));
  return CLI_OK;
}

static int run(const id_files *files) {
  pid_t pid = fork();
  if (pid < 0) return cli_fail(files->command[0], "%s", strerror(errno));
  if (pid == 0) {
    execvp(files->command[0], files->command);
    fprintf(stderr, "halfulp: %s: %s\n", files->command[0], strerror(errno));
    _exit(127);
  }
  return wait_for(files, pid);
}

static int load(id_files *files) {
  cli_array result;
  npy_info expected = info_of(files->shape->result, files->tile.rows, files->tile.rows);
  int status = cli_array_load_own(&result, files->path[3]);
  if (status != CLI_OK) return status;
  status = cli_array_in_rows(&result);
  if (status == CLI_OK && (result.info.count != expected.count || result.info.size != expected.size))
    status = cli_fail(files->path[3], "%zu elements of %u bytes; a product has %zu of %u", result.info.count,
                      result.info.size, expected.count, expected.size);
  if (status == CLI_OK && cli_array_is_codes(&result) && files->shape->result.kind == HU_TYPE_CODES)
    status =
        cli_codes_check(files->path[3], &result.info, result.data, cli_code_rule_of(files->shape->result.format, NULL));
  if (status == CLI_OK) memcpy(files->tile.result, result.data, expected.count * expected.size);
  cli_array_free(&result);
  return status;
}

int id_files_answer(void *context, size_t count, const void *a, const void *b, const void *c, const void *sa,
                    const void *sb, void *results) {
  id_files *files = context;
  int status = CLI_OK;
  (void)sa;
  (void)sb;
  for (size_t at = 0; at < count && status == CLI_OK; at += files->tile.rows) {
    size_t some = count - at < files->tile.rows ? count - at : files->tile.rows;
    id_tile_fill(&files->tile, files->shape, at, some, a, b, c);
    status = save(files);
    if (status == CLI_OK) status = run(files);
    if (status == CLI_OK) status = load(files);
    if (status == CLI_OK) id_tile_take(&files->tile, files->shape, at, some, results);
  }
  return status;
}
