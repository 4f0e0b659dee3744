package io.github.mayflydynamodb;

/** A function that an event source mapping calls with a table's changes. */
@FunctionalInterface
public interface StreamHandler {
  /**
   * Handles a batch. An exception fails the whole batch, and the test; see {@link World#streamFunction}.
   */
  void handle(StreamEvent event) throws Exception;
}
