package io.github.mayflydynamodb.junit5.sessions;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.mayflydynamodb.Clock;
import io.github.mayflydynamodb.Table;
import io.github.mayflydynamodb.World;
import io.github.mayflydynamodb.junit5.MayflyTest;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;

@MayflyTest
class ParallelTest {
  @RepeatedTest(8)
  void each_test_has_its_own_tables_and_clock(World world, Clock clock, RepetitionInfo repetition) {
    int year = 2030 + repetition.getCurrentRepetition();
    clock.freeze(Instant.parse(year + "-01-01T00:00:00Z"));
    world.createTable(Table.named("sessions").ttl("expires"));
    assertEquals(0, world.dynamoDb().scan(scan -> scan.tableName("sessions")).count());

    clock.advance(Duration.ofDays(1));
    assertEquals(Instant.parse(year + "-01-02T00:00:00Z"), clock.instant());
  }
}
