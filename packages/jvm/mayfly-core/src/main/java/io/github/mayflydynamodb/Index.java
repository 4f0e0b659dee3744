package io.github.mayflydynamodb;

import java.util.List;
import java.util.Optional;
import software.amazon.awssdk.services.dynamodb.model.Projection;
import software.amazon.awssdk.services.dynamodb.model.ProjectionType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;

/**
 * A secondary index of a {@link Table}: {@code Index.named("by_state").key("state").sort("at", N)}. It contains all
 * attributes unless {@link #projection} says otherwise. Each method returns a changed copy.
 */
public final class Index {
  private final String name;
  private final Attribute key; // null: key() was not called
  private final Attribute sort; // null: no sort key
  private final Projection projection;
  private final boolean local;

  private Index(String name, Attribute key, Attribute sort, Projection projection, boolean local) {
    this.name = name;
    this.key = key;
    this.sort = sort;
    this.projection = projection;
    this.local = local;
  }

  /** Returns an index that contains all attributes. It is global unless {@link #local()} is called. */
  public static Index named(String name) {
    return new Index(name, null, null, of(ProjectionType.ALL), false);
  }

  /** Sets the partition key, a string. A global index requires it; a local index has the table's partition key. */
  public Index key(String attribute) {
    return key(attribute, ScalarAttributeType.S);
  }

  /** Sets the partition key. A global index requires it; a local index has the table's partition key. */
  public Index key(String attribute, ScalarAttributeType type) {
    return new Index(name, new Attribute(attribute, type), sort, projection, local);
  }

  /** Sets the sort key, a string. A local index requires it. Default: none. */
  public Index sort(String attribute) {
    return sort(attribute, ScalarAttributeType.S);
  }

  /** Sets the sort key. A local index requires it. Default: none. */
  public Index sort(String attribute, ScalarAttributeType type) {
    return new Index(name, key, new Attribute(attribute, type), projection, local);
  }

  /** Sets the attributes that the index contains: {@code ALL}, the default, or {@code KEYS_ONLY}. */
  public Index projection(ProjectionType type) {
    return new Index(name, key, sort, of(type), local);
  }

  /** Makes the index contain the keys and these attributes. */
  public Index projection(String attribute, String... more) {
    List<String> attributes = new java.util.ArrayList<>(List.of(attribute));
    attributes.addAll(List.of(more));
    Projection include =
        Projection.builder().projectionType(ProjectionType.INCLUDE).nonKeyAttributes(attributes).build();
    return new Index(name, key, sort, include, local);
  }

  /** Makes this a local index. */
  public Index local() {
    return new Index(name, key, sort, projection, true);
  }

  private static Projection of(ProjectionType type) {
    return Projection.builder().projectionType(type).build();
  }

  String name() {
    return name;
  }

  Optional<Attribute> key() {
    return Optional.ofNullable(key);
  }

  Optional<Attribute> sort() {
    return Optional.ofNullable(sort);
  }

  Projection projection() {
    return projection;
  }

  boolean isLocal() {
    return local;
  }

  /** A key attribute. */
  record Attribute(String name, ScalarAttributeType type) {}
}
