import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { measureFinishing } from "../../../src/chain/timing/calibration.ts";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { systemClock } from "../../../src/primitives/clock.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { createMemoryDatabase } from "../../../src/storage/memoryDatabase.ts";
import { aChain } from "../../builders/aChain.ts";
import { theRules } from "../../execution/context.ts";

const genesis = readFileSync(DEV_GENESIS_FILE, "utf8");
const signal = { aborted: false };
const undisturbed = <T>(work: () => Promise<T>): Promise<T> => work();

it("measures the time to finish a transfer, and leaves the chain unchanged", async () => {
  const database = createMemoryDatabase();
  let writes = 0;
  const counting = {
    ...database,
    write(batch: Parameters<typeof database.write>[0]) {
      writes++;
      return database.write(batch);
    },
  };
  const { chain, world } = await aChain({ genesis, database: counting });
  const before = { head: toHex(chain.head.hash), writes };
  let nowMs = 0;
  const eachMs = await measureFinishing({
    clock: { ...systemClock, nowMs: () => nowMs++, at: (_, action) => systemClock.at(0, action) },
    signal,
    undisturbed,
    rules: () => theRules("cancun", { number: 1n }),
    overlay: () => world.overlay(),
    stage: (overlay, number) => world.stage(overlay.changes(), number),
  });
  // Four steps of a millisecond for 128 transfers.
  expect(eachMs).toBe(4 / 128);
  await chain.calibrate(signal);
  expect({ head: toHex(chain.head.hash), writes }).toEqual(before);
  expect(chain.blockTiming).toBeUndefined();
});

it("stops with the node", async () => {
  const { world } = await aChain({ genesis });
  let staged = 0;
  const parts = {
    clock: systemClock,
    undisturbed,
    overlay: () => world.overlay(),
    stage: (...[overlay, number]: [ReturnType<typeof world.overlay>, bigint]) => {
      staged++;
      return world.stage(overlay.changes(), number);
    },
    rules: () => theRules("cancun", { number: 1n }),
  };
  expect(await measureFinishing({ ...parts, signal: { aborted: true } })).toBeUndefined();
  expect(staged).toBe(0);
});

it("measures CPU time, without the time of other processes", async () => {
  const { world } = await aChain({ genesis });
  let usedMs = 0;
  let nowMs = 0;
  const eachMs = await measureFinishing({
    clock: { ...systemClock, nowMs: () => (nowMs += 1_000), at: (_, action) => systemClock.at(0, action) },
    cpuMs: () => (usedMs += 1.6),
    signal,
    undisturbed,
    rules: () => theRules("cancun", { number: 1n }),
    overlay: () => world.overlay(),
    stage: (overlay, number) => world.stage(overlay.changes(), number),
  });
  // Four steps for 128 transfers.
  expect(eachMs).toBeCloseTo((4 * 1.6) / 128, 5);
});

it("reads the state only while nothing moves the head, which a rewind does step by step", async () => {
  const { world } = await aChain({ genesis });
  let isAlone = false;
  const alone: boolean[] = [];
  await measureFinishing({
    clock: { ...systemClock, at: (_, action) => systemClock.at(0, action) },
    signal,
    async undisturbed(work) {
      isAlone = true;
      const done = await work();
      isAlone = false;
      return done;
    },
    rules: () => theRules("cancun", { number: 1n }),
    overlay() {
      alone.push(isAlone);
      return world.overlay();
    },
    stage(overlay, number) {
      alone.push(isAlone);
      return world.stage(overlay.changes(), number);
    },
  });
  expect(alone).toHaveLength(30);
  expect(alone).not.toContain(false);
});
