// Java's client of the Runtime API in the local Maven repository. On AWS it is a part of the runtime, so the
// jars of functions do not contain it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly::http {

// Between the entries of a class path.
inline constexpr char class_path_separator = std::filesystem::path::preferred_separator == '/' ? ':' : ';';

std::vector<std::string> class_path_entries(std::string_view class_path);

// The command that downloads the client.
inline constexpr std::string_view java_client_command =
    "mvn dependency:get -Dartifact=com.amazonaws:aws-lambda-java-runtime-interface-client:2.10.1";

// The newest jars of the client and of its dependencies. Empty: the repository, ~/.m2/repository, does not
// have it.
std::vector<std::string> java_client();

}  // namespace mayfly::http
