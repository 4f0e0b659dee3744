#!/usr/bin/env bash
# script/server rejects invalid arguments and a port in use before it installs or builds anything. Argument: the mayfly
# program, whose help must match the file that the script reads.
set -euo pipefail
program=$1
unset CDPATH
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fails() { printf 'server_script_test: %s\n' "$*" >&2; failures=$((failures + 1)); }

# A tree with fake bootstrap and build scripts, which only record that they were called.
mkdir -p "$work"/{cli/options,script,build/release}
cp "$root/script/server" "$work/script/"
cp "$root/cli/options/serve_help.txt" "$work/cli/options/"
for name in bootstrap build; do
  printf '#!/bin/sh\necho %s >>"%s/asked"\n' "$name" "$work" >"$work/script/$name"
done
printf '#!/bin/sh\necho "becomes $*"\n' >"$work/build/release/mayfly"
chmod +x "$work"/script/* "$work/build/release/mayfly"

# answers STATUS TEXT ARGUMENT...
answers() {
  local status=$1 text=$2 answer result=0
  shift 2
  rm -f "$work/asked"
  answer=$("$work/script/server" "$@" 2>&1) || result=$?
  [ "$result" = "$status" ] || fails "script/server $*: exited with $result, not $status"
  [ "$answer" = "$text" ] || fails "script/server $*: printed '$answer', not '$text'"
}
refuses() {
  local text="script/server: $1"
  shift
  answers 2 "$text" "$@"
  [ ! -e "$work/asked" ] || fails "script/server $*: built before it rejected the arguments"
}
serves() {
  answers 0 "becomes serve${*:+ $*}" "$@"
  [ "$(cat "$work/asked" 2>/dev/null)" = $'bootstrap\nbuild' ] || fails "script/server $*: did not build"
}

[ "$("$program" serve --help)" = "$(cat "$root/cli/options/serve_help.txt")" ] ||
  fails "cli/options/serve_help.txt does not match mayfly serve --help; run \`build/release/mayfly serve --help >cli/options/serve_help.txt\`"
answers 0 "$(cat "$root/cli/options/serve_help.txt")" --help
[ ! -e "$work/asked" ] || fails "script/server --help built something"

usage="Run 'script/server --help' for its options."
refuses "unknown option '--nonsense'. $usage" --nonsense
refuses "unknown option '--prot'. Did you mean '--port'? $usage" --prot 8000
refuses "unknown option '--ttl-mod'. Did you mean '--ttl-mode'? $usage" --ttl-mod=aws
refuses "unexpected argument 'word'. $usage" word
refuses "unknown option '-p'. $usage" -p 8000
refuses "--port must be a number between 0 and 65535, got 'x'" --port x
refuses "--port must be between 0 and 65535, got 99999" --port 99999
refuses "--ttl-seed must be a whole number, got 'x'" --ttl-seed x
refuses "--threads must be between 1 and 256, got 0" --threads=0
refuses "--threads must be between 1 and 256, got 257" --port 0 --threads 257
refuses "--request-bytes-max must be between 33554432 and 1099511627776, got 1" --request-bytes-max 1
refuses "--data needs a value. $usage" --data
refuses "--data needs a value. $usage" --data --fsync

# A port in use is rejected before the build, however it is given.
"$program" serve --port 0 --port-file "$work/port" >"$work/log" 2>&1 &
listener=$!
trap 'kill "$listener" 2>/dev/null; rm -rf "$work"' EXIT
until [ -s "$work/port" ]; do kill -0 "$listener" || { cat "$work/log" >&2; exit 1; }; sleep 0.02; done
port=$(cat "$work/port")
taken() {
  local host=$1
  shift
  answers 1 "script/server: cannot listen on $host:$port: the port is taken; stop the program that uses it, or choose another port with --port (0: any free one)" "$@"
  [ ! -e "$work/asked" ] || fails "script/server $*: built although the port is in use"
}
taken 127.0.0.1 --host 127.0.0.1 --port "$port"
taken 127.0.0.1 --port="$port" --host=127.0.0.1
taken 0.0.0.0 --port "$port" --host 0.0.0.0
MAYFLY_PORT=$port taken 127.0.0.1
MAYFLY_PORT=$port serves --port 0
kill "$listener"
wait "$listener" || true
trap 'rm -rf "$work"' EXIT

# By default the server listens on ::1 as well, so the port must be free there too.
if grep -q '^0\{31\}1 ' /proc/net/if_inet6 2>/dev/null; then
  rm "$work/port"
  "$program" serve --host ::1 --port 0 --port-file "$work/port" >"$work/log" 2>&1 &
  listener=$!
  trap 'kill "$listener" 2>/dev/null; rm -rf "$work"' EXIT
  until [ -s "$work/port" ]; do kill -0 "$listener" || { cat "$work/log" >&2; exit 1; }; sleep 0.02; done
  port=$(cat "$work/port")
  taken "[::1]" --port "$port"
  kill "$listener"
  wait "$listener" || true
  trap 'rm -rf "$work"' EXIT
fi

MAYFLY_PORT=0 serves
serves --port 0 --clock frozen --fsync
serves --port 0 --schema one.yaml two.yaml --ttl-mode aws --ttl-delay-seconds 600 1680
serves --port 0 --function=reminder=http://127.0.0.1:9000/ --log-level debug

[ "$failures" = 0 ]
