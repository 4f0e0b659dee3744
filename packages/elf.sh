# Shell functions for the packaging scripts, which source this file. `arch_of FILE` prints the architecture of an ELF file as uname does: x86_64 or aarch64.
arch_of() {
  case "$(head -c 20 "$1" | od -An -tx1 | tr -d ' \n')" in
    7f454c46*3e00) echo x86_64 ;;
    7f454c46*b700) echo aarch64 ;;
    *) echo "$1 is not an ELF file for Linux on x86-64 or arm64" >&2; return 1 ;;
  esac
}

# run PROGRAM [ARGUMENT...]: runs a program for either architecture. Uses qemu-user if the program is not for this machine.
run() {
  local arch
  arch=$(arch_of "$1")
  if [ "$arch" = "$(uname -m)" ]; then "$@"; else "qemu-$arch-static" "$@"; fi
}
