import { expect, it } from "vitest";
import { Participation } from "../../src/consensus/participation.ts";
import { PauseReasons } from "../../src/consensus/pauseReasons.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import { createHandClock } from "../builders/handClock.ts";
import { aSchedule } from "../builders/toyChain.ts";

/** A validator that need not listen, with what a test lets it lack. */
function aValidator(sync: { isInSync: boolean; isRestored: boolean }) {
  const pauseReasons = new PauseReasons({ pause: () => undefined, resume: () => undefined });
  const unasked = (): never => expect.fail("a validator that does not listen asks nothing");
  const participation = new Participation({
    sync: Object.assign(sync, { comparison: { isMade: false } }),
    pauseReasons,
    engine: {
      shouldListen: () => false,
      votedAt: unasked,
      status: unasked,
      keyWatch: { ask: unasked },
    },
    schedule: aSchedule(),
    hasOtherNodeKey: false,
    clock: createHandClock(0),
    logger: silentLogger,
  });
  return { participation, reasons: () => pauseReasons.reasons };
}

it("a validator is held back from its start until a new head brings back what it has lost", () => {
  const sync = { isInSync: true, isRestored: false };
  const { participation, reasons } = aValidator(sync);
  expect(reasons()).toEqual(["lostEnd"]);
  participation.syncChanged();
  participation.headChanged();
  expect(reasons()).toEqual(["lostEnd"]);
  sync.isRestored = true;
  participation.headChanged();
  expect(reasons()).toEqual([]);
});

it("a validator is held back while its peers are ahead", () => {
  const sync = { isInSync: false, isRestored: true };
  const { participation, reasons } = aValidator(sync);
  expect(reasons()).toEqual([]);
  participation.syncChanged();
  expect(reasons()).toEqual(["catchingUp"]);
  sync.isInSync = true;
  participation.headChanged();
  expect(reasons()).toEqual([]);
  sync.isInSync = false;
  participation.headChanged();
  expect(reasons()).toEqual(["catchingUp"]);
});
