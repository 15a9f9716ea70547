/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What a solve leaves for the next one: prices. (The plan is the caller's.) */
#ifndef CKPD_LIB_SOLVER_NATIVE_WARM_H
#define CKPD_LIB_SOLVER_NATIVE_WARM_H

#include "solver/native/crowd.h"
#include "solver/native/search.h"

/* Puts the view's prices over those in dual->price; true when they cover every activity and slot.
 */
bool ckpd__nat_warm_search(nat_search *search);
/* The same for one price per slot. */
void ckpd__nat_warm_crowd(nat_crowd *crowd);
/* Hands the prices at hand to the host; false when memory ran out. */
bool ckpd__nat_keep_search(const nat_search *search);
bool ckpd__nat_keep_crowd(const nat_crowd *crowd);

#endif
