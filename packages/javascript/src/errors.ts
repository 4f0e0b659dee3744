// The package's errors, except HandlerError, which is in failures.ts.

/** Why no server could be started or reached. */
export type ServerProblem =
  | "no-binary"
  | "binary-missing"
  | "wrong-platform"
  | "damaged"
  | "locked"
  | "no-directory"
  | "port-taken"
  | "ended"
  | "timed-out"
  | "unreachable"
  | "version-mismatch";

/** No server could be started or reached. The message says what to do, and contains the server's last log lines. */
export class ServerError extends Error {
  override readonly name = "ServerError";
  /** The kind of problem, for programs. */
  readonly problem: ServerProblem;

  constructor(problem: ServerProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}

/** The control API refused a call, or the server did not answer. */
export class MayflyError extends Error {
  override readonly name: string = "MayflyError";
  /** `"Conflict"`, `"ValidationException"`, `"NotFound"`, …; `"Unreachable"` if the server did not answer. */
  readonly type: string;
  /** The HTTP status: 400, 404, 405, 408, 409, 415 or 503; 0 if the server did not answer. */
  readonly status: number;

  constructor(type: string, message: string, status: number, options?: { cause?: unknown }) {
    super(message, options);
    this.type = type;
    this.status = status;
  }
}

/** The expected change did not happen in time. */
export class WaitTimeoutError extends MayflyError {
  override readonly name = "WaitTimeoutError";
  /** The item's other changes, oldest first. */
  readonly records: StreamRecord[];

  constructor(message: string, records: StreamRecord[]) {
    super("Timeout", message, 408);
    this.records = records;
  }
}

/** The kind of a change. */
export type EventName = "INSERT" | "MODIFY" | "REMOVE";

/** How a function call failed, as the server observed it. */
export interface FunctionError {
  /** The HTTP status of the function's response. */
  status: number;
  /** The error that an on-failure destination receives: `"Unhandled"`. */
  error?: string;
  /** The response's `errorType`, if it has one: `"TypeError"`. */
  type?: string;
  /** The response's `errorMessage`, if it has one. */
  message?: string;
}

/** A DynamoDB Streams record, as in GetRecords and Lambda events. Attributes are DynamoDB JSON. */
export interface StreamRecord {
  eventID: string;
  eventName: EventName;
  eventVersion: string;
  eventSource: string;
  awsRegion: string;
  dynamodb: {
    ApproximateCreationDateTime?: number;
    Keys: Record<string, AttributeJson>;
    NewImage?: Record<string, AttributeJson>;
    OldImage?: Record<string, AttributeJson>;
    SequenceNumber: string;
    SizeBytes: number;
    StreamViewType: string;
  };
  /**
   * Present if TTL deleted the item: `{"Type":"Service","PrincipalId":"dynamodb.amazonaws.com"}`. In events for functions,
   * the names begin with a lowercase letter, as on AWS: `{"type":…,"principalId":…}`.
   */
  userIdentity?: Record<string, string>;
}

/** An attribute in DynamoDB JSON: `{"S":"1"}`. */
export type AttributeJson = Record<string, unknown>;
