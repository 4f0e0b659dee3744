package io.github.mayflydynamodb.spring.shop;

import java.time.Clock;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** An example of a user's application. It defines its own client for AWS, and a clock that shows the system's time. */
@SpringBootApplication
public class Shop {
  @Bean
  DynamoDbClient dynamoDb() {
    throw new AssertionError("a test must not create the application's own client");
  }

  @Bean
  Clock clock() {
    return Clock.systemUTC();
  }
}
