import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.events.DynamodbEvent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

public class Remembered implements RequestHandler<DynamodbEvent, Void> {
  @Override
  public Void handleRequest(DynamodbEvent event, Context context) {
    StringBuilder ids = new StringBuilder();
    for (DynamodbEvent.DynamodbStreamRecord record : event.getRecords())
      ids.append(record.getDynamodb().getKeys().get("id").getS()).append('\n');
    try {
      Files.writeString(Path.of(System.getenv("SEEN")), ids, StandardOpenOption.APPEND);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    return null;
  }
}
