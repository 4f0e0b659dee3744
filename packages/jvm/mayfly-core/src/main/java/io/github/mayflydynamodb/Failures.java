package io.github.mayflydynamodb;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Collects the failures of a world's functions. Prints and throws each failure only once, unless the failure is
 * expected. This class is thread-safe.
 */
final class Failures {
  private static final int FAILURES_MAX = 100;
  private static final int SUPPRESSED_MAX = 9;
  private static final int SENTENCES_MAX = 5;
  private static final int ERROR_CHARACTERS_MAX = 500;

  private final List<HandlerFailure> all = new ArrayList<>();
  private final Set<String> mayFail = new HashSet<>();
  // The last printed error of each function and record. If a retry fails with the same error, the error is not printed
  // again.
  private final Map<String, String> printed = new HashMap<>();
  private final Set<String> thrown = new HashSet<>();
  private List<HandlerFailure> unthrown = new ArrayList<>();

  /** Sets whether a function's failures are expected. */
  synchronized void declare(String function, boolean expected) {
    if (expected) {
      mayFail.add(function);
    } else {
      mayFail.remove(function);
    }
  }

  synchronized List<HandlerFailure> all() {
    return List.copyOf(all);
  }

  synchronized void add(HandlerFailure failure) {
    if (all.size() < FAILURES_MAX) {
      all.add(failure);
    }
    if (mayFail.contains(failure.function())) {
      return;
    }
    List<String> records = records(failure);
    String error = text(failure.error());
    if (records.isEmpty() || records.stream().anyMatch(record -> !error.equals(printed.get(record)))) {
      StringWriter trace = new StringWriter();
      failure.error().printStackTrace(new PrintWriter(trace, true));
      System.err.print("Mayfly: the function \"" + failure.function() + "\" failed: " + trace);
    }
    records.forEach(record -> printed.put(record, error));
    boolean isNews = records.isEmpty() || !thrown.containsAll(records);
    if (isNews && unthrown.size() < FAILURES_MAX) {
      unthrown.add(failure);
    }
  }

  /**
   * Returns the exception to throw now. It covers the calls that failed since the last exception and the failures that
   * a settle found. Returns empty if there are no unexpected failures.
   *
   * @param settled the result of the settle; null: no settle was made
   */
  synchronized Optional<HandlerException> take(Advanced settled) {
    List<HandlerFailure> failures =
        unthrown.stream().filter(failure -> !mayFail.contains(failure.function())).toList();
    unthrown = new ArrayList<>();
    List<Stuck> stuck = stuck(settled).filter(each -> !mayFail.contains(each.function())).toList();
    List<String> sentences = new ArrayList<>(failureSentences(failures, stuck));
    sentences.addAll(unregisteredSentences(settled));
    if (sentences.isEmpty()) {
      return Optional.empty();
    }
    failures.forEach(failure -> thrown.addAll(records(failure)));
    HandlerException exception = new HandlerException(String.join(" ", sentences), failures, settled);
    failures.stream()
        .map(HandlerFailure::error)
        .filter(distinct(failures.isEmpty() ? null : failures.get(0).error()))
        .limit(SUPPRESSED_MAX)
        .forEach(exception::addSuppressed);
    return Optional.of(exception);
  }

  /** Returns a predicate that accepts an error unless {@code first} or an earlier error had the same text. */
  private static java.util.function.Predicate<Throwable> distinct(Throwable first) {
    Set<String> seen = new HashSet<>();
    if (first != null) {
      seen.add(text(first));
    }
    return error -> seen.add(text(error));
  }

  /**
   * One entry for all failed batches of a mapping that have the same outcome: the server gave up on all of them for the
   * same reason, or it is still retrying all of them.
   */
  private record Stuck(String function, String table, String condition, long records, long attempts, FunctionError error) {
    private static final String RETRYING = "";

    Stuck and(Stuck other) {
      return new Stuck(
          function, table, condition, records + other.records, Math.max(attempts, other.attempts), other.error);
    }

    String sentence() {
      String what =
          condition.equals(RETRYING)
              ? "keeps failing on table " + table + ": " + counted(attempts, "attempt") + " for "
                  + counted(records, "record") + " so far."
              : "failed on table " + table + ": Mayfly gave up " + counted(records, "record") + " after "
                  + counted(attempts, "attempt") + " (" + condition + ").";
      return "Function " + function + " " + what + " Its last error was " + oneLine(error.toString()) + ".";
    }
  }

  /**
   * Returns the failed batches that a settle found. Batches that have the same mapping and the same outcome are merged.
   */
  private static Stream<Stuck> stuck(Advanced settled) {
    if (settled == null) {
      return Stream.empty();
    }
    Map<List<String>, Stuck> stuck = new LinkedHashMap<>();
    Stream<Stuck> givenUp =
        settled.givenUp().stream()
            .map(
                batch ->
                    new Stuck(
                        batch.function(),
                        batch.table(),
                        batch.condition(),
                        batch.records().size() + batch.leftOut(),
                        batch.attempts(),
                        batch.error()));
    Stream<Stuck> retrying =
        settled.unfinished().stream()
            .flatMap(
                mapping ->
                    mapping.retrying().stream()
                        .map(
                            batch ->
                                new Stuck(
                                    mapping.function(),
                                    mapping.table(),
                                    Stuck.RETRYING,
                                    batch.records(),
                                    batch.attempts(),
                                    batch.error())));
    Stream.concat(givenUp, retrying)
        .forEach(each -> stuck.merge(java.util.Arrays.asList(each.function, each.table, each.condition), each, Stuck::and));
    return stuck.values().stream();
  }

  private List<String> unregisteredSentences(Advanced settled) {
    if (settled == null) {
      return List.of();
    }
    return settled.unfinished().stream()
        .filter(mapping -> !mapping.registered() && !mayFail.contains(mapping.function()))
        .limit(SENTENCES_MAX)
        .map(
            mapping ->
                "Function " + mapping.function() + " is not registered, but a trigger of table " + mapping.table()
                    + " has records for it. Register the function, or correct the trigger's function name.")
        .toList();
  }

  private static List<String> failureSentences(List<HandlerFailure> failures, List<Stuck> stuck) {
    if (failures.isEmpty() && stuck.isEmpty()) {
      return List.of();
    }
    Set<String> functions = stuck.stream().map(Stuck::function).collect(Collectors.toCollection(LinkedHashSet::new));
    List<String> sentences = new ArrayList<>(stuck.stream().map(Stuck::sentence).toList());
    Map<String, List<HandlerFailure>> others =
        failures.stream()
            .filter(failure -> !functions.contains(failure.function()))
            .collect(Collectors.groupingBy(HandlerFailure::function, LinkedHashMap::new, Collectors.toList()));
    others.forEach(
        (function, calls) -> {
          functions.add(function);
          Throwable last = calls.get(calls.size() - 1).error();
          sentences.add(
              "Function " + function + " failed " + counted(calls.size(), "time") + ". Its last error was " + text(last)
                  + ".");
        });
    int leftOut = sentences.size() - SENTENCES_MAX;
    List<String> shown = new ArrayList<>(sentences.stream().limit(SENTENCES_MAX).toList());
    if (leftOut > 0) {
      shown.add(counted(leftOut, "more failure") + " not listed.");
    }
    shown.add(
        "If the test expects this, register the "
            + (functions.size() == 1 ? "function" : "functions")
            + " with FunctionOptions.defaults().mayFail().");
    return shown;
  }

  private static List<String> records(HandlerFailure failure) {
    if (!(failure.event().get("Records") instanceof List<?> records)) {
      return List.of();
    }
    return records.stream()
        .map(record -> record instanceof Map<?, ?> members ? members.get("eventID") : null)
        .filter(Objects::nonNull)
        .map(id -> failure.function() + " " + id)
        .toList();
  }

  private static String text(Throwable error) {
    return oneLine(error.toString());
  }

  private static String oneLine(String text) {
    String line = text.replaceAll("\\s+", " ").strip().replaceAll("\\.$", "");
    return line.length() > ERROR_CHARACTERS_MAX ? line.substring(0, ERROR_CHARACTERS_MAX) + "…" : line;
  }

  private static String counted(long count, String noun) {
    return count + " " + noun + (count == 1 ? "" : "s");
  }
}
