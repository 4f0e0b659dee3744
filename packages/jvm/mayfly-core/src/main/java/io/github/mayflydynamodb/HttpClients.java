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
 * The HTTP clients of the SDK's clients, one of each kind for all worlds of a server: a world of its own costs no
 * connection pool and no threads. Which, is what is on the class path, as the SDK itself chooses.
 */
final class HttpClients implements AutoCloseable {
  /** Tests in parallel share a client. */
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
        "no HTTP client of the AWS SDK is on the class path: add software.amazon.awssdk:" + artifact + ".");
  }

  @Override
  public synchronized void close() {
    if (sync != null) {
      sync.close();
    }
    if (async != null) {
      // Netty's takes two seconds to make sure that nobody wants it any more. Nobody need wait for that.
      Daemon.start("mayfly closes a client", async::close);
    }
  }
}
