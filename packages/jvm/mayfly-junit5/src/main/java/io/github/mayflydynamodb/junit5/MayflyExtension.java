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
 * Provides one server for all tests in the JVM, and a world for each test. Tests, {@code @BeforeEach} and
 * {@code @AfterEach} methods can have these parameters: {@link World}, {@link Clock} or {@link java.time.Clock}, {@link
 * Server}, and the AWS SDK's DynamoDbClient, DynamoDbAsyncClient, DynamoDbStreamsClient, DynamoDbEnhancedClient and
 * DynamoDbEnhancedAsyncClient.
 *
 * <p>Most tests use {@link MayflyTest}. Register the extension to start a server with options, or to share a world:
 *
 * <pre>{@code
 * @RegisterExtension
 * static MayflyExtension mayfly = MayflyExtension.of(ServerOptions.defaults().arguments("--stream-shards", "4"))
 *     .worldPer(WorldPer.CLASS);
 * }</pre>
 *
 * <p>Without options, the configuration parameters {@code mayfly.url}, {@code mayfly.binary}, {@code mayfly.arguments}
 * and {@code mayfly.start-timeout-seconds} in junit-platform.properties apply. Extensions with the same options share a
 * server. The server exits after the last test. If the server dies earlier, the next test gets a new server.
 *
 * <p>A test fails if a function in its world failed and was not registered with {@link
 * io.github.mayflydynamodb.FunctionOptions#mayFail}. If a test fails, the server's log since the test began and the
 * items whose TTL is probably wrong are published as the report entries {@code mayfly.log} and {@code mayfly.ttl},
 * and printed to stderr.
 */
public final class MayflyExtension implements ParameterResolver, BeforeEachCallback, AfterEachCallback {
  /** The keys are class names, because some of these classes may be missing from the class path. */
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

  private final ServerOptions options; // null: the configuration's options apply
  private final WorldPer worldPer; // null: the annotation's scope applies

  /** Takes the options from the configuration, and the scope of worlds from {@link MayflyTest}. */
  public MayflyExtension() {
    this(null, null);
  }

  private MayflyExtension(ServerOptions options, WorldPer worldPer) {
    this.options = options;
    this.worldPer = worldPer;
  }

  /** Returns an extension that uses these options and ignores the configuration. */
  public static MayflyExtension of(ServerOptions options) {
    return new MayflyExtension(options, null);
  }

  /** Returns a copy that creates a world for each test or for each class. */
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
          "The world of a test does not exist in a constructor, @BeforeAll or @AfterAll: take it as a parameter of the"
              + " test or of @BeforeEach, or share one with @MayflyTest(world = WorldPer.CLASS).");
    }
    return store(per == WorldPer.CLASS ? outermostClass(context) : context)
        .getOrComputeIfAbsent(
            new KeptWorld.Key(this, per), key -> new KeptWorld(server(context).world()), KeptWorld.class)
        .world();
  }

  private WorldPer worldPer(ExtensionContext context) {
    return Optional.ofNullable(worldPer).or(() -> annotated(context)).orElse(WorldPer.TEST);
  }

  /** Returns the value of the nearest annotation: on the method, its class or an enclosing class. */
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
