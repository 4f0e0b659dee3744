#include "os/child.h"

#include <utility>

#include "os/windows/api.h"

namespace mayfly::os {
namespace {

constexpr UINT status_of_killed = 137;  // as after SIGKILL on POSIX systems

struct Pipe {
  File read, write;

  bool open() {
    HANDLE ends[2];
    SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
    if (!::CreatePipe(&ends[0], &ends[1], &inherited, 0)) return false;
    read = File(ends[0]);
    write = File(ends[1]);
    return ::SetHandleInformation(ends[0], HANDLE_FLAG_INHERIT, 0) != 0;
  }
};

// One argument, quoted as CommandLineToArgvW and the C library of programs read it.
std::wstring quoted(const std::string& argument) {
  std::wstring quoted = L"\"";
  std::size_t backslashes = 0;
  for (const wchar_t c : windows::wide(argument)) {
    if (c == L'"') quoted.append(backslashes + 1, L'\\');
    backslashes = c == L'\\' ? backslashes + 1 : 0;
    quoted += c;
  }
  return quoted.append(backslashes, L'\\') + L'"';
}

// The handles that a child inherits. It inherits no other handles of this process.
class Inherited {
 public:
  explicit Inherited(std::vector<HANDLE> handles) : handles_(std::move(handles)) {
    SIZE_T bytes = 0;
    ::InitializeProcThreadAttributeList(nullptr, 1, 0, &bytes);
    list_.resize(bytes);
    is_ready_ = ::InitializeProcThreadAttributeList(list(), 1, 0, &bytes) != 0 &&
                ::UpdateProcThreadAttribute(list(), 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles_.data(),
                                            handles_.size() * sizeof(HANDLE), nullptr, nullptr) != 0;
  }
  ~Inherited() { ::DeleteProcThreadAttributeList(list()); }
  Inherited(const Inherited&) = delete;
  Inherited& operator=(const Inherited&) = delete;
  [[nodiscard]] bool is_ready() const { return is_ready_; }
  [[nodiscard]] LPPROC_THREAD_ATTRIBUTE_LIST list() {
    return reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(list_.data());
  }

 private:
  std::vector<HANDLE> handles_;
  std::vector<char> list_;
  bool is_ready_ = false;
};

// Whether the processes of the job end when its last handle is closed.
void set_kills_with_job(const File& job, bool kills) {
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  limits.BasicLimitInformation.LimitFlags = kills ? JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE : 0;
  ::SetInformationJobObject(job.native(), JobObjectExtendedLimitInformation, &limits, sizeof limits);
}

}  // namespace

std::string program_path(const std::string& name, std::string_view path) {
  if (name.empty()) return {};
  const std::wstring directories = windows::wide(std::string(path));
  wchar_t found[MAX_PATH];
  // The extension is added to a name without one. A name with directories is not searched.
  const DWORD size =
      ::SearchPathW(directories.c_str(), windows::wide(name).c_str(), L".exe", MAX_PATH, found, nullptr);
  return size > 0 && size < MAX_PATH ? windows::narrow({found, size}) : "";
}

class Child::State {
 public:
  DWORD id = 0;
  File job, process, output, errors;
  bool is_alone = true;  // the programs that it has started may outlive it
};

Child::Child() = default;
Child::Child(Child&&) noexcept = default;
Child& Child::operator=(Child&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}
Child::~Child() {
  if (!state_) return;
  state_->job = File();
  kill();  // if the process could not be added to the job
  (void)wait();
}

Child Child::start(const Command& command, std::error_code& error) {
  Pipe output, errors;
  SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
  const File input(::CreateFileW(L"NUL", GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited,
                                 OPEN_EXISTING, 0, nullptr));
  if (!output.open() || !errors.open() || !input.is_open()) return error = windows::last_error(), Child();
  Inherited handles({input.native(), output.write.native(), errors.write.native()});
  if (!handles.is_ready()) return error = windows::last_error(), Child();
  STARTUPINFOEXW how{};
  how.StartupInfo.cb = sizeof how;
  how.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
  how.StartupInfo.hStdInput = input.native();
  how.StartupInfo.hStdOutput = output.write.native();
  how.StartupInfo.hStdError = (command.errors_to_output ? output : errors).write.native();
  how.lpAttributeList = handles.list();
  std::wstring line, variables;
  for (const std::string& argument : command.command) line += (line.empty() ? L"" : L" ") + quoted(argument);
  for (const std::string& variable : command.environment) variables += windows::wide(variable) + L'\0';
  variables += L'\0';
  Child child;
  child.state_ = std::make_unique<State>();
  child.state_->is_alone = !command.ends_with_this_process;
  child.state_->job = File(::CreateJobObjectW(nullptr, nullptr));
  set_kills_with_job(child.state_->job, true);
  PROCESS_INFORMATION started{};
  const BOOL is_started = ::CreateProcessW(
      windows::wide_path(command.command.front()).c_str(), line.data(), nullptr, nullptr, TRUE,
      CREATE_SUSPENDED | CREATE_NEW_PROCESS_GROUP | CREATE_UNICODE_ENVIRONMENT | EXTENDED_STARTUPINFO_PRESENT,
      variables.data(), command.directory.empty() ? nullptr : windows::wide_path(command.directory).c_str(),
      &how.StartupInfo, &started);
  if (!is_started) return error = windows::last_error(), child.state_.reset(), Child();
  const File thread(started.hThread);
  child.state_->process = File(started.hProcess);
  child.state_->id = started.dwProcessId;
  ::AssignProcessToJobObject(child.state_->job.native(), started.hProcess);
  ::ResumeThread(started.hThread);
  child.state_->output = std::move(output.read);
  child.state_->errors = std::move(errors.read);
  error.clear();
  return child;
}

const File& Child::output() const { return state_->output; }
const File& Child::errors() const { return state_->errors; }

void Child::terminate() {
  if (!::GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, state_->id)) kill();
}
void Child::interrupt() { terminate(); }
void Child::kill() {
  if (!state_->is_alone) ::TerminateJobObject(state_->job.native(), status_of_killed);
  ::TerminateProcess(state_->process.native(), status_of_killed);
}

std::optional<int> Child::wait(std::optional<std::chrono::milliseconds> time) {
  const DWORD time_ms = time ? static_cast<DWORD>(time->count()) : INFINITE;
  if (::WaitForSingleObject(state_->process.native(), time_ms) != WAIT_OBJECT_0) return std::nullopt;
  if (state_->is_alone)
    set_kills_with_job(state_->job, false);
  else
    ::TerminateJobObject(state_->job.native(), status_of_killed);
  DWORD status = 0;
  ::GetExitCodeProcess(state_->process.native(), &status);
  return static_cast<int>(status);
}

}  // namespace mayfly::os
