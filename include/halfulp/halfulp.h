/* SPDX-License-Identifier: MIT */
/* halfulp/halfulp.h - everything of libhalfulp, and the named formats. libhalfulp-oracle (oracle.h),
 * libhalfulp-cuda (device.h), the inline core (core.h) and the C++ wrapper (halfulp.hpp) are included by name. */
#ifndef HALFULP_HALFULP_H
#define HALFULP_HALFULP_H

#include "halfulp/status.h"
#include "halfulp/format.h"
#include "halfulp/mode.h"
#include "halfulp/scalar.h"
#include "halfulp/arith.h"
#include "halfulp/array.h"
#include "halfulp/operation.h"
#include "halfulp/view.h"
#include "halfulp/accum.h"
#include "halfulp/sum.h"
#include "halfulp/p3109.h"
#include "halfulp/gemm.h"
#include "halfulp/scaled.h"
#include "halfulp/importance.h"
#include "halfulp/hadamard.h"
#include "halfulp/number.h"
#include "halfulp/s2fp8.h"
#include "halfulp/conversion.h"
#include "halfulp/collective.h"
#include "halfulp/path.h"

#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"
#include "halfulp/formats/fnuz.h"
#include "halfulp/formats/papers.h"
#include "halfulp/formats/p3109.h"
#include "halfulp/formats/other.h"

#endif
