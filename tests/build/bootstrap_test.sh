#!/usr/bin/env bash
# Tests script/bootstrap. Without apt-get, script/bootstrap fails with one sentence that contains the system's install
# command, even on bash 3.2. With apt-get, it installs the first alternative that the distribution has. apt and dpkg are fakes
# here.
set -euo pipefail
unset CDPATH
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fails() { printf 'bootstrap_test: %s\n' "$*" >&2; failures=1; }

mkdir -p "$work"/{bin,apt,tree/script}
cp "$root/script/bootstrap" "$work/tree/script/"
for program in bash cat chmod dirname env id mktemp paste rm sed sudo tail tr uname; do
  found=$(command -v "$program") && ln -s "$found" "$work/bin/$program" || true
done

# --- Systems without apt-get

# sentence OS_RELEASE EXPECTED PURPOSE...
sentence() {
  local release=$1 expected=$2 status=0 said
  shift 2
  printf '%b' "$release" >"$work/os-release"
  said=$(PATH=$work/bin MAYFLY_OS_RELEASE=$work/os-release "$work/tree/script/bootstrap" "$@" 2>&1) || status=$?
  [ "$status" = 1 ] || fails "$release: ended with $status"
  [[ $said = "script/bootstrap: "*"$expected"* ]] || fails "$release: said '$said', which lacks '$expected'"
  [ "$(wc -l <<<"$said")" = 1 ] || fails "$release: said more than one line: $said"
}
sentence 'ID=fedora\n' "on Fedora, install what Mayfly needs with 'sudo dnf install gcc-c++ cmake "
sentence 'ID="rocky"\nID_LIKE="rhel centos fedora"\n' "sudo dnf install "
sentence 'ID=arch\n' "on Arch Linux, install what Mayfly needs with 'sudo pacman -S --needed base-devel cmake "
sentence 'ID=manjaro\nID_LIKE=arch\n' "sudo pacman -S "
sentence 'ID=alpine\n' "on Alpine Linux, install what Mayfly needs with 'sudo apk add g++ cmake "
sentence 'ID=arch\n' "-DMAYFLY_BUILD_TESTS=OFF && cmake --build --preset release'."
sentence 'ID=fedora\n' "-DMAYFLY_SHARED_DEPENDENCIES=ON && cmake --build --preset release'." test
sentence 'ID=fedora\n' " catch-devel " test
sentence 'ID=nixos\n' "this system has no apt-get; run the script in a debian:13 container"
sentence '' "this system has no apt-get"

# With CDPATH set, the script does not change to another directory. It would fail there, because the directory of CDPATH has
# no package lists.
mkdir -p "$work/elsewhere/script" "$work/installed-all"
cat >"$work/installed-all/apt-get" <<'EOF'
#!/bin/sh
exit 1
EOF
printf '#!/bin/sh\necho installed 9\n' >"$work/installed-all/dpkg-query"
printf '#!/bin/sh\nexit 0\n' >"$work/installed-all/dpkg"
chmod +x "$work"/installed-all/*
mkdir "$work/tree/script/apt"
echo tool >"$work/tree/script/apt/program.txt"
(cd "$work/tree" && PATH=$work/installed-all:$PATH CDPATH=$work/elsewhere script/bootstrap) || fails "with CDPATH, script/bootstrap leaves its tree"
for script in "$root"/script/* "$root"/packages/*/package; do
  [ -f "$script" ] || continue
  first=$(grep -n 'cd "\$(dirname\|^unset CDPATH' "$script" | head -n 1 || true)
  [ -z "$first" ] || [[ $first = *"unset CDPATH"* ]] || fails "$script changes its directory before it unsets CDPATH"
done
rm "$work/bin/uname"
printf '#!/bin/sh\necho Darwin\n' >"$work/bin/uname"
chmod +x "$work/bin/uname"
sentence 'ID=debian\n' "on macOS, install what Mayfly needs with 'brew install llvm cmake "

# macOS has bash 3.2. Code that runs before a script calls script/bootstrap, or before script/bootstrap prints its sentence,
# must not use constructs of later versions. In bash 3.2 an empty array is an unset variable.
early() { sed '/^# --- Debian and Ubuntu$/,$d; /script\/bootstrap"* .*>&2\|^script\/bootstrap "/,$d; s/^ *#.*//' "$root/script/$1"; }
for script in bootstrap server test; do
  later='mapfile|readarray|declare -[Ag]|local -n|\$\{[A-Za-z_]+(,,?|\^\^?|@[A-Za-z])\}|\|&|&>>|;&|coproc|\[\[ -v |\$\{[a-z_]+\[-1\]\}|printf -v [a-z]+\[|EPOCH|wait -n|%\(.*\)T'
  found=$(early "$script" | grep -nE "$later" || true)
  [ -z "$found" ] || fails "script/$script uses what bash 3.2 lacks: $found"
  bash -n "$root/script/$script" || fails "bash -n script/$script"
done

# --- Alternatives

ln -sf "$(command -v uname)" "$work/bin/uname"
printf 'tool\nlibnew1-dev | libnew-dev (>= 1.81) # a comment\n\nextra |\n' >"$work/tree/script/apt/program.txt"
cat >"$work/apt/dpkg-query" <<'EOF'
#!/bin/sh
for package; do :; done
sed -n "s/^$package //p" "$STATE/installed" | grep . || exit 1
EOF
cat >"$work/apt/apt-cache" <<'EOF'
#!/bin/sh
version=$(sed -n "s/^$2 //p" "$STATE/archive")
printf '%s:\n  Installed: (none)\n  Candidate: %s\n' "$2" "${version:-(none)}"
EOF
cat >"$work/apt/apt-get" <<'EOF'
#!/bin/sh
case " $* " in
  *" update "*) echo updated >>"$STATE/did"; [ ! -f "$STATE/fresh" ] || cat "$STATE/fresh" >"$STATE/archive" ;;
  *" --simulate "*) cat "$STATE/plan" 2>/dev/null ;;
  *) for word; do case $word in -* | install | Dpkg::*) ;; *) printf '%s ' "$word" ;; esac; done >>"$STATE/did" ;;
esac
exit 0
EOF
chmod +x "$work"/apt/*

# bootstrap: prints the actions of the fakes and leaves the messages in $work/said. The fake sudo only runs the command.
printf '#!/bin/sh\n[ "$1" != -n ] || shift\nexec "$@"\n' >"$work/apt/sudo"
chmod +x "$work/apt/sudo"
bootstrap() {
  : >"$work/did"
  STATE=$work PATH=$work/apt:$PATH "$work/tree/script/bootstrap" 2>"$work/said" || echo "status $?"
  cat "$work/did"
}
expect() { [ "$2" = "$3" ] || fails "$1: did '$2', not '$3'; said '$(cat "$work/said")'"; }

if command -v dpkg >/dev/null; then
  : >"$work/installed"
  printf 'tool 1\nlibnew-dev 1.83.0.1\nextra 2\n' >"$work/archive"
  expect "the second alternative is recent enough" "$(bootstrap)" "tool libnew-dev extra "
  printf 'tool 1\nlibnew1-dev 1.81\nlibnew-dev 1.74\nextra 2\n' >"$work/archive"
  expect "the first alternative is preferred" "$(bootstrap)" "tool libnew1-dev extra "
  printf 'tool installed 1\nlibnew-dev installed 1.83\nextra installed 1\n' >"$work/installed"
  expect "an installed alternative is enough" "$(bootstrap)" ""
  printf 'tool installed 1\nlibnew-dev installed 1.74\nextra installed 1\n' >"$work/installed"
  expect "an installed alternative that is too old is not enough" "$(bootstrap)" "libnew1-dev "
  printf 'tool installed 1\nlibnew1-dev installed 1.81\n' >"$work/installed"
  : >"$work/archive"
  expect "an optional package that is not available is skipped" "$(bootstrap)" "updated"
  [[ $(cat "$work/said") = *"(tests that need it are skipped): extra"* ]] || fails "optional: said '$(cat "$work/said")'"
  : >"$work/installed"
  expect "a required package that is not available is an error" "$(bootstrap)" $'status 1\nupdated'
  [[ $(cat "$work/said") = *"this release has no package tool libnew1-dev | libnew-dev (>= 1.81); use Debian 12, Ubuntu 24.04 or later"* ]] ||
    fails "required: said '$(cat "$work/said")'"
  printf 'tool 1\nlibnew1-dev 1.81\nextra 1\n' >"$work/fresh"
  expect "empty package lists are updated first" "$(bootstrap)" $'updated\ntool libnew1-dev extra '
  echo 'Remv mine [1]' >"$work/plan"
  expect "no package is removed" "$(bootstrap)" "status 1"
  [[ $(cat "$work/said") = *"would remove these installed packages: mine"* ]] || fails "removed: said '$(cat "$work/said")'"
fi

exit "$failures"
