package io.github.mayflydynamodb;

import java.net.URI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.core.client.builder.SdkAsyncClientBuilder;
import software.amazon.awssdk.core.client.builder.SdkSyncClientBuilder;
import software.amazon.awssdk.core.client.config.ClientOverrideConfiguration;
import software.amazon.awssdk.profiles.ProfileFile;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.api.BackoffStrategy;

/** A world's SDK clients. Each client is built on its first use, and closed when the world is closed. */
final class Clients implements AutoCloseable {
  private static final ProfileFile NO_PROFILES = ProfileFile.aggregator().build();
  /** The SDK waits for a random time of at most this length before a retry. */
  private static final Duration RETRY_PAUSE_MAX = Duration.ofMillis(10);

  private final Control world;
  private final HttpClients http;
  private final Map<Class<?>, AutoCloseable> built = new HashMap<>();
  private final Deque<AutoCloseable> open = new ArrayDeque<>();

  Clients(Control world, HttpClients http) {
    this.world = world;
    this.http = http;
  }

  /**
   * Configures a client for the world. The client does not read the user's AWS configuration, so that no test calls AWS
   * by mistake. The client makes as many retries as a client for AWS, but without the SDK's long pauses between
   * retries, which can last a minute in total.
   */
  <B extends AwsClientBuilder<B, ?>> B configure(B builder) {
    builder
        .endpointOverride(URI.create(world.url().toString()))
        .region(Region.of(world.region()))
        .credentialsProvider(
            StaticCredentialsProvider.create(AwsBasicCredentials.create(world.account(), World.SECRET)))
        .dualstackEnabled(false)
        .fipsEnabled(false)
        .overrideConfiguration(
            override -> {
              override.defaultProfileFile(NO_PROFILES).addExecutionInterceptor(new ExplainsDeath(world));
              retryQuickly(override);
            });
    if (builder instanceof SdkSyncClientBuilder<?, ?> sync) {
      sync.httpClient(http.sync());
    } else if (builder instanceof SdkAsyncClientBuilder<?, ?> async) {
      async.httpClient(http.async());
    }
    return builder;
  }

  private static void retryQuickly(ClientOverrideConfiguration.Builder override) {
    try {
      override.retryStrategy(
          retry ->
              retry
                  .backoffStrategy(BackoffStrategy.fixedDelay(RETRY_PAUSE_MAX))
                  .throttlingBackoffStrategy(BackoffStrategy.fixedDelay(RETRY_PAUSE_MAX)));
    } catch (LinkageError missing) {
      // Versions of the SDK before 2.26 have no retry strategies, so the SDK's own pauses remain.
    }
  }

  synchronized <C extends AutoCloseable> C client(Class<C> type, Supplier<C> build) {
    if (!built.containsKey(type)) {
      C client = build.get();
      built.put(type, client);
      open.push(client);
    }
    return type.cast(built.get(type));
  }

  @Override
  public synchronized void close() {
    while (!open.isEmpty()) {
      try {
        open.pop().close();
      } catch (Exception failed) {
        throw new MayflyException("Cannot close a client of the AWS SDK.", failed);
      }
    }
    built.clear();
  }
}
