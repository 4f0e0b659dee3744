#!/usr/bin/env bash
# Fails if an object file in an archive registers a function that runs when the process exits: exit_handlers_test.sh NM ARCHIVE...
# The constructor of a static object registers its destructor in this way.
set -euo pipefail
used=$("$1" -A --undefined-only "${@:2}")
found=$(grep -E '(__cxa_atexit|[^a-z_]atexit)$' <<<"$used" || true)
[ -z "$found" ] || { printf 'these object files have static objects that are destroyed at exit:\n%s\n' "$found" >&2; exit 1; }
