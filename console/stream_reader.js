// Reads a table's stream from its oldest record, in the order of the changes.
import { dynamodb, streams } from "./server.js";

const records_at_once = 200,
  shards_max = 200;

/** Compares sequence numbers, which are decimal and have up to 40 digits. @param {string} a @param {string} b */
const before = (a, b) => a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);

/** @typedef {{ iterator: string | undefined, records: any[], idle: boolean }} Shard `idle`: the last request returned no records */

export class StreamReader {
  /** @param {string} table @param {AbortSignal} signal */
  constructor(table, signal) {
    this.table = table;
    this.signal = signal;
    /** @type {Map<string, Shard>} */
    this.shards = new Map();
    this.arn = "";
  }

  /** Opens the stream. Returns false if the table has no stream. */
  async open() {
    const { Table } = await dynamodb("DescribeTable", { TableName: this.table }, this.signal);
    this.arn = Table.LatestStreamArn ?? "";
    return Boolean(this.arn);
  }

  /**
   * Returns the next records, at most `most`. Returns an empty list at the current end of the stream.
   * @param {number} most
   */
  async next(most) {
    await this.find_shards();
    for (const shard of this.shards.values()) shard.idle = false;
    const read = [];
    while (read.length < most && !this.signal.aborted) {
      await Promise.all([...this.shards.values()].map((shard) => this.fill(shard)));
      /** @type {Shard | undefined} */
      let first;
      for (const shard of this.shards.values())
        if (shard.records.length && (!first || before(number_of(shard.records[0]), number_of(first.records[0])) < 0))
          first = shard;
      if (!first) break;
      read.push(first.records.shift());
    }
    return read;
  }

  /** Adds the shards that are not known yet. Splits and roll-overs create new shards. */
  async find_shards() {
    /** @type {string | undefined} */
    let after;
    do {
      const { StreamDescription } = await streams(
        "DescribeStream",
        { StreamArn: this.arn, ExclusiveStartShardId: after },
        this.signal,
      );
      for (const { ShardId } of StreamDescription.Shards) {
        if (this.shards.has(ShardId)) continue;
        if (this.shards.size >= shards_max)
          throw new Error(`This stream has more than ${shards_max} shards. Read it with a program.`);
        const { ShardIterator } = await streams(
          "GetShardIterator",
          { StreamArn: this.arn, ShardId, ShardIteratorType: "TRIM_HORIZON" },
          this.signal,
        );
        this.shards.set(ShardId, { iterator: ShardIterator, records: [], idle: false });
      }
      after = StreamDescription.LastEvaluatedShardId;
    } while (after);
  }

  /** @param {Shard} shard */
  async fill(shard) {
    if (shard.records.length || shard.idle || !shard.iterator) return;
    const answer = await streams("GetRecords", { ShardIterator: shard.iterator, Limit: records_at_once }, this.signal);
    shard.records = answer.Records;
    shard.iterator = answer.NextShardIterator;
    shard.idle = !answer.Records.length;
  }
}

/** @param {any} record */
const number_of = (record) => /** @type {string} */ (record.dynamodb.SequenceNumber);
