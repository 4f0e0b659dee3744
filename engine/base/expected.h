// A value or an error: a stand-in for C++23's std::expected.
//
// Client errors are returned as values of this type. Storage failures are thrown (StorageFault). Bugs in
// Mayfly fail a check. Example:
//
//   Expected<Key, Error> parse_key(const Table& table, const json::Value& request);
//   ...
//   TRY(auto key, parse_key(table, request));   // returns the error to our caller, or defines `key`
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include "engine/base/check.h"

namespace mayfly {

template <class E>
struct Unexpected {
  E error;
};
template <class E>
Unexpected(E) -> Unexpected<E>;

template <class T, class E>
class [[nodiscard]] Expected {
 public:
  using value_type = T;

  template <class U = T>
  requires(std::is_constructible_v<T, U&&> && !std::is_same_v<std::remove_cvref_t<U>, Expected>)
      Expected(U&& value)
      : state_(std::in_place_index<0>, std::forward<U>(value)) {}
  template <class F>
  requires std::is_constructible_v<E, F&&> Expected(Unexpected<F>&& unexpected)
      : state_(std::in_place_index<1>, std::move(unexpected.error)) {}
  template <class F>
  requires std::is_constructible_v<E, const F&> Expected(const Unexpected<F>& unexpected)
      : state_(std::in_place_index<1>, unexpected.error) {}

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& operator*() & {
    MAYFLY_CHECK(has_value());
    return *std::get_if<0>(&state_);
  }
  const T& operator*() const& {
    MAYFLY_CHECK(has_value());
    return *std::get_if<0>(&state_);
  }
  T&& operator*() && {
    MAYFLY_CHECK(has_value());
    return std::move(*std::get_if<0>(&state_));
  }
  T* operator->() {
    MAYFLY_CHECK(has_value());
    return std::get_if<0>(&state_);
  }
  const T* operator->() const {
    MAYFLY_CHECK(has_value());
    return std::get_if<0>(&state_);
  }

  E& error() & {
    MAYFLY_CHECK(!has_value());
    return *std::get_if<1>(&state_);
  }
  const E& error() const& {
    MAYFLY_CHECK(!has_value());
    return *std::get_if<1>(&state_);
  }
  E&& error() && {
    MAYFLY_CHECK(!has_value());
    return std::move(*std::get_if<1>(&state_));
  }

 private:
  std::variant<T, E> state_;
};

// The result of a function that returns no value on success.
template <class E>
class [[nodiscard]] Expected<void, E> {
 public:
  using value_type = void;

  Expected() = default;
  template <class F>
  requires std::is_constructible_v<E, F&&> Expected(Unexpected<F>&& unexpected)
      : state_(std::in_place_index<1>, std::move(unexpected.error)) {}

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  E& error() & {
    MAYFLY_CHECK(!has_value());
    return *std::get_if<1>(&state_);
  }
  const E& error() const& {
    MAYFLY_CHECK(!has_value());
    return *std::get_if<1>(&state_);
  }
  E&& error() && {
    MAYFLY_CHECK(!has_value());
    return std::move(*std::get_if<1>(&state_));
  }

 private:
  std::variant<std::monostate, E> state_;
};

}  // namespace mayfly

#define MAYFLY_JOIN_TOKENS(a, b) a##b
#define MAYFLY_JOIN(a, b) MAYFLY_JOIN_TOKENS(a, b)

// TRY(auto x, f()): defines x as f()'s value, or returns f()'s error from the enclosing function.
#define TRY(declaration, ...)                                                           \
  auto MAYFLY_JOIN(try_result_, __LINE__) = (__VA_ARGS__);                              \
  if (!MAYFLY_JOIN(try_result_, __LINE__))                                              \
    return ::mayfly::Unexpected{std::move(MAYFLY_JOIN(try_result_, __LINE__)).error()}; \
  declaration = *std::move(MAYFLY_JOIN(try_result_, __LINE__))

// CHECK_OK(f()): continues if f() succeeded, or returns f()'s error from the enclosing function.
#define CHECK_OK(...)                                                                               \
  if (auto MAYFLY_JOIN(try_result_, __LINE__) = (__VA_ARGS__); !MAYFLY_JOIN(try_result_, __LINE__)) \
    return ::mayfly::Unexpected { std::move(MAYFLY_JOIN(try_result_, __LINE__)).error() }
