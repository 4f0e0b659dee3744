#!/usr/bin/env bash
# Tests script/progress: it shows a build's progress, writes the output to the log, and shows the end of the log if the build
# fails.
set -euo pipefail
unset CDPATH
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fails() { printf 'progress_test: %s\n' "$*" >&2; failures=1; }

ninja='echo "[0/2] Re-running CMake..."; for step in 1 2 3 4 5 6 7 8; do echo "[$step/8] Building $step.o"; done; echo "a.cc:1: note" >&2'
said=$("$root/script/progress" "$work/log" building sh -c "$ninja" 2>&1)
[ "$said" = $'building [1/8]\nbuilding [2/8]\nbuilding [4/8]\nbuilding [6/8]\nbuilding [8/8]' ] || fails "a good build shows: $said"
grep -q '^\[7/8\] Building 7.o$' "$work/log" || fails "the log lacks a line"
grep -q '^a.cc:1: note$' "$work/log" || fails "the log lacks standard error"

said=$("$root/script/progress" "$work/log" configuring sh -c 'echo "-- Found it"' 2>&1)
[ -z "$said" ] || fails "a command without steps shows: $said"

status=0
said=$("$root/script/progress" "$work/log" building sh -c 'echo "[1/2] Building 1.o"; echo "b.cc:7: error: no"; exit 3' 2>&1) || status=$?
[ "$status" = 3 ] || fails "a build that ended with 3 is reported as $status"
[[ $said = *"b.cc:7: error: no"*"building failed; the full log is $work/log" ]] || fails "a failed build shows: $said"

exit "$failures"
