import { describe, expect, it } from "vitest";
import { signPayload } from "../../src/ibft/codec/encoding.ts";
import { decodeLastSigned } from "../../src/ibft/lastSigned.ts";
import { recoverSealers } from "../../src/ibft/sealRules.ts";
import { type LogFields, silentLogger } from "../../src/observability/logger.ts";
import { keccak256 } from "../../src/primitives/hash.ts";
import { hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { addressOfPrivateKey, sign } from "../../src/primitives/secp256k1.ts";
import type { Digest } from "../../src/types/blockHash.ts";
import { createHandClock } from "../builders/handClock.ts";
import { aGenesisHead, aSchedule, toyAddress } from "../builders/toyChain.ts";
import {
  headOfDisk,
  type Observed,
  runFor,
  settle,
  startToyNode,
  type ToyDisk,
  type ToySettings,
} from "./toyNode.ts";

const privateKey = hexToBytes("11".repeat(32));
const self = addressOfPrivateKey(privateKey);
const START_MS = 1_700_000_000_250;

function aDisk(validators = [self]): ToyDisk {
  return { heads: [aGenesisHead(validators, 1_700_000_000n)], votes: undefined };
}

function aRun(settings: Partial<ToySettings> = {}, disk = aDisk()) {
  const clock = createHandClock(START_MS);
  const observed: Observed = { messages: [], commits: [] };
  const node = startToyNode({ privateKey, ...settings }, clock, disk, observed);
  return { clock, observed, disk, node };
}

describe("a lone validator", () => {
  it("makes a block a second, each with its second as timestamp and its own seal", async () => {
    const { clock, disk, observed } = aRun({ buildMs: 200, commitMs: 100 });
    await runFor(clock, 10_100);
    expect(disk.heads.map(({ header }) => header.timestamp - 1_700_000_000n)).toEqual(
      Array.from({ length: 11 }, (_, number) => BigInt(number)),
    );
    for (const { candidate, seals } of observed.commits) {
      expect(candidate.extra.round).toBe(0);
      expect(
        recoverSealers(candidate.digest, seals).map((sealer) => toHex(sealer ?? new Uint8Array())),
      ).toEqual([toHex(self)]);
    }
  });

  it("sends nothing before the vote log entry is durable", async () => {
    const seen: string[] = [];
    const { clock } = aRun({ onMoment: (moment) => void seen.push(moment) });
    await runFor(clock, 1_000);
    expect(seen).toEqual([
      "build asked",
      "built",
      "vote written",
      "vote durable",
      "sent proposal",
      "sent commit",
      "commit asked",
      "commit begins",
      "committed",
    ]);
  });

  it("warns that its clock is behind the newest block, instead of waiting silently", async () => {
    const warnings: unknown[] = [];
    const logger = {
      ...silentLogger,
      warn: (fields: LogFields, message: string) => void warnings.push({ ...fields, message }),
    };
    const disk = { heads: [aGenesisHead([self], 1_700_000_060n)], votes: undefined };
    const { clock } = aRun({ logger }, disk);
    await runFor(clock, 500);
    expect(warnings).toEqual([
      {
        aheadMs: 59_750,
        message: expect.stringMatching(
          /^the newest block is \d+ s ahead of this machine's clock, .*chronyc tracking/,
        ),
      },
    ]);
    await runFor(clock, 65_000);
    expect(disk.heads.length).toBeGreaterThan(2);
    warnings.length = 0;
    await runFor(clock, 10_000);
    expect(warnings).toEqual([]);
  });

  it("moves to the next round when a block takes too long to build, and proposes it there", async () => {
    const { clock, disk, observed } = aRun({ buildMs: 2_500 });
    await runFor(clock, 9_000);
    expect(disk.heads.length).toBeGreaterThan(1);
    expect(observed.commits[0]?.candidate.extra.round).toBe(1);
  });

  it("retries a failed commit with the same block", async () => {
    let failures = 2;
    const { clock, disk, observed, node } = aRun({
      onMoment: (moment) => {
        if (moment === "commit begins" && failures-- > 0) throw new Error("the disk is busy");
        return undefined;
      },
    });
    await runFor(clock, 5_900);
    expect(disk.heads.length).toBeGreaterThan(1);
    expect(observed.commits[0]?.candidate.extra.round).toBe(0);
    expect(observed.messages.filter(({ kind }) => kind === "roundChange")).toEqual([]);
    expect(node.engine.status().mode).toBe("validating");
  });
});

describe("an engine", () => {
  it("stops for good when a vote log entry cannot be written", async () => {
    const failures: unknown[] = [];
    const { clock, observed, node } = aRun({
      onMoment: (moment) => {
        if (moment === "vote written") throw new Error("no space left on device");
        return undefined;
      },
      onFailure: (error) => failures.push(error),
    });
    await runFor(clock, 30_000);
    expect(failures.map(String)).toEqual(["Error: no space left on device"]);
    expect(observed.messages).toEqual([]);
    expect(node.engine.status().mode).toBe("failed");
  });

  it("follows heads and produces nothing when its key is not a validator's", async () => {
    const { clock, observed, node, disk } = aRun({}, aDisk([toyAddress(0)]));
    await runFor(clock, 5_000);
    expect(observed.messages).toEqual([]);
    expect(disk.votes).toBeUndefined();
    expect(node.engine.status()).toMatchObject({ mode: "following", height: 1n });
  });

  it("neither proposes nor votes while paused, and goes on when resumed", async () => {
    const { clock, disk, node } = aRun();
    await runFor(clock, 2_000);
    node.engine.pause();
    await settle();
    const paused = disk.heads.length;
    expect(node.engine.status().mode).toBe("paused");
    await runFor(clock, 5_000);
    expect(disk.heads.length).toBe(paused);
    node.engine.resume();
    await runFor(clock, 3_000);
    expect(disk.heads.length).toBeGreaterThan(paused + 1);
    expect(node.engine.status().mode).toBe("validating");
  });

  it("casts the operator's votes, one after another, until they count", async () => {
    const [first, second] = [toyAddress(0), toyAddress(1)];
    const { clock, disk, node, observed } = aRun();
    node.engine.proposals.propose({ recipient: first, kind: "add" });
    node.engine.proposals.propose({ recipient: second, kind: "drop" });
    await runFor(clock, 1_000);
    expect(observed.commits[0]?.candidate.extra.vote).toEqual({ recipient: first, kind: "add" });
    // Two validators now: one alone is no quorum, so no further block is decided.
    expect(headOfDisk(disk).tally.validators.map(toHex)).toEqual([first, self].map(toHex));
    expect(node.engine.proposals.pending().length).toBe(2);
    node.engine.proposals.discard(first);
    expect(node.engine.proposals.pending().length).toBe(1);
  });

  it("reports its status", async () => {
    const { clock, node } = aRun({ buildMs: 300 });
    await runFor(clock, 850);
    expect(node.engine.status()).toMatchObject({
      mode: "validating",
      validators: [self],
      height: 1n,
      round: {
        number: 0,
        proposer: self,
        startedAtMs: START_MS,
        timeoutAtMs: START_MS + 2_000,
        phase: "building",
        prepares: [],
        commits: [],
        roundChanges: [],
      },
    });
  });

  it("does nothing more once stopped", async () => {
    const { clock, disk, node, observed } = aRun();
    await runFor(clock, 2_000);
    await node.engine.stop();
    const { length } = observed.messages;
    const heads = disk.heads.length;
    await runFor(clock, 5_000);
    expect([observed.messages.length, disk.heads.length]).toEqual([length, heads]);
    expect(clock.nextAlarmMs).toBeUndefined();
  });

  it("ends at once while a block is being built, but not while one is being committed", async () => {
    const building = aRun({ buildMs: 60_000 });
    await runFor(building.clock, 800);
    expect(building.node.engine.status().round?.phase).toBe("building");
    await building.node.engine.stop();

    const committing = aRun({ commitMs: 400 });
    await runFor(committing.clock, 800);
    expect(committing.node.engine.status().round?.phase).toBe("decided");
    const stopping = committing.node.engine.stop();
    await runFor(committing.clock, 500);
    await stopping;
    expect(committing.disk.heads.length).toBe(2);
  });

  it("stops for good when a dependency has failed", async () => {
    const failures: unknown[] = [];
    const { clock, node, disk } = aRun({ onFailure: (error) => failures.push(error) });
    await runFor(clock, 2_000);
    const broken = new Error("the disk is full");
    node.engine.fail(broken);
    node.engine.fail(new Error("the disk is full, as was said"));
    const heads = disk.heads.length;
    await runFor(clock, 5_000);
    expect(disk.heads.length).toBe(heads);
    expect(failures).toEqual([broken]);
    expect(node.engine.status().mode).toBe("failed");
    expect(clock.nextAlarmMs).toBeUndefined();
  });

  it("ignores a head from peers before its start, which gets the newest", async () => {
    const failures: unknown[] = [];
    const first = aRun();
    await runFor(first.clock, 3_000);
    await first.node.engine.stop();
    const { clock, disk } = aRun(
      {
        onFailure: (error) => void failures.push(error),
        beforeStart: (engine) => engine.headAdvanced(headOfDisk(first.disk)),
      },
      first.disk,
    );
    const before = disk.heads.length;
    await runFor(clock, 8_000);
    expect(failures).toEqual([]);
    expect(disk.heads.length).toBeGreaterThan(before);
  });

  it("stays silent up to the height of its last vote when the chain has been set back", async () => {
    const first = aRun();
    await runFor(first.clock, 3_000);
    await first.node.engine.stop();
    const [genesis] = first.disk.heads;
    if (genesis === undefined) throw new Error("there is a genesis block");
    const { clock, observed, node } = aRun({}, { heads: [genesis], votes: first.disk.votes });
    await runFor(clock, 30_000);
    expect(observed.messages).toEqual([]);
    expect(node.engine.status().mode).toBe("bound");
    for (const head of first.disk.heads.slice(1, -1)) node.engine.headAdvanced(head);
    await settle();
    expect(node.engine.status()).toMatchObject({ mode: "validating", round: { number: 1 } });
  });

  it("refuses to start with a vote log entry that is unreadable, or of another chain", async () => {
    const bytes = Uint8Array.of(0xc0);
    expect(() => aRun({}, { ...aDisk(), votes: bytes })).toThrow("the record of our votes is unusable");
    const { clock, disk } = aRun({ onMoment: (moment) => (moment === "commit asked" ? "crash" : undefined) });
    await runFor(clock, 2_000);
    const record = decodeLastSigned(disk.votes ?? new Uint8Array());
    expect(record.ok && record.value.prepared !== undefined).toBe(true);
    const other = { heads: [aGenesisHead([self], 1_699_999_999n)], votes: disk.votes };
    expect(() => aRun({}, other)).toThrow("belongs to another chain");
  });

  it("drops messages, but not its own inputs, when the queue is full", async () => {
    const { clock, disk, node, observed } = aRun({ schedule: aSchedule() });
    await runFor(clock, 1_000);
    const [message] = observed.messages;
    if (message === undefined) throw new Error("a proposal was sent");
    for (let i = 0; i < 5_000; i++) node.engine.receive(message);
    await runFor(clock, 3_000);
    expect(disk.heads.length).toBeGreaterThanOrEqual(4);
  });

  it("warns once of a validator that signed many blocks in one round", async () => {
    const key = hexToBytes("22".repeat(32));
    const other = addressOfPrivateKey(key);
    const signer = { self: other, sign: (digest: Uint8Array) => sign(digest, key) };
    const warnings: unknown[] = [];
    const logger = {
      ...silentLogger,
      warn: (fields: LogFields, message: string) => void warnings.push([fields["round"], message]),
    };
    const { clock, node } = aRun({ logger }, aDisk([self, other]));
    await runFor(clock, 100);
    for (const round of [3, 4])
      for (let block = 0; block < 20; block++) {
        const digest = keccak256(Uint8Array.of(block)) as Uint8Array as Digest;
        const about = { kind: "commit", height: 1n, round, digest, seal: signer.sign(digest) } as const;
        node.engine.receive({ kind: "commit", signed: signPayload(signer, about), sealer: other });
      }
    await settle();
    const text = expect.stringMatching(
      /^a validator has signed two different blocks .* two nodes run with its key/,
    );
    expect(warnings).toEqual([
      [3, text],
      [4, text],
    ]);
  });
});
