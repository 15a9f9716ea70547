/* SPDX-License-Identifier: LGPL-3.0-or-later */
/** @file ckptdispatch.h Umbrella header. */
#ifndef CKPTDISPATCH_H
#define CKPTDISPATCH_H

#include <ckptdispatch/backend.h>
#include <ckptdispatch/base.h>
#include <ckptdispatch/dispatch.h>
#include <ckptdispatch/graph.h>
#include <ckptdispatch/io.h>
#include <ckptdispatch/link.h>
#include <ckptdispatch/modes.h>
#include <ckptdispatch/series.h>
#include <ckptdispatch/shape.h>
#include <ckptdispatch/site.h>
#include <ckptdispatch/task.h>

#endif
