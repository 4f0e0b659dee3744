package io.github.mayflydynamodb.spring;

import java.net.URI;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;

/** The connection to an existing server. If the context has a bean of this type, no server is started. */
public interface MayflyConnectionDetails extends ConnectionDetails {
  /** Returns the server's URL, such as {@code http://localhost:32768}. */
  URI url();
}
