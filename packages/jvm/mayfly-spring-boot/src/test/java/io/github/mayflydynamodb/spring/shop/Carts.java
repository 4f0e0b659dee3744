package io.github.mayflydynamodb.spring.shop;

import jakarta.annotation.PostConstruct;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import org.springframework.stereotype.Service;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Stores carts that expire after two days, and gets the time from the clock bean. */
@Service
public class Carts {
  private final DynamoDbClient dynamoDb;
  private final Clock clock;

  Carts(DynamoDbClient dynamoDb, Clock clock) {
    this.dynamoDb = dynamoDb;
    this.clock = clock;
  }

  @PostConstruct
  void createTable() {
    dynamoDb.createTable(
        table ->
            table
                .tableName("carts")
                .billingMode("PAY_PER_REQUEST")
                .attributeDefinitions(id -> id.attributeName("id").attributeType("S"))
                .keySchema(id -> id.attributeName("id").keyType("HASH")));
    dynamoDb.updateTimeToLive(
        request -> request.tableName("carts").timeToLiveSpecification(ttl -> ttl.enabled(true).attributeName("ttl")));
  }

  public void put(String id) {
    long ttl = clock.instant().plus(Duration.ofHours(48)).getEpochSecond();
    dynamoDb.putItem(
        put ->
            put.tableName("carts")
                .item(
                    Map.of("id", AttributeValue.fromS(id), "ttl", AttributeValue.fromN(Long.toString(ttl)))));
  }

  public boolean has(String id) {
    return dynamoDb.getItem(get -> get.tableName("carts").key(Map.of("id", AttributeValue.fromS(id)))).hasItem();
  }

  public int count() {
    return dynamoDb.scan(scan -> scan.tableName("carts")).count();
  }
}
