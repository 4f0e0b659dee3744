// Implements mayfly/mayfly.h.
#include "mayfly/mayfly.h"

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "compat/calls/times.h"
#include "compat/emulator.h"
#include "compat/json/json_tree.h"
#include "embed/calls.h"
#include "engine/base/check.h"
#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "http/access/keys.h"
#include "http/connections/server.h"
#include "http/outbound/invoker.h"

namespace mayfly {

namespace {

using Handler = std::function<void(const FailedCheck&)>;

// The handler is never destroyed at exit, because a check can fail on another thread while the process exits.
struct Installed {
  engine::Mutex mutex;
  std::unique_ptr<const Handler> handler GUARDED_BY(mutex);
};
Installed& installed() {
  static auto* const one = new Installed;
  return *one;
}

}  // namespace

void set_check_handler(Handler handler) {
  auto next = handler ? std::make_unique<const Handler>(std::move(handler)) : nullptr;
  Installed& current = installed();
  const engine::Lock lock(current.mutex);
  // After this call the engine no longer uses the previous handler.
  if (!next) {
    engine::set_check_handler(nullptr);
  } else {
    engine::set_check_handler(
        [](const engine::FailedCheck& failed, void* context) {
          (*static_cast<const Handler*>(context))({failed.expression, failed.file, failed.line});
        },
        const_cast<Handler*>(next.get()));
  }
  current.handler = std::move(next);
}

struct Emulator::State {
  std::unique_ptr<compat::Emulator> emulator;
};

Emulator::Emulator(Options options) : state_(std::make_shared<State>()) {
  compat::EmulatorOptions emulator_options;
  emulator_options.database.directory = std::move(options.data_directory);
  emulator_options.database.report = embed::reports_to_the_log();
  emulator_options.warn = embed::warns_in_the_log();
  emulator_options.region = std::move(options.region);
  const Limits& limits = options.limits;
  emulator_options.limits = {.accounts_max = limits.accounts,
                             .tables_max = limits.tables,
                             .snapshots_max = limits.snapshots,
                             .backups_max = limits.backups};
  emulator_options.exact_recovery = options.exact_recovery;
  emulator_options.database.history_bytes_max = limits.history_bytes;
  emulator_options.triggers.functions_max = limits.functions;
  emulator_options.triggers.mappings_max = limits.mappings;
  emulator_options.database.memory_bytes_max = limits.memory_bytes;
  const auto invoker = std::make_shared<http::HttpInvoker>(http::key_of_environment());
  emulator_options.triggers.invoker = invoker;
  emulator_options.buckets.directories = std::move(options.buckets);
  if (!options.s3_endpoint.empty()) {
    auto url = compat::outbound::Url::parse(options.s3_endpoint);
    if (!url) throw Failure(url.error());
    emulator_options.buckets.endpoint = {*std::move(url), emulator_options.region, invoker};
  }
  emulator_options.triggers.destination_directory = std::move(options.destination_directory);
  if (options.frozen_at) {
    emulator_options.database.account_clocks = {{engine::ClockSetting::Mode::frozen},
                                                options.frozen_at->time_since_epoch().count()};
  }
  auto emulator = compat::Emulator::open(std::move(emulator_options));
  if (!emulator) throw Failure(emulator.error());
  state_->emulator = *std::move(emulator);
}

Emulator::~Emulator() = default;
Emulator::Emulator(Emulator&&) noexcept = default;
Emulator& Emulator::operator=(Emulator&&) noexcept = default;

Answer Emulator::execute(std::string_view operation, std::string_view body, const Identity& identity) {
  const engine::Scope scope = embed::scope_of(identity.account, identity.region, *state_->emulator);
  compat::Answer answer = embed::execute(*state_->emulator, scope, operation, body);
  return {answer.status, std::move(answer.body)};
}

// --- the control API by name

Answer Emulator::control(std::string_view method, std::string_view path, std::string_view body,
                         const Identity& identity) {
  const engine::Scope scope = embed::scope_of(identity.account, identity.region, *state_->emulator);
  compat::Answer answer = embed::control(*state_->emulator, scope, method, path, body);
  return {answer.status, std::move(answer.body)};
}

namespace {

// Returns the body of a successful response. Throws if the response is an error.
json::Tree succeeded(const Answer& answer) {
  auto tree = json::parse_tree(answer.body);
  if (answer.status == 200 && tree) return *std::move(tree);
  const auto message = tree ? json::string_member(*tree, "message") : std::nullopt;
  throw std::logic_error("mayfly: " + std::string(message.value_or(answer.body)));
}

std::optional<TimePoint> time_of(const json::Tree& object, std::string_view name) {
  const auto instant = compat::control::parse_time(json::string_member(object, name).value_or(""));
  return instant ? std::optional(TimePoint(std::chrono::milliseconds(*instant))) : std::nullopt;
}

std::string text_of(const json::Tree& object, std::string_view name) {
  return std::string(json::string_member(object, name).value_or(""));
}

// Reads counts such as {"carts":2}. A null `object` has no counts.
std::map<std::string, std::int64_t> counts_in(const json::Tree* object) {
  std::map<std::string, std::int64_t> counts;
  if (object == nullptr || !object->is_object()) return counts;
  for (const auto& member : object->items()) counts[member.key()] = json::integer(member.value()).value_or(0);
  return counts;
}

Advanced advanced_of(const Answer& answer) {
  const json::Tree root = succeeded(answer);
  Advanced advanced{.now = time_of(root, "now").value_or(TimePoint{}),
                    .expired = json::integer_member(root, "expired").value_or(0),
                    .tables = counts_in(json::member(root, "tables")),
                    .next_expiry = time_of(root, "next_expiry"),
                    .never = {},
                    .born_expired = counts_in(json::member(root, "born_expired"))};
  if (const json::Tree* tables = json::member(root, "never"))
    for (const auto& table : tables->items()) advanced.never[table.key()] = counts_in(&table.value());
  return advanced;
}

std::string printed(TimePoint time) { return compat::control::print_time(time.time_since_epoch().count()); }

constexpr std::string_view clock_path = "/_mayfly/clock", advance_path = "/_mayfly/clock/advance";

}  // namespace

TimePoint Emulator::now(const Identity& identity) const {
  const std::string account = embed::scope_of(identity.account, identity.region, *state_->emulator).account;
  return TimePoint(std::chrono::milliseconds(state_->emulator->database().accounts().of(account).now()));
}

Clock Emulator::clock(const Identity& identity) {
  const json::Tree root = succeeded(control("GET", clock_path, {}, identity));
  const std::string mode = text_of(root, "mode");
  Clock clock{.mode = mode == "frozen"   ? Clock::Mode::frozen
                      : mode == "offset" ? Clock::Mode::offset
                      : mode == "rate"   ? Clock::Mode::rate
                                         : Clock::Mode::real,
              .now = time_of(root, "now").value_or(TimePoint{})};
  if (const json::Tree* rate = json::member(root, "rate"); rate != nullptr && rate->is_number())
    clock.rate = rate->get<double>();
  return clock;
}

Advanced Emulator::freeze(std::optional<TimePoint> at, const Identity& identity) {
  json::Tree body{{"mode", "frozen"}};
  if (at) body["now"] = printed(*at);
  return advanced_of(control("PUT", clock_path, json::print(body), identity));
}

Advanced Emulator::run_at(double rate, const Identity& identity) {
  return advanced_of(control("PUT", clock_path, json::print({{"mode", "rate"}, {"rate", rate}}), identity));
}

Advanced Emulator::run_real(const Identity& identity) {
  return advanced_of(control("PUT", clock_path, R"({"mode":"real"})", identity));
}

Advanced Emulator::advance(std::chrono::milliseconds by, const Identity& identity) {
  if (by.count() < 0) throw std::logic_error("mayfly: the clock cannot be advanced by a negative duration");
  return advanced_of(
      control("POST", advance_path, json::print({{"seconds", json::seconds(by.count())}}), identity));
}

Advanced Emulator::advance_to(TimePoint instant, const Identity& identity) {
  return advanced_of(control("POST", advance_path, json::print({{"to", printed(instant)}}), identity));
}

Advanced Emulator::advance_to_next_expiry(const Identity& identity) {
  return advanced_of(control("POST", advance_path, R"({"to":"next-expiry"})", identity));
}

std::int64_t Emulator::sweep(std::string_view table, const Identity& identity) {
  const json::Tree root =
      succeeded(control("POST", "/_mayfly/ttl/" + std::string(table) + "/sweep", {}, identity));
  return json::integer_member(root, "expired").value_or(0);
}

Explanation Emulator::explain(std::string_view table, std::string_view key_json, const Identity& identity) {
  const json::Tree root = succeeded(control("POST", "/_mayfly/ttl/" + std::string(table) + "/explain",
                                            json::print({{"key", json::raw(key_json)}}), identity));
  return {text_of(root, "reason"), text_of(root, "message"), time_of(root, "expires_at")};
}

void Emulator::set_replication(const Route& route, const Identity& identity) {
  succeeded(control("PUT", "/_mayfly/replication",
                    json::print({{"from", route.from},
                                 {"to", route.to},
                                 {"paused", route.paused},
                                 {"lag_milliseconds", route.lag.count()}}),
                    identity));
}

std::int64_t Emulator::settle_replication(const Identity& identity) {
  const json::Tree root = succeeded(control("POST", "/_mayfly/replication/settle", {}, identity));
  std::int64_t left = 0;
  if (const json::Tree* routes = json::member(root, "in_flight"))
    for (const json::Tree& route : *routes) left += json::integer_member(route, "writes").value_or(0);
  return left;
}

std::string Emulator::take_snapshot(const Identity& identity) {
  return text_of(succeeded(control("POST", "/_mayfly/snapshots", {}, identity)), "id");
}

void Emulator::restore_snapshot(std::string_view id, const Identity& identity) {
  succeeded(control("POST", "/_mayfly/snapshots/" + std::string(id) + "/restore", {}, identity));
}

void Emulator::delete_snapshot(std::string_view id, const Identity& identity) {
  succeeded(control("DELETE", "/_mayfly/snapshots/" + std::string(id), {}, identity));
}

void Emulator::reset(const Identity& identity) { succeeded(control("POST", "/_mayfly/reset", {}, identity)); }

struct Server::State {
  std::unique_ptr<Emulator> own;
  Emulator* emulator = nullptr;
  std::unique_ptr<http::Server> server;
};

Server::Server(Options options, ServerOptions server_options) : state_(std::make_unique<State>()) {
  state_->own = std::make_unique<Emulator>(std::move(options));
  state_->emulator = state_->own.get();
  start(std::move(server_options));
}

Server::Server(Emulator& emulator, ServerOptions server_options) : state_(std::make_unique<State>()) {
  state_->emulator = &emulator;
  start(std::move(server_options));
}

void Server::start(ServerOptions options) {
  http::ServerSettings settings;
  settings.host = std::move(options.host);
  settings.port = options.port;
  settings.threads = options.threads;
  settings.access = {.control = options.control,
                     .hosts = std::move(options.allowed_hosts),
                     .origins = std::move(options.cors_origins)};
  settings.connections_max = options.connections_max;
  settings.request_max = options.request_time_max;
  settings.request_bytes_max = options.request_bytes_max;
  settings.unread_bytes_max = options.unread_bytes_max;
  settings.waiting_max = options.waiting_max;
  settings.tls_cert_file = std::move(options.tls_cert_file);
  settings.tls_key_file = std::move(options.tls_key_file);
  auto keys = http::Keys::required(options.require_signature, options.keys_file);
  if (!keys) throw Failure(keys.error());
  settings.access.keys = *std::move(keys);
  auto server = http::Server::start(*state_->emulator->state_->emulator, std::move(settings));
  if (!server) throw Failure(server.error());
  state_->server = *std::move(server);
}

Server::~Server() = default;
std::uint16_t Server::port() const { return state_->server->port(); }
std::string Server::url() const { return state_->server->url(); }
Emulator& Server::emulator() { return *state_->emulator; }

}  // namespace mayfly
