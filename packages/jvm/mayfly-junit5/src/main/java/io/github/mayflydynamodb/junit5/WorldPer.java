package io.github.mayflydynamodb.junit5;

/** Who shares a world. */
public enum WorldPer {
  /** Nobody: each test has its own. */
  TEST,
  /** The tests of a class, those of its nested classes, and what is before and after all of them. */
  CLASS
}
