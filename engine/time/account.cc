#include "engine/time/account.h"

#include <cmath>

#include "engine/storage/key_space.h"
#include "engine/storage/storage.h"

namespace mayfly::engine {
namespace {

constexpr std::size_t anchor_bytes = 1 + sizeof(double) + 2 * sizeof(Instant);

std::string account_key(std::string_view id) { return std::string("C").append(id); }

AccountClock::Anchor anchor_in(std::string_view bytes) {
  return {{static_cast<ClockSetting::Mode>(bytes[0]), read_little_endian<double>(bytes.substr(1))},
          read_little_endian<Instant>(bytes.substr(1 + sizeof(double))),
          read_little_endian<Instant>(bytes.substr(1 + sizeof(double) + sizeof(Instant)))};
}

std::string bytes_of(const AccountClock::Anchor& anchor) {
  std::string bytes(1, static_cast<char>(anchor.setting.mode));
  append_little_endian(bytes, anchor.setting.rate);
  append_little_endian(bytes, anchor.host);
  append_little_endian(bytes, anchor.here);
  return bytes;
}

}  // namespace

Instant Account::stream_time_of(Instant instant) const {
  const Lock lock(mutex_);
  return stream_time_.of(instant);
}

Instant Account::instant_of_stream_time(Instant stream_time) const {
  const Lock lock(mutex_);
  return stream_time_.instant_of(stream_time);
}

void Account::jumped(Instant from, Instant to) {
  const Lock lock(mutex_);
  stream_time_.jump(from, to);
}

Account::Timeline Account::timeline() const {
  const Lock lock(mutex_);
  return timeline_;
}

void Account::forget_jumps_before(Instant instant, Timeline timeline) {
  const Lock lock(mutex_);
  if (timeline == timeline_) stream_time_.forget_before(instant);
}

ImageKeeper Account::image_keeper() const {
  const Lock lock(mutex_);
  return image_keeper_;
}

void Account::keep_images(ImageKeeper keeper) {
  const Lock lock(mutex_);
  image_keeper_ = keeper;
}

std::string Account::bytes() const { return bytes_at(clock_.anchor(), std::nullopt); }

std::string Account::bytes_at(const AccountClock::Anchor& anchor, std::optional<Instant> jumped_from) const {
  std::string bytes = bytes_of(anchor);
  const Lock lock(mutex_);
  StreamTime stream_time = stream_time_;
  if (jumped_from) stream_time.jump(*jumped_from, anchor.here);
  stream_time.append_to(bytes);
  return bytes;
}

std::string Account::first_bytes(const AccountClock::Anchor& anchor) {
  std::string bytes = bytes_of(anchor);
  StreamTime().append_to(bytes);
  return bytes;
}

std::optional<Instant> Account::now_in(std::string_view bytes, const Clock& host) {
  if (bytes.size() < anchor_bytes || !StreamTime::is_sound(bytes.substr(anchor_bytes))) return std::nullopt;
  if (static_cast<std::uint8_t>(bytes[0]) > static_cast<int>(ClockSetting::Mode::rate)) return std::nullopt;
  const AccountClock::Anchor anchor = anchor_in(bytes);
  if (!std::isfinite(anchor.setting.rate) || anchor.setting.rate <= 0 || anchor.here > last_instant)
    return std::nullopt;
  return AccountClock(host, anchor).now();
}

void Account::resume(std::string_view bytes) {
  clock_.set(anchor_in(bytes));
  const Lock lock(mutex_);
  stream_time_ = StreamTime::from_bytes(bytes.substr(anchor_bytes));
}

void Account::rewind(std::string_view bytes) {
  const AccountClock::Anchor anchor = anchor_in(bytes);
  clock_.set(anchor.setting, anchor.here);
  const Lock lock(mutex_);
  stream_time_ = StreamTime::from_bytes(bytes.substr(anchor_bytes));
  ++timeline_;
}

void Account::begin_anew(ClockSetting setting, Instant now) {
  clock_.set(setting, now);
  const Lock lock(mutex_);
  stream_time_ = {};
  ++timeline_;
}

Accounts::Accounts(Storage& storage, const Clock& host, ClockDefaults defaults)
    : storage_(storage), host_(host), defaults_(defaults) {
  Storage::Iterator kept(storage_, "C", "D");
  for (kept.seek_to_first(); kept.valid(); kept.next()) {
    if (!Account::now_in(kept.value(), host_)) throw StorageFault("an account's clock cannot be decoded");
    of(kept.key().substr(1)).resume(kept.value());
  }
}

AccountClock::Anchor Accounts::initial_anchor() const {
  const Instant host = host_.now();
  return {defaults_.setting, host, defaults_.now.value_or(host)};
}

Account& Accounts::of(std::string_view id) {
  {
    const SharedLock lock(mutex_);
    const auto known = accounts_.find(id);
    if (known != accounts_.end()) return *known->second;
  }
  const Lock lock(mutex_);
  auto& account = accounts_[std::string(id)];
  if (!account) account = std::make_unique<Account>(std::string(id), host_, initial_anchor(), reaper_waker_);
  return *account;
}

std::vector<std::string> Accounts::ids() const {
  const SharedLock lock(mutex_);
  std::vector<std::string> ids;
  for (const auto& [id, account] : accounts_) ids.push_back(id);
  return ids;
}

std::vector<Account*> Accounts::all() const {
  std::vector<Account*> result;
  const SharedLock lock(mutex_);
  for (const auto& [id, account] : accounts_) result.push_back(account.get());
  return result;
}

void Accounts::stage_rewinding(Batch& batch, const Account& account, std::string_view bytes) const {
  AccountClock::Anchor anchor = anchor_in(bytes);
  anchor.host = host_.now();
  batch.put(account_key(account.id()), bytes_of(anchor).append(bytes.substr(anchor_bytes)));
}

void Accounts::stage_forgetting(Batch& batch, const Account& account) const {
  batch.erase(account_key(account.id()));
}

void Accounts::store(const Account& account, const std::string& bytes) {
  Batch batch;
  batch.put(account_key(account.id()), bytes);
  storage_.write(batch);
}

void Accounts::save(const Account& account, ClockSetting setting, Instant now,
                    std::optional<Instant> jumped_from) {
  if (!storage_.durable()) return;
  const Lock lock(saving_);
  store(account, account.bytes_at({setting, host_.now(), now}, jumped_from));
}

void Accounts::save_anew(const Account& account, ClockSetting setting, Instant now) {
  if (!storage_.durable()) return;
  const Lock lock(saving_);
  store(account, Account::first_bytes({setting, host_.now(), now}));
}

void Accounts::save_first(const Account& account) {
  if (!storage_.durable() || account.clock().setting().mode == ClockSetting::Mode::real) return;
  const Lock lock(saving_);
  if (std::string stored; storage_.get(account_key(account.id()), stored)) return;
  store(account, account.bytes());
}

void Accounts::begin_anew(Account& account) const {
  const AccountClock::Anchor anchor = initial_anchor();
  account.begin_anew(anchor.setting, anchor.here);
}

}  // namespace mayfly::engine
