/* SPDX-License-Identifier: MIT */
/* A program as a black box. Its output goes to a pseudo-terminal where there is one, because a program that uses stdio
 * then writes each line as it is made; into a pipe it would keep its answers until its input ends, and both would
 * wait. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/numbers.h"
#include "cli/box/box.h"

enum { LINE_MOST = 4096, READ_SIZE = 65536 };

struct id_program {
  const id_shape *shape;
  pid_t pid; /* 0: no process of ours */
  int in, out;
  double seconds;
  size_t batch; /* lines are sent in multiples of it */
  FILE *log;
  char line[LINE_MOST]; /* the answer that is coming in */
  size_t length;
  uint64_t answered;
};

/* ---- start and end ---- */

static int open_terminal(int *ours, int *theirs) {
  struct termios settings;
  *ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (*ours < 0) return 0;
  *theirs = -1;
  if (grantpt(*ours) == 0 && unlockpt(*ours) == 0) *theirs = open(ptsname(*ours), O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (*theirs >= 0 && tcgetattr(*theirs, &settings) == 0) {
    cfmakeraw(&settings);
    if (tcsetattr(*theirs, TCSANOW, &settings) == 0) return 1;
  }
  if (*theirs >= 0) close(*theirs);
  close(*ours);
  return 0;
}

static int open_output(int *ours, int *theirs) {
  int ends[2];
  if (open_terminal(ours, theirs)) return 1;
  if (pipe2(ends, O_CLOEXEC) != 0) return 0;
  *ours = ends[0];
  *theirs = ends[1];
  return 1;
}

static void become(char *const *command, int in, int out) {
  signal(SIGPIPE, SIG_DFL);
  if (dup2(in, 0) == 0 && dup2(out, 1) == 1) execvp(command[0], command);
  fprintf(stderr, "halfulp: %s: %s\n", command[0], strerror(errno));
  _exit(127);
}

static id_program *program_of(const id_shape *shape, int in, int out, double seconds, FILE *log) {
  id_program *program = calloc(1, sizeof *program);
  if (!program) return NULL;
  program->shape = shape;
  program->in = in;
  program->batch = 1;
  program->out = out;
  program->seconds = seconds;
  program->log = log;
  signal(SIGPIPE, SIG_IGN); /* a box that ends is an error line, not our end */
  return program;
}

id_program *id_program_start(const id_shape *shape, char *const *command, double seconds, size_t batch, FILE *log) {
  int to[2], ours, theirs;
  if (pipe2(to, O_CLOEXEC) != 0 || !open_output(&ours, &theirs)) {
    cli_fail(command[0], "%s", strerror(errno));
    return NULL;
  }
  id_program *program = program_of(shape, to[1], ours, seconds, log);
  pid_t pid = program ? fork() : -1;
  if (pid == 0) become(command, to[0], theirs);
  close(to[0]);
  close(theirs);
  if (pid > 0) {
    program->pid = pid;
    program->batch = batch ? batch : 1;
    return program;
  }
  cli_fail(command[0], "%s", strerror(errno));
  free(program);
  return NULL;
}

id_program *id_program_beside(const id_shape *shape, double seconds, FILE *log) {
  return program_of(shape, 1, 0, seconds, log);
}

static void nap(void) {
  struct timespec time = {0, 10000000};
  nanosleep(&time, NULL);
}

void id_program_end(id_program *program) {
  int status;
  if (!program) return;
  if (program->pid) {
    close(program->in);
    for (int i = 0; i < 50 && program->pid && waitpid(program->pid, &status, WNOHANG) == 0; i++) {
      if (i == 20) kill(program->pid, SIGTERM);
      if (i == 40) kill(program->pid, SIGKILL);
      nap();
    }
    close(program->out);
  }
  free(program);
}

/* ---- questions ---- */

typedef struct asking {
  id_program *program;
  id_vectors view; /* the caller's arrays */
  char *text;      /* all lines: questions, then the last one until the batch is full */
  size_t size, sent, count, lines, got;
} asking;

static void name_question(const asking *batch, char *text, size_t size) {
  FILE *out = fmemopen(text, size, "w");
  text[0] = 0;
  if (!out) return;
  id_vectors_print(out, &batch->view, batch->got < batch->count ? batch->got : batch->count - 1);
  fputc(0, out);
  fclose(out);
  text[size - 1] = 0;
}

/* Writes how the process ended, "" if it has not. */
static const char *ending(id_program *program, char *text, size_t size) {
  int status;
  text[0] = 0;
  if (!program->pid) return text;
  for (int i = 0; i < 20; i++) {
    pid_t done = waitpid(program->pid, &status, WNOHANG);
    if (done == program->pid) {
      program->pid = 0;
      if (WIFSIGNALED(status))
        snprintf(text, size, ", by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
      if (WIFEXITED(status)) snprintf(text, size, ", with exit status %d", WEXITSTATUS(status));
      break;
    }
    nap();
  }
  return text;
}

/* Writes how many digits a question has, for a box that has not answered any: it may read lines of another form. */
static const char *form_of_lines(const id_program *program, char *text, size_t size) {
  const id_shape *shape = program->shape;
  text[0] = 0;
  if (!program->answered)
    snprintf(text, size, "; a line has K = %u elements of %u hex digits for A, of %u for B, and %u digits for C",
             shape->n, (hu_type_width(shape->a) + 3) / 4, (hu_type_width(shape->b) + 3) / 4,
             (hu_type_width(shape->result) + 3) / 4);
  return text;
}

static int fail_ended(asking *batch) {
  char question[512], how[128], form[160];
  if (id_stop_due()) return ID_STOPPED;
  name_question(batch, question, sizeof question);
  ending(batch->program, how, sizeof how);
  return cli_fail(NULL, "the box ended%s, after %llu answers; the question was %s%s", how,
                  (unsigned long long)batch->program->answered, question,
                  form_of_lines(batch->program, form, sizeof form));
}

static int fail_silent(asking *batch) {
  char question[512];
  if (id_stop_due()) return ID_STOPPED;
  name_question(batch, question, sizeof question);
  return cli_fail(NULL,
                  "the box gave no answer within %g seconds, after %llu answers; the question was %s; a program has to "
                  "flush its output after each line",
                  batch->program->seconds, (unsigned long long)batch->program->answered, question);
}

/* Takes a line that has come in whole. */
static int take_answer(asking *batch) {
  id_program *program = batch->program;
  char question[512], form[160];
  uint64_t x;
  unsigned digits = (hu_type_width(program->shape->result) + 3) / 4;
  char *at = program->line;
  program->line[program->length] = 0;
  program->length = 0;
  if (batch->got >= batch->count && batch->got < batch->lines) {
    batch->got++;
    return CLI_OK;
  }
  while (*at == ' ' || *at == '\t') at++;
  for (size_t n = strlen(at); n && strchr(" \t\r", at[n - 1]); n--) at[n - 1] = 0;
  if (!strncmp(at, "0x", 2) || !strncmp(at, "0X", 2)) at += 2;
  if (batch->got == batch->lines) return cli_fail(NULL, "the box gives more lines than it was asked: '%.60s'", at);
  if (strlen(at) != digits || !hex_parse(&x, at, digits)) {
    name_question(batch, question, sizeof question);
    return cli_fail(NULL, "the box answers '%.60s', which is not %u hex digits; the question was %s%s", at, digits,
                    question, form_of_lines(program, form, sizeof form));
  }
  id_put(&batch->view, ID_D, batch->got, 0, x);
  if (program->log) {
    id_vectors_print(program->log, &batch->view, batch->got);
    fprintf(program->log, " = %s\n", at);
  }
  batch->got++;
  program->answered++;
  return CLI_OK;
}

static int take_bytes(asking *batch, const char *bytes, size_t size) {
  id_program *program = batch->program;
  for (size_t i = 0; i < size; i++) {
    if (bytes[i] == '\n') {
      if (program->length == 0) continue;
      if (take_answer(batch)) return CLI_BAD;
    } else if (program->length == LINE_MOST - 1) {
      return cli_fail(NULL, "the box answers a line of more than %d characters", LINE_MOST - 1);
    } else {
      program->line[program->length++] = bytes[i];
    }
  }
  return CLI_OK;
}

/* Sends what can be sent: after POLLOUT a pipe takes PIPE_BUF bytes without waiting. It stays one that waits: our
 * caller and others hold it, too, and it would be theirs that does not. */
static int send_more(asking *batch) {
  size_t left = batch->size - batch->sent;
  ssize_t n = write(batch->program->in, batch->text + batch->sent, left < PIPE_BUF ? left : PIPE_BUF);
  if (n > 0) batch->sent += (size_t)n;
  if (n < 0 && errno != EAGAIN && errno != EINTR) return -1;
  return 0;
}

static int converse(asking *batch) {
  static char bytes[READ_SIZE];
  while (batch->got < batch->lines) {
    struct pollfd polled[2] = {{batch->program->out, POLLIN, 0},
                               {batch->sent < batch->size ? batch->program->in : -1, POLLOUT, 0}};
    int ready = poll(polled, 2, (int)(fmin(batch->program->seconds, id_stop_left()) * 1000) + 1);
    if (id_stop_due()) return ID_STOPPED;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return fail_silent(batch);
    int broken = polled[1].revents && send_more(batch) < 0;
    if (!polled[0].revents) {
      if (broken) return fail_ended(batch);
      continue;
    }
    ssize_t n = read(batch->program->out, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail_ended(batch);
    if (take_bytes(batch, bytes, (size_t)n)) return CLI_BAD;
  }
  return CLI_OK;
}

int id_program_answer(void *context, size_t count, const void *a, const void *b, const void *c, const void *sa,
                      const void *sb, void *results) {
  asking batch = {.program = context, .count = count};
  void *columns[ID_COLUMNS] = {(void *)a, (void *)b, (void *)c, (void *)sa, (void *)sb, results};
  id_vectors_start(&batch.view, batch.program->shape);
  memcpy(batch.view.column, columns, sizeof columns);
  FILE *out = open_memstream(&batch.text, &batch.size);
  if (!out) return cli_fail(NULL, "not enough memory");
  batch.lines = (count + batch.program->batch - 1) / batch.program->batch * batch.program->batch;
  for (size_t i = 0; i < batch.lines; i++) {
    id_vectors_print(out, &batch.view, i < count ? i : count - 1);
    fputc('\n', out);
  }
  if (fclose(out) != 0) return cli_fail(NULL, "not enough memory");
  int status = converse(&batch);
  free(batch.text);
  return status;
}
