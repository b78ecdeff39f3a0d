import { describe, expect, it } from "vitest";
import { signPayload } from "../../../src/ibft/codec/encoding.ts";
import type { SignedMessage } from "../../../src/ibft/message.ts";
import { type LogFields, type Logger, silentLogger } from "../../../src/observability/logger.ts";
import type { Hash } from "../../../src/primitives/hash.ts";
import { toHex } from "../../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../../src/primitives/quantity.ts";
import { addressOfPrivateKey, sign } from "../../../src/primitives/secp256k1.ts";
import { createHandClock, type HandClock } from "../../builders/handClock.ts";
import { aCandidate, aGenesisHead, aSchedule, headOf } from "../../builders/toyChain.ts";
import {
  headOfDisk,
  type Observed,
  runFor,
  settle,
  startToyNode,
  type ToyDisk,
  type ToyNode,
  type ToySettings,
} from "../toyNode.ts";

/** Four validators, of which the last is the node; the test sends the messages of the others. */
const KEYS = [1n, 2n, 3n, 4n]
  .map((number) => bigintToFixedBytes(number, 32))
  .map((privateKey) => ({ privateKey, address: addressOfPrivateKey(privateKey) }))
  .sort((a, b) => (toHex(a.address) < toHex(b.address) ? -1 : 1));
/** Beyond the fourth: a non-validator. */
function keyOf(index: number): (typeof KEYS)[number] {
  return KEYS[index] ?? { privateKey: OUTSIDER, address: addressOfPrivateKey(OUTSIDER) };
}

const OUTSIDER = bigintToFixedBytes(99n, 32);
const ADDRESSES = KEYS.map(({ address }) => address);
const TEXTS = ADDRESSES.map(toHex);
const START_MS = 1_700_000_000_250;

interface Line {
  readonly level: "warn" | "info" | "debug";
  readonly fields: LogFields;
  readonly message: string;
}

interface Run {
  readonly clock: HandClock;
  readonly node: ToyNode;
  readonly lines: readonly Line[];
  /** Messages logged at a level so far. */
  said(level: Line["level"]): readonly string[];
  says(index: number, message: { readonly round: number; readonly height?: bigint }): Promise<void>;
  /** Sets the head below this height, decided by the others. */
  goesTo(height: bigint): void;
  /** A vote for the node's own proposal. */
  prepares(index: number): Promise<void>;
}

function aRun({ self = 3, ...settings }: { readonly self?: number } & Partial<ToySettings> = {}): Run {
  const clock = createHandClock(START_MS);
  const lines: Line[] = [];
  const tell = (level: Line["level"]) => (fields: LogFields, message: string) =>
    void lines.push({ level, fields, message });
  const logger: Logger = {
    ...silentLogger,
    warn: tell("warn"),
    info: tell("info"),
    debug: tell("debug"),
    isEnabled: () => true,
  };
  const disk: ToyDisk = { heads: [aGenesisHead(ADDRESSES, 1_700_000_000n)], votes: undefined };
  const { privateKey } = keyOf(self);
  const observed: Observed = { messages: [], commits: [] };
  const node = startToyNode({ privateKey, logger, ...settings }, clock, disk, observed);
  return {
    clock,
    node,
    lines,
    said: (level) => lines.filter((line) => line.level === level).map(({ message }) => message),
    async says(index, { round, height = 1n }) {
      node.engine.receive(aRoundChange(index, height, round));
      await settle();
    },
    goesTo(height) {
      const parent = headOfDisk(disk);
      if (parent.header.number + 1n >= height) return;
      disk.heads.push(headOf(parent, aCandidate(parent)));
      node.engine.headAdvanced(headOfDisk(disk));
    },
    async prepares(index) {
      const proposal = observed.messages.find(({ kind }) => kind === "proposal");
      if (proposal?.kind !== "proposal") throw new Error("the node has proposed nothing");
      const { privateKey, address } = keyOf(index);
      const signer = { self: address, sign: (digest: Hash) => sign(digest, privateKey) };
      const { height, round, digest } = proposal.signed.payload;
      const signed = signPayload(signer, { kind: "prepare", height, round, digest });
      node.engine.receive({ kind: "prepare", signed });
      await settle();
    },
  };
}

function aRoundChange(index: number, height: bigint, round: number): SignedMessage {
  const { privateKey, address } = keyOf(index);
  const signer = { self: address, sign: (digest: Hash) => sign(digest, privateKey) };
  return { kind: "roundChange", signed: signPayload(signer, { kind: "roundChange", height, round }) };
}

describe("a stalled chain", () => {
  it("is logged with the validators that are present, those that are missing, and since when", async () => {
    const run = aRun();
    await runFor(run.clock, 2_100);
    await run.says(1, { round: 1 });
    await runFor(run.clock, 3_000);
    const stalls = run.lines.filter(({ message }) => message.startsWith("no block for"));
    expect(stalls.map(({ message }) => message)).toEqual([
      "no block for 5 s at height 1: 2 of 4 validators heard, quorum 3; " +
        `waiting for ${TEXTS[0]} (never heard since the start), ${TEXTS[2]} (never heard since the start)`,
    ]);
    expect(stalls[0]?.level).toBe("warn");
    expect(stalls[0]?.fields).toMatchObject({
      height: 1n,
      validators: 4,
      quorum: 3,
      missing: [ADDRESSES[0], ADDRESSES[2]],
    });
  });

  it("is logged ever more rarely, in the end once a minute, with validators that fell silent in the meantime", async () => {
    const run = aRun();
    await runFor(run.clock, 2_100);
    await run.says(1, { round: 1 });
    await runFor(run.clock, 600_000, 500);
    const stalls = run.said("warn").filter((message) => message.startsWith("no block for"));
    expect(stalls.length).toBeGreaterThan(8);
    expect(stalls.length).toBeLessThan(16);
    expect(stalls.at(-1)).toContain(`${TEXTS[1]} (last heard 9 m ago at height 1)`);
    expect(stalls.at(-1)).toContain("1 of 4 validators heard");
    expect(stalls[0]).not.toContain("forget-votes");
    expect(stalls.at(-1)).toMatch(
      /; round \d+ ends in .*, and a restart .* \(ibex validator forget-votes\)$/,
    );
  });

  it("is logged with the connections to the missing validators", async () => {
    const run = aRun({ connected: () => ADDRESSES.slice(2, 3) });
    await runFor(run.clock, 6_000);
    const stall = run.said("warn").find((message) => message.startsWith("no block for"));
    expect(stall).toContain(`${TEXTS[2]} (never heard since the start, connected, but sends no votes)`);
    expect(stall).toContain(`${TEXTS[0]} (never heard since the start, not connected)`);
  });

  it("is logged on a follower with a hint where to ask", async () => {
    const run = aRun({ self: 7 });
    await runFor(run.clock, 6_000);
    expect(run.said("warn")).toEqual([
      "no block for 5 s at height 1: this node is not a validator and receives no votes; " +
        "ibft_status on a validator shows which ones are missing",
    ]);
  });

  it("is not logged while blocks arrive, nor after the stop", async () => {
    const clock = createHandClock(START_MS);
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (_: LogFields, message: string) => void warnings.push(message) };
    const { privateKey, address } = keyOf(0);
    const disk: ToyDisk = { heads: [aGenesisHead([address], 1_700_000_000n)], votes: undefined };
    const node = startToyNode({ privateKey, logger }, clock, disk, { messages: [], commits: [] });
    await runFor(clock, 20_000);
    await node.engine.stop();
    await runFor(clock, 60_000, 1_000);
    expect(warnings).toEqual([]);
    expect(clock.nextAlarmMs).toBeUndefined();
  });
});

describe("a failed round", () => {
  it("is logged with its reason, its proposer, and how many proposals that one missed", async () => {
    const run = aRun();
    await runFor(run.clock, 1_000);
    await run.says(1, { round: 3 });
    await runFor(run.clock, 1_100);
    const [line] = run.lines.filter(({ level }) => level === "warn");
    expect(line?.message).toBe(
      `round 0 of height 1 failed, its 2 s are over: the proposer was ${TEXTS[0]}, and no proposal came, ` +
        `so there were no votes; not heard recently: ${TEXTS[0]}, ${TEXTS[2]}`,
    );
    expect(line?.fields).toMatchObject({
      unheard: [ADDRESSES[0], ADDRESSES[2]],
      height: 1n,
      round: 0,
      proposer: ADDRESSES[0],
      nextRound: 1,
      nextProposer: ADDRESSES[1],
      missedTurns: 1,
    });
    expect(line?.fields).not.toHaveProperty("silent");
  });

  it("is logged with the validators that voted for the proposal, and those that did not", async () => {
    const run = aRun({ self: 0 });
    await runFor(run.clock, 2_100);
    const [line] = run.lines.filter(({ level }) => level === "warn");
    expect(line?.message).toBe(
      "round 0 of height 1 failed, its 2 s are over: the proposer was this node, and its proposal had 1 of the 3 votes needed; " +
        `voted: this node; silent: ${TEXTS[1]}, ${TEXTS[2]}, ${TEXTS[3]}`,
    );
    expect(line?.fields).toMatchObject({
      voted: [ADDRESSES[0]],
      silent: [1, 2, 3].map((index) => ADDRESSES[index]),
    });
  });

  it("is logged with the validators that sealed a prepared block, and those that did not", async () => {
    const run = aRun({ self: 0 });
    await runFor(run.clock, 1_000);
    for (const index of [1, 2]) await run.prepares(index);
    await runFor(run.clock, 1_100);
    expect(run.said("warn")).toEqual([
      "round 0 of height 1 failed, its 2 s are over: the proposer was this node, and its proposal was prepared, but sealed by " +
        `1 of the 3 needed; sealed: this node; prepared only: ${TEXTS[1]}, ${TEXTS[2]}; silent: ${TEXTS[3]}`,
    ]);
  });

  it("is logged as our own fault when our block took too long", async () => {
    const run = aRun({ self: 0, buildMs: 2_500 });
    await runFor(run.clock, 2_100);
    expect(run.said("warn")).toEqual([
      "round 0 of height 1 failed, its 2 s are over: the proposer was this node, and its block was not ready, " +
        `so there were no votes; not heard recently: ${TEXTS.slice(1).join(", ")}`,
    ]);
  });

  it("is logged as a move of others when they left the round first", async () => {
    const run = aRun();
    await runFor(run.clock, 100);
    await run.says(2, { round: 3 });
    await run.says(1, { round: 3 });
    expect(run.said("warn")).toEqual([
      `round 0 of height 1 failed, others moved on: the proposer was ${TEXTS[0]}, and no proposal came, ` +
        `so there were no votes; not heard recently: ${TEXTS[0]}`,
    ]);
  });

  it("is logged each time while a height takes long", async () => {
    const run = aRun();
    await runFor(run.clock, 2_100);
    for (const round of [2, 3]) for (const index of [1, 2]) await run.says(index, { round });
    expect(run.said("warn").map((message) => message.slice(0, 26))).toEqual(
      [0, 1, 2].map((round) => `round ${round} of height 1 failed`),
    );
  });

  it("is logged at debug when rounds fail in quick succession", async () => {
    const run = aRun();
    for (let round = 1; round <= 40; round++) for (const index of [1, 2]) await run.says(index, { round });
    expect(run.said("warn").length).toBe(5);
    expect(run.said("debug").filter((message) => message.includes(" failed, ")).length).toBe(35);
    const losesHeight = async (height: bigint): Promise<void> => {
      run.goesTo(height);
      for (const index of [1, 2]) await run.says(index, { round: 1, height });
    };
    await losesHeight(2n);
    expect(run.said("warn").length).toBe(5);
    await runFor(run.clock, 1_900);
    await losesHeight(3n);
    expect(run.said("warn").length).toBe(5);
    await runFor(run.clock, 1_900);
    await losesHeight(4n);
    expect(run.said("warn").at(-1)).toMatch(/^round 0 of height 4 failed, /);
  });
});

describe("the status", () => {
  it("has the validators that were heard, with what and when, and those that are missing", async () => {
    const run = aRun();
    await runFor(run.clock, 2_100);
    await run.says(1, { round: 1 });
    const { members, quorum, head, votes, isValidator } = run.node.engine.status();
    expect({ quorum, isValidator }).toEqual({ quorum: 3, isValidator: true });
    expect(members.map(({ isPresent }) => isPresent)).toEqual([false, true, false, true]);
    expect(members[1]?.lastHeard).toEqual({
      atMs: START_MS + 2_100,
      kind: "roundChange",
      height: 1n,
      round: 1,
    });
    expect(members[0]).toMatchObject({ missedTurns: 1, connections: undefined });
    expect(head).toMatchObject({ number: 0n, timestamp: 1_700_000_000n });
    expect(votes).toEqual({ outstanding: [], needed: 3, expireAt: 30_000n });
  });

  it("ignores messages of non-validators", async () => {
    const run = aRun({ schedule: aSchedule() });
    await run.says(7, { round: 1 });
    expect(run.node.engine.status().members.map(({ lastHeard }) => lastHeard)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});
