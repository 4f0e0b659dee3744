#!/usr/bin/env bash
# The tree's rules about includes: three floors in one direction, and every large library in one place.
set -euo pipefail
cd "$(dirname "$0")/.."

failures=0

# only_in <what it says> <pattern> <where it may be> <where it is looked for>...
only_in() {
  local rule=$1 pattern=$2 allowed=$3
  shift 3
  local found
  found=$(grep -rnE --include='*.h' --include='*.cc' "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]$pattern" "$@" |
          grep -vE "^($allowed):" || true)
  if [ -n "$found" ]; then
    printf 'broken: %s\n%s\n' "$rule" "$found"
    failures=$((failures + 1))
  fi
}
nowhere='[.]$'

only_in "engine includes nothing of compat or http" '(compat|http|mayfly)/' "$nowhere" engine
only_in "compat includes nothing of http" '(http|mayfly)/' "$nowhere" compat
only_in "RocksDB is included by engine/storage.cc alone" 'rocksdb/' 'engine/storage[.]cc' engine compat http include
only_in "Boost.JSON is included by compat/json.cc alone" 'boost/json' 'compat/json[.]cc' engine compat http include
only_in "nlohmann's JSON stays off the request path" 'nlohmann/' 'http/admin[.]cc' engine compat http include
only_in "Asio and Beast stay in the connection's files" 'boost/(asio|beast)' \
        'http/(session|server|request_parser)[.](h|cc)' engine compat http include
only_in "CLI11 is included by http/options.cc alone" 'CLI/' 'http/options[.]cc' engine compat http include
only_in "mayfly.h includes the standard library alone" '[^>]*[/.]' "$nowhere" include

[ "$failures" -eq 0 ] && echo "every include is where it belongs"
exit "$failures"
