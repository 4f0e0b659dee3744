package mayfly;

import java.util.Objects;
import java.util.Set;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbBean;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbPartitionKey;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbSecondaryPartitionKey;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbSecondarySortKey;

/** A stored cart, indexed by customer and price. The enhanced client needs a bean. */
@DynamoDbBean
public class Cart {
  private String id;
  private String customer;
  private int price;
  private Set<String> products;
  private Long ttl;

  public Cart() {}

  Cart(String id, int price) {
    this.id = id;
    this.customer = "nina";
    this.price = price;
  }

  @DynamoDbPartitionKey
  public String getId() {
    return id;
  }

  public void setId(String id) {
    this.id = id;
  }

  @DynamoDbSecondaryPartitionKey(indexNames = "by_customer")
  public String getCustomer() {
    return customer;
  }

  public void setCustomer(String customer) {
    this.customer = customer;
  }

  @DynamoDbSecondarySortKey(indexNames = "by_customer")
  public int getPrice() {
    return price;
  }

  public void setPrice(int price) {
    this.price = price;
  }

  public Set<String> getProducts() {
    return products;
  }

  public void setProducts(Set<String> products) {
    this.products = products;
  }

  /** The expiry time in seconds since 1970. */
  public Long getTtl() {
    return ttl;
  }

  public void setTtl(Long ttl) {
    this.ttl = ttl;
  }

  @Override
  public boolean equals(Object object) {
    return object instanceof Cart other
        && id.equals(other.id)
        && customer.equals(other.customer)
        && price == other.price
        && Objects.equals(products, other.products)
        && Objects.equals(ttl, other.ttl);
  }

  @Override
  public int hashCode() {
    return id.hashCode();
  }

  @Override
  public String toString() {
    return "cart " + id + " of " + customer + ", " + price + ", " + products + ", " + ttl;
  }
}
