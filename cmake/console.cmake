# The console's files, packed by gzip, as a table in C++ (http/console.h):
#   cmake -D OUTPUT=console_files.cc -D "FILES=http/console/index.html;…" -P console.cmake
# CMake packs them itself, so building needs no other program. The time that gzip writes down is taken out again: the
# same files make the same program.
cmake_minimum_required(VERSION 3.21)
set(type_html "text/html")
set(type_css "text/css")
set(type_js "text/javascript")
set(type_svg "image/svg+xml")
set(rows "")
foreach(file IN LISTS FILES)
  cmake_path(GET file FILENAME name)
  string(REGEX REPLACE ".*[.]" "" extension ${name})
  if(NOT type_${extension})
    message(FATAL_ERROR "cmake/console.cmake knows no type of ${file}")
  endif()
  file(ARCHIVE_CREATE OUTPUT ${OUTPUT}.gz PATHS ${file} FORMAT raw COMPRESSION GZip COMPRESSION_LEVEL 9)
  file(READ ${OUTPUT}.gz bytes HEX)
  file(REMOVE ${OUTPUT}.gz)
  string(SUBSTRING ${bytes} 0 8 head)
  string(SUBSTRING ${bytes} 16 -1 rest)  # behind the time
  set(bytes "${head}00000000${rest}")
  string(LENGTH ${bytes} size)
  math(EXPR size "${size} / 2")
  string(REGEX REPLACE "(..)" "\\\\x\\1" bytes ${bytes})
  string(REPEAT "...." 28 line)
  string(REGEX REPLACE "(${line})" "\\1\"\n     \"" bytes ${bytes})
  string(APPEND rows "    {\"${name}\", \"${type_${extension}}\" UTF8, {\n     \"${bytes}\",\n     ${size}}},\n")
endforeach()
file(WRITE ${OUTPUT} "// Made by cmake/console.cmake of http/console/.
#include \"http/console.h\"

#define UTF8 \"; charset=utf-8\"

namespace mayfly::http {
namespace {
constexpr ConsoleFile files[] = {
${rows}};
}  // namespace

const ConsoleFile* find_console_file(std::string_view name) {
  for (const ConsoleFile& file : files)
    if (file.name == name) return &file;
  return nullptr;
}

}  // namespace mayfly::http
")
