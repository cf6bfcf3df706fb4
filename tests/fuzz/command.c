/* SPDX-License-Identifier: MIT */
/* The whole command on any bytes as one of its files, in this process: it ends with 0, 1 or 2, never otherwise; with 2
 * only after an error line, and then it has written nothing; it leaves no temporary file; and what it has written it
 * reads again. HU_FUZZ_TARGET names the kind of file (command_targets.c).
 *
 * The process keeps the command's global state from one input to the next, and so must not depend on it. It starts no
 * other process and no long check: fork, exec and the items of a campaign are wrapped (--wrap of the linker). */
#include "tests/fuzz/command.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/campaign/campaign.h"
#include "halfulp/train/trainer.h"
#include "files/npy.h"
#include "tests/fuzz/fuzz.h"

int halfulp_main(int argc, char **argv); /* cli/main.c */

static const command_target *target;
static size_t steps;
static int ready;

/* ---- what is wrapped ---- */

pid_t __real_fork(void);
pid_t __wrap_fork(void);
pid_t __wrap_fork(void) {
  errno = EAGAIN;
  return ready ? -1 : __real_fork();
}

int __wrap_posix_spawnp(void);
int __wrap_posix_spawnp(void) { return EPERM; }

int __wrap_execv(void);
int __wrap_execv(void) {
  errno = EPERM;
  return -1;
}

/* Those of a list that is read would take from seconds to hours. */
int __wrap_campaign_item_run(const campaign_item *item, job_result *z);
int __wrap_campaign_item_run(const campaign_item *item, job_result *z) {
  *z = (job_result){7, (uint64_t)item->arguments % 2, 0xff, 0, NULL, NULL, ""};
  return strlen(item->name) % 5 ? CLI_OK : cli_fail(item->name, "cannot be run");
}

hu_status __real_hu_trainer_begin(hu_trainer *trainer, const char *folder, char *why);
hu_status __wrap_hu_trainer_begin(hu_trainer *trainer, const char *folder, char *why);
hu_status __wrap_hu_trainer_begin(hu_trainer *trainer, const char *folder, char *why) {
  return target->unbegun ? HU_E_MEMORY : __real_hu_trainer_begin(trainer, folder, why);
}

/* ---- the folder ---- */

enum { PATH_MOST = 512, FILES_MOST = 64 };

typedef struct kept {
  char path[PATH_MOST];
  uint8_t *data;
  size_t size;
  struct timespec written;
  int seen;
} kept;

static kept files[FILES_MOST];
static size_t file_count;
static char folder[] = "/dev/shm/halfulp-fuzz-XXXXXX";

static uint8_t *read_file(const char *path, size_t *size) {
  struct stat info;
  FILE *in = fopen(path, "rb");
  FUZZ_CHECK(in && fstat(fileno(in), &info) == 0);
  uint8_t *data = malloc((size_t)info.st_size + 1);
  FUZZ_CHECK(data && fread(data, 1, (size_t)info.st_size, in) == (size_t)info.st_size);
  fclose(in);
  *size = (size_t)info.st_size;
  return data;
}

static void write_file(const char *path, const void *data, size_t size) {
  char *copy = strdup(path);
  FUZZ_CHECK(copy != NULL);
  for (char *slash = strchr(copy, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    (void)mkdir(copy, 0777);
    *slash = '/';
  }
  free(copy);
  FILE *out = fopen(path, "wb");
  FUZZ_CHECK(out && fwrite(data, 1, size, out) == size && fclose(out) == 0);
}

static kept *kept_of(const char *path) {
  for (size_t i = 0; i < file_count; i++)
    if (!strcmp(files[i].path, path)) return &files[i];
  return NULL;
}

/* Calls `each` for all files below; folders that are empty then go. */
static void walk(const char *path, void (*each)(const char *path, const struct stat *info)) {
  DIR *list = opendir(*path ? path : ".");
  FUZZ_CHECK(list != NULL);
  for (const struct dirent *entry; (entry = readdir(list)) != NULL;) {
    char below[PATH_MOST];
    struct stat info;
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    FUZZ_CHECK(snprintf(below, sizeof below, "%s%s%s", path, *path ? "/" : "", entry->d_name) < PATH_MOST);
    FUZZ_CHECK(lstat(below, &info) == 0);
    if (S_ISDIR(info.st_mode)) walk(below, each);
    if (S_ISDIR(info.st_mode))
      (void)rmdir(below);
    else
      each(below, &info);
  }
  closedir(list);
}

static void keep(const char *path, const struct stat *info) {
  FUZZ_CHECK(file_count < FILES_MOST && strlen(path) < PATH_MOST);
  kept *k = &files[file_count++];
  strcpy(k->path, path);
  k->data = read_file(path, &k->size);
  k->written = info->st_mtim;
}

/* A file that no one has changed stays; others go. */
static void put_back(const char *path, const struct stat *info) {
  kept *k = kept_of(path);
  k = k && k->size == (size_t)info->st_size && k->written.tv_sec == info->st_mtim.tv_sec &&
              k->written.tv_nsec == info->st_mtim.tv_nsec
          ? k
          : NULL;
  if (k)
    k->seen = 1;
  else
    FUZZ_CHECK(unlink(path) == 0);
}

static void restore(void) {
  for (size_t i = 0; i < file_count; i++) files[i].seen = 0;
  walk("", put_back);
  for (size_t i = 0; i < file_count; i++) {
    struct stat info;
    if (files[i].seen) continue;
    write_file(files[i].path, files[i].data, files[i].size);
    FUZZ_CHECK(stat(files[i].path, &info) == 0);
    files[i].written = info.st_mtim;
  }
}

static size_t outputs;

static void count_output(const char *path, const struct stat *info) {
  (void)info;
  const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
  FUZZ_CHECK(strncmp(name, ".halfulp-", 9) != 0);
  outputs += !strncmp(path, "out", 3);
}

/* ---- the command ---- */

static FILE *nowhere;

static int run(const char *line, char **said) {
  char text[PATH_MOST], *words[32] = {"halfulp"};
  int count = 1;
  size_t size;
  FUZZ_CHECK(strlen(line) < sizeof text);
  strcpy(text, line);
  for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) words[count++] = word;
  FILE *output = stdout, *error = stderr, *memory = open_memstream(said, &size);
  FUZZ_CHECK(memory != NULL);
  stdout = nowhere;
  stderr = memory;
  int status = halfulp_main(count, words);
  stdout = output;
  stderr = error;
  fclose(memory);
  return status;
}

#define COMMAND_CHECK(condition, line, said)                                    \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s: broken: %s\nit said: %s\n", line, #condition, said); \
      abort();                                                                  \
    }                                                                           \
  } while (0)

static void check(const char *line, int status, const char *said) {
  COMMAND_CHECK(status == CLI_OK || status == CLI_DIFFERENT || status == CLI_BAD, line, said);
  COMMAND_CHECK(status != CLI_BAD || strstr(said, "halfulp: "), line, said);
  for (const char *p = said; *p; p++) COMMAND_CHECK((unsigned char)*p >= 0x20 || *p == '\n', line, said);
  outputs = 0;
  walk("", count_output);
}

/* A file that was written may have no numbers, or such as a format that is computed from binary32 refuses. */
static int is_refused(const char *said) {
  return strstr(said, ": no tensor to round: ") || strstr(said, "is not a binary32 number");
}

static void run_step(const command_step *step, const uint8_t *data, size_t size) {
  char *said;
  write_file(step->file, data, size);
  int status = run(step->line, &said);
  check(step->line, status, said);
  int keeps = strstr(step->line, "campaign") || strstr(step->line, "sweep"); /* a ledger, as far as the items came */
  COMMAND_CHECK(status != CLI_BAD || !outputs || keeps, step->line, said);
  free(said);
  if (step->then && status == CLI_OK) {
    status = run(step->then, &said);
    check(step->then, status, said);
    COMMAND_CHECK(status == CLI_OK || is_refused(said), step->then, said);
    free(said);
  }
  restore();
}

/* ---- the target ---- */

static void make_array(void) {
  npy_info info = {.kind = 'f', .size = 4, .dims = 2, .shape = {2, 64}, .count = 128};
  char whole[NPY_HEADER_ROOM + 512];
  size_t n = npy_header(whole, &info);
  for (int i = 0; i < 128; i++) {
    float x = (float)(i - 40) * 0.37f;
    memcpy(whole + n + 4 * i, &x, 4);
  }
  write_file("x.npy", whole, n + 512);
}

static void leave(void) {
  file_count = 0;
  restore();
  (void)rmdir(folder);
}

static void set_up(void) {
  const char *name = getenv("HU_FUZZ_TARGET");
  for (target = command_targets; target->name && (!name || strcmp(target->name, name)); target++) continue;
  if (!target->name) {
    fprintf(stderr, "HU_FUZZ_TARGET: '%s' is no target\n", name ? name : "");
    exit(2);
  }
  nowhere = fopen("/dev/null", "w");
  FUZZ_CHECK(nowhere != NULL);
  FUZZ_CHECK(mkdtemp(folder) && chdir(folder) == 0);
  for (size_t i = 0; i < COMMAND_MOST && target->texts[i].file; i++)
    write_file(target->texts[i].file, target->texts[i].text, strlen(target->texts[i].text));
  if (target->arrays) make_array();
  for (size_t i = 0; i < COMMAND_MOST && target->made[i]; i++) {
    char *said;
    int status = run(target->made[i], &said);
    COMMAND_CHECK(status == CLI_OK, target->made[i], said);
    free(said);
  }
  while (steps < COMMAND_MOST && target->steps[steps].file) steps++;
  walk("", keep);
  ready = 1;
  atexit(leave);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!ready) set_up();
  if (size) run_step(&target->steps[data[0] % steps], data + 1, size - 1);
  return 0;
}

size_t fuzz_steps(void) {
  if (!ready) set_up();
  return steps;
}

const uint8_t *fuzz_seed(size_t step, size_t *size) {
  const kept *k = kept_of(target->steps[step].file);
  *size = k ? k->size : 0;
  return k ? k->data : NULL;
}
