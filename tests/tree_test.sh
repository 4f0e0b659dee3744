#!/usr/bin/env bash
# The tree's rules: three floors in one direction, every large library in one place; one write path, one place
# that appends change records, one clock (the second and the fifth of the things that always hold); documents that
# name only what is there; and nothing declared that nobody uses.
set -euo pipefail
unset CDPATH
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
included_in "the engine's inner parts are the engine's" 'engine/(parts|storage|key_space|committer|lock_table)[.]h' "$nowhere" \
            compat http cli embed include
included_in "a room of compat includes nothing of its entrance, but for control and mcp" 'compat/(dispatch|emulator|faults)[.]h' \
            'compat/((control|mcp)/[a-z_]+|[a-z]+)[.](h|cc)' compat
included_in "http includes nothing of cli or embed" '(cli|embed|mayfly)/' "$nowhere" http
included_in "RocksDB is included by engine/storage, storage_files and storage_jobs alone" 'rocksdb/' \
        'engine/storage((_files)?[.]cc|_jobs[.]h)' engine compat http cli embed include
included_in "Boost.JSON is for tests to compare with" 'boost/json' "$nowhere" engine compat http cli embed include
included_in "nlohmann's JSON is for what people read and write: control calls, kept settings, commands" 'nlohmann/' \
        '(compat/wire/json_tree[.](h|cc)|compat/control/[a-z_]+[.]cc|compat/mcp/[a-z_]+[.](h|cc)|compat/(backups/backup|jobs/job|exports/export_request|kinesis/destinations)[.]cc|compat/triggers/(functions|event_source_mapping|rest)[.]cc|cli/(mcp|commands|control_options|item_command|item_text|answer_view|directory_commands|server_calls|completion|jobs_view|metrics_view)[.]cc|cli/(schemas|aws|sweep|transfer)/[a-z_]+[.](h|cc)|embed/(mayfly|mayfly_c|options_json)[.]cc)' \
        engine compat http cli embed include
included_in "Asio and Beast stay in the connection's files" 'boost/(asio|beast)' \
        'http/(session|server|request_parser|client|invoker|name_lookup|tls)[.](h|cc)' engine compat http cli embed include
included_in "OpenSSL is included where bytes are hashed and where TLS is spoken" 'openssl/' \
        '(http/(sha256|tls|client)|compat/wire/md5)[.]cc' engine compat http cli embed include
included_in "c-ares is included by http/name_lookup.cc alone" 'ares[.]h' 'http/name_lookup[.]cc' engine compat http cli embed include
included_in "Expat is included by compat/buckets/s3_xml.cc alone" 'expat[.]h' 'compat/buckets/s3_xml[.]cc' engine compat http cli embed include
included_in "zlib and Zstandard are included where bytes are compressed" '(zlib|zstd)[.]h' \
        '(http/compression|compat/data_files/compression)[.]cc' engine compat http cli embed include
included_in "libdeflate is included by http/crc32.cc alone" 'libdeflate[.]h' 'http/crc32[.]cc' engine compat http cli embed include
included_in "CLI11 is included by the command line's options alone" 'CLI/' 'cli/(option_text[.]h|(options|option_text|control_options|item_options|aws_options|sweep_options|transfer_options|help_files|completion)[.]cc)' engine compat http cli embed include
included_in "libyaml is included by cli/schemas/yaml.cc alone" 'yaml[.]h' 'cli/schemas/yaml[.]cc' engine compat http cli embed include
included_in "mayfly.h includes the standard library alone" '[^>]*[/.]' 'include/mayfly/mayfly_c[.]h' include
included_in "mayfly_c.h includes C's two headers of types alone" '([^s]|s[^t]|std[^di]|[^>]*/)' "$nowhere" include/mayfly/mayfly_c.h

# Which rooms of compat each of them may use, beside itself; operations, control and mcp may use all.
rooms='wire expression tables items streams partiql outbound buckets data_files jobs backups exports imports triggers kinesis operations control mcp'
room_uses() {
  local room=$1 forbidden
  shift
  forbidden=$(tr ' ' '\n' <<<"$rooms" | grep -vxF -e "$room" "${@/#/-e}" | paste -sd '|')
  included_in "compat/$room uses ${*:-no other room}" "compat/($forbidden)/" "$nowhere" "compat/$room"
}
room_uses wire
room_uses expression wire
room_uses tables wire
room_uses items expression tables wire
room_uses streams tables wire
room_uses partiql items expression tables wire
room_uses outbound
room_uses buckets outbound wire
room_uses data_files wire
room_uses jobs buckets outbound wire
room_uses exports backups jobs data_files buckets items expression tables outbound wire
room_uses imports jobs buckets data_files items expression tables outbound wire
room_uses triggers streams tables outbound wire
room_uses kinesis items streams outbound wire
room_uses backups tables wire

only_in "items are written by engine/transaction alone, and their old versions forgotten by engine/history_trimmer" \
        '[.]commit[(].*staged|committer_?[.]commit[(]' 'engine/(transaction|history_trimmer)[.]cc' engine compat http cli embed
only_in "an item's bytes reach a batch in engine/transaction alone" 'batch[.](put|erase)[(].*item_key[(]|encode_record[(]' \
        'engine/(transaction[.]cc|change_log[.](h|cc))' engine
only_in "change records are appended by engine/committer alone" '(put|append)[(]record_key[(]' \
        'engine/committer[.]cc' engine
# engine/storage has a second thread only while it waits for RocksDB to resume.
only_in "what runs by itself is stepped by a scheduler" 'std::j?thread[ >({]' \
        '(engine/(scheduler|storage)|cli/(deadline|end_signals)|cli/sweep/(workers|process|sweep_command)|cli/transfer/transfer|http/[a-z_]+)[.](h|cc)' engine compat http cli embed include
only_in "what any piece of work may throw is caught by engine/attempt alone, but for who opens and who hands on" \
        'catch [(](const )?(engine::)?(std::exception|StorageFault|std::bad_alloc|[.][.][.])' \
        '(engine/(attempt[.]h|committer[.]cc|database[.]cc)|compat/emulator[.]cc|embed/mayfly_c[.]cc)' engine compat http cli embed
only_in "a variable of a thread is one in a shared library, too (mayfly_c.h)" '(^|[^_a-z])thread_local($|[^._a-z])' \
        'engine/thread_local[.]h|compat/wire/json[.]h' engine compat http embed
# Until C++23 the shared pointer is gone before the first turn of the loop.
only_in "no loop is over a member of an object that only a returned shared pointer holds" \
        '[^_a-z]for [(][^;]* : [^;()]*(description|mapping|present|share|share_stream|kept)[(][a-z_]*[)]->[a-z_>-]*[)]' \
        "$nowhere" engine compat http cli embed include tests
only_in "assertions are checks, which stay on in every build" '[^_a-z]assert[(]|<cassert>|assert[.]h' \
        '(include/mayfly/mayfly|tests/.*)[.](h|cc)' engine compat http cli embed include
only_in "only engine/clock asks for the time" \
        '(system|steady|high_resolution|utc)_clock::now|clock_gettime|gettimeofday|[^_a-z]time[(](nullptr|NULL|0)[)]' \
        'engine/clock[.]cc' engine compat http cli embed include
only_in "only engine/random asks for randomness, but for ids that are http's own, and what a library has of glibc" \
        'random_device|getrandom|getentropy|arc4random|[^_a-z]s?rand[(]' \
        '(engine/random|http/(reply|name_lookup)|embed/shared_library)[.]cc' engine compat http cli embed include

# report <what it says> <what breaks it>: nothing breaks it.
report() {
  [ -n "${2//$'\n'/}" ] || return 0
  printf 'broken: %s\n%s\n' "$1" "$2"
  failures=$((failures + 1))
}
sources_of=(--include='*.h' --include='*.cc' --exclude-dir=sdk --exclude-dir=build)
report "what is of the tree is included by its path from the root" \
       "$(grep -rnE "${sources_of[@]}" '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' engine compat http cli embed tests bench |
          grep -vE '"(engine|compat|http|cli|embed|mayfly|tests|bench)/' || true)"
report "tests and what they share stand in mayfly::testing" \
       "$(grep -rLE "${sources_of[@]}" '^namespace mayfly::testing [{]$' tests | grep -vx tests/support/main.cc || true)
$(grep -rnE "${sources_of[@]}" '^namespace [a-z_]+(::[a-z_]+)* [{]' tests | grep -v ':namespace mayfly::testing [{]$' || true)"

# --- names in the documents

complain() {  # <document> <what is wrong>
  printf 'broken: %s: %s\n' "$1" "$2"
  failures=$((failures + 1))
}

# Words that look like paths of the tree: `engine/clock` may stand for engine/clock.h, `tests/scripts/*/` is a pattern.
paths_in() {
  grep -oP '(?<![\w./-])(engine|compat|http|cli|embed|include|tests|bench|script|docs|cmake)/[\w./*-]*' "$1" |
    sed 's/[.]*$//' | sort -u || true
}
is_there() { compgen -G "$1" >/dev/null || compgen -G "$1.h" >/dev/null || compgen -G "$1.cc" >/dev/null; }

# Where Markdown's links lead, seen from the document.
links_in() { grep -oP '\]\(\K[^)#]+' "$1" | grep -v '^https\?:' | sort -u || true; }

# `Class::member` and `function()`, in running text only: blocks of code are other people's programs.
names_in() {
  awk '/^```/ { block = !block } !block && !/^    /' "$1" | grep -oP '`\K[^`]+(?=`)' |
    grep -oP '^((\w+::)+~?\w+|\w+\(\))' | sort -u || true
}
sources=$(find engine compat http cli embed include tests bench -name '*.h' -o -name '*.cc')
sources+=" CMakeLists.txt $(find tests/sdk -name '*_test.*' -not -path '*/node_modules/*')"
code=$(mktemp)
trap 'rm -f "$code"' EXIT
# Without comments: a name that only a comment knows is as stale as one in a document.
sed -e 's,//.*,,' $sources >"$code"
is_named() {
  local name=$1 member=${1##*::} scope=${1%::*} file
  case "$name" in
    std::*) return 0 ;;
    *"()") grep -qE "\b${name%??}[(]" "$code" ; return ;;
  esac
  ! grep -qE "\b$name\b" "$code" || return 0
  # Declared in its class and never spelled out.
  for file in $(grep -lE "\b(class|struct) ${scope##*::}\b.*[{]" $sources); do
    # By a substitution, not a pipe: grep ends at the first find, and sed would be told off for going on.
    ! grep -qE "\b$member\b" <(sed 's,//.*,,' "$file") || return 0
  done
  return 1
}

for document in README.md SECURITY.md CONTRIBUTING.md bench/README.md docs/*.md docs/decisions/*.md docs/tutorial/*.md; do
  [ -f "$document" ] || continue
  for path in $(paths_in "$document"); do is_there "$path" || complain "$document" "there is no $path"; done
  for link in $(links_in "$document"); do
    [ -e "$(dirname "$document")/$link" ] || complain "$document" "there is no $link"
  done
  for name in $(names_in "$document"); do is_named "$name" || complain "$document" "there is no $name"; done
done

# Tests that docs/architecture.md names are there, by their whole names, and have the tag [holds]; in C++ a name may go
# on over lines.
tests_named=$(cat tests/*/*.cc tests/*/*/*.cc | tr '\n' ' ' | sed 's/" *"//g')
while IFS= read -r name; do
  [[ "$tests_named" == *"TEST_CASE("*"$name"* ]] || complain docs/architecture.md "there is no test $name"
  grep -qP "\Q$name\E[^)]*\[holds\]" <<<"$tests_named" || complain docs/architecture.md "$name has no tag [holds]"
done < <(grep -oP '^ *- \K"[^"]+"' docs/architecture.md)
while IFS= read -r name; do
  [[ "$tests_named" == *"TEST_CASE("*"$name"* ]] || complain "docs/promises.md or SECURITY.md" "there is no test $name"
done < <(awk -F '|' '/^[|]/ { print $(NF - 1) }' docs/promises.md SECURITY.md | grep -oP '"[^"]+"')

# Lines that docs/style.md shows are there: the first line of a block of code names the file.
example=
while IFS= read -r line; do
  case "$line" in
    '```'?*) example=next ;;
    '```') [ "$example" ] && example= || example=next ;;
    *)
      if [ "$example" = next ]; then
        example=${line#* }
        [ -f "$example" ] || { complain docs/style.md "there is no $example" && example=/dev/null; }
      elif [ "$example" ] && ! grep -qF -e "${line#"${line%%[! ]*}"}" "$example"; then
        complain docs/style.md "$example has no line $line"
      fi
      ;;
  esac
done <docs/style.md

# Each operation is named in docs/operations.md, or in docs/differences.md if it has nothing to answer about.
for operation in $(grep -rhozP 'constinit const Operation [^;]*?"\K\w+' compat/operations | tr '\0' ' '); do
  grep -qw "$operation" docs/operations.md docs/differences.md ||
    complain docs/operations.md "$operation answers, and is not named"
done

# The bugs that `script/simulate --planted` plants fit the code that is here.
for planted in tests/simulation/planted/*.patch; do
  patch -s -f --dry-run -p1 <"$planted" >/dev/null 2>&1 || complain "$planted" "it no longer applies"
done

tests/unused_declarations.py || failures=$((failures + 1))

[ "$failures" -eq 0 ] && echo "includes, writes and clocks are where they belong, and documents name what is there"
exit "$failures"
