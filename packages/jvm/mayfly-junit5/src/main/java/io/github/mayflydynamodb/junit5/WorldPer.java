package io.github.mayflydynamodb.junit5;

/** Which tests share a world. */
public enum WorldPer {
  /** Each test has its own world. */
  TEST,
  /**
   * The tests of a class and of its nested classes share a world. The world also exists in the classes' constructors,
   * {@code @BeforeAll} and {@code @AfterAll} methods.
   */
  CLASS
}
