package io.github.mayflydynamodb;

import java.util.List;
import java.util.stream.Collectors;

/** Time was up before the change that was waited for; the message and {@link #changes()} tell what did happen. */
public class AwaitTimeoutException extends ControlException {
  private static final long serialVersionUID = 1;

  private final String sentence;
  private final transient List<Change> changes;

  AwaitTimeoutException(String type, String sentence, int httpStatus, List<Change> changes) {
    super(type, sentence + listed(changes), httpStatus);
    this.sentence = sentence;
    this.changes = List.copyOf(changes);
  }

  /** The same with another sentence behind the first. */
  AwaitTimeoutException and(String more) {
    return new AwaitTimeoutException(type(), sentence + " " + more, httpStatus(), changes);
  }

  /** Other changes of the item, the oldest first, at most 100. */
  public List<Change> changes() {
    return changes;
  }

  private static String listed(List<Change> changes) {
    return changes.stream().map(change -> "\n  " + change).collect(Collectors.joining());
  }
}
