package io.github.mayflydynamodb.spring;

import java.net.URI;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;

/** Where a Mayfly runs already: a bean of this kind, and none is started. */
public interface MayflyConnectionDetails extends ConnectionDetails {
  /** Such as {@code http://localhost:32768}. */
  URI url();
}
