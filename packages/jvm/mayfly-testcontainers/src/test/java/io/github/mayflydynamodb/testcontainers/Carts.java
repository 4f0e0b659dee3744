package io.github.mayflydynamodb.testcontainers;

import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** The table of an example program. */
final class Carts {
  private Carts() {}

  static void createTable(DynamoDbClient dynamoDb) {
    dynamoDb.createTable(
        table ->
            table
                .tableName("carts")
                .billingMode("PAY_PER_REQUEST")
                .attributeDefinitions(id -> id.attributeName("id").attributeType("S"))
                .keySchema(id -> id.attributeName("id").keyType("HASH")));
  }
}
