import { describe, expect, it } from "vitest";
import { ChainRewinder, type ChainRewinderParts } from "../../src/chain/rewindAndReplay.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import { ok } from "../../src/primitives/result.ts";
import { type HistoryStart, WHOLE_HISTORY } from "../../src/storage/historyStart.ts";
import { aGenesisHead, toyAddress } from "../builders/toyChain.ts";

interface Run {
  readonly rewinder: ChainRewinder;
  /** What the chain was asked to do. */
  readonly asked: string[];
  /** Lets a rewind end. */
  finish(): void;
}

/** The rewinder of validator 0, or of a follower where that is none of `validators`. */
function aRun({
  validators,
  isStopped = false,
  historyStart = WHOLE_HISTORY,
}: {
  validators: number[];
  isStopped?: boolean;
  historyStart?: HistoryStart;
}): Run {
  const asked: string[] = [];
  const head = aGenesisHead(validators.map(toyAddress));
  let finish = (): void => undefined;
  const chain: ChainRewinderParts["chain"] = {
    head,
    historyStart,
    tallyAfter: () => head.tally,
    rewind(number) {
      asked.push(`rewind to ${number}`);
      return new Promise((resolve) => {
        finish = resolve;
      });
    },
    async replayBlock(number) {
      asked.push(`replay ${number}`);
      return ok(head);
    },
    async rebuildState() {
      asked.push("rebuild");
    },
  };
  const rewinder = new ChainRewinder({
    chain,
    self: toyAddress(0),
    isStopped: () => isStopped,
    logger: silentLogger,
  });
  return { rewinder, asked, finish: () => finish() };
}

async function codesOf(rewinder: ChainRewinder): Promise<string[]> {
  const results = [
    await rewinder.setHead(0n),
    await rewinder.replayBlock(1n),
    await rewinder.resyncWorldState(),
  ];
  return results.map((result) => (result.ok ? "done" : result.error.code));
}

describe("rewinding and replaying", () => {
  it("is refused where states and blocks were removed, without a word of a snapshot", async () => {
    const { rewinder } = aRun({ validators: [1], historyStart: { headers: 0n, blocks: 300n, states: 300n } });
    expect(await rewinder.setHead(299n)).toMatchObject({
      error: { message: "this node's states begin with that of block 300, so it has no state of block 299" },
    });
  });

  it("is refused below the block of a snapshot, whose parent's state is not stored", async () => {
    const historyStart = { headers: 40n, blocks: 300n, states: 300n };
    const { rewinder, asked } = aRun({ validators: [1], historyStart });
    const refused = [await rewinder.setHead(299n), await rewinder.replayBlock(300n)];
    expect(refused.map((result) => (result.ok ? "done" : result.error.code))).toEqual([
      "notStored",
      "notStored",
    ]);
    expect(asked).toEqual([]);
    expect((await rewinder.replayBlock(301n)).ok).toBe(true);
  });

  it("is refused to the only validator, which may only rebuild the state once it is stopped", async () => {
    const running = aRun({ validators: [0] });
    expect(await codesOf(running.rewinder)).toEqual(["onlyValidator", "onlyValidator", "validating"]);
    const stopped = aRun({ validators: [0], isStopped: true });
    expect(await codesOf(stopped.rewinder)).toEqual(["onlyValidator", "onlyValidator", "done"]);
    expect([...running.asked, ...stopped.asked]).toEqual(["rebuild"]);
  });

  it("is refused to a validator that has not been stopped", async () => {
    const { rewinder, asked } = aRun({ validators: [0, 1] });
    expect(await codesOf(rewinder)).toEqual(["validating", "validating", "validating"]);
    expect(asked).toEqual([]);
  });

  it("is done for a stopped validator and for a follower, one request at a time", async () => {
    for (const run of [aRun({ validators: [0, 1], isStopped: true }), aRun({ validators: [1] })]) {
      const rewinding = run.rewinder.setHead(3n);
      expect(await codesOf(run.rewinder)).toEqual(["busy", "busy", "busy"]);
      run.finish();
      expect(await rewinding).toEqual(ok(undefined));
      expect(await run.rewinder.replayBlock(2n)).toEqual(ok(undefined));
      expect(await run.rewinder.resyncWorldState()).toEqual(ok(undefined));
      expect(run.asked).toEqual(["rewind to 3", "replay 2", "rebuild"]);
    }
  });
});
