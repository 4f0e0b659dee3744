package io.github.mayflydynamodb;

import software.amazon.awssdk.enhanced.dynamodb.DynamoDbEnhancedAsyncClient;
import software.amazon.awssdk.enhanced.dynamodb.DynamoDbEnhancedClient;

/**
 * Creates the SDK's enhanced clients for a world. Requires software.amazon.awssdk:dynamodb-enhanced on the class path.
 */
public final class EnhancedClients {
  private EnhancedClients() {}

  /** Returns an enhanced client that uses {@link World#dynamoDb()}. */
  public static DynamoDbEnhancedClient of(World world) {
    return DynamoDbEnhancedClient.builder().dynamoDbClient(world.dynamoDb()).build();
  }

  /** Returns an enhanced client that uses {@link World#dynamoDbAsync()}. */
  public static DynamoDbEnhancedAsyncClient asyncOf(World world) {
    return DynamoDbEnhancedAsyncClient.builder().dynamoDbClient(world.dynamoDbAsync()).build();
  }
}
