// Keeps what mayfly/mayfly.h promises.
#include "mayfly/mayfly.h"

#include <utility>

#include "compat/emulator.h"
#include "engine/clock.h"
#include "http/server.h"
#include "http/sigv4.h"

namespace mayfly {

struct Emulator::State {
  std::unique_ptr<compat::Emulator> emulator;
};

namespace {

// "PutItem" -> "DynamoDB_20120810.PutItem". A name that no service has goes on to be refused.
std::string target_of(std::string_view operation) {
  std::string streams = "DynamoDBStreams_20120810." + std::string(operation);
  if (compat::find_operation(streams) != nullptr) return streams;
  return "DynamoDB_20120810." + std::string(operation);
}

}  // namespace

Emulator::Emulator(Options options) : state_(std::make_shared<State>()) {
  compat::EmulatorOptions emulator_options;
  emulator_options.database.directory = std::move(options.data_directory);
  emulator_options.region = std::move(options.region);
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
  const engine::Scope scope{
      identity.account.empty() ? std::string(http::default_account) : identity.account,
      identity.region.empty() ? state_->emulator->region() : identity.region};
  compat::Answer answer = state_->emulator->execute(scope, target_of(operation), body);
  return {answer.status, std::move(answer.body)};
}

TimePoint Emulator::now() const {
  return TimePoint(std::chrono::milliseconds(state_->emulator->database().now(http::default_account)));
}

std::int64_t Emulator::advance(std::chrono::milliseconds by) {
  if (by.count() < 0) throw std::logic_error("mayfly: time moves forward only");
  engine::Database& database = state_->emulator->database();
  return database.advance(http::default_account, database.now(http::default_account) + by.count()).expired;
}

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
  auto server = http::Server::start(*state_->emulator->state_->emulator, std::move(settings));
  if (!server) throw Failure(server.error());
  state_->server = *std::move(server);
}

Server::~Server() = default;
std::uint16_t Server::port() const { return state_->server->port(); }
std::string Server::url() const { return state_->server->url(); }
Emulator& Server::emulator() { return *state_->emulator; }

}  // namespace mayfly
