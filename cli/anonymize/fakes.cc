#include "cli/anonymize/fakes.h"

#include <array>
#include <iterator>
#include <utility>

#include "engine/base/hex.h"

namespace mayfly::transfer {
namespace {

constexpr std::pair<std::string_view, FakeKind> kinds[] = {
    {"name", FakeKind::name},           {"first_name", FakeKind::first_name},
    {"last_name", FakeKind::last_name}, {"email", FakeKind::email},
    {"phone", FakeKind::phone},         {"address", FakeKind::address},
    {"uuid", FakeKind::uuid},           {"ip", FakeKind::ip},
    {"text", FakeKind::text},           {"date", FakeKind::date},
    {"number", FakeKind::number}};

constexpr std::string_view first_names[] = {
    "Ada",    "Aino",  "Amal",   "Anton", "Beata",  "Bilal",  "Bruno", "Carla", "Cem",   "Chidi", "Dana",
    "Diego",  "Edith", "Elif",   "Emil",  "Farah",  "Felix",  "Freya", "Gita",  "Goran", "Hana",  "Henrik",
    "Ida",    "Igor",  "Ines",   "Jamal", "Jana",   "Jonas",  "Kaito", "Karin", "Kofi",  "Lara",  "Leon",
    "Linh",   "Luca",  "Magda",  "Malik", "Maria",  "Mateo",  "Mina",  "Nadia", "Nils",  "Noor",  "Olga",
    "Oskar",  "Paula", "Pedro",  "Petra", "Quinn",  "Rafael", "Rania", "Rosa",  "Samir", "Selma", "Simon",
    "Tamara", "Theo",  "Tomasz", "Uma",   "Viktor", "Vera",   "Yara",  "Yusuf", "Zoe"};
constexpr std::string_view last_names[] = {
    "Abbott",  "Adeyemi", "Almeida",  "Andersen", "Bakker",   "Baran",  "Becker", "Berg",
    "Bianchi", "Carter",  "Castillo", "Chen",     "Cohen",    "Costa",  "Dahl",   "Diallo",
    "Dubois",  "Eriksen", "Fischer",  "Flores",   "Fraser",   "Garcia", "Gruber", "Haas",
    "Hansen",  "Hoffman", "Horvat",   "Ito",      "Jansen",   "Jensen", "Kaya",   "Keller",
    "Khan",    "Kim",     "Kowal",    "Larsen",   "Lopez",    "Maier",  "Marino", "Mbeki",
    "Mendes",  "Moreau",  "Murphy",   "Nagy",     "Novak",    "Okafor", "Olsen",  "Park",
    "Petrov",  "Quispe",  "Reyes",    "Rossi",    "Sato",     "Schmid", "Silva",  "Singh",
    "Suzuki",  "Tanaka",  "Toth",     "Vargas",   "Virtanen", "Weber",  "Yilmaz", "Zimmer"};
constexpr std::string_view streets[] = {"Alder",  "Birch",  "Bridge", "Canal",   "Cedar",   "Chapel",
                                        "Church", "Elm",    "Garden", "Harbor",  "Hill",    "Lake",
                                        "Linden", "Maple",  "Mill",   "Oak",     "Orchard", "Quarry",
                                        "River",  "School", "Spring", "Station", "Vine",    "Willow"};
constexpr std::string_view cities[] = {
    "Ashford",  "Brookfield", "Clearwater", "Eastport", "Fairview", "Glenwood",  "Highbury",  "Kingsbridge",
    "Lakeside", "Millbrook",  "Northfield", "Oakdale",  "Riverton", "Southgate", "Westbrook", "Woodstock"};
constexpr std::string_view words[] = {
    "amber",   "anchor", "apple",  "autumn", "basket", "beacon", "blue",   "bottle",  "branch", "bread",
    "candle",  "cloud",  "copper", "corner", "dawn",   "desert", "door",   "early",   "ember",  "field",
    "fish",    "forest", "garden", "glass",  "grain",  "green",  "hammer", "harvest", "honey",  "island",
    "ivory",   "kettle", "lamp",   "leaf",   "letter", "light",  "marble", "meadow",  "mirror", "moon",
    "morning", "ocean",  "olive",  "paper",  "pebble", "pine",   "plain",  "quiet",   "rain",   "ribbon",
    "river",   "salt",   "shadow", "silver", "snow",   "stone",  "summer", "table",   "thread", "valley",
    "water",   "wheat",  "window", "winter"};

// An endless sequence of numbers derived from a value's hash.
class Draws {
 public:
  Draws(const KeyedHash& hash, std::string_view kind, std::string_view value)
      : hash_(hash), purpose_("fake " + std::string(kind)), value_(value) {}

  std::uint64_t next() {
    if (bytes_.size() < sizeof(std::uint64_t)) {
      bytes_ = hash_.bytes(purpose_ + " " + std::to_string(block_), value_);
      ++block_;
    }
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < sizeof number; ++i)
      number = number << 8 | static_cast<std::uint8_t>(bytes_[i]);
    bytes_.erase(0, sizeof number);
    return number;
  }
  std::int64_t within(std::int64_t least, std::int64_t most) {
    const std::uint64_t span = static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least) + 1;
    const std::uint64_t drawn = next();
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(least) + (span == 0 ? drawn : drawn % span));
  }
  template <std::size_t size>
  std::string_view one_of(const std::string_view (&list)[size]) {
    return list[next() % size];
  }
  // Returns 16 hexadecimal digits.
  std::string digits() {
    std::string text;
    for (std::uint64_t bits = next(), i = 0; i < 16; ++i, bits >>= 4) text += engine::hex_digits[bits & 15];
    return text;
  }

 private:
  const KeyedHash& hash_;
  const std::string purpose_, value_;
  std::string bytes_;
  int block_ = 0;
};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

std::string uuid(Draws& draws) {
  std::string text = draws.digits() + draws.digits();
  text[12] = '4';
  text[16] = "89ab"[draws.next() % 4];
  for (const std::size_t place : {8, 13, 18, 23}) text.insert(place, 1, '-');
  return text;
}

// Returns an address from a range that is reserved for private networks (IPv4) or documentation (IPv6).
std::string ip(Draws& draws, std::string_view value) {
  if (value.find(':') != std::string_view::npos) {
    std::string text = "2001:db8";
    const std::string digits = draws.digits() + draws.digits();
    for (std::size_t i = 0; i < 6; ++i) text += ":" + digits.substr(i * 4, 4);
    return text;
  }
  std::string text = "10";
  for (int i = 0; i < 3; ++i) text += "." + std::to_string(draws.within(i < 2 ? 0 : 1, 254));
  return text;
}

// Returns text with as many characters as `value`.
std::string prose(Draws& draws, std::string_view value) {
  std::size_t characters = 0;
  for (const char c : value) characters += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  std::string text;
  while (text.size() < characters) {
    if (!text.empty()) text += ' ';
    text += draws.one_of(words);
  }
  text.resize(characters);
  if (!text.empty() && text.back() == ' ') text.back() = '.';
  return text;
}

std::optional<std::string> date(Draws& draws, const Fake& fake, std::string_view value) {
  const std::string drawn = engine::iso8601(draws.within(fake.least, fake.most));
  constexpr std::size_t day_size = 10, second_size = 19;
  if (value.size() < day_size || value[4] != '-' || value[7] != '-') return std::nullopt;
  if (value.size() == day_size) return drawn.substr(0, day_size);
  if (value.find('.') != std::string_view::npos) return drawn;
  return drawn.substr(0, second_size) + "Z";
}

}  // namespace

std::optional<FakeKind> fake_kind_named(std::string_view name) {
  for (const auto& [known, kind] : kinds)
    if (known == name) return kind;
  return std::nullopt;
}

std::string_view name_of(FakeKind kind) { return kinds[static_cast<std::size_t>(kind)].first; }

std::optional<std::string> fake_text(const KeyedHash& hash, const Fake& fake, std::string_view value) {
  Draws draws(hash, name_of(fake.kind), value);
  const auto word = [&](const auto& list) { return std::string(draws.one_of(list)); };
  switch (fake.kind) {
    case FakeKind::name: {
      const std::string first = word(first_names);
      return first + " " + word(last_names);
    }
    case FakeKind::first_name: return word(first_names);
    case FakeKind::last_name: return word(last_names);
    case FakeKind::email: {
      const std::string first = lower(draws.one_of(first_names));
      const std::string last = lower(draws.one_of(last_names));
      return first + "." + last + "." + draws.digits() + "@example.com";
    }
    case FakeKind::phone:
      return "+1-" + std::to_string(draws.within(200, 999)) + "-555-01" +
             std::to_string(draws.within(100, 199)).substr(1);
    case FakeKind::address: {
      const std::string house = std::to_string(draws.within(1, 199));
      const std::string street = word(streets);
      const std::string code = std::to_string(draws.within(100000, 199999)).substr(1);
      return house + " " + street + " Street, " + code + " " + word(cities);
    }
    case FakeKind::uuid: return uuid(draws);
    case FakeKind::ip: return ip(draws, value);
    case FakeKind::text: return prose(draws, value);
    case FakeKind::date: return date(draws, fake, value);
    case FakeKind::number: return std::to_string(draws.within(fake.least, fake.most));
  }
  return std::nullopt;
}

std::optional<engine::Number> fake_number(const KeyedHash& hash, const Fake& fake,
                                          const engine::Number& value) {
  constexpr int digits_of_milliseconds = 12;  // a time in seconds has 12 digits only from the year 5138 on
  Draws draws(hash, name_of(fake.kind), value.to_string());
  if (fake.kind == FakeKind::number) return engine::Number(draws.within(fake.least, fake.most));
  if (fake.kind != FakeKind::date) return std::nullopt;
  const std::int64_t drawn = draws.within(fake.least, fake.most);
  const bool in_milliseconds = !value.is_zero() && value.magnitude() + 1 >= digits_of_milliseconds;
  return engine::Number(in_milliseconds ? drawn : drawn / 1000);
}

}  // namespace mayfly::transfer
