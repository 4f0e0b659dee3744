#!/usr/bin/env bash
# The tree's rules: three floors in one direction, every large library in one place; one write path, one place
# that appends change records, one clock (the second and the fifth of the things that always hold).
set -euo pipefail
cd "$(dirname "$0")/.."

failures=0

# only_in <what it says> <pattern> <where it may be> <where it is looked for>...
only_in() {
  local rule=$1 pattern=$2 allowed=$3
  shift 3
  local found
  found=$(grep -rnE --include='*.h' --include='*.cc' "$pattern" "$@" | grep -vE "^($allowed):" || true)
  if [ -n "$found" ]; then
    printf 'broken: %s\n%s\n' "$rule" "$found"
    failures=$((failures + 1))
  fi
}
included_in() {
  local rule=$1 pattern=$2
  shift 2
  only_in "$rule" "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]$pattern" "$@"
}
nowhere='[.]$'

included_in "engine includes nothing of the floors above" '(compat|http|cli|embed|mayfly)/' "$nowhere" engine
included_in "compat includes nothing of http" '(http|cli|embed|mayfly)/' "$nowhere" compat
included_in "http includes nothing of cli or embed" '(cli|embed|mayfly)/' "$nowhere" http
included_in "RocksDB is included by engine/storage.cc and storage_files.cc alone" 'rocksdb/' \
        'engine/storage(_files)?[.]cc' engine compat http cli embed include
included_in "Boost.JSON is included by compat/wire/json.cc alone" 'boost/json' 'compat/wire/json[.]cc' engine compat http cli embed include
included_in "nlohmann's JSON stays off the request path" 'nlohmann/' 'http/admin[.]cc' engine compat http cli embed include
included_in "Asio and Beast stay in the connection's files" 'boost/(asio|beast)' \
        'http/(session|server|request_parser|invoker|name_lookup)[.](h|cc)' engine compat http cli embed include
included_in "CLI11 is included by cli/options.cc alone" 'CLI/' 'cli/options[.]cc' engine compat http cli embed include
included_in "mayfly.h includes the standard library alone" '[^>]*[/.]' "$nowhere" include

only_in "items are written by engine/transaction alone" '[.]commit[(].*staged|committer_?[.]commit[(]' \
        'engine/transaction[.]cc' engine compat http cli embed
only_in "an item's bytes reach a batch in engine/transaction alone" 'batch[.](put|erase)[(].*item_key[(]|encode_record[(]' \
        'engine/(transaction[.]cc|change_log[.](h|cc))' engine
only_in "change records are appended by engine/committer alone" '(put|append)[(]record_key[(]' \
        'engine/committer[.]cc' engine
only_in "what runs by itself is stepped by a scheduler" 'std::j?thread[ >({]' \
        '(engine/scheduler|compat/kinesis/destinations|http/[a-z_]+)[.](h|cc)' engine compat http cli embed include
only_in "only engine/clock asks for the time" \
        '(system|steady|high_resolution|utc)_clock::now|clock_gettime|gettimeofday|[^_a-z]time[(](nullptr|NULL|0)[)]' \
        'engine/clock[.]cc' engine compat http cli embed include

[ "$failures" -eq 0 ] && echo "includes, writes and clocks are where they belong"
exit "$failures"
