#include "cli/deployment/java_library.h"

#include <algorithm>
#include <optional>
#include <string>

#include "cli/deployment/unzip.h"
#include "http/functions/java_client.h"
#include "os/path.h"

namespace mayfly::deployment {

namespace {

// The client has the library for Linux only.
#if defined(__aarch64__)
constexpr const char* library_name = "libaws-lambda-jni.linux-aarch_64.so";
#else
constexpr const char* library_name = "libaws-lambda-jni.linux-x86_64.so";
#endif

}  // namespace

void give_own_java_library(http::FunctionProgram& program, CodeDirectories& directories) {
  if (program.language != http::FunctionProgram::Language::java) return;
  const auto option = std::find(program.command.begin(), program.command.end(), "-cp");
  if (option == program.command.end() || option + 1 == program.command.end()) return;
  for (const std::string& jar : http::class_path_entries(*(option + 1))) {
    const auto library = jar.ends_with(".jar") ? unzipped_file(jar, std::string("jni/") + library_name)
                                               : std::optional<std::string>();
    if (!library) continue;
    const auto directory = directories.with_file(library_name, *library);
    if (!directory) return;  // the client then uses the fixed path
    program.command.insert(program.command.begin() + 1,
                           "-Dcom.amazonaws.services.lambda.runtime.api.client.runtimeapi.NativeClient.JNI=" +
                               os::text_of(os::path_of(*directory) / library_name));
    return;
  }
}

}  // namespace mayfly::deployment
