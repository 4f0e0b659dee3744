package mayfly;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.function.BooleanSupplier;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsClient;

/**
 * A server for one test, in memory and on a free port. The program is $MAYFLY_SERVER, or the binary that script/build
 * creates.
 */
final class MayflyServer implements AutoCloseable {
  private final Path directory;
  private final Process process;
  private final URI url;

  MayflyServer() throws IOException {
    String executable = System.getenv().getOrDefault("MAYFLY_SERVER", "../../../build/release/mayfly");
    directory = Files.createTempDirectory("mayfly-test-");
    Path portFile = directory.resolve("port");
    process =
        new ProcessBuilder(
                executable, "serve", "--log-level", "warning", "--port", "0", "--port-file", portFile.toString())
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    // The file appears, already complete, once the server accepts requests.
    eventually(
        () -> {
          if (!process.isAlive()) {
            throw new AssertionError("mayfly exited with " + process.exitValue() + " before it served");
          }
          return Files.exists(portFile);
        });
    url = URI.create("http://127.0.0.1:" + Files.readString(portFile).strip());
  }

  DynamoDbClient dynamodb() {
    return configured(DynamoDbClient.builder()).build();
  }

  DynamoDbStreamsClient streams() {
    return configured(DynamoDbStreamsClient.builder()).build();
  }

  URI url() {
    return url;
  }

  <Builder extends AwsClientBuilder<Builder, ?>> Builder configured(Builder builder) {
    return builder
        .endpointOverride(url)
        .region(Region.US_EAST_1)
        .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("test", "test")))
        // A failed request must fail the test instead of being retried.
        .overrideConfiguration(override -> override.retryStrategy(retry -> retry.maxAttempts(1)));
  }

  /** Advances the clock. Returns once all expired items are deleted. */
  void advance(Duration by) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(url.resolve("/_mayfly/clock/advance"))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString("{\"seconds\":" + by.toSeconds() + "}"))
            .build();
    HttpResponse<String> answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    if (answer.statusCode() != 200) {
      throw new AssertionError(answer.body());
    }
  }

  /** Returns as soon as the condition is true. Fails after twenty seconds. */
  private static void eventually(BooleanSupplier condition) {
    Instant deadline = Instant.now().plus(Duration.ofSeconds(20));
    while (!condition.getAsBoolean()) {
      if (Instant.now().isAfter(deadline)) {
        throw new AssertionError("still not after 20 s");
      }
      try {
        Thread.sleep(5);
      } catch (InterruptedException stopped) {
        throw new AssertionError(stopped);
      }
    }
  }

  @Override
  public void close() throws IOException, InterruptedException {
    process.destroy(); // SIGTERM
    int code = process.waitFor();
    try (var paths = Files.walk(directory)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
    if (code != 0) {
      throw new AssertionError("mayfly exited with " + code + " on SIGTERM");
    }
  }
}
