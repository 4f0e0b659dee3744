#!/usr/bin/env bash
# Checks the rules of docs/architecture.md that a compiler does not check:
# - Layers and their rooms include each other in one direction, and each large library is included in only a few files.
# - There is one write path, one place that appends change records, and one clock (the second and fifth invariants).
# - The files, functions and tests that documents name exist, and the documents' links resolve.
# - Everything that is declared is used.
set -euo pipefail
unset CDPATH
cd "$(dirname "$0")/.."

failures=0

# only_in <rule> <pattern> <files that may match> <paths to search>...
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

included_in "os includes no layer above it" '(engine|compat|http|cli|embed|mayfly)/' "$nowhere" os
included_in "only os includes headers of the operating system" \
        '((unistd|fcntl|poll|dirent|signal|csignal|pthread|malloc|link|dlfcn|netdb|spawn|termios|pwd|sched|execinfo|io|windows|winsock2|ws2tcpip)([.]h)?[>"]|(sys|arpa|netinet|linux|mach)/)' \
        'embed/shared_library[.]cc' engine compat http cli embed include
included_in "only os includes its inner parts" 'os/(posix|windows)/' "$nowhere" engine compat http cli embed include bench tests
only_in "only os tells platforms apart" '^[[:space:]]*#[[:space:]]*(el)?if.*(_WIN32|__APPLE__|__linux__|__GLIBC__|__unix__|__MINGW)' "$nowhere" \
        engine compat http cli embed include
included_in "engine includes no layer above it" '(compat|http|cli|embed|mayfly)/' "$nowhere" engine
included_in "compat includes no layer above it" '(http|cli|embed|mayfly)/' "$nowhere" compat
included_in "only the engine includes its inner parts" 'engine/(storage/(storage|key_space)|tables/(committer|lock_table)|items/write_stages)[.]h' "$nowhere" \
            compat http cli embed include
included_in "only calls, control and mcp, among the rooms of compat, include its top level" 'compat/(dispatch|emulator|faults)[.]h' \
            'compat/((calls|control|mcp)/[a-z_]+|[a-z]+)[.](h|cc)' compat
included_in "http includes no layer above it" '(cli|embed|mayfly)/' "$nowhere" http
included_in "only engine/storage/storage, storage_files and storage_jobs include RocksDB" 'rocksdb/' \
        'engine/storage/storage((_files)?[.]cc|_jobs[.]h)' os engine compat http cli embed include
included_in "only tests and benchmarks use Boost.JSON" 'boost/json' "$nowhere" os engine compat http cli embed include
included_in "nlohmann's JSON is for JSON that people read and write: control calls, stored settings, commands" 'nlohmann/' \
        '(compat/json/json_tree[.](h|cc)|compat/(control|calls)/[a-z_]+[.]cc|compat/mcp/[a-z_]+[.](h|cc)|compat/wire/plain_values[.]cc|compat/(backups/backup|jobs/job|exports/export_request|kinesis/destinations)[.]cc|compat/lambda/(functions|event_source_mapping)[.]cc|compat/triggers/rest[.]cc|cli/(calls|functions|options|views)/[a-z_]+[.]cc|cli/(schemas|aws|sweep|transfer|anonymize|table_files)/[a-z_]+[.](h|cc)|embed/(mayfly|mayfly_c|options_json)[.]cc)' \
        os engine compat http cli embed include
included_in "only the connection files include Asio and Beast" 'boost/(asio|beast)' \
        'http/(connections/(session|server)|requests/request_parser|access/access|endpoints/text_page|outbound/(client|invoker|name_lookup)|functions/(local_port|sandbox|functions)|base/tls)[.](h|cc)' os engine compat http cli embed include
included_in "only the hashing and TLS files include OpenSSL" 'openssl/' \
        '(http/(base/(sha256|tls)|outbound/client)|compat/wire/md5)[.]cc' os engine compat http cli embed include
included_in "only http/outbound/name_lookup.cc includes c-ares" 'ares[.]h' 'http/outbound/name_lookup[.]cc' os engine compat http cli embed include
included_in "only compat/buckets/s3_xml.cc includes Expat" 'expat[.]h' 'compat/buckets/s3_xml[.]cc' os engine compat http cli embed include
included_in "only the compression files include zlib and Zstandard" '(zlib|zstd)[.]h' \
        '(http/requests/compression|compat/data_files/compression)[.]cc' os engine compat http cli embed include
included_in "only http/base/crc32.cc and cli/deployment/unzip.cc include libdeflate" 'libdeflate[.]h' '(http/base/crc32|cli/deployment/unzip)[.]cc' os engine compat http cli embed include
included_in "only the option files of cli include CLI11" 'CLI/' 'cli/options/(option_text[.]h|(options|option_text|control_options|function_options|item_options|aws_options|sweep_options|transfer_options|help_files|completion)[.]cc)' os engine compat http cli embed include
included_in "only cli/schemas/yaml.cc includes libyaml" 'yaml[.]h' 'cli/schemas/yaml[.]cc' os engine compat http cli embed include
included_in "mayfly.h includes only the standard library" '[^>]*[/.]' 'include/mayfly/mayfly_c[.]h' include
included_in "mayfly_c.h includes only stddef.h and stdint.h" '([^s]|s[^t]|std[^di]|[^>]*/)' "$nowhere" include/mayfly/mayfly_c.h

# Checks that the rooms of each layer include only the rooms that they may, without cycles, and that no folder is crowded.
tests/rooms_test.py || failures=$((failures + 1))

only_in "only engine/items/transaction writes items, and only engine/background/history_trimmer deletes their old versions" \
        '[.]commit[(].*staged|committer_?[.]commit[(]' 'engine/(items/transaction|background/history_trimmer)[.]cc' os engine compat http cli embed
only_in "only engine/items/write_stages puts an item's bytes into a batch" 'batch[.](put|erase)[(].*item_key[(]|encode_record[(]' \
        'engine/(items/write_stages[.]cc|tables/change_log[.](h|cc))' engine
only_in "only engine/tables/committer appends change records" '(put|append)[(]record_key[(]' \
        'engine/tables/committer[.]cc' engine
# engine/storage/storage has a second thread only while it waits for RocksDB to resume.
only_in "background work is a scheduler's task, not a thread" 'std::j?thread[ >({]' \
        '(os/(posix/signals|windows/terminal)|engine/(base/scheduler|storage/storage)|cli/base/(deadline|workers)|cli/sweep/(process|sweep_command)|cli/transfer/transfer|http/[a-z_]+/[a-z_]+)[.](h|cc)' os engine compat http cli embed include
only_in "engine/base/attempt catches what a unit of work throws; other files catch only on opening or to pass the error on" \
        'catch [(](const )?(engine::)?(std::exception|StorageFault|std::bad_alloc|[.][.][.])' \
        '(engine/(base/attempt[.]h|tables/committer[.]cc|database[.]cc)|compat/emulator[.]cc|embed/mayfly_c[.]cc)' os engine compat http cli embed
only_in "thread-local variables use THREAD_LOCAL, so that they work in the shared library" '(^|[^_a-z])thread_local($|[^._a-z])' \
        'engine/base/thread_local[.]h' os engine compat http embed
# Until C++23 the temporary shared pointer is destroyed before the first iteration.
only_in "no range-based for loop iterates over a member of an object that only a returned shared pointer holds" \
        '[^_a-z]for [(][^;]* : [^;()]*(description|mapping|present|share|share_stream|kept)[(][a-z_]*[)]->[a-z_>-]*[)]' \
        "$nowhere" os engine compat http cli embed include tests
only_in "assertions are checks (engine/base/check.h), which are enabled in every build" '[^_a-z]assert[(]|<cassert>|assert[.]h' \
        '(include/mayfly/mayfly|tests/.*)[.](h|cc)' os engine compat http cli embed include
only_in "only engine/values has debug checks, because test programs link only this room with them" 'MAYFLY_DEBUG_CHECK[(]' \
        'engine/(values/[a-z_]+[.](h|cc)|base/check[.]h)' os engine compat http cli embed include
only_in "only engine/base/clock reads the system time" \
        '(system|steady|high_resolution|utc)_clock::now|clock_gettime|gettimeofday|[^_a-z]time[(](nullptr|NULL|0)[)]' \
        '(engine/base/clock|os/posix/event)[.]cc' os engine compat http cli embed include
only_in "only engine/base/random produces random numbers, except for http's own ids and glibc functions in the shared library" \
        'random_device|getrandom|getentropy|arc4random|[^_a-z]s?rand[(]' \
        '(engine/base/random|http/(requests/reply|outbound/name_lookup)|embed/shared_library)[.]cc' os engine compat http cli embed include

# report <rule> <violations>: fails if there are violations.
report() {
  [ -n "${2//$'\n'/}" ] || return 0
  printf 'broken: %s\n%s\n' "$1" "$2"
  failures=$((failures + 1))
}
sources_of=(--include='*.h' --include='*.cc' --exclude-dir=sdk --exclude-dir=build)
report "files of the tree are included by their path from the root" \
       "$(grep -rnE "${sources_of[@]}" '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' os engine compat http cli embed tests bench |
          grep -vE '"(os|engine|compat|http|cli|embed|mayfly|tests|bench)/' || true)"
report "tests and their support code are in namespace mayfly::testing" \
       "$(grep -rLE "${sources_of[@]}" '^namespace mayfly::testing [{]$' tests | grep -vx tests/support/main.cc || true)
$(grep -rnE "${sources_of[@]}" '^namespace [a-z_]+(::[a-z_]+)* [{]' tests | grep -v ':namespace mayfly::testing [{]$' || true)"

# --- names in the documents

complain() {  # <document> <problem>
  printf 'broken: %s: %s\n' "$1" "$2"
  failures=$((failures + 1))
}

# Words that look like paths of the tree. `engine/base/clock` can mean engine/base/clock.h, and `tests/scripts/*/` is a pattern.
paths_in() {
  grep -oP '(?<![\w./-])(os|engine|compat|http|cli|embed|include|tests|bench|script|docs|cmake)/[\w./*-]*' "$1" |
    sed 's/[.]*$//' | sort -u || true
}
is_there() { compgen -G "$1" >/dev/null || compgen -G "$1.h" >/dev/null || compgen -G "$1.cc" >/dev/null; }

# `Class::member` and `function()`, only in running text: code blocks show users' programs.
names_in() {
  awk '/^```/ { block = !block } !block && !/^    /' "$1" | grep -oP '`\K[^`]+(?=`)' |
    grep -oP '^((\w+::)+~?\w+|\w+\(\))' | sort -u || true
}
sources=$(find os engine compat http cli embed include tests bench -name '*.h' -o -name '*.cc')
sources+=" CMakeLists.txt $(find tests/sdk -name '*_test.*' -not -path '*/node_modules/*')"
code=$(mktemp)
trap 'rm -f "$code"' EXIT
# Comments are removed, because a name that occurs only in a comment no longer exists.
sed -e 's,//.*,,' $sources >"$code"
is_named() {
  local name=$1 member=${1##*::} scope=${1%::*} file
  case "$name" in
    std::*) return 0 ;;
    *"()") grep -qE "\b${name%??}[(]" "$code" ; return ;;
  esac
  ! grep -qE "\b$name\b" "$code" || return 0
  # The member is declared in its class, and no code qualifies it with the class name.
  for file in $(grep -lE "\b(class|struct) ${scope##*::}\b.*[{]" $sources); do
    # Not a pipe: grep exits at the first match, and under pipefail sed's SIGPIPE would count as a failure.
    ! grep -qE "\b$member\b" <(sed 's,//.*,,' "$file") || return 0
  done
  return 1
}

for document in README.md SECURITY.md CONTRIBUTING.md bench/README.md docs/*.md docs/{decisions,how-to,tutorial}/*.md; do
  [ -f "$document" ] || continue
  for path in $(paths_in "$document"); do is_there "$path" || complain "$document" "$path does not exist"; done
  for name in $(names_in "$document"); do is_named "$name" || complain "$document" "$name does not exist"; done
done

# Every test that docs/architecture.md names exists under exactly that name and has the tag [holds]. In C++ a name can span
# lines.
tests_named=$(cat tests/*/*.cc tests/*/*/*.cc | tr '\n' ' ' | sed 's/" *"//g')
report "no test's name begins with a dash, which Catch2 would read as an option" \
       "$(grep -oP 'TEST_CASE\(\s*"-[^"]*' <<<"$tests_named" || true)"
while IFS= read -r name; do
  [[ "$tests_named" == *"TEST_CASE("*"$name"* ]] || complain docs/architecture.md "test $name does not exist"
  grep -qP "\Q$name\E[^)]*\[holds\]" <<<"$tests_named" || complain docs/architecture.md "$name has no tag [holds]"
done < <(grep -oP '^ *- \K"[^"]+"' docs/architecture.md)
while IFS= read -r name; do
  [[ "$tests_named" == *"TEST_CASE("*"$name"* ]] || complain "docs/promises.md or SECURITY.md" "test $name does not exist"
done < <(awk -F '|' '/^[|]/ { print $(NF - 1) }' docs/promises.md SECURITY.md | grep -oP '"[^"]+"')

# The files have the lines that docs/style.md shows. The first line of a code block names the file.
example=
while IFS= read -r line; do
  case "$line" in
    '```'?*) example=next ;;
    '```') [ "$example" ] && example= || example=next ;;
    *)
      if [ "$example" = next ]; then
        example=${line#* }
        [ -f "$example" ] || { complain docs/style.md "$example does not exist" && example=/dev/null; }
      elif [ "$example" ] && ! grep -qF -e "${line#"${line%%[! ]*}"}" "$example"; then
        complain docs/style.md "$example has no line $line"
      fi
      ;;
  esac
done <docs/style.md

# docs/operations.md lists every operation in compat/operations, except those that belong to a feature that Mayfly lacks.
# docs/differences.md lists the exceptions.
for operation in $(grep -rhozP 'constinit const Operation [^;]*?"\K\w+' compat/operations | tr '\0' ' '); do
  grep -qw "$operation" docs/operations.md docs/differences.md ||
    complain docs/operations.md "operation $operation is supported but not listed"
done

# The patches of `script/simulate --planted` apply to the current code.
for planted in tests/simulation/planted/*.patch; do
  patch -s -f --dry-run -p1 <"$planted" >/dev/null 2>&1 || complain "$planted" "it no longer applies"
done

tests/unused_declarations.py || failures=$((failures + 1))

# Links in documents resolve, and every page of docs/ is linked.
tests/links_test.py || failures=$((failures + 1))

[ "$failures" -eq 0 ] && echo "the layering rules hold, and everything that documents name exists"
exit "$failures"
