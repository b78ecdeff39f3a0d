import { beforeEach, describe, expect, it } from "vitest";
import { silentLogger } from "../../src/observability/logger.ts";
import { createDiskGuard, type DiskGuard } from "../../src/storage/diskGuard.ts";
import { createHandClock, type HandClock } from "../builders/handClock.ts";

const MB = 1024 ** 2;

let free: number | undefined;
let told: string[];
let clock: HandClock;
let guard: DiskGuard;

beforeEach(async () => {
  free = 10_000 * MB;
  told = [];
  clock = createHandClock(0);
  const say = (level: string) => (_: unknown, message: string) => void told.push(`${level}: ${message}`);
  guard = createDiskGuard(
    { path: "/data", reserveBytes: 512 * MB },
    {
      clock,
      logger: { ...silentLogger, error: say("ERROR"), warn: say("WARN"), info: say("INFO") },
      hold: () => told.push("hold"),
      release: () => told.push("release"),
      freeBytes: async () => free,
    },
  );
  await guard.start();
});

/** Lets the guard look at a disk with that much room. */
async function look(freeMB: number | undefined): Promise<readonly string[]> {
  free = freeMB === undefined ? undefined : freeMB * MB;
  told = [];
  clock.advanceBy(2000);
  await new Promise((resolve) => setImmediate(resolve));
  return told;
}

describe("the guard of the disk", () => {
  it("warns once while the disk fills up, stops blocks below the reserve, and goes on with room to spare", async () => {
    expect(await look(5000)).toEqual([]);
    expect(await look(2000)).toEqual([
      expect.stringMatching(/^WARN: the disk fills up: 2000 MB free in \/data/),
    ]);
    expect(await look(1900)).toEqual([]);
    expect(await look(511)).toEqual([
      "hold",
      expect.stringMatching(
        /^ERROR: the disk is almost full: 511 MB free in \/data, .*--min-free-disk-mb=512/,
      ),
    ]);
    expect(await look(600)).toEqual([]);
    expect(await look(641)).toEqual(["release", expect.stringMatching(/^INFO: there is room/)]);
    expect(await look(5000)).toEqual([]);
  });

  it("repeats itself every ten minutes while blocks stand still", async () => {
    await look(1);
    const repeated: string[] = [];
    for (let seconds = 2; seconds <= 1200; seconds += 2) repeated.push(...(await look(1)));
    expect(repeated).toHaveLength(2);
    expect(repeated[0]).toMatch(/^ERROR: the disk is almost full/);
  });

  it("says nothing where the system does not tell, and nothing after its end", async () => {
    expect(await look(undefined)).toEqual([]);
    guard.stop();
    expect(await look(1)).toEqual([]);
  });
});
