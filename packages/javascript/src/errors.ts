// Errors: no server could be started or reached, the control API refused a call, a wait timed out. (HandlerError is in
// failures.ts.)

/** Why there is no server to test with. */
export type ServerProblem =
  | "no-binary"
  | "binary-missing"
  | "wrong-platform"
  | "port-taken"
  | "ended"
  | "timed-out"
  | "unreachable"
  | "version-mismatch";

/** There is no server to test with. The message says what to do about it, and holds the server's last log lines. */
export class ServerError extends Error {
  override readonly name = "ServerError";
  /** Which of the problems it is, for programs. */
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

/** A change that was waited for did not come in time. */
export class WaitTimeoutError extends MayflyError {
  override readonly name = "WaitTimeoutError";
  /** What did happen to the item meanwhile, oldest first, as DynamoDB Streams' records. */
  readonly records: StreamRecord[];

  constructor(message: string, records: StreamRecord[]) {
    super("Timeout", message, 408);
    this.records = records;
  }
}

/** What was done to an item. */
export type EventName = "INSERT" | "MODIFY" | "REMOVE";

/** How a call of a function failed, as the server saw it. */
export interface FunctionError {
  /** The HTTP status of the function's answer. */
  status: number;
  /** `"Unhandled"`, for example; what a destination is told. */
  error?: string;
  /** The function's `errorType`, if it gave one: `"TypeError"`. */
  type?: string;
  /** The function's `errorMessage`, if it gave one. */
  message?: string;
}

/** A record of DynamoDB Streams, as GetRecords and Lambda's events have it; attributes are DynamoDB JSON. */
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
   * Present if TTL deleted the item: `{"Type":"Service","PrincipalId":"dynamodb.amazonaws.com"}`. In the events of
   * functions the names are in lower case, as on AWS: `{"type":…,"principalId":…}`.
   */
  userIdentity?: Record<string, string>;
}

/** An attribute in DynamoDB JSON: `{"S":"1"}`. */
export type AttributeJson = Record<string, unknown>;
