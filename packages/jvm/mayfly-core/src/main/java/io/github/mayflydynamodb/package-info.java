/** DynamoDB for tests: a {@link io.github.mayflydynamodb.Server}, its worlds and their clocks. */
package io.github.mayflydynamodb;
