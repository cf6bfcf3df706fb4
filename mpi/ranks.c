/* SPDX-License-Identifier: MIT */
/* Items shared among the processes of an MPI job, or among groups of them, whose first processes ask for all. Process 0
 * hands them out: its main thread answers, a second thread works. So no one waits for an item of process 0 to end, as a
 * counter in its memory may require where the network does not serve it by itself. A process that waits sleeps: MPI's
 * own waiting keeps a CPU busy. */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/base/launched.h"
#include "cli/job/job.h"
#include "mpi/train.h"

enum { TAG_ASK = 1, TAG_ANSWER = 2 };

static void sleep_some(long *nanoseconds) {
  enum { LEAST = 20000, MOST = 1000000 };
  struct timespec time = {0, *nanoseconds < LEAST ? LEAST : *nanoseconds};
  nanosleep(&time, NULL);
  *nanoseconds = time.tv_nsec < MOST ? 2 * time.tv_nsec : MOST;
}

static void wait_for(MPI_Request *request) {
  int done = 0;
  long pause = 0;
  for (MPI_Test(request, &done, MPI_STATUS_IGNORE); !done; MPI_Test(request, &done, MPI_STATUS_IGNORE))
    sleep_some(&pause);
}

static int rank, size, threads;
static MPI_Comm team = MPI_COMM_NULL; /* the processes of an item; none: each is alone */
static int team_rank, team_size = 1;

/* Of a message about an item that has ended. */
static int bytes_of(const job_done *done) {
  return (int)(offsetof(job_done, text) + (done->item == JOB_NONE ? 0 : done->size));
}

static job_done *new_done(void) {
  job_done *done = calloc(1, sizeof *done);
  if (!done) MPI_Abort(MPI_COMM_WORLD, 2);
  done->item = JOB_NONE;
  return done;
}

/* Computes an item together with the others of the group, to whom its first process sends it; JOB_NONE: there is no
 * more. */
static void do_item(const job_deal *deal, uint64_t *item, job_done *done) {
  job_steps steps = {0, 0, 0};
  if (team_size > 1) {
    MPI_Request request;
    MPI_Ibcast(item, 1, MPI_UINT64_T, 0, team, &request);
    wait_for(&request);
  }
  if (*item != JOB_NONE) deal->run(deal->context, *item, done, &steps);
}

/* ---- process 0 ---- */

typedef struct rank_office {
  pthread_mutex_t mutex;
  uint64_t next;
  int working; /* this process's own thread */
  const job_deal *deal;
} rank_office;

/* Notes what is done and hands out the next item: its number, or JOB_NONE. */
static uint64_t hand_out(rank_office *office, const job_done *done) {
  const job_deal *deal = office->deal;
  pthread_mutex_lock(&office->mutex);
  if (done->item != JOB_NONE && deal->note(deal->context, done)) office->next = deal->count;
  deal->show(deal->context, 0);
  uint64_t item = office->next < deal->count ? office->next++ : JOB_NONE;
  pthread_mutex_unlock(&office->mutex);
  return item;
}

static void *work_here(void *context) {
  rank_office *office = context;
  job_done *done = new_done();
  for (uint64_t item = 0; item != JOB_NONE;) {
    item = hand_out(office, done);
    do_item(office->deal, &item, done);
  }
  free(done);
  pthread_mutex_lock(&office->mutex);
  office->working = 0;
  pthread_mutex_unlock(&office->mutex);
  return NULL;
}

static int is_working(rank_office *office) {
  pthread_mutex_lock(&office->mutex);
  int working = office->working;
  pthread_mutex_unlock(&office->mutex);
  return working;
}

/* Answers one question, if there is one. Returns 1 if the answer was that nothing is left. */
static int answer(rank_office *office, job_done *done, int *answered) {
  MPI_Status from;
  MPI_Iprobe(MPI_ANY_SOURCE, TAG_ASK, MPI_COMM_WORLD, answered, &from);
  if (!*answered) return 0;
  MPI_Recv(done, sizeof *done, MPI_BYTE, from.MPI_SOURCE, TAG_ASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  uint64_t item = hand_out(office, done);
  MPI_Send(&item, 1, MPI_UINT64_T, from.MPI_SOURCE, TAG_ANSWER, MPI_COMM_WORLD);
  return item == JOB_NONE;
}

static void serve(rank_office *office, int others) {
  long pause = 0;
  pthread_t thread;
  job_done *done = new_done();
  int threaded = pthread_create(&thread, NULL, work_here, office) == 0, answered;
  if (!threaded) office->working = 0; /* the others do it all, where there are some */
  while (others || is_working(office)) {
    others -= answer(office, done, &answered);
    if (answered)
      pause = 0;
    else
      sleep_some(&pause);
  }
  if (threaded)
    pthread_join(thread, NULL);
  else
    work_here(office);
  free(done);
}

/* ---- the others ---- */

static uint64_t ask(const job_done *done) {
  uint64_t item;
  MPI_Request answer;
  MPI_Irecv(&item, 1, MPI_UINT64_T, 0, TAG_ANSWER, MPI_COMM_WORLD, &answer);
  MPI_Send(done, bytes_of(done), MPI_BYTE, 0, TAG_ASK, MPI_COMM_WORLD);
  wait_for(&answer);
  return item;
}

static void follow(const job_deal *deal) {
  job_done *done = new_done();
  for (uint64_t item = 0; item != JOB_NONE;) {
    if (team_rank == 0) item = ask(done);
    do_item(deal, &item, done);
  }
  free(done);
}

static int share(const job_deal *deal) {
  if (rank == 0) {
    rank_office office = {PTHREAD_MUTEX_INITIALIZER, 0, 1, deal};
    serve(&office, size / team_size - 1);
  } else {
    follow(deal);
  }
  return 0;
}

/* The second thread of process 0 speaks to its group while the first one answers, so that both are in MPI. */
static int group(int n) {
  if (n < 1 || size % n || (n > 1 && threads < MPI_THREAD_MULTIPLE)) return 0;
  if (team != MPI_COMM_NULL) MPI_Comm_free(&team);
  MPI_Comm_split(MPI_COMM_WORLD, rank / n, rank, &team);
  team_rank = rank % n;
  team_size = n;
  mpi_train_start(team);
  return 1;
}

static void spread(void *bytes, size_t length) {
  MPI_Request request;
  MPI_Ibcast(bytes, (int)length, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
  wait_for(&request);
}

static int same(uint64_t x, int *other) {
  uint64_t *all = malloc((size_t)size * sizeof *all);
  MPI_Request request;
  int equal = 1;
  if (!all) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Iallgather(&x, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, MPI_COMM_WORLD, &request);
  wait_for(&request);
  for (int i = size - 1; i > 0; i--) {
    if (all[i] == all[0]) continue;
    *other = i;
    equal = 0;
  }
  free(all);
  return equal;
}

static int largest(int x) {
  int z;
  MPI_Request request;
  MPI_Iallreduce(&x, &z, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
  wait_for(&request);
  return z;
}

/* ---- the job ---- */

static job_ranks ranks = {0, 1, share, same, largest, group, spread};

/* Groups are a matter of sweeps alone. */
static int threads_for(int argc, char **argv) {
  return argc > 1 && !strcmp(argv[1], "sweep") ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
}

static void start(int *argc, char ***argv) {
  MPI_Init_thread(argc, argv, threads_for(*argc, *argv), &threads);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (threads < MPI_THREAD_FUNNELED && rank == 0) {
    fputs("halfulp: this MPI library has no threads (MPI_THREAD_FUNNELED)\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  ranks.rank = rank;
  ranks.size = size;
  job_ranks_set(&ranks);
  mpi_train_start(MPI_COMM_WORLD);
}

static int stop(int status) {
  int all = largest(status);
  MPI_Finalize();
  return all;
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  return stop(cli_run(argc, argv));
}
