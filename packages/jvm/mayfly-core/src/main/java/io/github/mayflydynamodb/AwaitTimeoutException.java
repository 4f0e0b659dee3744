package io.github.mayflydynamodb;

import java.util.List;
import java.util.stream.Collectors;

/** The expected change did not happen in time. The message and {@link #changes()} list the item's other changes. */
public class AwaitTimeoutException extends ControlException {
  private static final long serialVersionUID = 1;

  private final String sentence;
  private final transient List<Change> changes;

  AwaitTimeoutException(String type, String sentence, int httpStatus, List<Change> changes) {
    super(type, sentence + listed(changes), httpStatus);
    this.sentence = sentence;
    this.changes = List.copyOf(changes);
  }

  /** Returns a copy with {@code more} after the first sentence of the message. */
  AwaitTimeoutException and(String more) {
    return new AwaitTimeoutException(type(), sentence + " " + more, httpStatus(), changes);
  }

  /** Returns the other changes to the item, oldest first; at most 100. */
  public List<Change> changes() {
    return changes;
  }

  private static String listed(List<Change> changes) {
    return changes.stream().map(change -> "\n  " + change).collect(Collectors.joining());
  }
}
