/* SPDX-License-Identifier: MIT */
/* The functions of pthread.h that the library calls, for compilers of another system that have no C library here. */
#ifndef TESTS_PACKAGING_PTHREAD_H
#define TESTS_PACKAGING_PTHREAD_H

typedef struct _opaque_pthread *pthread_t;
typedef struct _opaque_attributes pthread_attr_t;
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
int pthread_join(pthread_t thread, void **result);

#endif
