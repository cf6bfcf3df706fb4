/* SPDX-License-Identifier: MIT */
/* Starts, watches and stops the processes of a sweep. See sweep.h. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/progress.h"
#include "cli/sweep/sweep.h"

enum { SAID_MAX = 4000, UNITS = 1000 /* of the bar, a run */ };

typedef struct job {
  pid_t pid; /* 0: free */
  int from;  /* what it says on its standard error */
  sweep_run *run;
  size_t size;
  char said[SAID_MAX + 1];
} job;

typedef struct jobs {
  sweep *sweep;
  job *list;
  struct pollfd *wait;
  sweep_shared *at; /* one a job, shared with its process */
  size_t next;      /* of the runs */
  size_t before;    /* runs that were done at the start */
  progress bar;
  char note[80];
} jobs;

/* ---- signals: the command stops its processes, then takes the usual effect ---- */

static const int stops[] = {SIGINT, SIGTERM, SIGHUP};
enum { STOPS = sizeof stops / sizeof *stops };
static volatile sig_atomic_t stopped;

static void stop(int signal) { stopped = signal; }

/* Those that are ignored (nohup) stay so. */
static void catch_signals(struct sigaction before[STOPS]) {
  struct sigaction z;
  memset(&z, 0, sizeof z);
  z.sa_handler = stop;
  sigemptyset(&z.sa_mask);
  stopped = 0;
  for (int i = 0; i < STOPS; i++) {
    sigaction(stops[i], NULL, &before[i]);
    if (before[i].sa_handler != SIG_IGN) sigaction(stops[i], &z, NULL);
  }
}

static void release_signals(const struct sigaction before[STOPS]) {
  for (int i = 0; i < STOPS; i++) sigaction(stops[i], &before[i], NULL);
}

/* ---- one process ---- */

static void be_child(jobs *z, job *j, int to, const struct sigaction before[STOPS], const sigset_t *mask, long parent) {
  for (unsigned i = 0; i < z->sweep->jobs; i++) {
    if (z->list[i].pid) close(z->list[i].from);
  }
  close(z->sweep->lock); /* it is the parent's alone */
  if (z->sweep->part >= 0) close(z->sweep->part);
  dup2(to, STDERR_FILENO);
  close(to);
  release_signals(before);
  sigprocmask(SIG_SETMASK, mask, NULL);
  char why[SWEEP_WHY_MAX];
  int status = sweep_do(z->sweep, j->run, &z->at[j - z->list], parent, why);
  if (status != CLI_OK && *why) cli_fail(NULL, "%s", why);
  fflush(stderr);
  _exit(status);
}

/* 0, or an exit code after an error line. Signals wait, so that a new process does not take one for its parent. */
static int start(jobs *z, job *j, sweep_run *r, const struct sigaction before[STOPS]) {
  int ends[2];
  sigset_t all, mask;
  long parent = getpid();
  if (pipe(ends)) return cli_fail(NULL, "cannot make a pipe: %s", strerror(errno));
  atomic_store(&z->at[j - z->list].done, 0);
  atomic_store(&z->at[j - z->list].of, 0);
  fflush(NULL);
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &mask);
  j->run = r;
  pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    be_child(z, j, ends[1], before, &mask, parent);
  }
  sigprocmask(SIG_SETMASK, &mask, NULL);
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    return cli_fail(NULL, "cannot start a process: %s", strerror(errno));
  }
  j->pid = pid;
  j->from = ends[0];
  j->size = 0;
  r->state = SWEEP_RUNNING;
  return CLI_OK;
}

/* What it said, in one line, without the command's own name before it. */
static char *read_said(job *j, int status) {
  static const char own[] = "halfulp: ";
  char *text = j->said, *z;
  while (j->size && strchr(" \r\n", text[j->size - 1])) j->size--;
  text[j->size] = 0;
  for (char *p = text; *p; p++)
    if (*p == '\n') *p = ' ';
  if (strncmp(text, own, strlen(own)) == 0) text += strlen(own);
  int n = WIFSIGNALED(status) ? asprintf(&z, "%s%sended by signal %d (%s)", text, *text ? "; " : "", WTERMSIG(status),
                                         strsignal(WTERMSIG(status)))
                              : asprintf(&z, "%s", *text ? text : "ended without a result");
  return n < 0 ? NULL : z;
}

/* A process has ended: its file says what came of it. */
static void finish(jobs *z, job *j) {
  char name[SWEEP_NAME_MAX];
  int status = 0;
  cli_pairs f;
  sweep_run *r = j->run;
  close(j->from);
  while (waitpid(j->pid, &status, 0) < 0 && errno == EINTR) continue;
  j->pid = 0;
  r->state = SWEEP_TO_DO;
  /* A run that was stopped just after it had written its file is done, too. */
  int ended = stopped || (WIFEXITED(status) && WEXITSTATUS(status) == CLI_OK);
  if (ended && cli_pairs_read(&f, r->path)) {
    if (sweep_file_result(&f, &r->result)) r->state = SWEEP_DONE;
    cli_pairs_free(&f);
  }
  if (r->state == SWEEP_DONE || stopped) return;
  r->state = SWEEP_FAILED;
  r->said = read_said(j, status);
  progress_end(&z->bar);
  cli_fail(NULL, "%s: %s", sweep_run_name(name, z->sweep, r), r->said ? r->said : "failed");
}

/* ---- all of them ---- */

static void draw(jobs *z) {
  const sweep *s = z->sweep;
  size_t running = 0, failed = sweep_count(s, SWEEP_FAILED), done = sweep_count(s, SWEEP_DONE);
  uint64_t units = (uint64_t)(done + failed - z->before) * UNITS;
  for (unsigned i = 0; i < s->jobs; i++) {
    if (!z->list[i].pid) continue;
    uint64_t of = atomic_load(&z->at[i].of);
    running++;
    if (of) units += atomic_load(&z->at[i].done) * UNITS / of;
  }
  snprintf(z->note, sizeof z->note, "%zu of %zu done, %zu at work, %zu failed", done, s->runs, running, failed);
  progress_at(&z->bar, units);
}

static unsigned busy(const jobs *z) {
  unsigned n = 0;
  for (unsigned i = 0; i < z->sweep->jobs; i++) n += z->list[i].pid != 0;
  return n;
}

/* Waits a little for what processes say or for one to end. */
static void watch(jobs *z) {
  unsigned n = z->sweep->jobs;
  for (unsigned i = 0; i < n; i++) z->wait[i] = (struct pollfd){z->list[i].pid ? z->list[i].from : -1, POLLIN, 0};
  if (poll(z->wait, n, 100) <= 0) return;
  for (unsigned i = 0; i < n; i++) {
    job *j = &z->list[i];
    char more[512];
    if (!j->pid || !z->wait[i].revents) continue;
    ssize_t got = read(j->from, more, sizeof more);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      finish(z, j);
      continue;
    }
    size_t room = SAID_MAX - j->size, kept = (size_t)got < room ? (size_t)got : room;
    memcpy(j->said + j->size, more, kept);
    j->size += kept;
  }
}

static int fill(jobs *z, const struct sigaction before[STOPS]) {
  sweep *s = z->sweep;
  for (unsigned i = 0; i < s->jobs && !stopped; i++) {
    while (z->next < s->runs && s->run[z->next].state != SWEEP_TO_DO) z->next++;
    if (z->next == s->runs) break;
    if (!z->list[i].pid && start(z, &z->list[i], &s->run[z->next++], before)) return CLI_BAD;
  }
  return CLI_OK;
}

static void end_all(const jobs *z) {
  for (unsigned i = 0; i < z->sweep->jobs; i++) {
    if (z->list[i].pid) kill(z->list[i].pid, SIGTERM);
  }
}

static int work(jobs *z) {
  struct sigaction before[STOPS];
  int status = CLI_OK, told = 0;
  catch_signals(before);
  progress_start(&z->bar, "sweep", (uint64_t)sweep_count(z->sweep, SWEEP_TO_DO) * UNITS);
  z->bar.note = z->note;
  do {
    if (status == CLI_OK) status = fill(z, before);
    if ((stopped || status) && !told) {
      end_all(z);
      told = 1;
    }
    if (busy(z)) watch(z);
    draw(z);
  } while (busy(z) || (z->next < z->sweep->runs && !stopped && status == CLI_OK));
  progress_end(&z->bar);
  release_signals(before);
  if (stopped) {
    cli_fail(NULL, "stopped with %zu of %zu runs done; the same command continues", sweep_count(z->sweep, SWEEP_DONE),
             z->sweep->runs);
    raise(stopped);
  }
  return status;
}

int sweep_work(sweep *s) {
  jobs z = {s, calloc(s->jobs, sizeof *z.list), calloc(s->jobs, sizeof *z.wait), NULL, 0, 0, {0}, ""};
  size_t size = s->jobs * sizeof *z.at;
  int status = CLI_BAD;
  z.at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  z.before = sweep_count(s, SWEEP_DONE);
  if (z.list && z.wait && z.at != MAP_FAILED) {
    status = work(&z);
  } else {
    cli_fail(NULL, "out of memory");
  }
  if (z.at != MAP_FAILED) munmap(z.at, size);
  free(z.list);
  free(z.wait);
  return status;
}
