// mayfly-dynamodb: DynamoDB for tests. A Server has Worlds, a World has a Clock.

export { Clock, type Advanced, type AdvanceOptions, type ClockState } from "./clock";
export {
  MayflyError,
  ServerError,
  WaitTimeoutError,
  type AttributeJson,
  type ServerProblem,
  type StreamRecord,
} from "./errors";
export { findBinary } from "./binary";
export type { Follow, Follower } from "./follow";
export type { Handler, Invocation, LocalFunction, MappingOptions, StreamEvent } from "./functions";
export type { Key, KeyValue } from "./keys";
export { Server, type ServerOptions } from "./server";
export type { KeyAttribute, TableOptions } from "./tables";
export type { Duration, Instant } from "./times";
export { Ttl, type Explanation, type TtlStatus, type Upcoming } from "./ttl";
export { packageVersion as version } from "./version";
export {
  World,
  type Failpoint,
  type FaultRule,
  type FunctionOptions,
  type Snapshot,
  type WaitOptions,
  type WorldOptions,
} from "./world";
