package io.github.mayflydynamodb;

import java.util.Map;

/**
 * A failed call to one of the test's own functions.
 *
 * @param function the function's name
 * @param error the exception that the function threw
 * @param event the event that the function was called with, in DynamoDB JSON
 */
public record HandlerFailure(String function, Throwable error, Map<String, Object> event) {}
