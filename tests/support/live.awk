# SPDX-License-Identifier: ISC
# The view of "./bootstrap run": the daemon's log as it comes.
{ print; fflush() }
