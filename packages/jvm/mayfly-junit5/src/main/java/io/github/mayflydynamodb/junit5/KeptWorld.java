package io.github.mayflydynamodb.junit5;

import io.github.mayflydynamodb.World;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A world in the store of its test or class: JUnit closes it with that. */
@SuppressWarnings("deprecation") // JUnit before 5.13 closes nothing else.
record KeptWorld(World world) implements ExtensionContext.Store.CloseableResource, AutoCloseable {
  /** What it is kept by. A test's own is not mistaken for its class's. */
  record Key(MayflyExtension extension, WorldPer per) {}

  @Override
  public void close() {
    world.close();
  }
}
