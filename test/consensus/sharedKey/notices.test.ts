import { describe, expect, it } from "vitest";
import { declareConsensusMetrics } from "../../../src/consensus/consensusMetrics.ts";
import type { MessageRouter } from "../../../src/consensus/router/messageRouter.ts";
import { keyNoticePayload } from "../../../src/consensus/sharedKey/notice.ts";
import { encodeMessage, signPayload } from "../../../src/ibft/codec/encoding.ts";
import type { SignedMessage } from "../../../src/ibft/message.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import { includesBytes, toHex } from "../../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../../src/primitives/quantity.ts";
import { addressOfPrivateKey, sign } from "../../../src/primitives/secp256k1.ts";
import { aMessageRouter } from "../../builders/aMessageRouter.ts";
import { createHandClock } from "../../builders/handClock.ts";
import { type LoggedLine, loggedLines } from "../../builders/loggedLines.ts";
import { aCandidate, aGenesisHead, aSchedule } from "../../builders/toyChain.ts";
import { aRegistry, readSample } from "../../observability/aRegistry.ts";
import { settle, startToyNode } from "../toyNode.ts";

const START_MS = 1_700_000_000_000;

/** Keys of the four validators a to d, and of e, which is none. */
const [A, B, C, D, E] = [1n, 2n, 3n, 4n, 5n].map((key) => {
  const privateKey = bigintToFixedBytes(key, 32);
  return {
    privateKey,
    self: addressOfPrivateKey(privateKey),
    sign: (hash: Parameters<typeof sign>[0]) => sign(hash, privateKey),
  };
}) as [Signer, Signer, Signer, Signer, Signer];

interface Signer {
  readonly privateKey: Uint8Array;
  readonly self: ReturnType<typeof addressOfPrivateKey>;
  readonly sign: (hash: Parameters<typeof sign>[0]) => ReturnType<typeof sign>;
}

type Said = Parameters<typeof keyNoticePayload>[0];

const signKeyNotice = (by: Signer, said: Said) =>
  ({ kind: "prepare", signed: signPayload(by, keyNoticePayload(said)) }) as const;

const HEAD = aGenesisHead([A, B, C, D].map(({ self }) => self));

interface Station {
  readonly signer: Signer;
  readonly router: MessageRouter;
  readonly engine: ReturnType<typeof startToyNode>["engine"];
  readonly lines: readonly LoggedLine[];
  /** Messages of height 0 that it sent, over all links. */
  sent: number;
  reports(): Promise<number | undefined>;
}

/** Nodes with these keys, each connected with its neighbours in the line. The clock stands still between steps. */
function aLine(...signers: readonly Signer[]) {
  const clock = createHandClock(START_MS);
  const line: Station[] = [];
  for (const [index, signer] of signers.entries()) {
    const { logger, lines } = loggedLines();
    const registry = aRegistry();
    const neighbours = () => [line[index - 1], line[index + 1]].filter((one) => one !== undefined);
    const router = aMessageRouter({
      self: signer.self,
      schedule: aSchedule(),
      carrier: {
        get connected() {
          return neighbours().map((one) => one.signer.self);
        },
        send(code, payload, { to, except }) {
          for (const other of neighbours()) {
            if (!includesBytes(to, other.signer.self) || includesBytes(except, other.signer.self)) continue;
            const station = line[index];
            if (station !== undefined) station.sent++;
            other.router.receive({ sender: signer.self, code, payload });
          }
        },
      },
      deliver: () => undefined,
      judgeNotice: (notice) => node.engine.keyWatch.judge(notice),
      clock,
      logger: silentLogger,
    });
    const node = startToyNode(
      {
        privateKey: signer.privateKey,
        logger,
        metrics: declareConsensusMetrics(registry),
        outbox: quiet(router),
      },
      clock,
      { heads: [HEAD], votes: undefined },
      { messages: [], commits: [] },
    );
    router.headAdvanced(HEAD);
    const reports = () => readSample(registry, "bft_shared_key_reports_total");
    line.push({ ...{ signer, router, engine: node.engine, lines, sent: 0, reports } });
  }
  return { clock, line };
}

/** Only notices leave these nodes. */
const quiet = (router: MessageRouter) => ({
  multicast: () => undefined,
  sendNotice: (one: SignedMessage) => router.sendNotice(one),
});

const toldBy = ({ lines }: Station): readonly LoggedLine[] =>
  lines.filter(({ message }) => /two nodes run with the key/i.test(message));

const PROVEN = { isProven: true };

describe("a notice that two nodes run with one key", () => {
  it("reaches the other one and all between, over a node that does not validate, and each tells its operator", async () => {
    const { clock, line } = aLine(A, B, E, A);
    await settle();
    const [first, , , second] = line as [Station, Station, Station, Station];
    clock.advanceBy(5_000);
    second.engine.keyWatch.seen(A.self, PROVEN);
    const [own, ...others] = line.slice(0, 3).map(toldBy);
    expect(own).toMatchObject([{ level: "ERROR", validator: toHex(A.self) }]);
    expect(own?.[0]?.message).toContain("which is this node's: another node that has it says so");
    for (const told of others)
      expect(told).toMatchObject([
        { level: "WARN", message: expect.stringContaining("says one of the two") },
      ]);
    for (const station of line) expect(await station.reports()).toBeGreaterThan(0);
    expect(first.engine.status().mode).toBe("validating");
  });

  it("comes from a validator that is connected to by both, too", async () => {
    const { line } = aLine(A, B, C);
    await settle();
    line[1]?.engine.keyWatch.seen(A.self, PROVEN);
    const [own, , other] = line.map(toldBy);
    expect(own).toMatchObject([
      { level: "ERROR", message: expect.stringContaining("is connected to by both") },
    ]);
    expect(other).toMatchObject([
      { message: expect.stringContaining(`says the validator ${toHex(B.self)}`) },
    ]);
  });

  it("reaches a node that connects within a minute", async () => {
    const { clock, line } = aLine(A, B);
    await settle();
    const [, node] = line as [Station, Station];
    node.engine.keyWatch.seen(C.self, PROVEN);
    const sent: number[] = [];
    node.router.peerConnected(E.self, (code) => sent.push(code));
    clock.advanceBy(60_000);
    node.router.peerConnected(E.self, (code) => sent.push(code));
    expect(sent).toEqual([1]);
  });

  it("is not sent without a proof, but counted", async () => {
    const { line } = aLine(A, B);
    await settle();
    line[0]?.engine.keyWatch.seen(A.self, { isProven: false });
    expect(await line[0]?.reports()).toBe(1);
    expect(line.map(({ sent }) => sent)).toEqual([0, 0]);
  });

  it("is said once in ten seconds, told of once in a minute, and never goes round", async () => {
    const { clock, line } = aLine(A, B, C);
    await settle();
    const [, node, last] = line as [Station, Station, Station];
    for (let second = 0; second < 60; second++) {
      node.engine.keyWatch.seen(A.self, PROVEN);
      clock.advanceBy(1_000);
    }
    // The validator whose key it is claims it each time: six of each, of which one goes to two.
    expect(line.map(({ sent }) => sent)).toEqual([6, 18, 0]);
    expect(toldBy(last).length).toBe(1);
    expect(await last.reports()).toBe(6);
  });
});

/** Sends a node the messages as its only neighbour would, and counts what it tells of. */
async function heardAt(messages: (nowMs: number) => readonly SignedMessage[], { waitMs = 30_000 } = {}) {
  const { clock, line } = aLine(A, B, C);
  await settle();
  clock.advanceBy(waitMs);
  const [node, , last] = line as [Station, Station, Station];
  for (const message of messages(clock.nowMs()))
    node.router.receive({ sender: B.self, ...encodeMessage(message) });
  return { told: toldBy(node).length, passedOn: toldBy(last).length, reports: await node.reports() };
}

describe("a notice is not believed", () => {
  const nothing = { told: 0, passedOn: 0, reports: 0 };

  it("that is replayed: of an earlier time, or of this node's own earlier run", async () => {
    const old = (by: Signer, agoMs: number) => (nowMs: number) => [
      signKeyNotice(by, { kind: "report", key: A.self, atMs: nowMs - agoMs, ageSeconds: 9 }),
    ];
    expect(await heardAt(old(D, 61_000), { waitMs: 120_000 })).toEqual(nothing);
    expect(await heardAt(old(A, 31_000))).toEqual(nothing);
    expect(await heardAt(old(A, 29_000))).toMatchObject({ told: 1 });
  });

  it("from a node that is no validator, or about one", async () => {
    expect(
      await heardAt((atMs) => [signKeyNotice(E, { kind: "report", key: A.self, atMs, ageSeconds: 9 })]),
    ).toEqual(nothing);
    expect(
      await heardAt((atMs) => [signKeyNotice(B, { kind: "report", key: E.self, atMs, ageSeconds: 9 })]),
    ).toEqual(nothing);
  });

  it("that is another message of height 0", async () => {
    const { digest } = aCandidate(HEAD);
    const prepare = {
      kind: "prepare",
      signed: signPayload(B, { kind: "prepare", height: 0n, round: 0, digest }),
    } as const;
    expect(await heardAt(() => [prepare as SignedMessage])).toEqual(nothing);
  });

  it("beyond eight of one author and kind at a time", async () => {
    const many = (atMs: number) =>
      Array.from({ length: 20 }, (_, index) =>
        signKeyNotice(B, { kind: "report", key: D.self, atMs: atMs + index, ageSeconds: 9 }),
      );
    expect((await heardAt(many)).reports).toBe(8);
  });

  it("in another's name, to ask or to claim", async () => {
    for (const kind of ["ask", "claim"] as const)
      expect(
        await heardAt((atMs) => [signKeyNotice(B, { kind, key: A.self, atMs, ageSeconds: 999 })]),
      ).toEqual(nothing);
  });
});

/** A validator that takes part, or one that is paused, and a neighbour that hands it this notice. */
async function silencedBy(
  notice: (nowMs: number) => Said & { readonly by: Signer },
  { isPaused = false, again = false } = {},
) {
  const { clock, line } = aLine(A, B);
  await settle();
  const [node, other] = line as [Station, Station];
  if (isPaused) node.engine.pause();
  clock.advanceBy(30_000);
  await settle();
  const { by, ...said } = notice(clock.nowMs());
  const message = encodeMessage(signKeyNotice(by, said));
  node.router.receive({ sender: B.self, ...message });
  await settle();
  const first = node.engine.status().silence;
  if (again) {
    clock.advanceBy(3_000);
    node.router.receive({ sender: B.self, ...message });
    await settle();
  }
  const isSame = first?.untilTimestamp === node.engine.status().silence?.untilTimestamp;
  return {
    reason: first?.reason,
    isSame,
    claimed: other.lines.some(({ message: text }) => /says one of the two/.test(text)),
  };
}

describe("a validator", () => {
  const claim =
    (ageSeconds: number, agoMs = 0) =>
    (nowMs: number) =>
      ({ kind: "claim", by: A, key: A.self, atMs: nowMs - agoMs, ageSeconds }) as const;
  const UNMOVED = { reason: undefined, isSame: true };

  it("that takes part claims its key when another node asks for it, and goes on", async () => {
    const asked = await silencedBy((atMs) => ({ kind: "ask", by: A, key: A.self, atMs, ageSeconds: 999 }));
    expect(asked).toEqual({ ...UNMOVED, claimed: true });
  });

  it("that does not take part yet is silenced by a claim, and not again by the same one", async () => {
    expect(await silencedBy(claim(0), { isPaused: true, again: true })).toEqual({
      ...{ reason: "ownKey", isSame: true, claimed: true },
    });
  });

  it("that takes part yields to one that has run for longer, and not to a younger one", async () => {
    expect(await silencedBy(claim(31))).toMatchObject({ reason: "ownKey" });
    expect(await silencedBy(claim(10))).toEqual({ ...UNMOVED, claimed: true });
  });

  it("is silenced by no claim of another time, and by nobody else's words", async () => {
    expect(await silencedBy(claim(999, 10_001), { isPaused: true })).toMatchObject(UNMOVED);
    expect(await silencedBy(claim(999, 30_000), { isPaused: true })).toMatchObject(UNMOVED);
    for (const kind of ["ask", "claim", "report", "contradiction"] as const)
      expect(
        await silencedBy((atMs) => ({ kind, by: B, key: A.self, atMs, ageSeconds: 999 }), { isPaused: true }),
      ).toMatchObject(UNMOVED);
  });
});
