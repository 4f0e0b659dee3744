#include "compat/buckets/s3_xml.h"

#include <expat.h>
#include <functional>
#include <new>
#include <utility>

#include "compat/wire/percent_encoding.h"
#include "compat/wire/shown_text.h"
#include "engine/base/whole_number.h"

namespace mayfly::compat::buckets {
namespace {

constexpr std::size_t depth_max = 8, value_bytes_max = 8 * 1024;
// A page of a listing has about ten elements for each of its objects, so no valid page reaches this limit.
constexpr std::size_t elements_max = 32 * listed_max;
// Expat buffers a whole tag with all its attributes, so the length of a tag has a limit.
constexpr std::size_t tag_bytes_max = std::size_t{64} * 1024, fed_bytes = std::size_t{16} * 1024;
constexpr std::size_t error_bytes_max = 1024;

// At the end of each element, reports the element's path without namespaces ("ListBucketResult/Contents/Key")
// and the element's text.
class Reader {
 public:
  using Told = std::function<void(std::string_view path, std::string_view text)>;
  explicit Reader(Told told) : told_(std::move(told)), parser_(XML_ParserCreate(nullptr)) {
    if (parser_ == nullptr) throw std::bad_alloc();
    XML_SetUserData(parser_, this);
    XML_SetElementHandler(parser_, &begin, &end);
    XML_SetCharacterDataHandler(parser_, &text);
    XML_SetStartDoctypeDeclHandler(parser_, &doctype);
  }
  ~Reader() { XML_ParserFree(parser_); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // Returns false if the text is not XML, or is XML that S3 does not send.
  bool read(std::string_view xml) {
    for (std::size_t fed = 0;;) {
      const std::string_view piece = xml.substr(fed, fed_bytes);
      fed += piece.size();
      const bool whole = fed == xml.size();
      if (XML_Parse(parser_, piece.data(), static_cast<int>(piece.size()), whole) != XML_STATUS_OK)
        return false;
      if (whole) return true;
      if (fed - static_cast<std::size_t>(XML_GetCurrentByteIndex(parser_)) > tag_bytes_max) return false;
    }
  }
  void stop() { XML_StopParser(parser_, XML_FALSE); }

 private:
  static Reader& of(void* data) { return *static_cast<Reader*>(data); }
  static void doctype(void* data, const XML_Char*, const XML_Char*, const XML_Char*, int) { of(data).stop(); }
  static void begin(void* data, const XML_Char* name, const XML_Char**) {
    Reader& reader = of(data);
    if (reader.ends_.size() == depth_max || ++reader.elements_ > elements_max) return reader.stop();
    const std::string_view whole = name;
    reader.ends_.push_back(reader.path_.size());
    if (!reader.path_.empty()) reader.path_ += '/';
    reader.path_ += whole.substr(whole.find(':') + 1);  // npos + 1 is 0
    reader.text_.clear();
    if (reader.path_.size() > value_bytes_max) reader.stop();
  }
  static void end(void* data, const XML_Char*) {
    Reader& reader = of(data);
    reader.told_(reader.path_, reader.text_);
    reader.path_.resize(reader.ends_.back());
    reader.ends_.pop_back();
    reader.text_.clear();
  }
  static void text(void* data, const XML_Char* bytes, int count) {
    Reader& reader = of(data);
    reader.text_.append(bytes, static_cast<std::size_t>(count));
    if (reader.text_.size() > value_bytes_max) reader.stop();
  }

  const Told told_;
  const XML_Parser parser_;
  std::string path_, text_;
  std::size_t elements_ = 0;
  std::vector<std::size_t> ends_;  // lengths of the open elements' parent paths, outermost first
};

// Returns the text of one element.
std::optional<std::string> value_at(std::string_view xml, std::string_view wanted) {
  std::optional<std::string> value;
  Reader reader([&](std::string_view path, std::string_view text) {
    if (path == wanted) value = text;
  });
  return reader.read(xml) ? value : std::nullopt;
}

}  // namespace

std::optional<Listing> read_listing(std::string_view xml) {
  Listing listing;
  Object object;
  std::string token;
  bool encoded = false, truncated = false, is_listing = false, is_whole = true;
  Reader reader([&](std::string_view path, std::string_view text) {
    if (path == "ListBucketResult") is_listing = true;
    if (path == "ListBucketResult/EncodingType") encoded = text == "url";
    if (path == "ListBucketResult/IsTruncated") truncated = text == "true";
    if (path == "ListBucketResult/NextContinuationToken") token = text;
    if (path == "ListBucketResult/Contents/Key") object.key = text;
    if (path == "ListBucketResult/Contents/Size") {
      const auto bytes = engine::whole_number<std::uint64_t>(text);
      is_whole = is_whole && bytes;
      object.bytes = bytes.value_or(0);
    }
    if (path != "ListBucketResult/Contents") return;
    if (listing.objects.size() == listed_max) return reader.stop();
    listing.objects.push_back(std::exchange(object, {}));
  });
  if (!reader.read(xml) || !is_listing || !is_whole) return std::nullopt;
  // A truncated page without a token would restart the listing.
  if (truncated && token.empty()) return std::nullopt;
  if (truncated) listing.next_token = std::move(token);
  for (Object& listed : listing.objects) {
    if (encoded) listed.key = decode_query(listed.key);
    if (listed.key.empty() || listed.key.size() > key_bytes_max) return std::nullopt;
  }
  return listing;
}

std::optional<Failure> read_error(std::string_view xml) {
  Failure failure;
  Reader reader([&](std::string_view path, std::string_view text) {
    if (path == "Error/Code") failure.code = shown_text(text, error_bytes_max);
    if (path == "Error/Message") failure.message = shown_text(text, error_bytes_max);
    if (path == "Error/RequestId") failure.request_id = shown_text(text, error_bytes_max);
    if (path == "Error/HostId") failure.extended_request_id = shown_text(text, error_bytes_max);
  });
  if (!reader.read(xml) || failure.code.empty()) return std::nullopt;
  return failure;
}

std::optional<std::string> read_upload_id(std::string_view xml) {
  return value_at(xml, "InitiateMultipartUploadResult/UploadId");
}

std::optional<std::string> read_etag(std::string_view xml) {
  const auto etag = value_at(xml, "CompleteMultipartUploadResult/ETag");
  return etag ? std::optional(bare_etag(*etag)) : std::nullopt;
}

std::string completion(const std::vector<std::string>& etags) {
  std::string xml = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
  for (std::size_t i = 0; i < etags.size(); ++i) {
    // The endpoint chooses the ETag, so characters that could form XML markup are removed.
    std::string plain;
    for (const char c : bare_etag(etags[i]))
      if (c > ' ' && c < 0x7f && c != '<' && c != '&' && c != '"') plain += c;
    xml += "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>&quot;" + plain +
           "&quot;</ETag></Part>";
  }
  return xml + "</CompleteMultipartUpload>";
}

std::string bare_etag(std::string_view etag) {
  if (etag.size() >= 2 && etag.starts_with('"') && etag.ends_with('"'))
    etag = etag.substr(1, etag.size() - 2);
  return std::string(etag);
}

}  // namespace mayfly::compat::buckets
