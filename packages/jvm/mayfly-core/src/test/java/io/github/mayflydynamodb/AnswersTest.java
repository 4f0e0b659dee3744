package io.github.mayflydynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Tests how the server's responses are converted to records. */
class AnswersTest {
  @Test
  void the_result_of_an_advance_has_all_members_of_the_response() {
    Advanced advanced =
        Advanced.of(
            Json.parseObject(
                """
                {"now":"2031-01-01T00:00:00Z","expired":1,"tables":{"carts":1},"next_expiry":null,
                 "never":{"carts":{"milliseconds":3,"string":1}},"born_expired":{"carts":2},"settled":false,
                 "unfinished":[{"UUID":"u","FunctionArn":"f","EventSourceArn":"e",
                   "LastProcessingResult":"PROBLEM: Function call failed","function":"reminder","table":"carts",
                   "retrying":{"attempts":4,"records":2,"error":{"status":500,"error":"Unhandled"}}}],
                 "given_up":[{"UUID":"u","function":"reminder","table":"carts","stream":"arn","attempts":1,
                   "condition":"RetryAttemptsExhausted","error":{"status":200,"type":"AssertionError","message":"no"},
                   "records":[{"sequence_number":"7","event":"REMOVE","key":{"id":{"S":"1"}}}],"left_out":5,
                   "destination":"file:///d"}]}
                """));
    assertEquals(
        Map.of("carts", Map.of(TtlSuspect.Reason.MILLISECONDS, 3L, TtlSuspect.Reason.STRING, 1L)), advanced.never());
    assertEquals(Map.of("carts", 2L), advanced.bornExpired());
    Unfinished.Retrying retrying = advanced.unfinished().get(0).retrying().orElseThrow();
    assertEquals(4, retrying.attempts());
    assertEquals("Unhandled (HTTP status 500)", retrying.error().toString());
    GivenUp batch = advanced.givenUp().get(0);
    assertEquals("AssertionError: no", batch.error().toString());
    assertEquals(
        List.of(new GivenUp.Lost("7", Change.Event.REMOVE, Map.of("id", AttributeValue.fromS("1")))), batch.records());
    assertEquals(5, batch.leftOut());
    assertEquals(Optional.of("file:///d"), batch.destination());
  }

  @Test
  void the_result_of_an_advance_has_empty_members_if_the_response_lacks_them() {
    Advanced advanced =
        Advanced.of(Json.parseObject("{\"now\":\"2031-01-01T00:00:00Z\",\"expired\":0,\"tables\":{}}"));
    assertEquals(Map.of(), advanced.never());
    assertEquals(Map.of(), advanced.bornExpired());
    assertEquals(List.of(), advanced.givenUp());
    assertTrue(advanced.settled());
  }

  @Test
  void TTL_suspects_have_their_table_and_key() {
    List<TtlSuspect> suspects =
        TtlStatus.suspects(
            "carts",
            Json.parseObject(
                """
                {"suspects":[{"key":{"id":{"S":"1"}},"reason":"wrong_type","message":"Its TTL is a map.",
                  "at":"2031-01-01T00:00:00Z"},
                  {"key":{"id":{"S":"2"}},"reason":"string","message":"Its TTL is a string."}]}
                """));
    assertEquals(TtlSuspect.Reason.WRONG_TYPE, suspects.get(0).reason());
    assertEquals(Optional.of(Instant.parse("2031-01-01T00:00:00Z")), suspects.get(0).at());
    assertEquals("carts {\"id\":{\"S\":\"1\"}}: Its TTL is a map.", suspects.get(0).toString());
    assertEquals(Optional.empty(), suspects.get(1).at(), "an item written before the server started has no time");
  }
}
