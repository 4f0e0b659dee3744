package io.github.mayflydynamodb;

/** A function that receives changes to a table's items from an event source mapping. */
@FunctionalInterface
public interface StreamHandler {
  /**
   * Handles a batch. If this method throws an exception, the whole batch and the test fail; see {@link
   * World#streamFunction}.
   */
  void handle(StreamEvent event) throws Exception;
}
