package io.github.mayflydynamodb;

import io.github.mayflydynamodb.Index.Attribute;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.CreateTableRequest;
import software.amazon.awssdk.services.dynamodb.model.GlobalSecondaryIndex;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.LocalSecondaryIndex;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.dynamodb.model.StreamViewType;

/**
 * Describes a table for {@link World#createTable}. By default, the partition key is the string attribute {@code id},
 * and the table has a stream of new and old images, no sort key, no TTL and no indexes. Each method returns a changed
 * copy.
 *
 * <pre>{@code
 * world.createTable(
 *     Table.named("orders")
 *         .key("customer")
 *         .sort("at", ScalarAttributeType.N)
 *         .ttl("ttl")
 *         .index(Index.named("by_state").key("state")));
 * }</pre>
 */
public final class Table {
  private static final Attribute KEY_DEFAULT = new Attribute("id", ScalarAttributeType.S);

  private final String name;
  private final Attribute key;
  private final Attribute sort; // null: no sort key
  private final String ttl; // null: no TTL
  private final StreamViewType stream; // null: no stream
  private final List<Index> indexes;
  private final Consumer<CreateTableRequest.Builder> more;

  private Table(
      String name,
      Attribute key,
      Attribute sort,
      String ttl,
      StreamViewType stream,
      List<Index> indexes,
      Consumer<CreateTableRequest.Builder> more) {
    this.name = name;
    this.key = key;
    this.sort = sort;
    this.ttl = ttl;
    this.stream = stream;
    this.indexes = indexes;
    this.more = more;
  }

  /** Returns the description of a table with the defaults. */
  public static Table named(String name) {
    return new Table(name, KEY_DEFAULT, null, null, StreamViewType.NEW_AND_OLD_IMAGES, List.of(), builder -> {});
  }

  /** Sets the partition key, a string. */
  public Table key(String attribute) {
    return key(attribute, ScalarAttributeType.S);
  }

  /** Sets the partition key. */
  public Table key(String attribute, ScalarAttributeType type) {
    return new Table(name, new Attribute(attribute, type), sort, ttl, stream, indexes, more);
  }

  /** Sets the sort key, a string. */
  public Table sort(String attribute) {
    return sort(attribute, ScalarAttributeType.S);
  }

  /** Sets the sort key. */
  public Table sort(String attribute, ScalarAttributeType type) {
    return new Table(name, key, new Attribute(attribute, type), ttl, stream, indexes, more);
  }

  /**
   * Enables TTL. In each item, the attribute holds the item's TTL, in epoch seconds.
   *
   * @throws IllegalArgumentException if the name is empty
   */
  public Table ttl(String attribute) {
    if (attribute.isEmpty()) {
      throw new IllegalArgumentException("ttl() of the table " + name + " needs the name of an attribute.");
    }
    return new Table(name, key, sort, attribute, stream, indexes, more);
  }

  /** Sets whether the table has a stream of new and old images. */
  public Table stream(boolean on) {
    return new Table(name, key, sort, ttl, on ? StreamViewType.NEW_AND_OLD_IMAGES : null, indexes, more);
  }

  /** Enables the stream, and sets the images in its records. */
  public Table stream(StreamViewType images) {
    return new Table(name, key, sort, ttl, images, indexes, more);
  }

  /** Adds a secondary index. */
  public Table index(Index index) {
    return new Table(name, key, sort, ttl, stream, Stream.concat(indexes.stream(), Stream.of(index)).toList(), more);
  }

  /**
   * Sets other members of the CreateTable request. {@code members} is called last, just before the request is built.
   */
  public Table more(Consumer<CreateTableRequest.Builder> members) {
    return new Table(name, key, sort, ttl, stream, indexes, more.andThen(members));
  }

  String name() {
    return name;
  }

  Optional<String> ttl() {
    return Optional.ofNullable(ttl);
  }

  /**
   * @throws IllegalArgumentException if an attribute has two types, or an index has no name, lacks a key or has a key
   *     that it must not have
   */
  CreateTableRequest toRequest() {
    Attributes attributes = new Attributes();
    CreateTableRequest.Builder request =
        CreateTableRequest.builder()
            .tableName(name)
            .billingMode(BillingMode.PAY_PER_REQUEST)
            .keySchema(attributes.schema("the table", key, Optional.ofNullable(sort)));
    if (stream != null) {
      request.streamSpecification(images -> images.streamEnabled(true).streamViewType(stream));
    }
    List<GlobalSecondaryIndex> global = new ArrayList<>();
    List<LocalSecondaryIndex> local = new ArrayList<>();
    for (Index index : indexes) {
      List<KeySchemaElement> schema = attributes.schema("the index " + index.name(), partitionKey(index), index.sort());
      if (index.isLocal()) {
        local.add(
            LocalSecondaryIndex.builder()
                .indexName(index.name())
                .keySchema(schema)
                .projection(index.projection())
                .build());
      } else {
        global.add(
            GlobalSecondaryIndex.builder()
                .indexName(index.name())
                .keySchema(schema)
                .projection(index.projection())
                .build());
      }
    }
    if (!global.isEmpty()) {
      request.globalSecondaryIndexes(global);
    }
    if (!local.isEmpty()) {
      request.localSecondaryIndexes(local);
    }
    request.attributeDefinitions(attributes.definitions());
    more.accept(request);
    return request.build();
  }

  private Attribute partitionKey(Index index) {
    if (index.name() == null || index.name().isEmpty()) {
      throw new IllegalArgumentException("An index of the table " + name + " has no name: pass one to Index.named().");
    }
    if (!index.isLocal()) {
      return index
          .key()
          .orElseThrow(
              () ->
                  new IllegalArgumentException(
                      "The global index " + index.name()
                          + " needs a partition key: call key(), or local() for a local index."));
    }
    if (index.key().isPresent()) {
      throw new IllegalArgumentException(
          "The local index " + index.name() + " has the table's partition key: remove key(), or local().");
    }
    if (index.sort().isEmpty()) {
      throw new IllegalArgumentException("The local index " + index.name() + " needs a sort key: call sort().");
    }
    return key;
  }

  /** The distinct attributes of all keys, with their types. */
  private final class Attributes {
    private record Use(ScalarAttributeType type, String by) {}

    private final Map<String, Use> uses = new LinkedHashMap<>();

    List<KeySchemaElement> schema(String by, Attribute partition, Optional<Attribute> sort) {
      List<KeySchemaElement> schema = new ArrayList<>(List.of(element(by, partition, KeyType.HASH)));
      sort.ifPresent(attribute -> schema.add(element(by, attribute, KeyType.RANGE)));
      return schema;
    }

    private KeySchemaElement element(String by, Attribute attribute, KeyType type) {
      Use before = uses.putIfAbsent(attribute.name(), new Use(attribute.type(), by));
      if (before != null && before.type() != attribute.type()) {
        throw new IllegalArgumentException(
            "The attribute " + attribute.name() + " of table " + name + " has type " + before.type() + " in "
                + before.by() + " and " + attribute.type() + " in " + by + ": give it the same type in both.");
      }
      return KeySchemaElement.builder().attributeName(attribute.name()).keyType(type).build();
    }

    List<AttributeDefinition> definitions() {
      return uses.entrySet().stream()
          .map(
              use ->
                  AttributeDefinition.builder().attributeName(use.getKey()).attributeType(use.getValue().type()).build())
          .toList();
    }
  }
}
