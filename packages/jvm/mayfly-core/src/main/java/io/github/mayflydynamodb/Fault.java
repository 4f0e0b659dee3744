package io.github.mayflydynamodb;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A rule by which operations fail: {@code Fault.throttle().operation("PutItem").table("carts").count(2)}. The first rule
 * that fits strikes.
 */
public final class Fault {
  private final Map<String, Object> members;

  private Fault(Map<String, Object> members) {
    this.members = members;
  }

  /** ProvisionedThroughputExceededException; of operations on tables ThrottlingException. */
  public static Fault throttle() {
    return of("throttle");
  }

  /** The same with ProvisionedThroughputExceededException, ThrottlingException or RequestLimitExceeded. */
  public static Fault throttle(String exception) {
    return of("throttle").with("exception", exception);
  }

  /** InternalServerError, HTTP status 500. */
  public static Fault internalServerError() {
    return of("internal_server_error");
  }

  /** The answer comes later by so much, in whole milliseconds. */
  public static Fault latency(Duration delay) {
    return of("latency").with("milliseconds", delay.toMillis());
  }

  /** The connection closes without an answer. */
  public static Fault connectionClosed() {
    return of("connection_closed");
  }

  /** A batch leaves everything unprocessed. */
  public static Fault unprocessed() {
    return of("unprocessed");
  }

  /** A batch leaves its last {@code items} unprocessed. */
  public static Fault unprocessed(int items) {
    return of("unprocessed").with("items", items);
  }

  /** TransactionCanceledException because of a conflict; of single writes TransactionConflictException. */
  public static Fault transactionConflict() {
    return of("transaction_conflict");
  }

  /** Eventually consistent reads are behind by 1 to {@code writes} commits. */
  public static Fault staleReads(int writes) {
    return of("stale_reads").with("writes", writes);
  }

  /** Eventually consistent reads are behind by so much of the account's time, at most. */
  public static Fault staleReads(Duration behind) {
    return of("stale_reads").with("milliseconds", behind.toMillis());
  }

  /** ReplicatedWriteConflictException, of operations that write. */
  public static Fault replicatedWriteConflict() {
    return of("replicated_write_conflict");
  }

  /**
   * Whether the operation is applied although the client does not hear of it: for internal server errors, closed connections and
   * latency. By default only an operation with latency is, before the delay.
   */
  public Fault applied(boolean applied) {
    return with("applied", applied);
  }

  /** Only this operation, such as PutItem. */
  public Fault operation(String name) {
    return with("operation", name);
  }

  /** Only operations on this table. */
  public Fault table(String name) {
    return with("table", name);
  }

  /** At most so many times. */
  public Fault count(int times) {
    return with("count", times);
  }

  /** Now and then, from 0 to 1, and with the same seed the same way each time. */
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
