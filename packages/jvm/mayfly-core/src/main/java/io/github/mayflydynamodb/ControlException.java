package io.github.mayflydynamodb;

/** What the control API refused, in its own words: {@code getMessage()} is the server's sentence. */
public class ControlException extends MayflyException {
  private static final long serialVersionUID = 1;

  private final String type;
  private final int httpStatus;

  public ControlException(String type, String message, int httpStatus) {
    super(message);
    this.type = type;
    this.httpStatus = httpStatus;
  }

  /** The error's name without its namespace: {@code Conflict}, {@code ValidationException}. */
  public String type() {
    return type;
  }

  /** 400, 403, 404, 405, 408, 409, 415 or 503. */
  public int httpStatus() {
    return httpStatus;
  }
}
