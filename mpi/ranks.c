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
#include "cli/campaign/campaign.h"
#include "mpi/train.h"

enum { TAG_ASK = 1, TAG_ANSWER = 2, DONE_NUMBERS = sizeof(campaign_done) / sizeof(double) };
static const double none = -1; /* campaign_done.item of the first question, and the answer when nothing is left */

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

/* What an item is done with. */
typedef struct rank_trade {
  campaign_done (*work)(void *context, uint64_t i);
  void (*done_with)(void *context, const campaign_done *done);
  void *context;
} rank_trade;

/* Computes an item together with the others of the group, to whom its first process sends it; `none`: there is no
 * more. */
static campaign_done do_item(const rank_trade *trade, double *item) {
  const campaign_done nothing = {none, 0, 0, 0};
  if (team_size > 1) {
    MPI_Request request;
    MPI_Ibcast(item, 1, MPI_DOUBLE, 0, team, &request);
    wait_for(&request);
  }
  return *item >= 0 ? trade->work(trade->context, (uint64_t)*item) : nothing;
}

/* ---- process 0 ---- */

typedef struct rank_office {
  pthread_mutex_t mutex;
  uint64_t next, count;
  int working; /* this process's own thread */
  rank_trade trade;
} rank_office;

/* Notes what is done and hands out the next item: its number, or `none`. */
static double hand_out(rank_office *office, const campaign_done *done) {
  pthread_mutex_lock(&office->mutex);
  if (done->item >= 0) office->trade.done_with(office->trade.context, done);
  double item = office->next < office->count ? (double)office->next++ : none;
  pthread_mutex_unlock(&office->mutex);
  return item;
}

static void *work_here(void *context) {
  rank_office *office = context;
  campaign_done done = {none, 0, 0, 0};
  for (double item = 0; item >= 0;) {
    item = hand_out(office, &done);
    done = do_item(&office->trade, &item);
  }
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
static int answer(rank_office *office, int *answered) {
  MPI_Status from;
  campaign_done done;
  MPI_Iprobe(MPI_ANY_SOURCE, TAG_ASK, MPI_COMM_WORLD, answered, &from);
  if (!*answered) return 0;
  MPI_Recv(&done, DONE_NUMBERS, MPI_DOUBLE, from.MPI_SOURCE, TAG_ASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  double item = hand_out(office, &done);
  MPI_Send(&item, 1, MPI_DOUBLE, from.MPI_SOURCE, TAG_ANSWER, MPI_COMM_WORLD);
  return item < 0;
}

static void serve(rank_office *office, int others) {
  long pause = 0;
  pthread_t thread;
  int threaded = pthread_create(&thread, NULL, work_here, office) == 0, answered;
  if (!threaded) office->working = 0; /* the others do it all, where there are some */
  while (others || is_working(office)) {
    others -= answer(office, &answered);
    if (answered)
      pause = 0;
    else
      sleep_some(&pause);
  }
  if (threaded)
    pthread_join(thread, NULL);
  else
    work_here(office);
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

static void follow(const rank_trade *trade) {
  campaign_done done = {none, 0, 0, 0};
  for (double item = 0; item >= 0;) {
    if (team_rank == 0) item = ask(&done);
    done = do_item(trade, &item);
  }
}

static void share(uint64_t count, campaign_done (*work)(void *context, uint64_t i),
                  void (*done_with)(void *context, const campaign_done *done), void *context) {
  const rank_trade trade = {work, done_with, context};
  if (rank == 0) {
    rank_office office = {PTHREAD_MUTEX_INITIALIZER, 0, count, 1, trade};
    serve(&office, size / team_size - 1);
  } else {
    follow(&trade);
  }
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

static void *lay_out(const uint64_t *lengths, int *counts, int *places, size_t *all) {
  *all = 0;
  for (int i = 0; i < size; i++) {
    counts[i] = (int)lengths[i];
    places[i] = (int)*all;
    *all += lengths[i];
  }
  return malloc(*all + 1);
}

static void *collect(const void *bytes, size_t length, size_t *all) {
  uint64_t own = length, *lengths = calloc((size_t)size, sizeof *lengths);
  int *counts = calloc((size_t)size, sizeof *counts), *places = calloc((size_t)size, sizeof *places);
  MPI_Request request;
  void *z = NULL;
  if (!lengths || !counts || !places) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Igather(&own, 1, MPI_UINT64_T, lengths, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD, &request);
  wait_for(&request);
  *all = 0;
  if (rank == 0 && !(z = lay_out(lengths, counts, places, all))) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Igatherv(bytes, (int)length, MPI_BYTE, z, counts, places, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
  wait_for(&request);
  free(lengths);
  free(counts);
  free(places);
  return z;
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

static campaign_ranks ranks = {0, 1, share, same, largest, group, spread, collect};

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
  campaign_ranks_set(&ranks);
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
