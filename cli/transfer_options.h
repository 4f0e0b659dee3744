// `mayfly export` and `mayfly import` on the command line.
#pragma once

namespace CLI {
class App;
}

namespace mayfly::transfer {
struct TransferCommand;
}

namespace mayfly::http {

// When one of them is parsed, `command` is what it asks for.
void add_transfer_commands(CLI::App& app, transfer::TransferCommand& command);

}  // namespace mayfly::http
