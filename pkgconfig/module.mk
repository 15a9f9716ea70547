# SPDX-License-Identifier: LGPL-3.0-or-later
# install, uninstall, dist and the checks of both come here.
