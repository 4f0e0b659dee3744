package io.github.mayflydynamodb.junit5;

import io.github.mayflydynamodb.World;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A world in the store of its test or class. JUnit closes the world together with the store. */
@SuppressWarnings("deprecation") // JUnit versions before 5.13 close only CloseableResources.
record KeptWorld(World world) implements ExtensionContext.Store.CloseableResource, AutoCloseable {
  /** The world's key in the store. It distinguishes the world of a test from the world of its class. */
  record Key(MayflyExtension extension, WorldPer per) {}

  @Override
  public void close() {
    world.close();
  }
}
