// The real timers, because a test may have replaced the global ones with fake ones.

const { setTimeout, clearTimeout } = globalThis;

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Waits at most `ms` milliseconds for a promise. */
export async function within(ms: number, promise: Promise<void>): Promise<void> {
  let timer;
  const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([promise, timeout]);
  clearTimeout(timer);
}
