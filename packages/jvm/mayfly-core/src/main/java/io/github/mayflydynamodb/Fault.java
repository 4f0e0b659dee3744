package io.github.mayflydynamodb;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A rule that makes operations fail: {@code Fault.throttle().operation("PutItem").table("carts").count(2)}. If several
 * rules match an operation, only the first one applies, except that the delays of all matching latency rules add up.
 * Each method returns a changed copy.
 */
public final class Fault {
  private final Map<String, Object> members;

  private Fault(Map<String, Object> members) {
    this.members = members;
  }

  /**
   * Operations on items fail with ProvisionedThroughputExceededException, and operations on tables fail with
   * ThrottlingException.
   */
  public static Fault throttle() {
    return of("throttle");
  }

  /**
   * Operations fail with a throttling error.
   *
   * @param exception ProvisionedThroughputExceededException, ThrottlingException or RequestLimitExceeded
   */
  public static Fault throttle(String exception) {
    return of("throttle").with("exception", exception);
  }

  /** Operations fail with InternalServerError, HTTP status 500. */
  public static Fault internalServerError() {
    return of("internal_server_error");
  }

  /** Responses arrive late by {@code delay}, which is in real time and is truncated to milliseconds. */
  public static Fault latency(Duration delay) {
    return of("latency").with("milliseconds", delay.toMillis());
  }

  /** The connection closes without a response. */
  public static Fault connectionClosed() {
    return of("connection_closed");
  }

  /** Batch operations leave all of their items unprocessed. */
  public static Fault unprocessed() {
    return of("unprocessed");
  }

  /** Batch operations leave their last {@code items} items unprocessed. */
  public static Fault unprocessed(int items) {
    return of("unprocessed").with("items", items);
  }

  /**
   * Transactions fail with TransactionCanceledException because of a conflict. Single writes fail with
   * TransactionConflictException.
   */
  public static Fault transactionConflict() {
    return of("transaction_conflict");
  }

  /** Eventually consistent reads lag behind by 1 to {@code writes} commits. */
  public static Fault staleReads(int writes) {
    return of("stale_reads").with("writes", writes);
  }

  /** Eventually consistent reads lag behind by at most {@code behind} on the account's clock. */
  public static Fault staleReads(Duration behind) {
    return of("stale_reads").with("milliseconds", behind.toMillis());
  }

  /** Writes fail with ReplicatedWriteConflictException. */
  public static Fault replicatedWriteConflict() {
    return of("replicated_write_conflict");
  }

  /**
   * For internal server errors and closed connections, sets whether the operation takes effect although the client gets
   * an error. Default: false. For latency, sets whether a write takes effect before the delay rather than after it.
   * Default: true.
   */
  public Fault applied(boolean applied) {
    return with("applied", applied);
  }

  /** Limits the rule to an operation, such as PutItem. */
  public Fault operation(String name) {
    return with("operation", name);
  }

  /** Limits the rule to operations on a table. */
  public Fault table(String name) {
    return with("table", name);
  }

  /** Limits how many operations the rule applies to. Default: all that match. */
  public Fault count(int times) {
    return with("count", times);
  }

  /**
   * Applies the rule at random.
   *
   * @param share the probability that the rule applies to an operation, 0 to 1
   * @param seed the seed of random choices; the same seed selects the same operations
   */
  public Fault probability(double share, long seed) {
    return with("probability", share).with("seed", seed);
  }

  Map<String, Object> toJson() {
    return members;
  }

  private static Fault of(String kind) {
    return new Fault(Map.of("fault", kind));
  }

  private Fault with(String name, Object value) {
    Map<String, Object> more = new LinkedHashMap<>(members);
    more.put(name, value);
    return new Fault(more);
  }
}
