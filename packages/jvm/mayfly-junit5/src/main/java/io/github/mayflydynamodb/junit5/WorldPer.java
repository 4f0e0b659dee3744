package io.github.mayflydynamodb.junit5;

/** Determines which tests share a world. */
public enum WorldPer {
  /** Each test has its own world. */
  TEST,
  /**
   * The tests of a class and of its nested classes share a world. Constructors, {@code @BeforeAll} methods and
   * {@code @AfterAll} methods can also use the world.
   */
  CLASS
}
