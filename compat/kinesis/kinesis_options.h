// Where the changes of tables with a Kinesis destination are put.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "compat/outbound/invoker.h"
#include "compat/outbound/url.h"

namespace mayfly::compat::kinesis {

struct KinesisOptions {
  std::shared_ptr<outbound::Invoker> invoker;  // empty: nothing can be reached
  std::optional<outbound::Url> endpoint;       // empty: changes go nowhere
  std::size_t waiting_bytes_max = std::size_t{64}
                                  << 20;  // of changes that were not taken yet; then the oldest go
};

}  // namespace mayfly::compat::kinesis
