import { describe, expect, it } from "vitest";
import { IBF_CODEC } from "../../../src/consensus/router/messageCodec.ts";
import { MessageReading, type ReadingResult } from "../../../src/consensus/router/messageReading.ts";
import type { ReadingJob, ReadingShares } from "../../../src/consensus/router/readingShares.ts";
import type { ValidationResult } from "../../../src/consensus/router/routerMetrics.ts";
import type { Encoded } from "../../../src/ibft/codec/encoding.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import type { Address } from "../../../src/primitives/address.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { toKey } from "../../../src/primitives/byteKey.ts";
import { bigintToFixedBytes } from "../../../src/primitives/quantity.ts";
import { addressOfPrivateKey } from "../../../src/primitives/secp256k1.ts";
import { aMessageRouter } from "../../builders/aMessageRouter.ts";
import { aCertificateMaker } from "../../builders/certificates.ts";
import { aSchedule } from "../../builders/toyChain.ts";

const maker = aCertificateMaker(4);
const addressOf = (index: number): Address => addressOfPrivateKey(bigintToFixedBytes(BigInt(index + 1), 32));
const OUTSIDER = addressOf(9);

/** Shares controlled by the test, which runs each step of a job. */
function handShares() {
  const jobs: ReadingJob[] = [];
  const shares: ReadingShares = {
    start: (job) => jobs.push(job) > 0,
    clear() {
      for (const job of jobs.splice(0)) job.dropped();
    },
  };
  return {
    jobs,
    shares,
    finish(index: number): void {
      while (expectDefined(jobs[index], "a job").step() !== "done");
    },
  };
}

function aReading(isValidatorNode: (node: Address) => boolean = () => false) {
  const hand = handShares();
  const reading = new MessageReading({
    ...{ codec: IBF_CODEC, shares: hand.shares, isValidatorNode },
    findTransaction: () => undefined,
  });
  const results: string[] = [];
  const note = (result: ReadingResult): number =>
    results.push(result.kind === "unread" ? result.reason : result.decoded.ok ? "read" : "refused");
  return {
    ...hand,
    reading,
    results,
    read(sender: Address, message: Encoded): void {
      reading.read({ ...message, sender, key: keyOf(message) }, maker.head, note);
    },
  };
}

const keyOf = ({ code, payload }: Encoded): string => IBF_CODEC.keyOf(code, payload);
const aRoundChange = (who: number): Encoded => maker.roundChange(who, 1, maker.prepared(0));

describe("a message of the height in progress", () => {
  it("is charged to its author when it sends it, and per author to a node that relays it", () => {
    const hand = aReading();
    const accounts = new Set<string>();
    for (const [sender, author] of [
      [1, 1],
      [2, 1],
      [1, 2],
      [2, 2],
    ] as const) {
      hand.read(addressOf(sender), aRoundChange(author));
      const job = expectDefined(hand.jobs.at(-1), "a job");
      // Its author is not known yet.
      expect(job.account.key).toBe(toKey(addressOf(sender)));
      hand.finish(hand.jobs.length - 1);
      accounts.add(job.account.key);
    }
    expect(accounts.size).toBe(4);
    for (const sender of [OUTSIDER, addressOf(8)]) hand.read(sender, aRoundChange(3));
    expect(hand.jobs.slice(-2).map(({ account }) => account.key)).toEqual(["untrusted", "untrusted"]);
  });

  it("is charged to the node alone when that speaks for a validator under another key", () => {
    const hand = aReading((node) => toKey(node) === toKey(OUTSIDER));
    for (const author of [1, 2]) {
      hand.read(OUTSIDER, aRoundChange(author));
      hand.finish(hand.jobs.length - 1);
    }
    const accounts = hand.jobs.map(({ account }) => account);
    expect(new Set(accounts.map(({ key }) => key))).toEqual(new Set([`via${toKey(OUTSIDER)}`]));
    expect(accounts[0]?.share).toBeLessThan(0.05);
  });

  it("is decoded from another sender's copy while the first one waits for its sender's share", () => {
    const hand = aReading();
    const message = aRoundChange(1);
    hand.read(addressOf(2), message);
    expect(hand.reading.isAwaited(keyOf(message), addressOf(2))).toBe(false);
    expect(hand.reading.isAwaited(keyOf(message), addressOf(1))).toBe(true);
    hand.read(addressOf(1), message);
    hand.finish(1);
    expect(hand.reading.isAwaited(keyOf(message), addressOf(3))).toBe(false);
    hand.finish(0);
    expect(hand.results).toEqual(["read", "duplicate"]);
  });

  it("ends as past when its height is over while it is queued", () => {
    const hand = aReading();
    hand.read(addressOf(2), aRoundChange(1));
    hand.reading.clear();
    expect(hand.results).toEqual(["stale"]);
  });
});

describe("a validator's messages", () => {
  function aRouter() {
    const hand = handShares();
    const results: ValidationResult[] = [];
    let taken = 0;
    let hashedBytes = 0;
    const router = aMessageRouter({
      self: addressOf(0),
      schedule: aSchedule(),
      carrier: { send: () => undefined },
      deliver: () => {
        taken += 1;
      },
      clock: { nowMs: () => 0 },
      logger: silentLogger,
      metrics: { received: (result) => results.push(result), relayed: () => undefined },
      shares: hand.shares,
      codec: {
        ...IBF_CODEC,
        keyOf(code, payload) {
          hashedBytes += payload.length;
          return IBF_CODEC.keyOf(code, payload);
        },
      },
    });
    router.headAdvanced(maker.head);
    return { ...hand, router, results, taken: () => taken, hashedBytes: () => hashedBytes };
  }

  it("arrive though a faulty node without a share left sent the same bytes first", () => {
    const { router, results, finish, taken } = aRouter();
    const message = aRoundChange(1);
    router.receive({ sender: addressOf(2), ...message });
    router.receive({ sender: addressOf(2), ...message });
    expect(results).toEqual(["duplicate"]);
    router.receive({ sender: addressOf(1), ...message });
    finish(1);
    expect([taken(), results.at(-1)]).toEqual([1, "accepted"]);
    finish(0);
    expect([taken(), results.at(-1)]).toEqual([1, "duplicate"]);
  });

  it("are not even hashed when they are too long for their kind", () => {
    const { router, results, hashedBytes } = aRouter();
    for (const code of [1, 2])
      router.receive({ sender: addressOf(1), code, payload: new Uint8Array(2 ** 20) });
    expect([results, hashedBytes()]).toEqual([["oversized", "oversized"], 0]);
  });
});
