/* SPDX-License-Identifier: MIT */
/* halfulp/train/data.h - what training systems learn from: data sets, their files, their order, first weights.
 *
 *   hu_data all, training, test;
 *   char why[HU_DATA_WHY_MAX];
 *   if (hu_data_load_digits(&all, "data", 0, why) != HU_OK) puts(why);
 *   hu_status s = hu_data_split(&training, &test, &all, 5, 4);
 *   hu_batches b;
 *   s = hu_batches_open(&b, training.count, 32, (hu_batch_state){seed, 0, 0});
 *   each step:  const uint32_t *index = hu_batches_next(&b);
 *               hu_data_gather(&training, 32, index, x, labels, NULL);
 *
 * Everything that is drawn or computed here is a pure function of its arguments, bit for bit the same on every machine:
 * random words are those of hu_stream, elementary functions those of halfulp/arith.h, and what is left are single
 * binary32 and binary64 additions, products, quotients and roots. docs/training/data.md says each of them to the bit.
 * The caller's floating-point environment changes nothing (train.h).
 *
 * A call that makes a data set allocates it; *z is wholly written on success and untouched on an error. The caller
 * frees the record, with the call that ends with _free. `why`, if not NULL, has room for HU_DATA_WHY_MAX bytes and gets
 * a sentence that names the file and the field ("train.bin: label of record 3: 12, not below 10") when a call that
 * reads files does not return HU_OK, and is untouched else. Errors of all calls: HU_E_NULL, HU_E_MEMORY, HU_E_SHAPE (a
 * size that makes no sense or does not fit); of calls that read files too: HU_E_FILE (cannot be opened or read),
 * HU_E_DATA (content that is not what the format says). */
#ifndef HALFULP_TRAIN_DATA_H
#define HALFULP_TRAIN_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "halfulp/format.h"
#include "halfulp/mode.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Room for the sentence that says why a call failed. */
#define HU_DATA_WHY_MAX 512

/* ---- records ---- */

/* Examples. The input of an example is height x width x channels floats, the channels of a pixel side by side; features
 * without a shape are 1 x 1 x d. */
typedef struct hu_data {
  size_t count; /* examples, at least 1 and below 2^32 */
  size_t height, width, channels;
  float *x;         /* count inputs, one after another */
  uint32_t classes; /* 0: no labels */
  uint32_t *labels; /* count, each below classes; or NULL */
  size_t targets;   /* 0: none */
  float *y;         /* count rows of `targets`; or NULL */
} hu_data;

HU_API void hu_data_free(hu_data *z); /* frees the arrays of a set and sets *z to all zero */
/* Floats of one input: height x width x channels. */
HU_API size_t hu_data_features(const hu_data *x);
/* Examples first ... first + count - 1 as a data set of their own. */
HU_API HU_MUST_CHECK hu_status hu_data_part(hu_data *z, const hu_data *x, size_t first, size_t count);
/* Example i goes into `test` if i mod period = rest, else into `training`, in order. HU_E_SHAPE: one would be empty.
 * The digits are split by (5, 4): 359 for testing. */
HU_API HU_MUST_CHECK hu_status hu_data_split(hu_data *training, hu_data *test, const hu_data *x, size_t period,
                                             size_t rest);
/* x = (x - mean[c]) / deviation[c], two binary32 operations, c the channel. HU_E_SHAPE: a deviation that is not
 * positive and finite; then nothing is changed. */
HU_API HU_MUST_CHECK hu_status hu_data_normalise(hu_data *z, const float *mean, const float *deviation);
/* Standardises n images of `count` numbers each, in place, each by its own mean and deviation (TensorFlow's
 * per_image_standardization). Of the numbers x of an image, in binary64, one rounding for each operation, sums in
 * order from 0: mean = (sum of x) / count; d = x - mean; deviation = sqrt((sum of d d) / count), or 1 / sqrt(count)
 * where that is larger; z = d / deviation, rounded to binary32. */
HU_API void hu_standardise_n(size_t n, size_t count, float *x);
/* What CIFAR images are usually normalised by. */
#define HU_CIFAR10_MEAN \
  { 0.4914f, 0.4822f, 0.4465f }
#define HU_CIFAR10_DEVIATION \
  { 0.2023f, 0.1994f, 0.2010f }
#define HU_CIFAR100_MEAN \
  { 0.5074f, 0.4867f, 0.4411f }
#define HU_CIFAR100_DEVIATION \
  { 0.2011f, 0.1987f, 0.2025f }
/* Inputs, labels and targets of n examples, one after another, into arrays that are not NULL. An index is below count,
 * and the set has the labels and targets that are asked for (not checked). */
HU_API void hu_data_gather(const hu_data *x, size_t n, const uint32_t *index, float *z, uint32_t *labels, float *y);

/* A stream of tokens: bytes numbered by the table of those that occur, in increasing order. */
typedef struct hu_text {
  size_t count; /* tokens */
  uint32_t *tokens;
  uint32_t kinds;      /* of tokens, 1 ... 256 */
  uint8_t values[256]; /* values[token] = byte; 0 from kinds on */
} hu_text;

/* Frees the arrays of a text and sets *z to all zero. */
HU_API void hu_text_free(hu_text *z);

/* Words as tokens: up to three parts, for training, validation and testing, one behind the other. As an argument of
 * hu_text_windows and hu_model_sizes_of_text it is (hu_text){w.count, w.tokens, w.kinds, {0}}, which is not freed. */
typedef struct hu_words {
  size_t count;     /* tokens of all parts */
  size_t parts[3];  /* tokens of each part; 0: there is no such part */
  uint32_t *tokens; /* part 0 first; each below kinds */
  uint32_t kinds;   /* words of the vocabulary: 2 ... 2^24 */
  char **words;     /* words[token]: its bytes, and a 0 */
} hu_words;

/* Frees the arrays of words and sets *z to all zero. */
HU_API void hu_words_free(hu_words *z);

/* Pairs of sentences as examples of 2 window + 1 features, tokens below 2^24 among them, without labels or targets: the
 * tokens of the source, the number of these that are no padding, and the tokens of the target that are given. */
typedef struct hu_parallel {
  hu_data training, test;
  size_t window;                       /* tokens of a sentence with "<eos>", and with padding */
  uint32_t source_kinds, target_kinds; /* words of the vocabularies */
  uint32_t end, unknown;               /* "<eos>" and "<unk>" of the target */
  size_t left_out;                     /* pairs for training that have more tokens than a window */
  char **words;                        /* of the target: words[token] has its bytes, and a 0 */
  int joined; /* 1: tokens are parts of words, and the vocabulary is that of both languages; hu_parallel_load: 0 */
} hu_parallel;

/* Frees the arrays of pairs and sets *z to all zero. */
HU_API void hu_parallel_free(hu_parallel *z);
/* What follows the given tokens of an example, `window` labels: the words of the target, "<eos>", then 2^32 - 1, which
 * is HU_LABEL_NONE of net.h. Returns how many are others than that. */
HU_API size_t hu_parallel_labels(const hu_parallel *x, const float *example, uint32_t *labels);

/* Ratings of movies by users. Users and movies have numbers from 0 on, in increasing order of their ids; movies are the
 * items of models. */
typedef struct hu_movielens {
  size_t count;                  /* ratings, at least 2 */
  uint32_t users, items, tested; /* up to 2^24; tested: users of whom a rating is held out */
  uint32_t *user_ids, *item_ids; /* the id of each number */
  size_t *first;  /* user u has ratings first[u] ... first[u + 1] - 1, in the order of the file's lines */
  uint32_t *item; /* count */
  size_t *held;   /* the rating of each user that is held out for testing; SIZE_MAX: none */
} hu_movielens;

/* Frees the arrays of ratings and sets *z to all zero. */
HU_API void hu_movielens_free(hu_movielens *z);

/* ---- files; none of them may be compressed ---- */

/* CIFAR-10, binary version: records of a label (0 ... 9) and 3 planes of 32 x 32 bytes, red, green, blue. CIFAR-100: a
 * coarse (0 ... 19) and a fine label (0 ... 99) before them; both are checked, `coarse` says which one is kept. The
 * files' records follow each other. x = byte / 255, one binary32 division. */
HU_API HU_MUST_CHECK hu_status hu_data_load_cifar10(hu_data *z, const char *const *paths, size_t files,
                                                    char *why); /* 10 classes */
HU_API HU_MUST_CHECK hu_status hu_data_load_cifar100(hu_data *z, const char *const *paths, size_t files, int coarse,
                                                     char *why); /* 100 fine or 20 coarse classes */
/* MNIST and its relatives in idx files: images of unsigned bytes in three dimensions (magic 0x00000803), labels in one
 * (0x00000801), sizes as big-endian 32-bit numbers. Labels are below classes (MNIST: 10; EMNIST letters, which count
 * from 1: 27). by_columns: 1: the bytes of an image go column by column, as in EMNIST. x = byte / 255. */
HU_API HU_MUST_CHECK hu_status hu_data_load_idx(hu_data *z, const char *images, const char *labels, uint32_t classes,
                                                int by_columns, char *why);
/* NumPy's .npy: images float32 or uint8 in row order, of shape (n, d), (n, h, w) or (n, h, w, c), labels uint8, uint16
 * or uint32 of shape (n,), below classes; labels NULL and classes 0: no labels. x = element / divisor; every element is
 * finite, the divisor positive and finite. */
HU_API HU_MUST_CHECK hu_status hu_data_load_npy(hu_data *z, const char *images, const char *labels, uint32_t classes,
                                                float divisor, char *why);
/* The digits set of this project: digits_images.npy and digits_labels.npy in a folder; 8 x 8 x 1, pixels of 0 ... 16
 * divided by 16 unless `raw`. */
HU_API HU_MUST_CHECK hu_status hu_data_load_digits(hu_data *z, const char *folder, int raw, char *why);
/* Any file as text, byte for byte. */
HU_API HU_MUST_CHECK hu_status hu_text_load(hu_text *z, const char *path, char *why);

/* Files of words, as those of WikiText and of the Penn Treebank: one for each part, the first for training. A file
 * alone is cut in two: of its n tokens the first 9 floor(n / 10) are for training, the others are part 1.
 *
 * A line ends with LF or with the end of a file that does not end with LF. Its words are the longest runs of bytes that
 * are neither LF nor blanks (space, tab, vertical tab, form feed, CR). Bytes are not interpreted, so that UTF-8 stays
 * what it is. A line gives its words in order, then the word "<eos>"; an empty line gives "<eos>" alone.
 *
 * The vocabulary is made from the training part alone. It always has "<eos>" and "<unk>", and these are the words that
 * stand in the file, if they stand there. Order: the one that occurs first has the smaller number; "<eos>", then
 * "<unk>" are last where the training part does not have them. by_count: the one that occurs more often has the smaller
 * number, in the training part as it stands in the file; of two that occur equally often, the one that is first in the
 * order above.
 *
 * most: 0, or 3 ... 2^24: the vocabulary has at most so many words. "<eos>", "<unk>" and the most - 2 most frequent
 * others are kept, of equally frequent ones those that occur first; those kept are numbered by the same rule. Every
 * word of any part that the vocabulary does not have becomes "<unk>".
 *
 * HU_E_DATA: a NUL byte, a word of more than 1024 bytes, more than 2^24 different words, a file alone of fewer than 10
 * tokens. HU_E_SHAPE: files not 1 ... 3, most 1, 2 or above 2^24. */
HU_API HU_MUST_CHECK hu_status hu_words_load(hu_words *z, const char *const *paths, size_t files, uint32_t most,
                                             int by_count, char *why);

/* Parallel text: a file of sentences and one of their translations, line by line, for training, and maybe two for
 * testing (files: 1 or 2 of each language). Lines and words are those of hu_words_load, each language with a vocabulary
 * of its own. Files of one part alone are cut: of its n pairs the first 9 floor(n / 10) are for training, the others
 * for testing.
 *
 * A sentence has its words and "<eos>", at most `window` tokens (2 ... 65536). A pair for training with a longer one is
 * left out, which `left_out` counts; a pair for testing with a longer one is an error. Behind a sentence, the source is
 * padded with "<eos>". The given tokens of a target are "<eos>", its words, and padding: what a decoder knows when it
 * is asked for each next word. An empty line is a sentence of "<eos>" alone.
 *
 * HU_E_DATA: files of different numbers of lines, an empty file, the word "<eos>" in one, fewer than 10 lines in a part
 * alone, no pair that fits, and the errors of hu_words_load. */
HU_API HU_MUST_CHECK hu_status hu_parallel_load(hu_parallel *z, const char *const *source, const char *const *target,
                                                size_t files, size_t window, uint32_t most, int by_count, char *why);

/* Clicks in the format of Criteo's Kaggle and Terabyte data sets: lines of 40 fields between tabs, a label 0 or 1, 13
 * whole numbers, 26 categories of up to 8 hexadecimal digits; all but the label may be empty. Lines end with LF or CR
 * LF. An example has 39 features and one of two classes: for each number x the binary32 logarithm ln(rnd32(1 + x)), +0
 * where x is negative or missing; for field f = 0 ... 25 the token f rows + 1 + (c mod (rows - 1)) of its category c,
 * or f rows where it is missing (Naumov et al. 2019 bound the rows of their tables in the same way). HU_E_SHAPE: rows
 * not from 2 to 645277. */
HU_API HU_MUST_CHECK hu_status hu_data_load_criteo(hu_data *z, const char *path, uint32_t rows, char *why);

/* ratings.dat of MovieLens-1M (Harper, Konstan 2015): lines UserID::MovieID::Rating::Timestamp, each a whole decimal
 * number: ids 1 ... 2^32 - 1, ratings 1 ... 5, seconds 0 ... 2^63 - 1. Lines end with LF or CR LF; the last one may end
 * with the file. A rating says that the user has seen the movie; its stars are checked, and not kept.
 *
 * Of each user with two or more ratings the one of the latest time is held out; of several of that time the one of the
 * last line. A user with one rating keeps it for training, and is not tested. HU_E_DATA too: an empty line, two
 * ratings of a movie by one user, no user with two ratings, more than 2^24 users or movies. */
HU_API HU_MUST_CHECK hu_status hu_movielens_load(hu_movielens *z, const char *path, char *why);
/* Pairs for training as examples of two features, the user's and the item's number, of two classes. For each rating
 * that is not held out, in the order of the record: the pair itself, with the label 1, then `negatives` pairs of its
 * user with other items, with the label 0. Let the rating be number i of these. Its negatives are the first numbers
 * below items, drawn from child i of stream (hu_stream_below), that are no item of the user's ratings for training. So
 * they may repeat, and may be what is held out, since training does not know it (He et al. 2017). HU_E_SHAPE: 2^32
 * pairs or more. */
HU_API HU_MUST_CHECK hu_status hu_movielens_training(hu_data *z, const hu_movielens *x, uint32_t negatives,
                                                     hu_stream stream);
/* The same pairs with the negatives of another stream, in place. HU_E_SHAPE: z is not of hu_movielens_training with the
 * same x and negatives. */
HU_API HU_MUST_CHECK hu_status hu_movielens_negatives(hu_data *z, const hu_movielens *x, uint32_t negatives,
                                                      hu_stream stream);
/* Pairs for testing, 1 + candidates of each tested user u, users in order: what is held out, with the label 1, then the
 * user with the first `candidates` different numbers below items, drawn from child u of stream, that are no item of any
 * of the user's ratings, with the label 0. HU_E_SHAPE: a tested user has fewer such items, or 2^32 pairs or more. */
HU_API HU_MUST_CHECK hu_status hu_movielens_test(hu_data *z, const hu_movielens *x, uint32_t candidates,
                                                 hu_stream stream, char *why);

/* ---- random numbers ---- */

/* A stream of its own for each i: the key is words 2i and 2i + 1 of stream (the low half first), the counter 0. */
HU_API hu_stream hu_stream_child(hu_stream stream, uint64_t i);
/* Child `use` of the stream (seed, 0). Numbers from 64 on are free for other purposes. */
enum {
  HU_USE_ORDER = 0,       /* child e of it: the permutation of epoch e */
  HU_USE_AUGMENT = 1,     /* crops and flips */
  HU_USE_DATA = 2,        /* generators' inputs, labels, phases */
  HU_USE_NOISE = 3,       /* generators' noise */
  HU_USE_TRUTH = 4,       /* generators' own weights */
  HU_USE_WEIGHTS = 5,     /* first weights */
  HU_USE_WINDOWS = 6,     /* windows of text */
  HU_USE_DROPOUT = 7,     /* numbers that dropout takes away */
  HU_USE_ROUNDING = 8,    /* stochastic roundings */
  HU_USE_NEGATIVES = 9,   /* child e of it: negatives of epoch e */
  HU_USE_CANDIDATES = 10, /* negatives that are ranked in tests */
  HU_USE_MASK = 11,       /* tokens that a masked language model is asked for */
  HU_USE_OTHER = 64       /* the first free one */
};
HU_API hu_stream hu_stream_of_use(uint64_t seed, uint64_t use);
/* A number from 0 ... n - 1, each with the same probability (n >= 1): takes words from *stream, whose counter moves. */
HU_API uint32_t hu_stream_below(hu_stream *stream, uint32_t n);
/* z = 0 ... n - 1 in random order, each order with the same probability (Fisher, Yates). */
HU_API void hu_permutation(uint32_t n, uint32_t *z, hu_stream stream);
/* z[i] = low + (high - low) u, u = floor(word i / 2^8) / 2^24, in binary32: from low to below high where low is
 * 0; else high may be met by rounding. */
HU_API void hu_uniform_n(size_t n, float *z, float low, float high, hu_stream stream);
/* z[i] = deviation times normal number i of the stream, a binary32 product: mean 0, variance 1 (Box, Muller), within
 * +-5.77. Numbers 2j and 2j + 1 are made from words 2j and 2j + 1. */
HU_API void hu_normal_n(size_t n, float *z, float deviation, hu_stream stream);

/* First weights: N(0, gain / fan_in), gain 2 before a ReLU, 1 else; uniform between +-1/sqrt(hidden), both ends open.
 * A size of 0 counts as 1. */
HU_API void hu_init_normal(size_t n, float *z, unsigned gain, size_t fan_in,
                           hu_stream stream);                                     /* N(0, gain / fan_in) */
HU_API void hu_init_uniform(size_t n, float *z, size_t hidden, hu_stream stream); /* uniform */

/* ---- generated data ---- */

/* Least squares (Zamirai et al., section 3): inputs N(0, 1) of d features, w* uniform from low to high, y = x w* + N(0,
 * noise^2); the product summed in binary64. unit: inputs divided by their norm. grid: NULL, or the format that inputs
 * and w* are rounded into before y is made from them (to nearest even); one that binary32 holds. */
typedef struct hu_least_squares {
  size_t count, features; /* 1000, 10 */
  float low, high;        /* 0, 100 */
  float noise;            /* 0.5 */
  int unit;               /* 0 */
  const hu_format *grid;  /* NULL */
} hu_least_squares;
/* The numbers above, which are the paper's (count apart). */
HU_API hu_least_squares hu_least_squares_default(void);
/* w: NULL, or room for w*. One target. Errors too: HU_E_FORMAT, HU_E_CARRIER. */
HU_API HU_MUST_CHECK hu_status hu_data_least_squares(hu_data *z, float *w, const hu_least_squares *what, uint64_t seed);

/* Gratings of size x size x 1 pixels: example i, counted from `first`, is of class c = i mod classes and has
 * cos(2 pi 0.22 (row sin a + column cos a) + phase) + N(0, 1), a = pi c / classes, phase uniform. Examples are the same
 * whatever first and count: a test set is a later part of the same sequence. No linear model separates them. */
HU_API HU_MUST_CHECK hu_status hu_data_gratings(hu_data *z, uint64_t first, size_t count, size_t size, uint32_t classes,
                                                uint64_t seed);

/* Regression with large targets: x N(0, 1), y = tanh(1.5 x W1) W2 scaled so that its standard deviation over the set is
 * `deviation`; W1 N(0, 1 / features), W2 N(0, 1 / hidden). grid: as above, for x. */
typedef struct hu_teacher {
  size_t count, features, hidden; /* 2500, 8, 16 */
  float deviation;                /* 25 */
  const hu_format *grid;          /* NULL */
} hu_teacher;
HU_API hu_teacher hu_teacher_default(void); /* the defaults of hu_teacher */
HU_API HU_MUST_CHECK hu_status hu_data_teacher(hu_data *z, const hu_teacher *what,
                                               uint64_t seed); /* a set of a teacher */

/* Ratings: example i, counted from `first`, is a pair (user, item), two features, both drawn alike; its score is the
 * product of the user's and the item's hidden row of `rank` numbers (variance 1 over users and items), plus N(0,
 * noise^2). Scores: one target; labels: 1 where the score is above 0, else 0, of 2 classes, and no target.
 * Examples are the same whatever first and count: a test set is a later part of the same sequence. users, items up to
 * 2^24. */
typedef struct hu_ratings {
  size_t count, users, items, rank; /* 4000, 100, 80, 4 */
  float noise;                      /* 0.1 */
  int labels;                       /* 0 */
} hu_ratings;
HU_API hu_ratings hu_ratings_default(void); /* the defaults of hu_ratings */
HU_API HU_MUST_CHECK hu_status hu_data_ratings(hu_data *z, uint64_t first, const hu_ratings *what,
                                               uint64_t seed); /* a set of ratings */

/* Clicks: example i, counted from `first`, has dense features N(0, 1), then categories, each one of `rows` tokens of
 * its own (that of field f from f rows on), and the label 1 where a score is above 0. The score is the sum of weights
 * times dense features, of weights of the tokens, and of products of hidden rows of `rank` numbers of all pairs of
 * tokens, plus N(0, noise^2). Examples are the same whatever first and count. dense and categories 1 ... 4095, rows
 * categories up to 2^24, rank 1 ... 256. */
typedef struct hu_clicks {
  size_t count, dense, categories, rows, rank; /* 4000, 8, 6, 50, 4 */
  float noise;                                 /* 0.5 */
} hu_clicks;
HU_API hu_clicks hu_clicks_default(void); /* the defaults of hu_clicks */
HU_API HU_MUST_CHECK hu_status hu_data_clicks(hu_data *z, uint64_t first, const hu_clicks *what,
                                              uint64_t seed); /* a set of clicks */

/* ---- batches ---- */

/* Where a run stands in its data: all there is to store. */
typedef struct hu_batch_state {
  uint64_t seed;
  uint64_t epoch;    /* from 0 */
  uint64_t position; /* batches of this epoch that are done */
} hu_batch_state;

/* Batches of `batch` examples in an order of its own for each epoch, a function of (seed, epoch, count). `epochs` of
 * them are one stream, so that batches cross epochs; what is left at its end is less than a batch, and left out or a
 * batch of its own. state.epoch counts streams, and state.position the batches of this one. */
typedef struct hu_batches {
  size_t count, batch;
  hu_batch_state state;
  uint32_t *order; /* of the epoch `ordered` */
  uint64_t ordered;
  uint64_t epochs; /* of a stream: 1 */
  int keeps;       /* 1: the last, incomplete batch is a batch; 0 */
  size_t given;    /* examples of the batch given last */
  uint32_t *index; /* of that */
} hu_batches;

/* From any state: (seed, 0, 0) is the start. HU_E_SHAPE: count is 0 or 2^32 and above, batch is 0 or above count, or
 * position is above count / batch. */
HU_API HU_MUST_CHECK hu_status hu_batches_open(hu_batches *z, size_t count, size_t batch, hu_batch_state state);
/* The same in streams of `epochs` epochs. HU_E_SHAPE, too: epochs is 0 or above 2^24, keeps not 0 or 1. */
HU_API HU_MUST_CHECK hu_status hu_batches_open_streams(hu_batches *z, size_t count, size_t batch, uint64_t epochs,
                                                       int keeps, hu_batch_state state);
/* Batches of so many epochs, which are the first ones of a stream. */
HU_API uint64_t hu_batches_of_epochs(const hu_batches *b, uint64_t epochs);
/* Indices of the next batch, valid until the next call, b->given of them; the state moves. After the last batch of a
 * stream position is hu_batches_of_epochs(b, b->epochs), and the next call begins the next one. */
HU_API const uint32_t *hu_batches_next(hu_batches *b);
/* The random words of the batch given last, for a use (HU_USE_): child position of child epoch of that use. */
HU_API hu_stream hu_batches_stream(const hu_batches *b, uint64_t use);
/* Frees what hu_batches_open allocated and sets *b to all zero. */
HU_API void hu_batches_free(hu_batches *b);

/* "seed=1,epoch=2,position=3" and back. HU_E_TEXT: not exactly that; *z is untouched then. */
#define HU_BATCH_STATE_TEXT_MAX 96
HU_API char *hu_batch_state_text(char text[HU_BATCH_STATE_TEXT_MAX], hu_batch_state state); /* state to text */
HU_API HU_MUST_CHECK hu_status hu_batch_state_parse(hu_batch_state *z, const char *text);   /* text to state */

/* How images are varied: padded by `pad` pixels of fill[c] (NULL: 0) on all sides, cropped at a random place to their
 * size, and mirrored from left to right with probability 1/2 if `flip`. */
typedef struct hu_augmentation {
  size_t height, width, channels;
  size_t pad;
  uint32_t flip; /* 0, 1 */
  const float *fill;
} hu_augmentation;
/* n images so varied. Image i draws from child i of stream. z and x do not overlap. (CIFAR: pad 4, flip; fill
 * (0 - mean) / deviation where the images were normalised before.) */
HU_API HU_MUST_CHECK hu_status hu_augment(size_t n, float *z, const float *x, const hu_augmentation *augmentation,
                                          hu_stream stream);

/* n windows of `length` tokens from random places within tokens first ... first + count - 1, one after another into z;
 * window i draws from child i of stream. HU_E_SHAPE: no window fits, or there are not so many tokens. */
HU_API HU_MUST_CHECK hu_status hu_text_windows(size_t n, uint32_t *z, const hu_text *x, size_t first, size_t count,
                                               size_t length, hu_stream stream);

#ifdef __cplusplus
}
#endif
#endif
