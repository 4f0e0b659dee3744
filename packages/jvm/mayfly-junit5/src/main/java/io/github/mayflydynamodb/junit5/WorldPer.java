package io.github.mayflydynamodb.junit5;

/** Which tests share a world. */
public enum WorldPer {
  /** None: each test has its own world. */
  TEST,
  /**
   * The tests of a class and of its nested classes. The world also exists in their constructors, {@code @BeforeAll} and
   * {@code @AfterAll} methods.
   */
  CLASS
}
