/* SPDX-License-Identifier: MIT */
/* halfulp/version.h - the one place that holds the version number; the build reads it from here. */
#ifndef HALFULP_VERSION_H
#define HALFULP_VERSION_H

/* The version of these headers, in numbers and as text. */
#define HU_VERSION_MAJOR 0
#define HU_VERSION_MINOR 1
#define HU_VERSION_PATCH 0
#define HU_VERSION_STRING "0.1.0"

#endif
