package mayfly;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.amazonaws.services.dynamodbv2.streamsadapter.AmazonDynamoDBStreamsAdapterClient;
import com.amazonaws.services.dynamodbv2.streamsadapter.StreamsSchedulerFactory;
import com.amazonaws.services.dynamodbv2.streamsadapter.model.DynamoDBStreamsProcessRecordsInput;
import com.amazonaws.services.dynamodbv2.streamsadapter.polling.DynamoDBStreamsPollingConfig;
import com.amazonaws.services.dynamodbv2.streamsadapter.processor.DynamoDBStreamsShardRecordProcessor;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.cloudwatch.CloudWatchAsyncClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.dynamodb.model.StreamViewType;
import software.amazon.kinesis.common.ConfigsBuilder;
import software.amazon.kinesis.common.InitialPositionInStream;
import software.amazon.kinesis.common.InitialPositionInStreamExtended;
import software.amazon.kinesis.coordinator.Scheduler;
import software.amazon.kinesis.lifecycle.events.InitializationInput;
import software.amazon.kinesis.lifecycle.events.LeaseLostInput;
import software.amazon.kinesis.lifecycle.events.ShardEndedInput;
import software.amazon.kinesis.lifecycle.events.ShutdownRequestedInput;
import software.amazon.kinesis.metrics.NullMetricsFactory;
import software.amazon.kinesis.retrieval.RetrievalConfig;

/**
 * Tests a consumer built with the Kinesis Client Library and its DynamoDB Streams adapter. The library stores its
 * leases in Mayfly.
 */
class KinesisClientTest {
  private static final int CARTS = 40;

  /** The records that the processors received: the numbers of each cart, in order of arrival. */
  private final Map<String, List<Integer>> seen = new TreeMap<>();
  private final Set<String> shards = new HashSet<>();
  private final Set<String> endedShards = new HashSet<>();

  private MayflyServer mayfly;
  private DynamoDbClient dynamodb;
  private DynamoDbAsyncClient leases;
  private Scheduler scheduler;

  @BeforeEach
  void start() throws Exception {
    mayfly = new MayflyServer();
    dynamodb = mayfly.dynamodb();
    dynamodb.createTable(
        request ->
            request
                .tableName("carts")
                .billingMode(BillingMode.PAY_PER_REQUEST)
                .attributeDefinitions(id -> id.attributeName("id").attributeType(ScalarAttributeType.S))
                .keySchema(id -> id.attributeName("id").keyType(KeyType.HASH))
                .streamSpecification(
                    stream -> stream.streamEnabled(true).streamViewType(StreamViewType.NEW_AND_OLD_IMAGES)));
    String arn = dynamodb.describeTable(request -> request.tableName("carts")).table().latestStreamArn();

    leases = mayfly.configured(DynamoDbAsyncClient.builder()).build();
    AmazonDynamoDBStreamsAdapterClient streams =
        new AmazonDynamoDBStreamsAdapterClient(mayfly.streams(), Region.US_EAST_1);
    ConfigsBuilder configs =
        new ConfigsBuilder(
            StreamsSchedulerFactory.createSingleStreamTracker(
                arn, InitialPositionInStreamExtended.newInitialPosition(InitialPositionInStream.TRIM_HORIZON)),
            "carts-consumer",
            streams,
            leases,
            mayfly.configured(CloudWatchAsyncClient.builder()).build(),
            "worker",
            Processor::new);
    RetrievalConfig retrieval = configs.retrievalConfig();
    retrieval.retrievalSpecificConfig(
        new DynamoDBStreamsPollingConfig(arn, streams).idleTimeBetweenReadsInMillis(100));
    scheduler =
        StreamsSchedulerFactory.createScheduler(
            configs.checkpointConfig(),
            configs.coordinatorConfig().parentShardPollIntervalMillis(100).shardConsumerDispatchPollIntervalMillis(100),
            configs.leaseManagementConfig().failoverTimeMillis(1000).shardSyncIntervalMillis(1000),
            configs.lifecycleConfig(),
            configs.metricsConfig().metricsFactory(new NullMetricsFactory()), // Mayfly has no CloudWatch
            configs.processorConfig(),
            retrieval,
            streams);
    new Thread(scheduler, "scheduler").start();
  }

  @AfterEach
  void stop() throws Exception {
    if (scheduler != null) {
      scheduler.startGracefulShutdown().get(60, TimeUnit.SECONDS);
    }
    if (leases != null) {
      leases.close();
    }
    if (dynamodb != null) {
      dynamodb.close();
    }
    if (mayfly != null) {
      mayfly.close();
    }
  }

  @Test
  void aConsumerReceivesEachRecordInOrderAcrossASplitAndARollOver() throws Exception {
    putCarts(0);
    awaitRecords(CARTS);
    reshard("split");
    putCarts(1);
    putCarts(2);
    awaitRecords(3 * CARTS);
    reshard("roll");
    putCarts(3);
    awaitRecords(4 * CARTS);

    synchronized (seen) {
      assertEquals(CARTS, seen.size());
      seen.forEach((id, numbers) -> assertEquals(List.of(0, 1, 2, 3), numbers, id));
      assertEquals(5, shards.size(), "one shard, its two halves, and a child of each half");
      assertEquals(3, endedShards.size());
    }
    Set<String> leasesOfEnded = new HashSet<>();
    for (Map<String, AttributeValue> lease : dynamodb.scan(request -> request.tableName("carts-consumer")).items()) {
      if (lease.get("checkpoint").s().equals("SHARD_END")) {
        leasesOfEnded.add(lease.get("leaseKey").s());
      }
    }
    assertEquals(endedShards, leasesOfEnded);
  }

  private void putCarts(int n) {
    for (int cart = 0; cart < CARTS; ++cart) {
      Map<String, AttributeValue> item =
          Map.of("id", AttributeValue.fromS("cart-" + cart), "n", AttributeValue.fromN(Integer.toString(n)));
      dynamodb.putItem(request -> request.tableName("carts").item(item));
    }
  }

  private void reshard(String how) throws Exception {
    HttpResponse<String> answer =
        HttpClient.newHttpClient()
            .send(
                HttpRequest.newBuilder(mayfly.url().resolve("/_mayfly/streams/carts/" + how))
                    .header("Content-Type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofString("{}"))
                    .build(),
                HttpResponse.BodyHandlers.ofString());
    assertEquals(200, answer.statusCode(), answer.body());
  }

  private void awaitRecords(int count) throws InterruptedException {
    Instant deadline = Instant.now().plus(Duration.ofMinutes(3));
    synchronized (seen) {
      while (seen.values().stream().mapToInt(List::size).sum() < count) {
        long left = Duration.between(Instant.now(), deadline).toMillis();
        assertTrue(left > 0, () -> "only these records arrived: " + seen);
        seen.wait(left);
      }
    }
  }

  private final class Processor implements DynamoDBStreamsShardRecordProcessor {
    private String shard;

    @Override
    public void initialize(InitializationInput input) {
      shard = input.shardId();
      synchronized (seen) {
        shards.add(shard);
      }
    }

    @Override
    public void processRecords(DynamoDBStreamsProcessRecordsInput input) {
      synchronized (seen) {
        input
            .records()
            .forEach(
                record -> {
                  var change = record.getRecord().dynamodb();
                  seen.computeIfAbsent(change.keys().get("id").s(), id -> new ArrayList<>())
                      .add(Integer.valueOf(change.newImage().get("n").n()));
                });
        seen.notifyAll();
      }
    }

    @Override
    public void leaseLost(LeaseLostInput input) {}

    @Override
    public void shardEnded(ShardEndedInput input) {
      synchronized (seen) {
        endedShards.add(shard);
      }
      try {
        input.checkpointer().checkpoint();
      } catch (Exception problem) {
        throw new AssertionError(problem);
      }
    }

    @Override
    public void shutdownRequested(ShutdownRequestedInput input) {
      try {
        input.checkpointer().checkpoint();
      } catch (Exception problem) {
        throw new AssertionError(problem);
      }
    }
  }
}
