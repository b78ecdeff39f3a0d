import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { threadTimes } from "../../../src/node/host/threadTimes.ts";

const FILE = "/proc/thread-self/schedstat";
const TOLD = existsSync(FILE) && !readFileSync(FILE, "latin1").startsWith("0 0 ");

describe("the times of this thread", () => {
  it.runIf(TOLD)("grow by what it runs, and not while it sleeps", async () => {
    const ranMs = (): number => threadTimes()?.ranMs ?? Number.NaN;
    const beforeMs = ranMs();
    const untilMs = process.cpuUsage().user + 60_000;
    while (process.cpuUsage().user < untilMs);
    expect(ranMs() - beforeMs).toBeGreaterThan(20);
    const asleep = async (): Promise<number> => {
      const fromMs = ranMs();
      await new Promise((resolve) => setTimeout(resolve, 300));
      return ranMs() - fromMs;
    };
    // What a test before this one left behind may run in the first of these.
    await expect.poll(asleep).toBeLessThan(150);
    expect(threadTimes()?.waitedMs).toBeGreaterThanOrEqual(0);
  });

  it.skipIf(TOLD)("are unknown where the system does not tell", () => {
    expect(threadTimes()).toBeUndefined();
  });
});
