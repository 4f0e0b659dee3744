#!/usr/bin/env bash
# script/install creates files that every user can read and only the owner can write, regardless of the umask. It follows no
# links.
set -euo pipefail
unset CDPATH
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fails() { printf 'install_script_test: %s\n' "$*" >&2; failures=$((failures + 1)); }

# A tree with fake bootstrap and build scripts.
tree="$work/a tree"
mkdir -p "$tree"/{script,build/release}
cp "$root/script/install" "$tree/script/"
printf '#!/bin/sh\n' | tee "$tree/script/bootstrap" >"$tree/script/build"
printf '#!/bin/sh\necho "$*"\n' >"$tree/build/release/mayfly"
chmod +x "$tree"/script/* "$tree/build/release/mayfly"

installed=(bin/mayfly share/man/man1/mayfly.1 share/bash-completion/completions/mayfly share/zsh/site-functions/_mayfly
           share/fish/vendor_completions.d/mayfly.fish)

for mask in 000 022 077; do
  prefix="$work/prefix $mask"
  (umask "$mask" && "$tree/script/install" --prefix "$prefix" >"$work/said" 2>&1) || fails "umask $mask: $(cat "$work/said")"
  wrong=$(find "$prefix" -mindepth 1 \( -perm /022 -o ! -perm -044 \) -printf '%m %P\n')
  [ -z "$wrong" ] || fails "umask $mask left: $wrong"
  [ "$(find "$prefix" -type f | wc -l)" = "${#installed[@]}" ] || fails "umask $mask left $(find "$prefix" -type f)"
  [ -x "$prefix/bin/mayfly" ] || fails "umask $mask: the program is not executable"
done

echo private >"$work/private"
prefix=$work/linked
for name in "${installed[@]}" bin/mayfly.new; do
  mkdir -p "$prefix/$(dirname "$name")"
  ln -s "$work/private" "$prefix/$name"
done
"$tree/script/install" --prefix "$prefix" >/dev/null 2>&1 || fails "cannot install over links"
[ "$(cat "$work/private")" = private ] || fails "wrote through a link"
[ "$(cat "$prefix/share/man/man1/mayfly.1")" = manual ] || fails "did not replace a link"

# Without HOME only root has a default prefix, /usr/local.
if [ "$(id -u)" -ne 0 ]; then
  said=$(env -u HOME "$tree/script/install" 2>&1) && fails "installed without HOME"
  [[ $said = *"HOME is not set"*"--prefix"* ]] || fails "without HOME it printed: $said"
else
  said=$(env -u HOME "$tree/script/install" --prefix "$work/homeless" 2>&1) || fails "without HOME it printed: $said"
fi

# Other users cannot change build files.
for script in build dependencies source zig sysroot bench cost fuzz lint nightly simulate; do
  mask=$(umask 000 && eval "$(grep '^umask ' "$root/script/$script")" && umask)
  [ "$((8#$mask & 8#022))" = "$((8#022))" ] || fails "script/$script lets other users write build files"
  mask=$(umask 077 && eval "$(grep '^umask ' "$root/script/$script")" && umask)
  [ "$mask" = 0077 ] || fails "script/$script widens the umask"
done

[ "$failures" = 0 ]
