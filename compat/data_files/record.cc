#include "compat/data_files/record.h"

#include "compat/json/json.h"

namespace mayfly::compat::data_files {

Record unreadable(std::string what) {
  return Unexpected{BadRecord{.what = std::move(what), .ends_file = true}};
}

std::string error_line(std::string_view bucket, std::string_view import_arn, const BadRecord& bad) {
  std::string text;
  json::Writer out(text);
  out.begin_object();
  out.key("itemS3Pointer");
  out.begin_object();
  out.key("bucket");
  out.string(bucket);
  out.key("key");
  out.string(bad.file);
  out.key("itemIndex");
  out.integer(static_cast<std::int64_t>(bad.index));
  out.end_object();
  out.key("importArn");
  out.string(import_arn);
  out.key("errorMessages");
  out.begin_array();
  out.string(bad.what);
  out.end_array();
  out.end_object();
  return text;
}

}  // namespace mayfly::compat::data_files
