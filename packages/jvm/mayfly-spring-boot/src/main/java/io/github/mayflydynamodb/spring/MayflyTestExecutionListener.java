package io.github.mayflydynamodb.spring;

import org.springframework.test.annotation.DirtiesContext.HierarchyMode;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.support.AbstractTestExecutionListener;
import org.springframework.test.context.support.DependencyInjectionTestExecutionListener;

/**
 * Restores the world before each test. After the test, the listener fails the test if a function in the world failed
 * unexpectedly, prints the server's log if the test failed, and makes Spring create a new context if the server died.
 */
class MayflyTestExecutionListener extends AbstractTestExecutionListener {
  @Override
  public void beforeTestMethod(TestContext test) {
    BeginsAgain again = of(test);
    if (again != null) {
      again.beforeTest();
    }
  }

  @Override
  public void afterTestMethod(TestContext test) {
    BeginsAgain again = of(test);
    if (again == null) {
      return;
    }
    boolean failed = true;
    try {
      again.world().throwHandlerFailures();
      failed = test.getTestException() != null;
    } finally {
      if (failed) {
        System.err.print(again.report(test.getTestMethod().getName()));
      }
      if (again.world().server().hasDied()) {
        test.markApplicationContextDirty(HierarchyMode.EXHAUSTIVE);
        test.setAttribute(DependencyInjectionTestExecutionListener.REINJECT_DEPENDENCIES_ATTRIBUTE, Boolean.TRUE);
      }
    }
  }

  private static BeginsAgain of(TestContext test) {
    return test.hasApplicationContext()
        ? test.getApplicationContext().getBeanProvider(BeginsAgain.class).getIfAvailable()
        : null;
  }
}
