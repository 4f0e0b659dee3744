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
  private final Attribute key; // null: none
  private final Attribute sort; // null: none
  private final Projection projection;
  private final boolean local;

  private Index(String name, Attribute key, Attribute sort, Projection projection, boolean local) {
    this.name = name;
    this.key = key;
    this.sort = sort;
    this.projection = projection;
    this.local = local;
  }

  /** An index of this name, global unless {@link #local()} is called. */
  public static Index named(String name) {
    return new Index(name, null, null, of(ProjectionType.ALL), false);
  }

  /** The partition key, a string. Required for a global index; a local one has the table's. */
  public Index key(String attribute) {
    return key(attribute, ScalarAttributeType.S);
  }

  /** The partition key. Required for a global index; a local one has the table's. */
  public Index key(String attribute, ScalarAttributeType type) {
    return new Index(name, new Attribute(attribute, type), sort, projection, local);
  }

  /** The sort key, a string. Required for a local index. */
  public Index sort(String attribute) {
    return sort(attribute, ScalarAttributeType.S);
  }

  /** The sort key. Required for a local index. */
  public Index sort(String attribute, ScalarAttributeType type) {
    return new Index(name, key, new Attribute(attribute, type), projection, local);
  }

  /** {@code ALL}, the default, or {@code KEYS_ONLY}. */
  public Index projection(ProjectionType type) {
    return new Index(name, key, sort, of(type), local);
  }

  /** Contains the keys and these attributes. */
  public Index projection(String attribute, String... more) {
    List<String> attributes = new java.util.ArrayList<>(List.of(attribute));
    attributes.addAll(List.of(more));
    Projection include =
        Projection.builder().projectionType(ProjectionType.INCLUDE).nonKeyAttributes(attributes).build();
    return new Index(name, key, sort, include, local);
  }

  /** Makes it a local index. */
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
