package io.github.mayflydynamodb;

import software.amazon.awssdk.enhanced.dynamodb.DynamoDbEnhancedAsyncClient;
import software.amazon.awssdk.enhanced.dynamodb.DynamoDbEnhancedClient;

/** The SDK's enhanced clients on a world; they need software.amazon.awssdk:dynamodb-enhanced on the class path. */
public final class EnhancedClients {
  private EnhancedClients() {}

  public static DynamoDbEnhancedClient of(World world) {
    return DynamoDbEnhancedClient.builder().dynamoDbClient(world.dynamoDb()).build();
  }

  public static DynamoDbEnhancedAsyncClient asyncOf(World world) {
    return DynamoDbEnhancedAsyncClient.builder().dynamoDbClient(world.dynamoDbAsync()).build();
  }
}
