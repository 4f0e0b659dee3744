# Sourced: which machine an ELF program is for, as uname says it. `arch_of FILE` prints x86_64 or aarch64.
arch_of() {
  case "$(head -c 20 "$1" | od -An -tx1 | tr -d ' \n')" in
    7f454c46*3e00) echo x86_64 ;;
    7f454c46*b700) echo aarch64 ;;
    *) echo "$1 is no program for Linux on x86-64 or arm64" >&2; return 1 ;;
  esac
}

# Runs a program of either machine here: another's by qemu-user.
run() {
  local arch
  arch=$(arch_of "$1")
  if [ "$arch" = "$(uname -m)" ]; then "$@"; else "qemu-$arch-static" "$@"; fi
}
