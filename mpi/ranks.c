/* SPDX-License-Identifier: MIT */
/* Items shared among the processes of an MPI job. Process 0 hands them out: its main thread answers, a second thread
 * works. So nobody waits for an item of process 0 to end, which a counter in its memory may require where the network
 * does not serve it by itself (bench/README.md has the comparison). Whoever waits sleeps: MPI's own waiting keeps a
 * processor busy. */
#include "mpi/ranks.h"

#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cli/campaign/campaign.h"
#include "mpi/train.h"

enum { TAG_ASK = 1, TAG_ANSWER = 2, DONE_NUMBERS = sizeof(campaign_done) / sizeof(double) };
static const double none = -1; /* campaign_done.item of the first question, and the answer when nothing is left */

static void sleep_some(long *nanoseconds) {
  enum { LEAST = 20000, MOST = 1000000 };
  struct timespec t = {0, *nanoseconds < LEAST ? LEAST : *nanoseconds};
  nanosleep(&t, NULL);
  *nanoseconds = t.tv_nsec < MOST ? 2 * t.tv_nsec : MOST;
}

static void wait_for(MPI_Request *request) {
  int done = 0;
  long pause = 0;
  for (MPI_Test(request, &done, MPI_STATUS_IGNORE); !done; MPI_Test(request, &done, MPI_STATUS_IGNORE))
    sleep_some(&pause);
}

/* ---- process 0 ---- */

typedef struct office {
  pthread_mutex_t mutex;
  uint64_t next, count;
  int working; /* this process's own thread */
  campaign_done (*work)(void *context, uint64_t i);
  void (*told)(void *context, const campaign_done *done);
  void *context;
} office;

/* Notes what is done and hands out the next item: its number, or `none`. */
static double hand_out(office *o, const campaign_done *done) {
  pthread_mutex_lock(&o->mutex);
  if (done->item >= 0) o->told(o->context, done);
  double item = o->next < o->count ? (double)o->next++ : none;
  pthread_mutex_unlock(&o->mutex);
  return item;
}

static void *work_here(void *context) {
  office *o = context;
  campaign_done done = {none, 0, 0, 0};
  for (double item = hand_out(o, &done); item >= 0; item = hand_out(o, &done))
    done = o->work(o->context, (uint64_t)item);
  pthread_mutex_lock(&o->mutex);
  o->working = 0;
  pthread_mutex_unlock(&o->mutex);
  return NULL;
}

static int is_working(office *o) {
  pthread_mutex_lock(&o->mutex);
  int working = o->working;
  pthread_mutex_unlock(&o->mutex);
  return working;
}

/* Answers one question, if there is one: 1 if somebody was told that nothing is left. */
static int answer(office *o, int *answered) {
  MPI_Status from;
  campaign_done done;
  MPI_Iprobe(MPI_ANY_SOURCE, TAG_ASK, MPI_COMM_WORLD, answered, &from);
  if (!*answered) return 0;
  MPI_Recv(&done, DONE_NUMBERS, MPI_DOUBLE, from.MPI_SOURCE, TAG_ASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  double item = hand_out(o, &done);
  MPI_Send(&item, 1, MPI_DOUBLE, from.MPI_SOURCE, TAG_ANSWER, MPI_COMM_WORLD);
  return item < 0;
}

static void serve(office *o, int others) {
  long pause = 0;
  pthread_t thread;
  int threaded = pthread_create(&thread, NULL, work_here, o) == 0, answered;
  if (!threaded) o->working = 0; /* the others do it all */
  while (others || is_working(o)) {
    others -= answer(o, &answered);
    if (answered)
      pause = 0;
    else
      sleep_some(&pause);
  }
  if (threaded) pthread_join(thread, NULL);
}

/* ---- the others ---- */

static double ask(const campaign_done *done) {
  double item;
  MPI_Request answer;
  MPI_Irecv(&item, 1, MPI_DOUBLE, 0, TAG_ANSWER, MPI_COMM_WORLD, &answer);
  MPI_Send(done, DONE_NUMBERS, MPI_DOUBLE, 0, TAG_ASK, MPI_COMM_WORLD);
  wait_for(&answer);
  return item;
}

static int rank, size;

static void share(uint64_t count, campaign_done (*work)(void *context, uint64_t i),
                  void (*told)(void *context, const campaign_done *done), void *context) {
  campaign_done done = {none, 0, 0, 0};
  if (rank == 0) {
    office o = {PTHREAD_MUTEX_INITIALIZER, 0, count, 1, work, told, context};
    serve(&o, size - 1);
    if (o.next < o.count) work_here(&o); /* alone, and without a thread */
    return;
  }
  for (double item = ask(&done); item >= 0; item = ask(&done)) done = work(context, (uint64_t)item);
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

static campaign_ranks ranks = {0, 1, share, same, largest};

void mpi_ranks_start(int *argc, char ***argv) {
  int threads;
  MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &threads);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (threads < MPI_THREAD_FUNNELED && rank == 0) {
    fputs("halfulp: this MPI library has no threads (MPI_THREAD_FUNNELED)\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  ranks.rank = rank;
  ranks.size = size;
  campaign_ranks_set(&ranks);
  mpi_train_start();
}

int mpi_ranks_stop(int status) {
  int all = largest(status);
  MPI_Finalize();
  return all;
}
