package io.github.mayflydynamodb;

/**
 * The server could not be started or reached. The message says what to do. If the server had started, the message
 * ends with the last lines of the server's log.
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
