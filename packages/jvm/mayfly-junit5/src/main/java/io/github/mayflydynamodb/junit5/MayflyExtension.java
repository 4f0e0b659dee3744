package io.github.mayflydynamodb.junit5;

import io.github.mayflydynamodb.Clock;
import io.github.mayflydynamodb.EnhancedClients;
import io.github.mayflydynamodb.Server;
import io.github.mayflydynamodb.ServerOptions;
import io.github.mayflydynamodb.World;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * One server for all tests of the JVM, and a world for each test. The world and its parts can be parameters of tests, {@code
 * @BeforeEach} and {@code @AfterEach} methods: {@link World}, {@link Clock} or {@link java.time.Clock}, {@link Server}, and of the AWS SDK
 * DynamoDbClient, DynamoDbAsyncClient, DynamoDbStreamsClient, DynamoDbEnhancedClient and DynamoDbEnhancedAsyncClient.
 *
 * <p>{@link MayflyTest} is the short way. To start a server with options, and one world for the class:
 *
 * <pre>{@code
 * @RegisterExtension
 * static MayflyExtension mayfly = MayflyExtension.of(ServerOptions.defaults().arguments("--stream-shards", "4"))
 *     .worldPer(WorldPer.CLASS);
 * }</pre>
 *
 * <p>Without options, the configuration parameters {@code mayfly.url}, {@code mayfly.binary}, {@code mayfly.arguments} and
 * {@code mayfly.start-timeout-seconds} of junit-platform.properties apply. Extensions with the same options share a server.
 * It ends after the last test; if it dies before, another one is started.
 *
 * <p>A test fails if a function of its world failed, and that was not expected ({@link
 * io.github.mayflydynamodb.FunctionOptions#mayFail}). When a test fails, the server's log since the test began and items
 * whose TTL never fires are published as the report entries {@code mayfly.log} and {@code mayfly.ttl} and printed to stderr.
 */
public final class MayflyExtension implements ParameterResolver, BeforeEachCallback, AfterEachCallback {
  /** By name, because some of these classes may not be on the class path. */
  private static final Map<String, Function<World, Object>> PARAMETERS =
      Map.of(
          "io.github.mayflydynamodb.World", world -> world,
          "io.github.mayflydynamodb.Clock", World::clock,
          "java.time.Clock", World::clock,
          "io.github.mayflydynamodb.Server", World::server,
          "software.amazon.awssdk.services.dynamodb.DynamoDbClient", world -> world.dynamoDb(),
          "software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient", world -> world.dynamoDbAsync(),
          "software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsClient", world -> world.dynamoDbStreams(),
          "software.amazon.awssdk.enhanced.dynamodb.DynamoDbEnhancedClient", world -> EnhancedClients.of(world),
          "software.amazon.awssdk.enhanced.dynamodb.DynamoDbEnhancedAsyncClient",
              world -> EnhancedClients.asyncOf(world));

  private final ServerOptions options; // null: the configuration's
  private final WorldPer worldPer; // null: the annotation's

  /** As {@link MayflyTest} uses it. */
  public MayflyExtension() {
    this(null, null);
  }

  private MayflyExtension(ServerOptions options, WorldPer worldPer) {
    this.options = options;
    this.worldPer = worldPer;
  }

  /** A server of these options, whatever the configuration says. */
  public static MayflyExtension of(ServerOptions options) {
    return new MayflyExtension(options, null);
  }

  /** The same with worlds for each test, or each class. */
  public MayflyExtension worldPer(WorldPer per) {
    return new MayflyExtension(options, per);
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return PARAMETERS.containsKey(parameter.getParameter().getType().getName());
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return PARAMETERS.get(parameter.getParameter().getType().getName()).apply(world(context));
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    FailureLog.begin(store(context), server(context));
  }

  @Override
  public void afterEach(ExtensionContext context) {
    KeptWorld kept = store(context).get(new KeptWorld.Key(this, worldPer(context)), KeptWorld.class);
    Optional<World> world = Optional.ofNullable(kept).map(KeptWorld::world);
    boolean failed = true;
    try {
      world.ifPresent(World::throwHandlerFailures);
      failed = context.getExecutionException().isPresent();
    } finally {
      if (failed) {
        FailureLog.show(store(context), context, world);
      }
    }
  }

  private World world(ExtensionContext context) {
    WorldPer per = worldPer(context);
    if (per == WorldPer.TEST && context.getTestMethod().isEmpty()) {
      throw new ParameterResolutionException(
          "a world for each test is not there yet in a constructor or @BeforeAll, nor still in @AfterAll: take it in"
              + " the test or in @BeforeEach, or say @MayflyTest(world = WorldPer.CLASS).");
    }
    return store(per == WorldPer.CLASS ? outermostClass(context) : context)
        .getOrComputeIfAbsent(
            new KeptWorld.Key(this, per), key -> new KeptWorld(server(context).world()), KeptWorld.class)
        .world();
  }

  private WorldPer worldPer(ExtensionContext context) {
    return Optional.ofNullable(worldPer).or(() -> annotated(context)).orElse(WorldPer.TEST);
  }

  /** The nearest annotation: of the method, of its class, of those around it. */
  private static Optional<WorldPer> annotated(ExtensionContext context) {
    for (Optional<ExtensionContext> each = Optional.of(context); each.isPresent(); each = each.get().getParent()) {
      Optional<MayflyTest> annotation =
          AnnotationSupport.findAnnotation(each.get().getElement(), MayflyTest.class);
      if (annotation.isPresent()) {
        return annotation.map(MayflyTest::world);
      }
    }
    return Optional.empty();
  }

  private static ExtensionContext outermostClass(ExtensionContext context) {
    ExtensionContext outermost = context;
    for (Optional<ExtensionContext> each = Optional.of(context); each.isPresent(); each = each.get().getParent()) {
      if (each.get().getTestClass().isPresent()) {
        outermost = each.get();
      }
    }
    return outermost;
  }

  private Server server(ExtensionContext context) {
    ServerOptions wanted = options == null ? Configuration.read(context) : options;
    return context
        .getRoot()
        .getStore(Namespace.create(MayflyExtension.class))
        .getOrComputeIfAbsent(wanted, KeptServer::new, KeptServer.class)
        .server();
  }

  private static ExtensionContext.Store store(ExtensionContext context) {
    return context.getStore(Namespace.create(MayflyExtension.class));
  }
}
