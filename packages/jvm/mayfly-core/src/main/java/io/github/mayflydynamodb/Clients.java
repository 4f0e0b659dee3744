package io.github.mayflydynamodb;

import java.net.URI;
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
import software.amazon.awssdk.profiles.ProfileFile;
import software.amazon.awssdk.regions.Region;

/** A world's SDK clients: each is built when it is first needed, and closed with the world. */
final class Clients implements AutoCloseable {
  private static final ProfileFile NO_PROFILES = ProfileFile.aggregator().build();

  private final Control world;
  private final HttpClients http;
  private final Map<Class<?>, AutoCloseable> built = new HashMap<>();
  private final Deque<AutoCloseable> open = new ArrayDeque<>();

  Clients(Control world, HttpClients http) {
    this.world = world;
    this.http = http;
  }

  /** Nothing of the user's AWS configuration is read, so that no test reaches AWS by mistake. */
  <B extends AwsClientBuilder<B, ?>> B configure(B builder) {
    builder
        .endpointOverride(URI.create(world.url().toString()))
        .region(Region.of(world.region()))
        .credentialsProvider(
            StaticCredentialsProvider.create(AwsBasicCredentials.create(world.account(), World.SECRET)))
        .dualstackEnabled(false)
        .fipsEnabled(false)
        .overrideConfiguration(
            override -> override.defaultProfileFile(NO_PROFILES).addExecutionInterceptor(new ExplainsDeath(world)));
    if (builder instanceof SdkSyncClientBuilder<?, ?> sync) {
      sync.httpClient(http.sync());
    } else if (builder instanceof SdkAsyncClientBuilder<?, ?> async) {
      async.httpClient(http.async());
    }
    return builder;
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
        throw new MayflyException("a client of the AWS SDK could not be closed", failed);
      }
    }
    built.clear();
  }
}
