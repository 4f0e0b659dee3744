package io.github.mayflydynamodb.junit5;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Passes each test its world, and the world's clock, clients and server, as parameters. {@link MayflyExtension} lists
 * the types of the parameters.
 *
 * <pre>{@code
 * @MayflyTest
 * class CartsTest {
 *   @Test
 *   void a_cart_is_gone_after_an_hour(DynamoDbClient dynamoDb, Clock clock) { … }
 * }
 * }</pre>
 */
@Target({ElementType.TYPE, ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ExtendWith(MayflyExtension.class)
public @interface MayflyTest {
  /** Sets whether each test has its own world, or the tests of a class share one. */
  WorldPer world() default WorldPer.TEST;
}
