/* SPDX-License-Identifier: MIT */
/* Streams of epochs, and the batch at their end, which has fewer examples than others: a net of its own passes over it,
 * beside that of the run, whose weights it reads. */
#include "train/net/net.h"
#include "train/trainer/trainer.h"

hu_status hui_open_batches(const hu_trainer *trainer, hu_batches *order, hu_batch_state state) {
  const hu_run_keys *keys = &trainer->keys;
  if (trainer->buckets.count && state.position > trainer->buckets.batches) return HU_E_SHAPE;
  if (trainer->buckets.count) return hu_batches_open(order, trainer->source.training.count, 1, state);
  return hu_batches_open_streams(order, trainer->source.training.count, trainer->samples, keys->stream, (int)keys->rest,
                                 state);
}

/* Steps of a stream. */
static uint64_t steps_a_stream(const hu_trainer *trainer) {
  if (trainer->buckets.count) return trainer->buckets.batches;
  return trainer->source.text ? trainer->steps_an_epoch : hu_batches_of_epochs(&trainer->order, trainer->keys.stream);
}

uint64_t hui_steps_of_epochs(const hu_trainer *trainer, uint64_t epochs) {
  if (trainer->source.text || trainer->buckets.count) return epochs * trainer->steps_an_epoch;
  return epochs / trainer->keys.stream * steps_a_stream(trainer) +
         hu_batches_of_epochs(&trainer->order, epochs % trainer->keys.stream);
}

uint64_t hui_epoch_of(const hu_trainer *trainer, uint64_t step) {
  const uint64_t each = steps_a_stream(trainer), of = trainer->keys.stream;
  if (of == 1) return step / each;
  return step / each * of + step % each * trainer->samples / trainer->source.training.count;
}

/* ---- the net of the last batch ---- */

static size_t examples_left(const hu_trainer *trainer) {
  if (trainer->buckets.count || trainer->source.text || !trainer->keys.rest) return 0;
  return (size_t)(trainer->keys.stream * trainer->source.training.count % trainer->samples);
}

/* What is not defined of batches of two sizes. */
static const char *does_not_go(const hu_run_keys *keys) {
  if (keys->accumulate > 1) return "run.accumulate";
  if (keys->shards > 1 || keys->statistics) return "parallel.shards or parallel.statistics";
  if (keys->history) return "precision.history";
  return NULL;
}

static hu_status check_streams(const hu_trainer *trainer, char *why) {
  const hu_run_keys *keys = &trainer->keys;
  if (keys->stream == 1 && !keys->rest) return HU_OK;
  if (trainer->source.text)
    return hui_say(why, HU_E_TRAIN, "run.stream, run.rest: a text has no examples, but windows");
  if (keys->stream > 1 && (trainer->source.movielens.item || keys->ramping))
    return hui_say(why, HU_E_TRAIN, "run.stream: above 1, and %s is by epochs",
                   keys->ramping ? "optimizer.ramping" : "data.negatives");
  const char *other = keys->rest ? does_not_go(keys) : NULL;
  return other ? hui_say(why, HU_E_TRAIN, "run.rest: keep does not go with %s", other) : HU_OK;
}

hu_status hui_make_rest(hu_trainer *trainer, char *why) {
  hu_rest *rest = &trainer->rest;
  hu_model_ends ends;
  int loss;
  hu_status status = check_streams(trainer, why);
  const size_t left = examples_left(trainer);
  if (status != HU_OK || !left) return status;
  rest->net = hui_net_new_beside(trainer->net, left);
  status = hui_make_rest_row(trainer);
  if (!rest->net) return HU_E_MEMORY;
  if (status != HU_OK) return status;
  return hui_add_layers(trainer, rest->net, &ends, &loss, why);
}

void hui_close_rest(hu_trainer *trainer) {
  if (trainer->rest.row) trainer->net->engine->release(trainer->net->self, trainer->rest.row);
  hu_net_free(trainer->rest.net);
  const hu_rest none = {NULL, NULL, 0};
  trainer->rest = none;
}

/* Running statistics go there and come back; gradients come back. */
static hu_status run_beside(hu_trainer *trainer, hu_net *net, float scale, float *loss) {
  float *running = trainer->rest.row + hui_gradient_numbers(trainer->net);
  hui_net_follow(net);
  hu_status status = hui_net_round_parameters(trainer->net);
  if (trainer->net->planned) hui_note_over(trainer->net); /* of the parameters, which are the trainer's */
  hui_keep_running(trainer->net, running);
  hui_take_running(net, running);
  if (status == HU_OK) status = hui_feed_part(trainer, net, 0);
  if (status == HU_OK) status = hu_net_forward(net, 1, loss);
  if (status == HU_OK) status = hu_net_backward(net, scale);
  if (status != HU_OK) return status;
  hui_keep_gradients(net, trainer->rest.row);
  hui_keep_running(net, running);
  hui_take_gradients(trainer->net, trainer->rest.row);
  hui_take_running(trainer->net, running);
  trainer->net->training = trainer->net->trained = 1;
  return hui_done(trainer->net);
}

hu_status hui_pass_beside(hu_trainer *trainer, hu_net *net, float scale, hu_pass *pass) {
  float loss = 0;
  hu_net_forget_counts(net);
  hu_status status = run_beside(trainer, net, scale, &loss);
  if (status != HU_OK) return status;
  pass->loss = (double)loss;
  if (pass->needs_largest) pass->largest = hui_largest_gradient(net, trainer->loss);
  hui_count_tensors(trainer, &pass->counted);
  hui_count_net(net, 0, &pass->counted);
  return HU_OK;
}
