import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import java.util.Map;

/** The handler of runtimes_test.py, with Lambda's own client for Java. Remembered is the handler for records. */
public class Tried implements RequestHandler<Map<String, Object>, Map<String, Object>> {
  @Override
  public Map<String, Object> handleRequest(Map<String, Object> event, Context context) {
    if (event.containsKey("fail")) throw new ValueError((String) event.get("fail"));
    if (event.containsKey("exit")) System.exit(((Number) event.get("exit")).intValue());
    return Map.of("echo", event.get("echo"), "arn", context.getInvokedFunctionArn(), "left",
        context.getRemainingTimeInMillis());
  }
}

class ValueError extends RuntimeException {
  ValueError(String message) {
    super(message);
  }
}
