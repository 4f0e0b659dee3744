# Makes a source file of pages of the documentation, each packed by gzip, for compat/mcp/resources.h:
#
#   cmake -D OUTPUT=FILE -D PAGES="docs/control.md;docs/triggers.md" -P cmake/document_pages.cmake
set(arrays "")
set(table "")
foreach(page IN LISTS PAGES)
  cmake_path(GET page STEM name)
  file(STRINGS ${page} title LIMIT_COUNT 1)
  string(REGEX REPLACE "^# *" "" title "${title}")
  string(REPLACE "\"" "\\\"" title "${title}")
  set(packed "${OUTPUT}.${name}.gz")
  file(ARCHIVE_CREATE OUTPUT ${packed} PATHS ${page} FORMAT raw COMPRESSION GZip COMPRESSION_LEVEL 9)
  file(READ ${packed} bytes HEX)
  file(REMOVE ${packed})
  # Without the time at which it was packed: the same pages make the same program.
  string(SUBSTRING ${bytes} 0 8 head)
  string(SUBSTRING ${bytes} 16 -1 rest)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${head}00000000${rest}")
  string(APPEND arrays "constexpr unsigned char page_${name}[] = {\n${bytes}};\n")
  string(APPEND table "    {\"${name}\", \"${title}\", page_${name}},\n")
endforeach()
file(WRITE ${OUTPUT}
     "// Made by cmake/document_pages.cmake.\n#include \"compat/mcp/resources.h\"\n\nnamespace mayfly::compat::mcp {\nnamespace {\n\n"
     "${arrays}\nconstexpr DocumentPage pages[] = {\n${table}};\n\n}  // namespace\n\n"
     "std::span<const DocumentPage> document_pages() { return pages; }\n\n}  // namespace mayfly::compat::mcp\n")
