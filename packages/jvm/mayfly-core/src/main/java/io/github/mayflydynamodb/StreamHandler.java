package io.github.mayflydynamodb;

/** A function that receives the changes of a table from an event source mapping. */
@FunctionalInterface
public interface StreamHandler {
  /**
   * Handles a batch. An exception fails the whole batch and the test; see {@link World#streamFunction}.
   */
  void handle(StreamEvent event) throws Exception;
}
