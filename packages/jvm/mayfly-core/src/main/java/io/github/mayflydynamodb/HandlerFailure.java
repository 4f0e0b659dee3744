package io.github.mayflydynamodb;

import java.util.Map;

/**
 * One failed call of a function of the test's own.
 *
 * @param function the function's name
 * @param error what it threw
 * @param event what it was called with, in DynamoDB JSON
 */
public record HandlerFailure(String function, Throwable error, Map<String, Object> event) {}
