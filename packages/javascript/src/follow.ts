// Makes the program's Date follow a world's clock. Even after an advance, `ttl = Date.now() / 1000 + 3600` is
// then one hour after the world's time.

/** Sets the program's Date to the time of the world's clock. */
export interface Follower {
  move(now: Date): void;
  /** Restores the real Date. */
  stop(): void;
}

/** The option `follow` for other test runners: a function that is called with each new time, or a Follower. */
export type Follow = ((now: Date) => void) | Follower;

export function followerOf(follow: Follow): Follower {
  return typeof follow === "function" ? { move: follow, stop() {} } : follow;
}
