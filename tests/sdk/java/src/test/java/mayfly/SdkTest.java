package mayfly;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.enhanced.dynamodb.DynamoDbEnhancedClient;
import software.amazon.awssdk.enhanced.dynamodb.DynamoDbTable;
import software.amazon.awssdk.enhanced.dynamodb.Expression;
import software.amazon.awssdk.enhanced.dynamodb.Key;
import software.amazon.awssdk.enhanced.dynamodb.TableSchema;
import software.amazon.awssdk.enhanced.dynamodb.model.BatchWriteItemEnhancedRequest;
import software.amazon.awssdk.enhanced.dynamodb.model.Page;
import software.amazon.awssdk.enhanced.dynamodb.model.QueryConditional;
import software.amazon.awssdk.enhanced.dynamodb.model.TransactUpdateItemEnhancedRequest;
import software.amazon.awssdk.enhanced.dynamodb.model.TransactWriteItemsEnhancedRequest;
import software.amazon.awssdk.enhanced.dynamodb.model.WriteBatch;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.CancellationReason;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.ProjectionType;
import software.amazon.awssdk.services.dynamodb.model.Record;
import software.amazon.awssdk.services.dynamodb.model.ReturnValue;
import software.amazon.awssdk.services.dynamodb.model.ShardIteratorType;
import software.amazon.awssdk.services.dynamodb.model.StreamViewType;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsClient;

/** Tests typical uses of DynamoDB with the AWS SDK for Java v2 and its enhanced client. */
class SdkTest {
  private MayflyServer mayfly;
  private DynamoDbClient dynamodb;
  private DynamoDbEnhancedClient enhanced;
  private DynamoDbTable<Cart> carts;

  @BeforeEach
  void createCarts() throws Exception {
    mayfly = new MayflyServer();
    dynamodb = mayfly.dynamodb();
    enhanced = DynamoDbEnhancedClient.builder().dynamoDbClient(dynamodb).build();
    carts = enhanced.table("carts", TableSchema.fromBean(Cart.class));
    carts.createTable(
        request ->
            request
                .globalSecondaryIndices(
                    index ->
                        index
                            .indexName("by_customer")
                            .projection(projection -> projection.projectionType(ProjectionType.ALL)))
                .streamSpecification(
                    stream -> stream.streamEnabled(true).streamViewType(StreamViewType.NEW_AND_OLD_IMAGES)));
    dynamodb.waiter().waitUntilTableExists(request -> request.tableName("carts"));
    dynamodb.updateTimeToLive(
        request ->
            request.tableName("carts").timeToLiveSpecification(ttl -> ttl.enabled(true).attributeName("ttl")));
  }

  @AfterEach
  void stop() throws Exception {
    if (dynamodb != null) {
      dynamodb.close();
    }
    if (mayfly != null) {
      mayfly.close();
    }
  }

  @Test
  void anItemIsPutReadConditionallyUpdatedAndDeleted() {
    Cart cart = new Cart("1", 19);
    cart.setProducts(Set.of("piano", "stool"));
    carts.putItem(cart);
    assertEquals(cart, carts.getItem(key("1")));

    cart.setPrice(99);
    cart.setProducts(Set.of("metronome"));
    Expression affordable =
        Expression.builder().expression("price < :limit").putExpressionValue(":limit", number(99)).build();
    Cart updated = carts.updateItem(request -> request.item(cart).conditionExpression(affordable));
    assertEquals(cart, updated);
    ConditionalCheckFailedException failed =
        assertThrows(
            ConditionalCheckFailedException.class,
            () -> carts.updateItem(request -> request.item(cart).conditionExpression(affordable)));
    assertEquals("The conditional request failed", failed.awsErrorDetails().errorMessage());

    // The same update with a low-level update expression.
    Map<String, AttributeValue> attributes =
        dynamodb
            .updateItem(
                request ->
                    request
                        .tableName("carts")
                        .key(Map.of("id", AttributeValue.fromS("1")))
                        .updateExpression("ADD price :more REMOVE products")
                        .expressionAttributeValues(Map.of(":more", number(1)))
                        .returnValues(ReturnValue.ALL_NEW))
            .attributes();
    assertEquals(
        Map.of(
            "id", AttributeValue.fromS("1"),
            "customer", AttributeValue.fromS("nina"),
            "price", AttributeValue.fromN("100")),
        attributes);

    carts.deleteItem(key("1"));
    assertNull(carts.getItem(key("1")));
  }

  @Test
  void anIndexIsQueriedPageByPage() {
    WriteBatch.Builder<Cart> batch = WriteBatch.builder(Cart.class).mappedTableResource(carts);
    IntStream.range(0, 20).forEach(number -> batch.addPutItem(new Cart(Integer.toString(number), -number)));
    var written =
        enhanced.batchWriteItem(BatchWriteItemEnhancedRequest.builder().addWriteBatch(batch.build()).build());
    assertEquals(List.of(), written.unprocessedPutItemsForTable(carts));

    QueryConditional between =
        QueryConditional.sortBetween(
            Key.builder().partitionValue("nina").sortValue(-9).build(),
            Key.builder().partitionValue("nina").sortValue(-5).build());
    List<Page<Cart>> pages =
        carts.index("by_customer").query(request -> request.queryConditional(between).limit(2)).stream().toList();
    assertEquals(
        Stream.of(9, 8, 7, 6, 5).map(number -> new Cart(number.toString(), -number)).toList(),
        pages.stream().flatMap(page -> page.items().stream()).toList());
    assertEquals(List.of(2, 2, 1), pages.stream().map(page -> page.items().size()).toList());
  }

  @Test
  void aTransactionIsAppliedCompletelyOrCanceledWithReasons() {
    carts.putItem(new Cart("full", 10));
    carts.putItem(new Cart("empty", 0));

    // Moves ten from the price of one cart to the price of another if the first price is at least ten.
    Expression enough =
        Expression.builder().expression("price >= :ten").putExpressionValue(":ten", number(10)).build();
    TransactWriteItemsEnhancedRequest move =
        TransactWriteItemsEnhancedRequest.builder()
            .addUpdateItem(
                carts,
                TransactUpdateItemEnhancedRequest.builder(Cart.class)
                    .item(new Cart("full", 0))
                    .conditionExpression(enough)
                    .build())
            .addUpdateItem(carts, new Cart("empty", 10))
            .build();
    enhanced.transactWriteItems(move);
    TransactionCanceledException canceled =
        assertThrows(TransactionCanceledException.class, () -> enhanced.transactWriteItems(move));
    assertEquals(
        List.of("ConditionalCheckFailed", "None"),
        canceled.cancellationReasons().stream().map(CancellationReason::code).toList());

    var both =
        enhanced.transactGetItems(
            request -> request.addGetItem(carts, key("full")).addGetItem(carts, key("empty")));
    assertEquals(
        List.of(new Cart("full", 0), new Cart("empty", 10)),
        both.stream().map(document -> document.getItem(carts)).toList());
  }

  @Test
  void anExpiryRemovesTheItemAndItsIndexEntryAndTheRecordNamesTheService() throws Exception {
    long ttl = Instant.now().getEpochSecond() + 3600;
    putUntil("goes", ttl);
    putUntil("stays", ttl + 24 * 3600);
    putUntil("ordered", ttl);
    carts.deleteItem(key("ordered"));

    mayfly.advance(Duration.ofHours(2));
    List<Record> records = readStream();
    assertEquals(
        List.of("INSERT goes", "INSERT stays", "INSERT ordered", "REMOVE ordered", "REMOVE goes"),
        records.stream()
            .map(record -> record.eventNameAsString() + " " + record.dynamodb().keys().get("id").s())
            .toList());
    assertNull(records.get(3).userIdentity());
    assertEquals("Service", records.get(4).userIdentity().type());
    assertEquals("dynamodb.amazonaws.com", records.get(4).userIdentity().principalId());
    assertEquals(Long.toString(ttl), records.get(4).dynamodb().oldImage().get("ttl").n());

    assertEquals(List.of("stays"), carts.scan().items().stream().map(Cart::getId).toList());
    assertEquals(
        List.of("stays"),
        carts.index("by_customer").scan().stream()
            .flatMap(page -> page.items().stream())
            .map(Cart::getId)
            .toList());
  }

  private void putUntil(String id, long ttl) {
    Cart cart = new Cart(id, 10);
    cart.setTtl(ttl);
    carts.putItem(cart);
  }

  /** Reads the stream of carts from its beginning. */
  private List<Record> readStream() {
    try (DynamoDbStreamsClient streams = mayfly.streams()) {
      String arn = streams.listStreams(request -> request.tableName("carts")).streams().get(0).streamArn();
      String shard =
          streams.describeStream(request -> request.streamArn(arn)).streamDescription().shards().get(0).shardId();
      String iterator =
          streams
              .getShardIterator(
                  request ->
                      request.streamArn(arn).shardId(shard).shardIteratorType(ShardIteratorType.TRIM_HORIZON))
              .shardIterator();
      return streams.getRecords(request -> request.shardIterator(iterator)).records();
    }
  }

  private static Key key(String id) {
    return Key.builder().partitionValue(id).build();
  }

  private static AttributeValue number(int value) {
    return AttributeValue.fromN(Integer.toString(value));
  }
}
