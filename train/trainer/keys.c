/* SPDX-License-Identifier: MIT */
/* The table of the keys of a training run: names, defaults, descriptions. */
#include <stddef.h>
#include <string.h>

#include "train/trainer/keys.h"

#define AT(field) offsetof(hu_run_keys, field)
#define WHOLE (1 << 24)
static const char *const no_yes[] = {"no", "yes", NULL};
static const char *const devices[] = {"cpu", "cuda", NULL};
static const char *const sets[] = {
    "digits", "gratings",  "text",     "least_squares", "teacher", "ratings", "cifar10", "cifar100", "mnist", "npy",
    "words",  "movielens", "parallel", "criteo",        "clicks",  "images",  "speech",  "tones",    NULL};
static const char *const rests[] = {"drop", "keep", NULL};
static const char *const agains[] = {"none", "binary32", "weights", NULL};
static const char *const normalised[] = {"set", "means", "image", NULL};
static const char *const numberings[] = {"first", "count", NULL};
static const char *const held[] = {"test", "valid", NULL};
static const char *const losses[] = {"default",   "cross_entropy", "squared_error", "absolute_error",
                                     "smooth_l1", "logistic",      "ctc",           NULL};
static const char *const scalings[] = {"none", "unit", NULL};
static const char *const spreads[] = {"all", "others", NULL};
static const char *const optimizers[] = {"sgd", "adamw", "adagrad", "muon", NULL};
static const char *const corrections[] = {"inside", "outside", "none", NULL};
static const char *const aspects[] = {"spectral", "rms", "one", NULL};
static const char *const penalties[] = {"none", "l2", "l2_half", "l1", NULL};
static const char *const larcs[] = {"none", "clip", "scale", NULL};
static const char *const norms[] = {"parameters", "binary32", NULL};
static const char *const places[] = {"tensors", "windows", NULL};
static const char *const exempts[] = {"none", "first", "last", "both", NULL};
static const char *const assignments[] = {"none", "high", "uniform", "operator", "operator'", "demote", NULL};
static const char *const orders[] = {"largest", "smallest", "random", NULL};
static const char *const readings[] = {"operators", "published", NULL};
static const char *const feedbacks[] = {"none", "own", "sum", NULL};
static const char *const statistics[] = {"shard", "batch", NULL};
static const char *const afters[] = {"forward", "backward", "both", NULL};
static const char *const quartets[] = {"none", "nearest", "stochastic", NULL};
static const char *const amaxes[] = {"max", "most_recent", NULL};
static const char *const blocks[] = {"0", "16", "32", "64", "128", NULL};

/* A field of hu_run_keys, a name, the default; then what the value may be; a sentence. */
#define RANGE(type, place, label, standard, counts, least, most, sentence)                                    \
  {                                                                                                           \
    {.name = label, .by_default = standard, .what = sentence, .weights = counts, .low = least, .high = most}, \
        .kind = HU_KEY_##type, .at = place                                                                    \
  }
#define LISTED(type, place, label, standard, counts, list, sentence)                             \
  {                                                                                              \
    {.name = label, .by_default = standard, .what = sentence, .weights = counts, .words = list}, \
        .kind = HU_KEY_##type, .at = place                                                       \
  }
#define COUNT(field, label, standard, least, most, sentence) \
  RANGE(COUNT, AT(field), label, standard, 1, least, most, sentence)
#define NUMBER(field, label, standard, least, most, sentence) \
  RANGE(NUMBER, AT(field), label, standard, 1, least, most, sentence)
#define FACTOR(field, label, standard, least, most, sentence) \
  RANGE(FACTOR, AT(field), label, standard, 1, least, most, sentence)
#define WORD(field, label, standard, list, sentence) LISTED(WORD, AT(field), label, standard, 1, list, sentence)
#define SIZE(field, label, standard, list, sentence) LISTED(SIZE, AT(field), label, standard, 1, list, sentence)
#define OTHER(type, field, label, standard, sentence) LISTED(type, AT(field), label, standard, 1, NULL, sentence)
/* No weights depend on the key, and no field holds it. */
#define NOWHERE(type, label, standard, sentence) LISTED(type, SIZE_MAX, label, standard, 0, NULL, sentence)

static const hu_run_key keys[] = {
    NOWHERE(TEXT, "run.name", "run", "what the run is called in reports"),
    COUNT(seed, "run.seed", "0", 0, 0x1p53, "first weights, order of the data, random words of roundings"),
    COUNT(batch, "run.batch", "64", 1, WHOLE, "samples of a batch, of which a step has run.accumulate"),
    COUNT(accumulate, "run.accumulate", "1", 1, 65536,
          "batches of a step, whose gradients are divided by this number and added up in binary32 before the update"),
    COUNT(epochs, "run.epochs", "10", 0, WHOLE, "passes over the training set"),
    COUNT(steps, "run.steps", "0", 0, 0x1p40, "steps; 0: run.epochs decides"),
    COUNT(stream, "run.stream", "1", 1, WHOLE,
          "epochs that are cut into batches as one stream, so that batches cross epochs; 10: as ResNet in TensorFlow"),
    WORD(rest, "run.rest", "drop", rests,
         "examples at the end of a stream that are less than a batch: drop, or keep: a smaller batch"),
    COUNT(tokens, "run.tokens", "0", 0, WHOLE,
          "parallel: tokens of a batch, whose sentences are of one bucket and padded to its length; run.batch is then "
          "that of evaluations; 0: run.batch pairs of any length"),
    COUNT(bucket_first, "run.bucket_first", "8", 1, 65536,
          "run.tokens: the most tokens of a sentence in the first bucket"),
    NUMBER(bucket_step, "run.bucket_step", "1.1", 1, 65536,
           "run.tokens: how many times as long the next bucket is, rounded down, and at least a token longer"),
    LISTED(WORD, AT(again), "run.again", "none", 0, agains,
           "what the test set is evaluated with a second time: none, binary32 (nothing is rounded) or weights (the "
           "weights themselves, in place of optimizer.average's averages)"),
    RANGE(COUNT, AT(threads), "run.threads", "1", 0, 0, 256, "threads; 0: as many as there are processors, up to 256"),
    LISTED(WORD, AT(device), "run.device", "cpu", 0, devices, "what computes: cpu or cuda"),

    WORD(set, "data.set", "digits", sets,
         "digits, gratings, text, least_squares, teacher, ratings, cifar10, cifar100, mnist, npy, words, movielens, "
         "parallel, criteo, clicks, images, speech or tones"),
    OTHER(TEXT, path, "data.path", "",
          "file (text, npy: the inputs, words: for training, parallel: sentences for training, movielens: ratings.dat, "
          "criteo: for training) or folder (digits, cifar10, cifar100, mnist, images); empty: the folder"),
    OTHER(TEXT, target, "data.target", "",
          "parallel: file of the translations of data.path, line by line; speech: of rows and transcripts"),
    OTHER(TEXT, labels, "data.labels", "", "npy: file of the labels"),
    OTHER(TEXT, valid_file, "data.valid_file", "", "words, parallel: file for validation"),
    OTHER(TEXT, valid_target, "data.valid_target", "", "parallel: translations of data.valid_file"),
    OTHER(TEXT, test_file, "data.test_file", "",
          "words, parallel, criteo: file for testing; empty, as data.valid_file: the last tenth of data.path is for "
          "testing"),
    OTHER(TEXT, test_target, "data.test_target", "", "parallel, speech: what data.target is, of data.test_file"),
    LISTED(WORD, AT(on_valid), "data.evaluate", "test", 0, held,
           "words, parallel: the file that is the test set of evaluations: test or valid"),
    COUNT(vocabulary, "data.vocabulary", "0", 0, WHOLE,
          "words, parallel (of each language): how many words are kept, <eos> and <unk> among them; 0: all of the "
          "training part; criteo, clicks: rows of each category (clicks, 0: 50)"),
    COUNT(subwords, "data.subwords", "0", 0, WHOLE,
          "words, parallel: merges of byte-pair encoding that are learnt from the training part, so that tokens are "
          "parts of words; with data.merges: how many of the file's hold; 0: whole words, or all of that file"),
    OTHER(TEXT, merges, "data.merges", "",
          "words, parallel: file of merges in the form of subword-nmt, in place of learning them: merges.txt of a run"),
    LISTED(WORD, AT(translate), "data.translate", "yes", 0, no_yes,
           "parallel: yes: evaluations translate the test sentences and give a BLEU"),
    WORD(by_count, "data.numbering", "first", numberings,
         "words, parallel: order of the vocabulary: first (by first occurrence) or count (the most frequent first)"),
    COUNT(count, "data.count", "2000", 1, WHOLE, "generated sets: examples for training"),
    COUNT(test, "data.test", "500", 1, WHOLE, "generated sets: examples for testing"),
    COUNT(size, "data.size", "16", 4, 256, "gratings: pixels of a side; images: those that the network sees"),
    COUNT(classes, "data.classes", "10", 2, 65536,
          "gratings, npy: classes; images: the first so many classes, whose images alone are used"),
    COUNT(features, "data.features", "10", 1, 65536, "least_squares, teacher, tones: features; clicks: dense ones"),
    COUNT(categories, "data.categories", "6", 1, 4095, "clicks: categories of an example"),
    COUNT(window, "data.window", "32", 1, 65536,
          "text, words: tokens of a sample; parallel: the most of a sentence; speech, tones: the most rows"),
    COUNT(stride, "data.stride", "1", 1, 65536, "speech: rows of features for each step of the output"),
    NUMBER(deviation, "data.deviation", "25", 1e-6, 1e6, "teacher: standard deviation of the targets"),
    NUMBER(noise, "data.noise", "0.5", 0, 1e6,
           "least_squares, ratings, clicks, tones: standard deviation of the noise"),
    COUNT(users, "data.users", "100", 1, WHOLE, "ratings: users"),
    COUNT(items, "data.items", "80", 1, WHOLE, "ratings: items"),
    COUNT(rank, "data.rank", "4", 1, 256, "ratings, clicks: hidden features of users and items, of categories"),
    WORD(implicit, "data.implicit", "no", no_yes, "ratings: yes: labels 0 and 1 in place of scores"),
    COUNT(negatives, "data.negatives", "4", 1, 65536,
          "movielens: pairs with label 0 beside each rating, drawn again in each epoch"),
    COUNT(candidates, "data.candidates", "99", 1, 65536,
          "movielens: movies that a user has not rated, among which the one that is held out is ranked"),
    LISTED(CHECKSUM, AT(checksum), "data.checksum", "", 0, NULL,
           "sha256:HEX: the digest that the data file must have; several, with commas between them: those of the files "
           "in the order in which a run reads and prints them; -: any; empty: none is checked"),
    WORD(raw, "data.raw", "no", no_yes, "digits: yes: pixels 0 to 16, not divided by 16"),
    WORD(coarse, "data.coarse", "no", no_yes, "cifar100: yes: the 20 coarse labels"),
    WORD(
        normalise, "data.normalise", "set", normalised,
        "cifar10, cifar100: set: less the means of the set's channels, over their deviations; means: less the means; "
        "image: bytes 0 to 255, after data.augment each image by its own mean and deviation, as in TensorFlow; images: "
        "likewise, with the means and deviations of ImageNet"),
    WORD(augment, "data.augment", "no", no_yes,
         "cifar10, cifar100: yes: padded by 4, cropped, mirrored; images: yes: a part of random size, resized, "
         "mirrored"),
    NUMBER(area, "data.area", "0.08", 0.0001, 1, "images: least share of an image that data.augment cuts out"),
    COUNT(data_seed, "data.seed", "0", 0, 0x1p53, "seed of generated data, and of the candidates of movielens"),

    OTHER(MODEL, model, "model.net", "mlp(layers=2,units=64)", "the network: docs/training/networks.md"),
    OTHER(TEXT, network, "model.file", "", "file with the text of a network of your own, in place of model.net"),
    WORD(scaling, "model.scaling", "none", scalings,
         "unit: first weights of variance 1, and factors forward and backward by a rule for each layer: "
         "docs/training/networks.md"),
    OTHER(TEXT, weights, "model.weights", "",
          "file or folder of weights that the run begins with, in place of drawn ones; names: model.names"),
    OTHER(TEXT, names, "model.names", "",
          "names of tensors in model.weights that are others than here: OURS:THEIRS, commas between them, * for any "
          "characters; -: begins as without a file; OURS:THEIRS:pytorch: shapes of PyTorch's layers"),
    OTHER(TEXT, settings, "model.keys", "", "values of that text's keys, commas between them: width=0.25,stages=2/2"),

    WORD(loss, "loss.kind", "default", losses,
         "cross_entropy; logistic, of one output for two classes; squared_error, absolute_error, smooth_l1; ctc; "
         "default: ctc of speech, cross_entropy where the data have other labels, else squared_error"),
    FACTOR(smoothing, "loss.smoothing", "0", 0, 1,
           "cross_entropy: share of a label that is spread over the columns, below 1"),
    WORD(smoothing_over, "loss.smoothing_over", "all", spreads, "smoothing: over all columns, or the others alone"),
    WORD(less_minimum, "loss.less_minimum", "no", no_yes, "smoothing: yes: less the least loss that there can be"),
    NUMBER(beta, "loss.beta", "1", 0, 1e6, "smooth_l1: from this distance on the loss is linear"),
    COUNT(power, "loss.power", "0", 0, 96,
          "the loss is multiplied by 2 to the minus this: a large batch seen in small parts"),
    OTHER(RULE, rule, "loss.scale", "none",
          "rule of the loss scale: none, static(1024), backoff(...), logmax(...), gradscaler(...), exponential(...) "
          "(gradient.h), or largest: static, chosen from the largest gradient of 8 batches before the first step"),
    COUNT(margin, "loss.margin", "1", 0, 32, "loss.scale = largest: binades left free"),

    WORD(optimizer, "optimizer.kind", "sgd", optimizers,
         "sgd, adamw, adagrad or muon, which is of matrices, and adamw of all other parameters"),
    NUMBER(rate, "optimizer.rate", "0.1", 0, 1e6, "learning rate"),
    FACTOR(momentum, "optimizer.momentum", "0", 0, 1, "sgd, muon: factor of the momentum, below 1; 0: none"),
    FACTOR(beta1, "optimizer.beta1", "0.9", 0, 1, "adamw, muon: factor of the first moment, below 1"),
    FACTOR(beta2, "optimizer.beta2", "0.999", 0, 1, "adamw, muon: factor of the second moment, below 1"),
    NUMBER(eps, "optimizer.eps", "1e-8", 0, 1,
           "number that is added to a square root: of the second moment (adamw, muon), of the sum of squares "
           "(adagrad)"),
    NUMBER(decay, "optimizer.decay", "0", 0, 1, "weight decay"),
    WORD(correction, "optimizer.correction", "inside", corrections,
         "adamw: the correction of moments: inside (m and v are divided, eps is added behind), outside (the rate is "
         "multiplied: TensorFlow's form) or none"),
    NUMBER(accumulated, "optimizer.accumulated", "0", 0, 1e30, "adagrad: number that the sums of squares begin with"),
    OTHER(TEXT, lazy, "optimizer.lazy", "",
          "parameters whose rows without a gradient keep weights, moments and all: names or patterns, commas between "
          "them (rows of embeddings: LazyAdam)"),
    WORD(coupled, "optimizer.coupled", "no", no_yes, "adamw: yes: decay goes into the gradient"),
    WORD(nesterov, "optimizer.nesterov", "no", no_yes,
         "sgd, muon: yes: Nesterov's momentum: the update is of g + momentum m, not of m"),
    WORD(fused, "optimizer.fused", "no", no_yes, "sgd: yes: w - rate m with one rounding"),
    OTHER(FORMAT, state, "optimizer.state", "binary32",
          "format of momenta and of the optimizer's arithmetic; an error where it makes rate, momentum, beta1, beta2, "
          "eps or decay 0, other than 0, or 1, below 1"),
    OTHER(FORMAT, weight, "optimizer.weights", "binary32", "format of the weights that it keeps"),
    OTHER(UPDATE, update, "optimizer.update", "rne",
          "end of the weight update: a rounding mode (rne, sra:16, ...) or kahan"),
    OTHER(MODE, decay_mode, "optimizer.round_decay", "rne",
          "rounding mode of the addition of the weight decay, into optimizer.state"),
    OTHER(MODE, momentum_mode, "optimizer.round_momentum", "rne",
          "sgd, muon: rounding mode of the addition of the momentum, into optimizer.state"),
    OTHER(ROUNDING, stored_m, "optimizer.stored_m", "keep",
          "sgd, muon, adamw: how the momentum, or the first moment, is kept between steps: a rounding of all numbers "
          "of a parameter as one row"),
    OTHER(ROUNDING, stored_v, "optimizer.stored_v", "keep",
          "adamw, muon, adagrad: how the second moment, or the sum of squares, is kept between steps, likewise"),
    NUMBER(rate_adamw, "optimizer.rate_adamw", "3e-4", 0, 1e6,
           "muon: learning rate of the parameters that adamw updates"),
    OTHER(
        TEXT, adamw_only, "optimizer.adamw", "",
        "muon: parameters that adamw updates though products multiply by them: names or patterns, commas between them"),
    COUNT(iterations, "optimizer.iterations", "5", 0, 64, "muon: Newton-Schulz iterations"),
    OTHER(FORMAT, product, "optimizer.product", "binary32", "muon: format of these iterations: bfloat16, say"),
    OTHER(ACCUM, sums, "optimizer.accum", "fp32", "muon: accumulation model of the products in these iterations"),
    WORD(aspect, "optimizer.aspect", "spectral", aspects,
         "muon: factor of the update: spectral (sqrt(max(1, outputs / inputs))), rms (0.2 sqrt(max(inputs, outputs))) "
         "or "
         "one"),
    OTHER(TEXT, kahan_only, "optimizer.kahan", "",
          "parameters that end with Kahan summation whatever optimizer.update says: names or patterns, commas between "
          "them; *: all"),
    OTHER(
        TEXT, rates, "optimizer.rates", "",
        "factors of the rate of some parameters: PATTERN:FACTOR, commas between them, * for any characters: *.bias:2; "
        "of several that name a parameter the last one counts"),
    OTHER(TEXT, decays, "optimizer.decays", "",
          "factors of the decay, likewise: *.bias:0,*.gain:0,*.offset:0 spares biases and norms"),
    FACTOR(average, "optimizer.average", "0", 0, 1,
           "decay of the moving average of the weights that evaluations are of (0.999, say), below 1; 0: none"),
    WORD(average_counts, "optimizer.average_counts", "no", no_yes,
         "yes: the decay is at most (1 + n) / (10 + n) in the n-th step that is taken (TensorFlow's num_updates)"),
    OTHER(TEXT, averaged, "optimizer.averaged", "",
          "parameters that have such an average: names or patterns, commas between them; empty: all"),
    OTHER(SCHEDULE, schedule, "optimizer.schedule", "constant",
          "constant; cosine, linear or polynomial(exponent), with floor=, each=epoch or step, until=; exponential(by) "
          "with every=; inverse_root(steps) with width=, from=; plateau(by) with window=, last=; drop(at,by): rate "
          "times `by` from the share `at` of the epochs on; drop(at/at/at,by): at each of up to 8 shares; "
          "steps(at/at,by), epochs(at/at,by): at numbers of steps, of epochs"),
    COUNT(warmup, "optimizer.warmup", "0", 0, 0x1p53,
          "steps in which the rate rises: that of the schedule times (step + 1) / warmup, steps from 0 on"),
    COUNT(ramping, "optimizer.ramping", "0", 0, 4096,
          "Q-Ramping, of adamw: by how many steps the period of a weight grows with each multiple of "
          "optimizer.ramping_ratio that its oscillation reaches (4, say); 0: all weights are updated in each step"),
    NUMBER(ramping_ratio, "optimizer.ramping_ratio", "16", 1e-6, 1e6,
           "Q-Ramping: how many times as far as W the rounded W has to move for one more optimizer.ramping steps"),
    COUNT(ramping_steps, "optimizer.ramping_steps", "30", 1, 65536,
          "Q-Ramping: trial steps, behind a first one, in which these distances are measured, in each epoch"),

    NUMBER(clip, "gradient.clip", "0", 0, 1e30, "largest global norm of the unscaled gradients; 0: any"),
    OTHER(TEXT, clipped, "gradient.clipped", "",
          "parameters whose gradients gradient.clip is for: names or patterns, commas between them; empty: all"),
    WORD(penalty, "gradient.penalty", "none", penalties,
         "penalty of weights, on the master weights: none, l2 (lambda |w|^2), l2_half or l1"),
    NUMBER(lambda, "gradient.lambda", "1e-5", 0, 1e300, "lambda of the penalty"),
    WORD(literal, "gradient.literal", "no", no_yes,
         "yes: penalties are added before the loss scale is divided out, as OpenSeq2Seq does"),
    WORD(larc, "gradient.larc", "none", larcs, "layer-wise rates: none, clip or scale"),
    NUMBER(eta, "gradient.eta", "0.001", 0, 1e6, "eta of LARC"),

    NOWHERE(
        SYSTEM, "precision.system", "binary32",
        "sets the keys below, as a paper or a library defines them: binary32, fp16, bfloat16, fp8 (E4M3 forward, "
        "E5M2 for gradients, no scales), fp8_e5m2 (E5M2 in both directions), s2fp8, fp8_tensor, fp8_delayed, mxfp8, "
        "mxfp6, mxfp4, nvfp4, dsv3, hfp8, wang2018, tetrajet, fp4_all_the_way or quartet"),
    OTHER(ROUNDING, values, "precision.values", "keep", "rounding of every value, after its operator"),
    OTHER(ROUNDING, gradients, "precision.gradients", "keep", "rounding of the gradient of every value"),
    OTHER(ROUNDING, parameters, "precision.parameters", "keep", "rounding of the parameters that operators see"),
    OTHER(ROUNDING, parameter_gradients, "precision.parameter_gradients", "keep",
          "rounding of the gradients of parameters"),
    OTHER(ROUNDING, embeddings, "precision.embeddings", "keep",
          "rounding of the results of embeddings, in place of precision.values"),
    OTHER(ROUNDING, x, "precision.x", "keep", "rounding of X in Z = X W of products and convolutions"),
    OTHER(ROUNDING, w, "precision.w", "keep", "rounding of W in Z = X W"),
    OTHER(ROUNDING, dz, "precision.dz", "keep", "rounding of dZ in dX = dZ W^T"),
    OTHER(ROUNDING, w_back, "precision.w_back", "keep", "rounding of W in dX = dZ W^T"),
    OTHER(ROUNDING, x_back, "precision.x_back", "keep", "rounding of X in dW = X^T dZ"),
    OTHER(ROUNDING, dz_w, "precision.dz_w", "keep", "rounding of dZ in dW = X^T dZ"),
    OTHER(ROUNDING, z_out, "precision.z_out", "keep", "rounding of the result Z, before the bias"),
    OTHER(ROUNDING, dx_out, "precision.dx_out", "keep", "rounding of the result dX"),
    OTHER(ROUNDING, dw_out, "precision.dw_out", "keep", "rounding of the result dW"),
    OTHER(ACCUM, accum, "precision.accum", "fp32",
          "accumulation model of products: a text of accum.h, or the name of a matrix unit (halfulp models)"),
    OTHER(OWN_ACCUM, z_accum, "precision.z_accum", "", "accumulation model of Z = X W; empty: precision.accum"),
    OTHER(OWN_ACCUM, dx_accum, "precision.dx_accum", "", "accumulation model of dX = dZ W^T; empty: precision.accum"),
    OTHER(OWN_ACCUM, dw_accum, "precision.dw_accum", "", "accumulation model of dW = X^T dZ; empty: precision.accum"),
    COUNT(
        until, "precision.until", "0", 0, 0x1p53,
        "steps in which products are rounded; from then on those of precision.after are not; 0: all steps of the run"),
    WORD(after, "precision.after", "both", afters,
         "precision.until: products whose operands and results are no longer rounded: forward (Z = X W), backward (dX "
         "and dW) or both"),
    WORD(twice, "precision.twice", "no", no_yes,
         "yes: W of dX and X of dW are rounded from what precision.w and precision.x have left of them (double "
         "quantization)"),
    FACTOR(w_average, "precision.w_average", "0", 0, 1,
           "Q-EMA: decay of the moving average that W is rounded toward (0.998, say), below 1; 0: none"),
    WORD(quartet, "precision.quartet", "none", quartets,
         "nearest or stochastic: linear layers by Quartet's algorithm, gradients rounded like that (version 4 of the "
         "paper, earlier ones); the operands' keys stay keep"),
    COUNT(
        history, "precision.history", "0", 0, 65536,
        "delayed scaling: steps whose largest numbers decide the scales of operands that have one scale (fp8_tensor); "
        "0: each operand's own numbers do (current scaling)"),
    WORD(takes, "precision.history_takes", "max", amaxes,
         "delayed scaling: max (the largest number of the history) or most_recent (of the last step)"),
    COUNT(margin_of_history, "precision.history_margin", "0", 0, 64, "delayed scaling: binades left free"),
    SIZE(hadamard, "precision.hadamard", "0", blocks,
         "block of the Hadamard transform before dW: 0, 16, 32, 64 or 128"),
    COUNT(signs, "precision.signs", "0", 0, 0xFFFFFFFFu, "signs of the Hadamard transform: bit i for row i mod 32"),
    WORD(by_window, "precision.convolution", "tensors", places,
         "tensors: a convolution's X and dX are rounded as tensors, each pixel once; windows: in patches, and before "
         "windows' contributions to dX are added"),
    WORD(
        norms, "precision.norms", "parameters", norms,
        "parameters: gains and offsets of norms are rounded as all parameters; binary32: they and their gradients stay "
        "(OpenSeq2Seq)"),
    WORD(exempt, "precision.exempt", "none", exempts, "products that stay in binary32: none, first, last or both"),

    OTHER(
        TEXT, layers, "precision.layers", "",
        "linear layers and convolutions whose products the keys above are for: names, commas between them; empty: all"),
    OTHER(OFF, off, "precision.off", "",
          "roundings that are left out, by layer, part and steps: linear1:forward, *:dz+dz_w@100..200; empty: none"),
    WORD(attention, "precision.attention", "yes", no_yes, "no: the two products of attention stay in binary32"),

    WORD(assignment, "assignment.kind", "none", assignments,
         "which tensors are low: none (the keys above hold), high, uniform, operator, operator', demote"),
    OTHER(RATIO, ratio, "assignment.ratio", "1/2", "demote: share of low elements to be reached"),
    OTHER(RATIO, ratio_max, "assignment.ratio_max", "1",
          "demote: share of low elements, with gradients of parameters, above which the run is refused"),
    WORD(order, "assignment.order", "largest", orders, "demote: largest, smallest or random groups first"),
    WORD(reading, "assignment.reading", "operators", readings,
         "published: groups and gradients as in the authors' code, precision.h"),
    OTHER(RATIO, limit, "assignment.promote", "0.01",
          "share of overflows above which a forward tensor becomes high; 1: never, as in the published baselines "
          "(high, uniform, operator, operator')"),
    WORD(keep_high, "assignment.keep_high", "yes", no_yes, "yes: gradients of parameters stay high"),
    OTHER(ROUNDING, low_forward, "assignment.low_forward", "fp(4,3,4):finite,sat=finite",
          "format of low values and parameters"),
    OTHER(ROUNDING, low_backward, "assignment.low_backward", "fp(5,2,0):finite,over=inf", "format of low gradients"),
    OTHER(ROUNDING, high_forward, "assignment.high_forward", "fp(6,9,0):finite,sat=finite",
          "format of high values and parameters"),
    OTHER(ROUNDING, high_backward, "assignment.high_backward", "fp(6,9,0):finite,over=inf", "format of high gradients"),

    COUNT(shards, "parallel.shards", "1", 1, 65536,
          "parts that the batch of a step is cut into, each with gradients of its own; any number of processes up "
          "to this gives the same weights"),
    OTHER(COLLECTIVE, reduce, "parallel.reduce", "exact",
          "how the gradients of the shards become one: exact, or a model of collective.h such as ring(bfloat16)"),
    WORD(feedback, "parallel.feedback", "none", feedbacks,
         "what roundings of parallel.reduce lose and the next step gets back: none, own (of each shard's own message) "
         "or sum (of the whole all-reduce)"),
    WORD(statistics, "parallel.statistics", "shard", statistics,
         "whose mean and variance a batch norm has: shard, or batch: exact sums over all shards of the step"),
};
enum { KEYS = sizeof keys / sizeof *keys };

size_t hu_trainer_key_count(void) { return KEYS; }

const hu_run_key *hui_run_key_at(size_t i) { return &keys[i]; }

hu_trainer_key hu_trainer_key_at(size_t i) {
  const hu_trainer_key none = {.name = NULL};
  hu_trainer_key key = i < KEYS ? keys[i].shown : none;
  if (i < KEYS && keys[i].kind == HU_KEY_SYSTEM) key.words = hui_system_names();
  return key;
}

size_t hui_find_key(const char *name) {
  for (size_t i = 0; i < KEYS; i++) {
    if (strcmp(keys[i].shown.name, name) == 0) return i;
  }
  return SIZE_MAX;
}

const char *hu_trainer_get(const hu_trainer *trainer, const char *name) {
  size_t i = trainer && name ? hui_find_key(name) : SIZE_MAX;
  return i == SIZE_MAX ? NULL : trainer->value[i];
}
