// The program's own Date, moved together with a world's clock: a test's code that writes `ttl = Date.now() / 1000 +
// 3600` after an advance means an hour from the world's now.

/** Puts the program's Date where the world's clock is. */
export interface Follower {
  move(now: Date): void;
  /** Gives the real Date back. */
  stop(): void;
}

/** What `follow` takes where no test runner is known: a function that is told each time, or a Follower. */
export type Follow = ((now: Date) => void) | Follower;

export function followerOf(follow: Follow): Follower {
  return typeof follow === "function" ? { move: follow, stop() {} } : follow;
}
