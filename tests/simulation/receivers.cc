#include "tests/simulation/receivers.h"

#include <utility>

#include "compat/wire/base64.h"

namespace mayfly::testing {

using compat::outbound::InvocationAnswer;
using compat::outbound::InvocationFailure;

void Receivers::start(compat::outbound::Invocation invocation, std::stop_token stop, Done done) {
  calls_.push_back(
      {invocation.url.text, Json::parse(invocation.body, nullptr, false), std::move(stop), std::move(done)});
}

bool Receivers::answer_one() {
  if (calls_.empty()) return false;
  const auto place = calls_.begin() + static_cast<std::ptrdiff_t>(random_() % calls_.size());
  const Call call = std::move(*place);
  calls_.erase(place);
  const auto fate = takes_all_ ? 9 : random_() % 10;
  const bool is_kinesis = !call.body.contains("Records") || call.body.contains("StreamARN");
  if (call.stop.stop_requested()) {
    call.done(Unexpected{InvocationFailure{InvocationFailure::Kind::stopped, "stopped"}});
  } else if (fate == 0) {
    call.done(Unexpected{InvocationFailure{InvocationFailure::Kind::unreachable, "unreachable"}});
  } else if (fate == 1) {
    call.done(InvocationAnswer{.status = 500, .body = "{}"});
  } else {
    InvocationAnswer answer = is_kinesis ? answer_of_kinesis(call) : answer_of_function(call);
    if (fate == 2) {  // received, but the response is lost
      call.done(Unexpected{InvocationFailure{InvocationFailure::Kind::no_answer, "no response"}});
    } else {
      call.done(std::move(answer));
    }
  }
  return true;
}

void Receivers::take(const std::string& url, const Json& record, const std::string& id) {
  Taken& taken = taken_[url];
  if (!taken.ids.insert(id).second) return;
  const Json& data = record.at("dynamodb");
  const Json& keys = data.at("Keys");
  taken.by_item[model_key(keys.contains("at"), keys)].push_back(
      print_record(record.at("eventName").get<std::string>(),
                   record.contains("userIdentity") && !record["userIdentity"].is_null(),
                   data.value("OldImage", Json()), data.value("NewImage", Json())));
}

InvocationAnswer Receivers::answer_of_function(const Call& call) {
  for (const Json& record : call.body.at("Records")) take(call.url, record, record.at("eventID"));
  return {.body = "{}"};
}

// The simulated Kinesis can reject the last records of a call, which must then be sent again. Unlike Kinesis
// on AWS, it does not reject records in the middle of a call, because such records would arrive after their
// successors.
InvocationAnswer Receivers::answer_of_kinesis(const Call& call) {
  Json answers = Json::array();
  const std::string stream = call.body.at("StreamARN");
  bool refused = false;
  for (const Json& sent : call.body.at("Records")) {
    refused = refused || (!takes_all_ && random_() % 4 == 0);
    answers.push_back(refused ? Json{{"ErrorCode", "Slow"}} : Json{{"SequenceNumber", "1"}});
    if (refused) continue;
    const Json record = Json::parse(*compat::decode_base64(sent.at("Data").get<std::string>()));
    take(stream, record, record.at("eventID"));
  }
  return {.body = Json{{"Records", answers}}.dump()};
}

}  // namespace mayfly::testing
