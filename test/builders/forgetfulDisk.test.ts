import { describe, expect, it } from "vitest";
import { Batch } from "../../src/storage/batch.ts";
import { type Database, DiskError } from "../../src/storage/database.ts";
import { createForgetfulDatabase, createForgetfulDisk } from "./forgetfulDisk.ts";

const SEEDS = Array.from({ length: 200 }, (_, seed) => seed);

describe("a database that forgets what was not synced", () => {
  it("keeps every write that resolved, and a prefix of pending ones, each whole", async () => {
    const kept = new Set<number>();
    for (const seed of SEEDS) {
      const database = createForgetfulDatabase({ seed });
      const resolved: number[] = [];
      for (let at = 0; at < 3; at++) void write(database, at).then(() => resolved.push(at));
      await turns(seed % 8);
      const resolvedAtCut = resolved.length;
      expect(resolved).toEqual([0, 1, 2].slice(0, resolvedAtCut));
      const survivors = database.powerCut();
      const found = [0, 1, 2].map((at) => wholeWrite(survivors, at));
      const count = found.filter(Boolean).length;
      expect(found).toEqual([count > 0, count > 1, count > 2]);
      expect(count).toBeGreaterThanOrEqual(resolvedAtCut);
      kept.add(count - resolvedAtCut);
    }
    expect(kept).toContain(0);
    expect(kept).toContain(1);
  });

  it("fails when used after the cut, and never resolves pending writes", async () => {
    const database = createForgetfulDatabase({ seed: 1 });
    let resolved = false;
    void write(database, 0).then(() => {
      resolved = true;
    });
    database.powerCut();
    await turns(20);
    expect(resolved).toBe(false);
    expect(() => database.get(Uint8Array.of(0))).toThrow(DiskError);
  });

  it("can be made to resolve early, and then loses resolved writes", async () => {
    let lost = 0;
    for (const seed of SEEDS) {
      const database = createForgetfulDatabase({ seed, syncs: "some time later" });
      for (let at = 0; at < 3; at++) await write(database, at);
      if (!wholeWrite(database.powerCut(), 2)) lost++;
    }
    expect(lost).toBeGreaterThan(50);
  });
});

describe("a disk that forgets what was not synced", () => {
  it("keeps synced markers and votes, and may return to any marker since", async () => {
    const marks = new Set<bigint | undefined>();
    for (const seed of SEEDS) {
      const disk = createForgetfulDisk({ seed });
      disk.markerFile.writeSynced({ position: 1n, fingerprint: new Uint8Array(32) });
      disk.markerFile.write({ position: 2n, fingerprint: new Uint8Array(32) });
      disk.markerFile.write({ position: 3n, fingerprint: new Uint8Array(32) });
      await disk.voteLog.write(Uint8Array.of(1));
      const after = disk.powerCut();
      marks.add(after.markerFile.read()?.position);
      expect(after.voteLog.read()).toEqual(Uint8Array.of(1));
    }
    expect(marks).toEqual(new Set([1n, 2n, 3n]));
  });
});

/** Two entries, so that half a write would show. */
async function write(database: Database, at: number): Promise<void> {
  const batch = new Batch();
  batch.put(Uint8Array.of(at, 0), Uint8Array.of(at));
  batch.put(Uint8Array.of(at, 1), Uint8Array.of(at));
  await database.write(batch);
}

function wholeWrite(database: Database, at: number): boolean {
  const halves = [database.get(Uint8Array.of(at, 0)), database.get(Uint8Array.of(at, 1))];
  expect(halves[0] === undefined).toBe(halves[1] === undefined);
  return halves[0] !== undefined;
}

async function turns(count: number): Promise<void> {
  for (let left = count; left > 0; left--) await new Promise((resume) => setImmediate(resume));
}
