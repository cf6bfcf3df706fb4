/* SPDX-License-Identifier: MIT */
/* Items in processes of their own on one machine: starts, watches and stops them. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/progress.h"
#include "cli/job/job.h"

/* What a process and this one share. */
typedef struct shared {
  job_steps steps;
  job_done done;
} shared;

typedef struct child {
  pid_t process; /* 0: free */
  uint64_t item;
  double start; /* seconds */
  shared *with;
} child;

typedef struct children {
  const job_deal *deal;
  child *list;
  unsigned count;
  uint64_t next; /* item */
  int status;    /* an exit code after an error line; then the others are ended, and their results are lost */
  job_stops stops;
  struct sigaction before; /* what SIGCHLD did, which ends a wait */
  sigset_t mask;           /* which of all these were blocked */
} children;

/* ---- signals: the command stops its processes, then the signal takes its effect ---- */

static volatile sig_atomic_t stopped;

static void stop(int number) { stopped = number; }

static void wake(int number) { (void)number; }

/* They wait except while this process does. */
static void catch_signals(children *all) {
  struct sigaction action;
  sigset_t set;
  memset(&action, 0, sizeof action);
  action.sa_handler = wake;
  sigemptyset(&action.sa_mask);
  sigemptyset(&set);
  stopped = 0;
  for (int i = 0; i < JOB_STOPS; i++) sigaddset(&set, job_stop_signals[i]);
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_BLOCK, &set, &all->mask);
  job_stops_catch(&all->stops, stop);
  sigaction(SIGCHLD, &action, &all->before);
}

static void release_signals(const children *all) {
  job_stops_release(&all->stops);
  sigaction(SIGCHLD, &all->before, NULL);
  sigprocmask(SIG_SETMASK, &all->mask, NULL);
}

/* ---- one process ---- */

/* Where the system can do it, a process ends with this one however that ends. */
static void end_with_parent(long parent) {
#ifdef __linux__
  (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
  if ((long)getppid() != parent) _exit(CLI_BAD);
}

static void be_child(const children *all, const child *own) {
  all->deal->leave(all->deal->context);
  release_signals(all);
  end_with_parent(own->with->steps.parent);
  all->deal->run(all->deal->context, own->item, &own->with->done, &own->with->steps);
  fflush(NULL);
  _exit(CLI_OK);
}

static int start(children *all, child *own) {
  atomic_store(&own->with->steps.done, 0);
  atomic_store(&own->with->steps.of, 0);
  own->with->steps.parent = (long)getpid();
  own->with->done.item = JOB_NONE;
  own->item = all->next++;
  own->start = progress_seconds();
  fflush(NULL);
  own->process = fork();
  if (own->process == 0) be_child(all, own);
  if (own->process > 0) return CLI_OK;
  own->process = 0;
  return cli_fail(NULL, "cannot start a process: %s", strerror(errno));
}

/* Notes how it has ended. A process that has said nothing was killed; where this one has done that, by no fault. */
static void finish(children *all, const child *own, int status) {
  job_done *done = &own->with->done;
  if (all->status != CLI_OK) return;
  if (done->item == JOB_NONE) {
    if (stopped) return;
    done->item = own->item;
    done->seconds = progress_seconds() - own->start;
    done->failed = 1;
    if (WIFSIGNALED(status))
      snprintf(done->text, JOB_WHY_MAX, "ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
      snprintf(done->text, JOB_WHY_MAX, "ended without a result");
  }
  all->status = all->deal->note(all->deal->context, done);
}

/* ---- all of them ---- */

static unsigned busy(const children *all) {
  unsigned count = 0;
  for (unsigned i = 0; i < all->count; i++) count += all->list[i].process != 0;
  return count;
}

static void show(const children *all) {
  double parts = 0;
  for (unsigned i = 0; i < all->count; i++) {
    const child *own = &all->list[i];
    uint64_t of = own->process ? atomic_load(&own->with->steps.of) : 0;
    if (of) parts += (double)atomic_load(&own->with->steps.done) / (double)of;
  }
  all->deal->show(all->deal->context, parts);
}

/* Waits a little for a process to end. */
static void watch(children *all) {
  const struct timespec pause = {0, 100000000};
  int status, ended = 0;
  for (int turn = 0; turn < 2 && !ended; turn++) {
    if (turn) (void)pselect(0, NULL, NULL, NULL, &pause, &all->mask);
    for (unsigned i = 0; i < all->count; i++) {
      child *own = &all->list[i];
      if (!own->process || waitpid(own->process, &status, WNOHANG) != own->process) continue;
      own->process = 0;
      finish(all, own, status);
      ended = 1;
    }
  }
}

static void fill(children *all) {
  for (unsigned i = 0; i < all->count && !stopped && all->status == CLI_OK && all->next < all->deal->count; i++) {
    if (!all->list[i].process) all->status = start(all, &all->list[i]);
  }
}

static void say_stopped(const children *all) {
  char words[JOB_WHY_MAX];
  all->deal->last_words(all->deal->context, words);
  fputs(words, stderr);
}

static int run(children *all) {
  int is_ended = 0;
  catch_signals(all);
  do {
    fill(all);
    int ends = stopped || all->status != CLI_OK;
    for (unsigned i = 0; ends && !is_ended && i < all->count; i++)
      if (all->list[i].process) kill(all->list[i].process, SIGTERM);
    is_ended = ends;
    if (busy(all)) watch(all);
    show(all);
  } while (busy(all) || (all->next < all->deal->count && !stopped && all->status == CLI_OK));
  release_signals(all);
  if (stopped) {
    say_stopped(all);
    raise(stopped);
  }
  return all->status;
}

int job_in_processes(const job_deal *deal, unsigned count) {
  children all = {.deal = deal, .count = count, .list = calloc(count, sizeof *all.list)};
  size_t size = count * sizeof(shared);
  shared *with = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int status = all.list && with != MAP_FAILED ? CLI_OK : cli_fail(NULL, "out of memory");
  for (unsigned i = 0; status == CLI_OK && i < count; i++) all.list[i].with = &with[i];
  if (status == CLI_OK) status = run(&all);
  if (with != MAP_FAILED) munmap(with, size);
  free(all.list);
  return status;
}
