package io.github.mayflydynamodb;

/**
 * Mayfly could not be started, reached or asked. The message says in a sentence what to do; where a server had begun,
 * its last lines of log stand below.
 */
public class MayflyException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public MayflyException(String message) {
    super(message);
  }

  public MayflyException(String message, Throwable cause) {
    super(message, cause);
  }
}
