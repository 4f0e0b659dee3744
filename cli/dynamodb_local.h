// DynamoDB Local's command line in our words, so that who swaps its image, or its jar, for Mayfly changes
// nothing else:
//
//   java -jar DynamoDBLocal.jar -sharedDb -port 9000 -dbPath data
//   mayfly serve --shared-regions --port 9000 --data data/mayfly
//
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/DynamoDBLocal.UsageNotes.html lists its
// options.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace mayfly::http {

struct DynamoDbLocal {
  std::vector<std::string> serve;  // what follows "mayfly": "serve", "--port", "9000"
  std::vector<std::string> notes;  // sentences on what is another here, to be logged at the start
  std::string banner;              // what DynamoDB Local prints first; some wait until they have read it
  std::string problem;             // not empty: what is wrong with the arguments, a sentence
};

// Nothing: these are not DynamoDB Local's. `arguments` are all but the program, whose name is `program`:
// java, in compose files that name it.
std::optional<DynamoDbLocal> read_dynamodb_local(const std::string& program,
                                                 const std::vector<std::string>& arguments);

}  // namespace mayfly::http
