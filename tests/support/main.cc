// Catch2 2's main, compiled once. Catch2 3 has it in a library.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
