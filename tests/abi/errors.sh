#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-or-later
# errors.sh BASE_H: docs/errors.md, made from CKPD_STATUS_MAP.
set -eu
cat <<'END'
# Status codes

Every function that can fail returns one of these numbers; `ckpd_strerror()` gives the text, `ckpd_status_name()` the name. The numbers
never change. What exactly went wrong (field, index, value, a sentence with the numbers) is in the context:
`ckpd_context_last_error()`. Made from `CKPD_STATUS_MAP` in `include/ckptdispatch/base.h` by `make update-errors`.

| number | name | text |
|---:|---|---|
END
sed -n 's/^ *X(\(CKPD_[A-Z_]*\), \(-*[0-9]*\), "\(.*\)").*$/| \2 | `\1` | \3 |/p' "$1"
