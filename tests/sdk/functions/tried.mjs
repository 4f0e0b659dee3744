// The handler of runtimes_test.py, with Mayfly's client for Node.js.
import { appendFileSync } from "node:fs";

class ValueError extends Error {
  name = "ValueError";
}

export const handler = async (event, context) => {
  if (event.Records) {
    appendFileSync(process.env.SEEN, event.Records.map((record) => record.dynamodb.Keys.id.S + "\n").join(""));
    return;
  }
  if (event.fail) throw new ValueError(event.fail);
  if (event.exit) process.exit(event.exit);
  return { echo: event.echo, arn: context.invokedFunctionArn, left: context.getRemainingTimeInMillis() };
};

// The form with a callback.
export const called = (event, context, done) => done(null, event);
