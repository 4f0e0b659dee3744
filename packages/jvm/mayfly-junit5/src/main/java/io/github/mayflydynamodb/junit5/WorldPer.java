package io.github.mayflydynamodb.junit5;

/** Which tests share a world. */
public enum WorldPer {
  /** Each test has its own world. */
  TEST,
  /**
   * The tests of a class and of its nested classes share a world. It also exists in their constructors,
   * {@code @BeforeAll} and {@code @AfterAll} methods.
   */
  CLASS
}
