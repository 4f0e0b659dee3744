// Where tables' changes are put that go to Kinesis data streams.
#pragma once

#include <memory>
#include <optional>

#include "compat/triggers/invoker.h"
#include "compat/triggers/url.h"

namespace mayfly::compat::kinesis {

struct KinesisOptions {
  std::shared_ptr<triggers::Invoker> invoker;  // empty: nothing can be reached
  std::optional<triggers::Url> endpoint;       // empty: changes go nowhere
};

}  // namespace mayfly::compat::kinesis
