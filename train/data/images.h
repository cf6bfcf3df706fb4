/* SPDX-License-Identifier: MIT */
/* train/data/images.h - large images of a file that stays on the disk: docs/training/data.md, Large images. */
#ifndef HALFULP_TRAIN_DATA_IMAGES_H
#define HALFULP_TRAIN_DATA_IMAGES_H

#include <stdio.h>

#include "train/data/file.h"

enum { HU_IMAGE_CHANNELS = 3, HU_IMAGE_TRIES = 10, HU_IMAGE_SIDE_MOST = 4096 };

/* An open file of images of one size, of which some are kept. All zero: there is none. */
typedef struct hu_image_file {
  FILE *file;
  size_t first, height, width; /* the byte at which image 0 begins; pixels */
  uint32_t *record;            /* numbers in the file of the images that are kept */
  uint8_t *bytes;              /* one image */
} hu_image_file;

/* What numbers of pixels become. */
enum { HU_IMAGE_SCALED, HU_IMAGE_MEANS, HU_IMAGE_BYTES };

/* A part of an image. */
typedef struct hu_image_box {
  size_t top, left, height, width;
  int mirrored;
} hu_image_box;

/* Opens images and reads their labels; those with labels below `classes` are kept. data gets counts, labels and the
 * sizes of what is seen, side x side, and no numbers. HU_E_DATA: another form, images smaller than a side, other
 * numbers of labels, none that is kept. On an error nothing is open. */
hu_status hui_images_open(hu_image_file *images, hu_data *data, const char *path, const char *labels, uint32_t classes,
                          size_t side, char *why);
void hui_images_close(hu_image_file *images);
/* The box in the middle; one that is drawn, with at least the share `area` of the image. */
hu_image_box hui_image_middle(size_t height, size_t width, size_t side);
hu_image_box hui_image_draw(size_t height, size_t width, float area, hu_stream words);
/* Writes the box as side x side pixels; bytes: the image, rows of `width` pixels. */
void hui_image_put(float *z, size_t side, const uint8_t *bytes, size_t width, hu_image_box box, int what);
/* Writes n of the images that are kept, each by the box in the middle, or, with `draws`, by one that is drawn from its
 * child. HU_E_FILE: the file cannot be read. */
hu_status hui_images_gather(hu_image_file *images, size_t n, const uint32_t *index, float *z, size_t side, float area,
                            int what, const hu_stream *draws);

#endif
