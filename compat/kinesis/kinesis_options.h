// Where to send the changes to tables that have a Kinesis destination.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "compat/outbound/invoker.h"
#include "compat/outbound/url.h"

namespace mayfly::compat::kinesis {

struct KinesisOptions {
  std::shared_ptr<outbound::Invoker> invoker;  // empty: no endpoint can be reached
  std::optional<outbound::Url> endpoint;       // empty: changes are not sent
  // The limit for changes that Kinesis has not accepted yet; beyond it, the oldest changes are dropped.
  std::size_t waiting_bytes_max = std::size_t{64} << 20;
};

}  // namespace mayfly::compat::kinesis
