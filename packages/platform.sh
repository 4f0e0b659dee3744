# Shell functions for the packaging scripts, which source this file.

# platform_of FILE: prints the platform of a program: linux-x86_64, linux-arm64, macos-arm64, macos-x86_64 or windows-x86_64.
platform_of() {
  local begin offset
  begin=$(head -c 64 "$1" | od -An -v -tx1 | tr -d ' \n')
  case "$begin" in
    7f454c4602??????????????????????????3e00*) echo linux-x86_64; return ;;
    7f454c4602??????????????????????????b700*) echo linux-arm64; return ;;
    cffaedfe0c000001*) echo macos-arm64; return ;;
    cffaedfe07000001*) echo macos-x86_64; return ;;
    4d5a*)
      # The number at offset 60 is the offset of the PE header, which names the machine.
      offset=$((0x${begin:126:2}${begin:124:2}${begin:122:2}${begin:120:2}))
      case "$(od -An -v -tx1 -j "$offset" -N 6 "$1" 2>/dev/null | tr -d ' \n')" in
        504500006486) echo windows-x86_64; return ;;
      esac
      ;;
  esac
  echo "$1 is not a program for Linux (x86-64 or arm64), macOS (x86-64 or arm64) or Windows (x86-64)" >&2
  return 1
}

# this_platform: prints the platform of this machine if it runs Linux.
this_platform() {
  local machine
  machine=$(uname -m)
  [ "$machine" != aarch64 ] || machine=arm64
  echo "linux-$machine"
}

# run PROGRAM [ARGUMENT...]: runs a program for Linux. Uses qemu-user if the program is for the other architecture.
run() {
  local platform machine
  platform=$(platform_of "$1")
  [ "$platform" != "$(this_platform)" ] || { "$@"; return; }
  machine=${platform#linux-}
  [ "$machine" != arm64 ] || machine=aarch64
  "qemu-$machine-static" "$@"
}
