package io.github.mayflydynamodb;

import java.util.Optional;
import java.util.ServiceLoader;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.SdkHttpConfigurationOption;
import software.amazon.awssdk.http.SdkHttpService;
import software.amazon.awssdk.http.async.SdkAsyncHttpClient;
import software.amazon.awssdk.http.async.SdkAsyncHttpService;
import software.amazon.awssdk.utils.AttributeMap;

/**
 * The HTTP clients that the SDK's clients use. All worlds of a server share one synchronous and one asynchronous HTTP
 * client, so that no world needs a separate connection pool or separate threads. As in the SDK itself, the class path
 * determines the implementation.
 */
final class HttpClients implements AutoCloseable {
  /** The limit is high, because parallel tests share a client. */
  private static final int CONNECTIONS_MAX = 1_000;

  private SdkHttpClient sync;
  private SdkAsyncHttpClient async;

  synchronized SdkHttpClient sync() {
    if (sync == null) {
      sync =
          first(SdkHttpService.class)
              .orElseThrow(() -> none("apache5-client or url-connection-client"))
              .createHttpClientBuilder()
              .buildWithDefaults(settings());
    }
    return sync;
  }

  synchronized SdkAsyncHttpClient async() {
    if (async == null) {
      async =
          first(SdkAsyncHttpService.class)
              .orElseThrow(() -> none("netty-nio-client"))
              .createAsyncHttpClientFactory()
              .buildWithDefaults(settings());
    }
    return async;
  }

  private static AttributeMap settings() {
    return AttributeMap.builder().put(SdkHttpConfigurationOption.MAX_CONNECTIONS, CONNECTIONS_MAX).build();
  }

  private static <S> Optional<S> first(Class<S> service) {
    return ServiceLoader.load(service, service.getClassLoader()).findFirst();
  }

  private static MayflyException none(String artifact) {
    return new MayflyException(
        "The class path has no HTTP client of the AWS SDK: add software.amazon.awssdk:" + artifact + ".");
  }

  @Override
  public synchronized void close() {
    if (sync != null) {
      sync.close();
    }
    if (async != null) {
      // The client is closed in the background, because Netty waits two seconds for new work before it shuts down.
      Daemon.start("mayfly closes a client", async::close);
    }
  }
}
