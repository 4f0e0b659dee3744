// Translates DynamoDB Local's command line to Mayfly's, so that users can replace the image or jar of
// DynamoDB Local with Mayfly and change nothing else:
//
//   java -jar DynamoDBLocal.jar -sharedDb -port 9000 -dbPath data
//   mayfly serve --shared-regions --port 9000 --data data/mayfly
//
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/DynamoDBLocal.UsageNotes.html lists the
// options of DynamoDB Local.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace mayfly::cli {

struct DynamoDbLocal {
  std::vector<std::string> serve;  // the words after "mayfly": "serve", "--port", "9000"
  std::vector<std::string> notes;  // sentences on differences from DynamoDB Local, logged at startup
  std::string banner;              // the first output of DynamoDB Local, which some programs wait for
  std::string problem;             // a sentence on invalid arguments; empty: they are valid
};

// Returns nullopt if the arguments are not DynamoDB Local's. `arguments` are the words after the program's
// name. `program` is argv[0], which is java if a Compose file starts `java -jar …`.
std::optional<DynamoDbLocal> read_dynamodb_local(const std::string& program,
                                                 const std::vector<std::string>& arguments);

}  // namespace mayfly::cli
