#!/usr/bin/env bash
# Fails if an object file in an archive registers a function that runs when the process exits: exit_handlers_test.sh NM ARCHIVE...
# The constructor of a static object registers its destructor in this way.
set -euo pipefail
found=$("$1" -A --undefined-only "${@:2}" | grep -E '(__cxa_atexit|[^a-z_]atexit)$' || true)
[ -z "$found" ] || { printf 'these object files have static objects that are destroyed at exit:\n%s\n' "$found" >&2; exit 1; }
