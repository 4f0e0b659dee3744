// mayfly-dynamodb: DynamoDB for tests. A Server hosts Worlds, and each World has a Clock.

export {
  Clock,
  type Advanced,
  type AdvanceOptions,
  type ClockMode,
  type ClockState,
  type GivenUp,
  type NeverReason,
  type Settled,
  type Unfinished,
} from "./clock";
export {
  MayflyError,
  ServerError,
  WaitTimeoutError,
  type AttributeJson,
  type EventName,
  type FunctionError,
  type ServerProblem,
  type StreamRecord,
} from "./errors";
export { HandlerError, type HandlerFailure } from "./failures";
export { findBinary } from "./binary";
export type { Follow, Follower } from "./follow";
export type { Handler, Invocation, LocalFunction, MappingOptions, StreamEvent } from "./functions";
export type { Key, KeyValue } from "./keys";
export { Server, type ServerOptions } from "./server";
export type { Index, KeyAttribute, KeyType, StreamViewType, TableOptions } from "./tables";
export type { Duration, Instant } from "./times";
export { Ttl, type Explanation, type TtlMode, type TtlStatus, type TtlSuspect, type Upcoming } from "./ttl";
export { packageVersion as version } from "./version";
export {
  World,
  type Failpoint,
  type FaultKind,
  type FaultRule,
  type FunctionOptions,
  type Snapshot,
  type WaitOptions,
  type WorldOptions,
} from "./world";
