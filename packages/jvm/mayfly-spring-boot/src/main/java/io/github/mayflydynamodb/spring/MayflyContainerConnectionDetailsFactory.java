package io.github.mayflydynamodb.spring;

import io.github.mayflydynamodb.testcontainers.MayflyContainer;
import java.net.URI;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionDetailsFactory;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionSource;

/** Supports {@code @ServiceConnection} on a MayflyContainer. */
class MayflyContainerConnectionDetailsFactory
    extends ContainerConnectionDetailsFactory<MayflyContainer, MayflyConnectionDetails> {

  @Override
  protected MayflyConnectionDetails getContainerConnectionDetails(ContainerConnectionSource<MayflyContainer> source) {
    return new OfContainer(source);
  }

  private static final class OfContainer extends ContainerConnectionDetails<MayflyContainer>
      implements MayflyConnectionDetails {
    private OfContainer(ContainerConnectionSource<MayflyContainer> source) {
      super(source);
    }

    @Override
    public URI url() {
      return getContainer().url();
    }
  }
}
