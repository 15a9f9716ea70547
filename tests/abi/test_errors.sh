#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# Practice 5: docs/errors.md is what the one list of status codes gives.
sh "$SRC_DIR/tests/abi/errors.sh" "$SRC_DIR/include/ckptdispatch/base.h" | diff "$SRC_DIR/docs/errors.md" - ||
    { echo 'docs/errors.md is out of date: make update-errors'; exit 1; }
