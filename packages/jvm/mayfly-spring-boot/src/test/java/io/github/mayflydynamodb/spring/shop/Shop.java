package io.github.mayflydynamodb.spring.shop;

import java.time.Clock;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** An application as users write it: its client is for AWS, its clock is the system's. */
@SpringBootApplication
public class Shop {
  @Bean
  DynamoDbClient dynamoDb() {
    throw new AssertionError("in a test the application's own client is not even made");
  }

  @Bean
  Clock clock() {
    return Clock.systemUTC();
  }
}
