package io.github.mayflydynamodb.spring;

import org.springframework.test.context.TestContext;
import org.springframework.test.context.support.AbstractTestExecutionListener;

/** Brings the world back to its beginning before each test, and shows the server's log after one that failed. */
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
    if (again != null && test.getTestException() != null) {
      String log = again.log();
      System.err.print(
          "mayfly's log while " + test.getTestMethod().getName() + " failed, with " + again.world() + ":\n"
              + (log.isEmpty() ? "(nothing)\n" : log));
    }
  }

  private static BeginsAgain of(TestContext test) {
    return test.hasApplicationContext()
        ? test.getApplicationContext().getBeanProvider(BeginsAgain.class).getIfAvailable()
        : null;
  }
}
