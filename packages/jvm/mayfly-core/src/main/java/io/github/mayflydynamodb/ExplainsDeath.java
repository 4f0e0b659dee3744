package io.github.mayflydynamodb;

import java.io.IOException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.core.interceptor.SdkExecutionAttribute;

/** Makes an SDK call to a dead server throw an exception that says how the server died, not "connection refused". */
final class ExplainsDeath implements ExecutionInterceptor {
  private final Control world;

  ExplainsDeath(Control world) {
    this.world = world;
  }

  @Override
  public Throwable modifyException(Context.FailedExecution context, ExecutionAttributes attributes) {
    Throwable failed = context.exception();
    if (!disconnected(failed)) {
      return failed;
    }
    String operation = attributes.getAttribute(SdkExecutionAttribute.OPERATION_NAME);
    // The SDK accepts only its own exceptions here.
    return world
        .death(operation, failed)
        .<Throwable>map(death -> SdkClientException.create(death.getMessage(), death))
        .orElse(failed);
  }

  private static boolean disconnected(Throwable failed) {
    for (Throwable each = failed; each != null; each = each.getCause()) {
      if (each instanceof IOException) {
        return true;
      }
    }
    return false;
  }
}
