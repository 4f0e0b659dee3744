#!/usr/bin/env bash
# The build accepts RocksDB 7.8 to 10.x and rejects other versions with a one-sentence error. Argument: the cmake program.
set -euo pipefail
cmake=$1
unset CDPATH
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/include/rocksdb"
cat >"$work/check.cmake" <<EOF
include($root/cmake/rocksdb_version.cmake)
mayfly_check_rocksdb($work/include)
EOF
failures=0

# check VERSION: prints CMake's output on one line
check() {
  local major minor patch
  IFS=. read -r major minor patch <<<"$1"
  printf '#define ROCKSDB_MAJOR %s\n#define ROCKSDB_MINOR %s\n#define ROCKSDB_PATCH %s\n\n#define ROCKSDB_MAKE_VERSION_INT(a, b, c) \\\n  ((a) * 1000000 + (b) * 1000 + (c))\n' \
    "$major" "$minor" "$patch" >"$work/include/rocksdb/version.h"
  "$cmake" -P "$work/check.cmake" 2>&1 | tr -s ' \n' ' '
}
for version in 7.8.0 7.8.3 8.9.1 9.10.0 10.10.1; do
  said=$(check "$version") || { echo "rocksdb_version_test: $version is rejected: $said"; failures=1; }
done
for version in 6.11.4 7.7.8 11.0.4; do
  if said=$(check "$version"); then
    echo "rocksdb_version_test: $version is accepted"
    failures=1
  elif [[ $said != *"RocksDB $version in $work/include is not supported: install RocksDB 7.8 to 10.x, or set "* ]]; then
    echo "rocksdb_version_test: $version is rejected with another message: $said"
    failures=1
  fi
done
exit "$failures"
