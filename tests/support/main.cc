// Catch2 2's main, compiled once. With Catch2 3 it is in a library.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
