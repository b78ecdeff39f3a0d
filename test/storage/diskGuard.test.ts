import { beforeEach, describe, expect, it } from "vitest";
import { silentLogger } from "../../src/observability/logger.ts";
import { DiskGuard } from "../../src/storage/diskGuard.ts";
import { createHandClock, type HandClock } from "../builders/handClock.ts";

const MB = 1024 ** 2;

let free: number | undefined;
let events: string[];
let clock: HandClock;
let guard: DiskGuard;

beforeEach(async () => {
  free = 10_000 * MB;
  events = [];
  clock = createHandClock(0);
  const log = (level: string) => (_: unknown, message: string) => void events.push(`${level}: ${message}`);
  guard = new DiskGuard(
    { path: "/data", reserveBytes: 512 * MB },
    {
      clock,
      logger: { ...silentLogger, error: log("ERROR"), warn: log("WARN"), info: log("INFO") },
      hold: { pause: () => events.push("pause"), resume: () => events.push("resume") },
      freeBytes: async () => free,
    },
  );
  await guard.start();
});

/** Runs one check of a disk with that much free space. */
async function check(freeMB: number | undefined): Promise<readonly string[]> {
  free = freeMB === undefined ? undefined : freeMB * MB;
  events = [];
  clock.advanceBy(2000);
  await new Promise((resolve) => setImmediate(resolve));
  return events;
}

describe("the disk guard", () => {
  it("warns once while the disk fills up, stops blocks below the reserve, and resumes with some margin", async () => {
    expect(await check(5000)).toEqual([]);
    expect(await check(2000)).toEqual([
      expect.stringMatching(/^WARN: the disk is filling up: 2000 MB free in \/data/),
    ]);
    expect(await check(1900)).toEqual([]);
    expect(await check(511)).toEqual([
      "pause",
      expect.stringMatching(
        /^ERROR: the disk is almost full: 511 MB free in \/data, .*--min-free-disk-mb=512.*until 640 MB are free/,
      ),
    ]);
    expect(await check(600)).toEqual([
      expect.stringMatching(/^WARN: .*but still too little: 600 MB free in \/data.*once 640 MB are free/),
    ]);
    expect(await check(639)).toEqual([]);
    expect(guard.pauseEndsAtBytes).toBe(640 * MB);
    expect(await check(640)).toEqual(["resume", expect.stringMatching(/^INFO: there is room/)]);
    expect(guard.pauseEndsAtBytes).toBeUndefined();
    expect(await check(5000)).toEqual([]);
  });

  it("repeats the error every ten minutes while production is stopped", async () => {
    await check(1);
    const repeated: string[] = [];
    for (let seconds = 2; seconds <= 1200; seconds += 2) repeated.push(...(await check(1)));
    expect(repeated).toHaveLength(2);
    expect(repeated[0]).toMatch(/^ERROR: the disk is almost full/);
  });

  it("logs nothing when the free space is unknown, and nothing after it is stopped", async () => {
    expect(await check(undefined)).toEqual([]);
    guard.stop();
    expect(await check(1)).toEqual([]);
  });
});
