// What goes wrong, in three classes: the server could not be had, a control call was refused, a wait ran out.

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

/** The control API refused a call. */
export class MayflyError extends Error {
  override readonly name: string = "MayflyError";
  /** What kind of refusal: `"Conflict"`, `"ValidationException"`, `"NotFound"`, … */
  readonly type: string;
  /** The HTTP status: 400, 404, 405, 408, 409, 415 or 503; 0 where no answer came. */
  readonly status: number;

  constructor(type: string, message: string, status: number) {
    super(message);
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

/** A record of DynamoDB Streams, as GetRecords and Lambda's events have it; attributes are DynamoDB JSON. */
export interface StreamRecord {
  eventID: string;
  eventName: "INSERT" | "MODIFY" | "REMOVE";
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
  /** Who deleted it, if that was TTL: `{"Type":"Service","PrincipalId":"dynamodb.amazonaws.com"}`. */
  userIdentity?: Record<string, string>;
}

/** An attribute in DynamoDB JSON: `{"S":"1"}`. */
export type AttributeJson = Record<string, unknown>;
