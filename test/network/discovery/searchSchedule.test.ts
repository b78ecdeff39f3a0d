import { expect, it } from "vitest";
import { Delays } from "../../../src/network/discovery/delays.ts";
import { SearchSchedule } from "../../../src/network/discovery/searchSchedule.ts";
import { createHandClock } from "../../builders/handClock.ts";

const BOOTNODE = Uint8Array.of(1);
const OTHER = Uint8Array.of(2);
const FOUND_NOTHING = { isAnswered: true, hasChanged: false };

/** A schedule that is asked every ten seconds; each search that begins ends at once with the outcome. */
function aSchedule({
  wantsPeers = true,
  silent = [] as readonly Uint8Array[],
  outcome = FOUND_NOTHING,
} = {}) {
  const clock = createHandClock(0);
  const begunMs: number[] = [];
  const search = (): void => {
    if (!schedule.begin(schedule.ask())) return;
    begunMs.push(clock.nowMs());
    for (const id of silent) schedule.unanswered(id);
    schedule.end(outcome);
  };
  const delays = new Delays(clock);
  const schedule: SearchSchedule = new SearchSchedule({
    clock,
    delays,
    wantsPeers: () => wantsPeers,
    search,
  });
  return {
    schedule,
    begunMs,
    /** Lets a delay's promise resolve after each step of time. */
    async wait(seconds: number) {
      for (let past = 0; past < seconds; past++) {
        if (clock.nowMs() % 10_000 === 0) search();
        clock.advanceBy(1000);
        await Promise.resolve();
      }
    },
  };
}

it("waits twice as long after each search that finds nothing, and five minutes at most", async () => {
  const { begunMs, wait } = aSchedule();
  await wait(1600);
  expect(begunMs.map((ms) => ms / 1000)).toEqual([0, 60, 180, 420, 720, 1020, 1320]);
});

it("searches every half a minute while nodes are found, and every half an hour while none are needed", async () => {
  const finding = aSchedule({ outcome: { isAnswered: true, hasChanged: true } });
  await finding.wait(91);
  expect(finding.begunMs).toEqual([0, 30_000, 60_000, 90_000]);
  const idle = aSchedule({ wantsPeers: false });
  await idle.wait(1801);
  expect(idle.begunMs).toEqual([0, 1_800_000]);
});

it("searches again soon, and once, after a bootnode that did not answer has pinged this node", async () => {
  const { schedule, begunMs, wait } = aSchedule({ silent: [BOOTNODE] });
  await wait(15);
  schedule.pingedBy(OTHER);
  await wait(4);
  expect(begunMs).toEqual([0]);
  schedule.pingedBy(BOOTNODE);
  schedule.pingedBy(BOOTNODE);
  await wait(5);
  expect(begunMs).toEqual([0, 20_000]);
});

it("begins two searches three seconds apart at least, unless the second one cannot wait", async () => {
  const { schedule, begunMs, wait } = aSchedule({ outcome: { isAnswered: false, hasChanged: false } });
  await wait(1);
  schedule.pingedBy(OTHER);
  await wait(4);
  expect(begunMs).toEqual([0, 3000]);
  schedule.searchNow();
  expect(begunMs).toEqual([0, 3000, 5000]);
});
