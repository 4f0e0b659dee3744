// Ends the server at the end of the job, and prints its log if the job has failed. A problem here does not fail the job.

import { input, printLog, say, state, warn } from "./runner.mjs";
import { end, health } from "./server.mjs";

const endSecondsMax = 12; // the server's own limit for work in progress is 10 s

async function stop() {
  const pid = Number(state("pid"));
  const url = state("url");
  const log = state("log"); // not set if the start failed, which printed the log
  if (!pid) return;

  // If no server answers at the URL, another process can have the id by now.
  const isRunning = !url || (await health(url)) !== undefined;
  if (isRunning) {
    await end(pid, endSecondsMax);
    say("the server has ended");
  } else if (log) {
    warn(`The server at ${url} ended, or no longer answered, before the end of the job.`);
  }
  const hasFailed = ["failure", "cancelled"].includes(input("job-status"));
  if (log && (hasFailed || !isRunning)) printLog(log, { isFolded: true });
}

await stop().catch((problem) => warn(problem.message));
