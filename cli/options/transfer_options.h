// The options of `mayfly export` and `mayfly import`.
#pragma once

namespace CLI {
class App;
}

namespace mayfly::transfer {
struct TransferCommand;
}

namespace mayfly::cli {

// Parsing one of these commands fills in `command`.
void add_transfer_commands(CLI::App& app, transfer::TransferCommand& command);

}  // namespace mayfly::cli
