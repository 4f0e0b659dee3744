package io.github.mayflydynamodb;

/** The server refused a call. {@code getMessage()} is the server's message. */
public class ControlException extends MayflyException {
  private static final long serialVersionUID = 1;

  private final String type;
  private final int httpStatus;

  public ControlException(String type, String message, int httpStatus) {
    super(message);
    this.type = type;
    this.httpStatus = httpStatus;
  }

  /** Returns the error's type without its namespace, such as {@code Conflict} or {@code ValidationException}. */
  public String type() {
    return type;
  }

  /** Returns the HTTP status: 400, 403, 404, 405, 408, 409, 415 or 503. */
  public int httpStatus() {
    return httpStatus;
  }
}
