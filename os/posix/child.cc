#include "os/child.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "os/posix/errors.h"
#include "os/posix/pipe.h"

namespace mayfly::os {
namespace {

constexpr std::chrono::milliseconds look_pause{5};
constexpr int unknown_status = 255;

struct Pipe {
  File read, write;

  bool open() { return posix::open_pipe(read, write); }
};

// Runs a program and kills its process group when the pipe at descriptor 3 ends, which the parent process
// holds open. Only the program's end ends the shell. The guard ignores SIGTERM, so the program can end
// cleanly.
constexpr const char* shell = "/bin/sh";
constexpr const char* guarding =
    "trap : TERM INT; (trap '' TERM INT; read -r _ <&3; kill -s KILL 0) & guard=$!; "
    "\"$@\" 3<&-; status=$?; kill -s KILL $guard; exit $status";
constexpr int guard_descriptor = 3;

std::vector<char*> pointers_to(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& string : strings) pointers.push_back(const_cast<char*>(string.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// The steps of a new process before it runs the program.
struct Preparation {
  posix_spawn_file_actions_t files{};
  posix_spawnattr_t attributes{};

  Preparation() {
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&attributes);
  }
  ~Preparation() {
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
  }
  Preparation(const Preparation&) = delete;
  Preparation& operator=(const Preparation&) = delete;
};

}  // namespace

std::string program_path(const std::string& name, std::string_view path) {
  const auto runs = [](const std::string& file) {
    struct stat facts {};
    return ::stat(file.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && ::access(file.c_str(), X_OK) == 0;
  };
  if (name.empty() || name.find('\0') != std::string::npos) return {};
  if (name.find('/') != std::string::npos) return runs(name) ? name : "";
  while (!path.empty()) {
    const auto end = std::min(path.find(':'), path.size());
    // An empty directory would be the current one, which POSIX calls a legacy feature.
    const std::string file = std::string(path.substr(0, end)) + "/" + name;
    if (end > 0 && runs(file)) return file;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return {};
}

class Child::State {
 public:
  pid_t id = 0;    // 0: it has ended
  int status = 0;  // if it has ended
  File output, errors;
  File guarded;  // the guard's pipe; closed: the child has no guard

  // Until wait() has returned the child's end, the system gives its number to no other process.
  void signal(int number) const {
    if (id > 0) ::kill(guarded.is_open() ? -id : id, number);
  }
  void kill_group() const {
    if (id > 0) ::kill(-id, SIGKILL);
  }
};

Child::Child() = default;
Child::Child(Child&&) noexcept = default;
Child& Child::operator=(Child&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}
Child::~Child() {
  if (!state_) return;
  state_->kill_group();
  (void)wait();
}

Child Child::start(const Command& command, std::error_code& error) {
  Pipe output, errors, guard;
  if (!output.open() || (!command.errors_to_output && !errors.open()) ||
      (command.ends_with_this_process && !guard.open()))
    return error = posix::last_error(), Child();
  Preparation prepares;
  std::vector<std::string> words = command.command;
  if (command.ends_with_this_process) {
    words.insert(words.begin(), {shell, "-c", guarding, shell});
    ::posix_spawn_file_actions_adddup2(&prepares.files, guard.read.native(), guard_descriptor);
  }
  if (!command.directory.empty())
    ::posix_spawn_file_actions_addchdir_np(&prepares.files, command.directory.c_str());
  ::posix_spawn_file_actions_addopen(&prepares.files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&prepares.files, output.write.native(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(
      &prepares.files, (command.errors_to_output ? output : errors).write.native(), STDERR_FILENO);
  // This process may block or ignore signals, which a new process would inherit.
  sigset_t none, usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  for (const int number : {SIGTERM, SIGINT, SIGPIPE, SIGXFSZ}) sigaddset(&usual, number);
  ::posix_spawnattr_setsigmask(&prepares.attributes, &none);
  ::posix_spawnattr_setsigdefault(&prepares.attributes, &usual);
  ::posix_spawnattr_setpgroup(&prepares.attributes, 0);
  ::posix_spawnattr_setflags(&prepares.attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  Child child;
  child.state_ = std::make_unique<State>();
  const int failure =
      ::posix_spawn(&child.state_->id, words.front().c_str(), &prepares.files, &prepares.attributes,
                    pointers_to(words).data(), pointers_to(command.environment).data());
  error = std::error_code(failure, std::generic_category());
  if (failure != 0) {
    child.state_->id = 0;
    return Child();
  }
  child.state_->output = std::move(output.read);
  child.state_->errors = std::move(errors.read);
  child.state_->guarded = std::move(guard.write);
  return child;
}

const File& Child::output() const { return state_->output; }
const File& Child::errors() const { return state_->errors; }

void Child::terminate() { state_->signal(SIGTERM); }
void Child::interrupt() { state_->signal(SIGINT); }
void Child::kill() { state_->signal(SIGKILL); }

std::optional<int> Child::wait(std::optional<std::chrono::milliseconds> time) {
  if (state_->id == 0) return state_->status;
  int status = 0;
  pid_t ended = 0;
  for (std::chrono::milliseconds left = time.value_or(look_pause);; left -= look_pause) {
    siginfo_t ended_child{};
    if (state_->guarded.is_open()) {  // before the number of the group can belong to other processes
      while (::waitid(P_PID, static_cast<id_t>(state_->id), &ended_child,
                      WEXITED | WNOWAIT | (time ? WNOHANG : 0)) != 0 &&
             errno == EINTR) {}
      if (ended_child.si_pid != 0) state_->kill_group();
    }
    do {
      ended = ::waitpid(state_->id, &status, time ? WNOHANG : 0);
    } while (ended < 0 && errno == EINTR);
    if (ended != 0) break;
    if (left <= std::chrono::milliseconds(0)) return std::nullopt;
    std::this_thread::sleep_for(look_pause);
  }
  state_->id = 0;
  state_->guarded = File();
  // The system does not keep the status if this process ignores SIGCHLD.
  state_->status = ended < 0             ? unknown_status
                   : WIFSIGNALED(status) ? 128 + WTERMSIG(status)
                                         : WEXITSTATUS(status);
  return state_->status;
}

}  // namespace mayfly::os
