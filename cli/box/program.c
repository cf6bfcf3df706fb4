/* SPDX-License-Identifier: MIT */
/* A program as a black box. Its output goes to a pseudo-terminal where there is one, because a program that uses stdio
 * then writes each line as it is made; into a pipe it would keep its answers until its input ends, and both would
 * wait. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

enum { LINE_MOST = 4096, READ_ROOM = 65536 };

struct id_program {
  const id_shape *shape;
  pid_t pid; /* 0: no process of ours */
  int in, out;
  double seconds;
  FILE *log;
  char line[LINE_MOST]; /* the answer that is coming in */
  size_t length;
  uint64_t answered;
};

/* ---- start and end ---- */

static int open_terminal(int *ours, int *theirs) {
  struct termios t;
  *ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (*ours < 0) return 0;
  *theirs = -1;
  if (grantpt(*ours) == 0 && unlockpt(*ours) == 0) *theirs = open(ptsname(*ours), O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (*theirs >= 0 && tcgetattr(*theirs, &t) == 0) {
    cfmakeraw(&t);
    if (tcsetattr(*theirs, TCSANOW, &t) == 0) return 1;
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
  id_program *p = calloc(1, sizeof *p);
  if (!p) return NULL;
  p->shape = shape;
  p->in = in;
  p->out = out;
  p->seconds = seconds;
  p->log = log;
  signal(SIGPIPE, SIG_IGN); /* a box that ends is an error line, not our end */
  return p;
}

id_program *id_program_start(const id_shape *shape, char *const *command, double seconds, FILE *log) {
  int to[2], ours, theirs;
  if (pipe2(to, O_CLOEXEC) != 0 || !open_output(&ours, &theirs)) {
    cli_fail(command[0], "%s", strerror(errno));
    return NULL;
  }
  id_program *p = program_of(shape, to[1], ours, seconds, log);
  pid_t pid = p ? fork() : -1;
  if (pid == 0) become(command, to[0], theirs);
  close(to[0]);
  close(theirs);
  if (pid > 0) {
    p->pid = pid;
    return p;
  }
  cli_fail(command[0], "%s", strerror(errno));
  free(p);
  return NULL;
}

id_program *id_program_beside(const id_shape *shape, double seconds, FILE *log) {
  return program_of(shape, 1, 0, seconds, log);
}

static void nap(void) {
  struct timespec t = {0, 10000000};
  nanosleep(&t, NULL);
}

void id_program_end(id_program *p) {
  int status;
  if (!p) return;
  if (p->pid) {
    close(p->in);
    for (int i = 0; i < 50 && p->pid && waitpid(p->pid, &status, WNOHANG) == 0; i++) {
      if (i == 20) kill(p->pid, SIGTERM);
      if (i == 40) kill(p->pid, SIGKILL);
      nap();
    }
    close(p->out);
  }
  free(p);
}

/* ---- questions ---- */

typedef struct asking {
  id_program *p;
  id_vectors view; /* the caller's arrays */
  char *text;      /* all questions */
  size_t size, sent, count, got;
} asking;

static void name_question(const asking *q, char *text, size_t size) {
  FILE *out = fmemopen(text, size, "w");
  text[0] = 0;
  if (!out) return;
  id_vectors_print(out, &q->view, q->got < q->count ? q->got : q->count - 1);
  fputc(0, out);
  fclose(out);
  text[size - 1] = 0;
}

/* Writes how the process ended, "" if it has not. */
static const char *ending(id_program *p, char *text, size_t size) {
  int status;
  text[0] = 0;
  if (!p->pid) return text;
  for (int i = 0; i < 20; i++) {
    pid_t done = waitpid(p->pid, &status, WNOHANG);
    if (done == p->pid) {
      p->pid = 0;
      if (WIFSIGNALED(status))
        snprintf(text, size, ", by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
      if (WIFEXITED(status)) snprintf(text, size, ", with exit status %d", WEXITSTATUS(status));
      break;
    }
    nap();
  }
  return text;
}

static int fail_ended(asking *q) {
  char question[512], how[128];
  name_question(q, question, sizeof question);
  ending(q->p, how, sizeof how);
  return cli_fail(NULL, "the box ended%s, after %llu answers; the question was %s", how,
                  (unsigned long long)q->p->answered, question);
}

static int fail_silent(asking *q) {
  char question[512];
  name_question(q, question, sizeof question);
  return cli_fail(NULL,
                  "the box gave no answer within %g seconds, after %llu answers; the question was %s; a program has to "
                  "flush its output after each line",
                  q->p->seconds, (unsigned long long)q->p->answered, question);
}

/* Takes a line that has come in whole. */
static int take_answer(asking *q) {
  id_program *p = q->p;
  char question[512];
  uint64_t x;
  unsigned digits = (hu_element_width(p->shape->d) + 3) / 4;
  char *at = p->line;
  p->line[p->length] = 0;
  p->length = 0;
  while (*at == ' ' || *at == '\t') at++;
  for (size_t n = strlen(at); n && strchr(" \t\r", at[n - 1]); n--) at[n - 1] = 0;
  if (!strncmp(at, "0x", 2) || !strncmp(at, "0X", 2)) at += 2;
  if (q->got == q->count) return cli_fail(NULL, "the box gives more lines than it was asked: '%.60s'", at);
  if (strlen(at) != digits || !hex_parse(&x, at, digits)) {
    name_question(q, question, sizeof question);
    return cli_fail(NULL, "the box answers '%.60s', which is not %u hex digits; the question was %s", at, digits,
                    question);
  }
  id_put(&q->view, ID_D, q->got, 0, x);
  if (p->log) {
    id_vectors_print(p->log, &q->view, q->got);
    fprintf(p->log, " = %s\n", at);
  }
  q->got++;
  p->answered++;
  return CLI_OK;
}

static int take_bytes(asking *q, const char *bytes, size_t size) {
  id_program *p = q->p;
  for (size_t i = 0; i < size; i++) {
    if (bytes[i] == '\n') {
      if (p->length == 0) continue;
      if (take_answer(q)) return CLI_BAD;
    } else if (p->length == LINE_MOST - 1) {
      return cli_fail(NULL, "the box answers a line of more than %d characters", LINE_MOST - 1);
    } else {
      p->line[p->length++] = bytes[i];
    }
  }
  return CLI_OK;
}

/* Sends what can be sent: after POLLOUT a pipe takes PIPE_BUF bytes without waiting. It stays one that waits: our
 * caller and others hold it, too, and it would be theirs that does not. */
static int send_more(asking *q) {
  size_t left = q->size - q->sent;
  ssize_t n = write(q->p->in, q->text + q->sent, left < PIPE_BUF ? left : PIPE_BUF);
  if (n > 0) q->sent += (size_t)n;
  if (n < 0 && errno != EAGAIN && errno != EINTR) return -1;
  return 0;
}

static int converse(asking *q) {
  static char bytes[READ_ROOM];
  while (q->got < q->count) {
    struct pollfd f[2] = {{q->p->out, POLLIN, 0}, {q->sent < q->size ? q->p->in : -1, POLLOUT, 0}};
    int ready = poll(f, 2, (int)(q->p->seconds * 1000));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return fail_silent(q);
    int broken = f[1].revents && send_more(q) < 0;
    if (!f[0].revents) {
      if (broken) return fail_ended(q);
      continue;
    }
    ssize_t n = read(q->p->out, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail_ended(q);
    if (take_bytes(q, bytes, (size_t)n)) return CLI_BAD;
  }
  return CLI_OK;
}

int id_program_answer(void *context, size_t count, const void *a, const void *b, const void *c, const void *sa,
                      const void *sb, void *d) {
  asking q = {.p = context, .count = count};
  void *columns[ID_COLUMNS] = {(void *)a, (void *)b, (void *)c, (void *)sa, (void *)sb, d};
  id_vectors_start(&q.view, q.p->shape);
  memcpy(q.view.column, columns, sizeof columns);
  FILE *out = open_memstream(&q.text, &q.size);
  if (!out) return cli_fail(NULL, "not enough memory");
  for (size_t i = 0; i < count; i++) {
    id_vectors_print(out, &q.view, i);
    fputc('\n', out);
  }
  if (fclose(out) != 0) return cli_fail(NULL, "not enough memory");
  int status = converse(&q);
  free(q.text);
  return status;
}
