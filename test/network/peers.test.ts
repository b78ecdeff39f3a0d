import { describe, expect, it } from "vitest";
import { type ConnectionRequest, refuseConnection } from "../../src/network/admission.ts";
import { BanList } from "../../src/network/banList.ts";
import { Dialer, type NodeAddress } from "../../src/network/dialer.ts";
import { MaintainedPeers } from "../../src/network/maintainedPeers.ts";
import { PeerPriority, type PrioritizedPeer } from "../../src/network/peerPriority.ts";
import { PeerScore } from "../../src/network/peerScore.ts";
import type { Disconnect } from "../../src/network/rlpx/disconnectReason.ts";
import { isLastingDirection } from "../../src/network/simultaneousConnect.ts";
import { createHandClock } from "../builders/handClock.ts";

const LOW = new Uint8Array(64).fill(1);
const HIGH = new Uint8Array(64).fill(2);
const BREACH: Disconnect = { reason: "breachOfProtocol", by: "us", detail: "" };

describe("admission", () => {
  const request: ConnectionRequest = {
    ownId: LOW,
    nodeId: HIGH,
    isInbound: true,
    isMaintained: false,
    isDenied: false,
    isPermitted: true,
    known: [],
    peerCount: 0,
    inboundCount: 0,
  };
  const LIMITS = { maxPeers: 25, maxInbound: 15 };
  const known = (isInbound: boolean, openedMs: number) => ({ known: [{ isInbound, openedMs }] });

  it.each<[string, Partial<ConnectionRequest>, string | undefined]>([
    ["an untrusted peer below the limits", {}, undefined],
    ["the last free slot", { peerCount: 24, inboundCount: 14 }, undefined],
    ["no free slot", { peerCount: 25 }, "tooManyPeers"],
    ["no free inbound slot", { inboundCount: 15 }, "tooManyPeers"],
    [
      "no free inbound slot, but the connection is outbound",
      { inboundCount: 15, isInbound: false },
      undefined,
    ],
    [
      "no free slot, but it is maintained",
      { peerCount: 25, inboundCount: 15, isMaintained: true },
      undefined,
    ],
    ["denied", { isDenied: true, isMaintained: true }, "unknown"],
    ["not permitted", { isPermitted: false }, "unknown"],
    ["this node itself", { nodeId: LOW }, "self"],
    ["a second inbound connection", known(true, 9_000), "alreadyConnected"],
    ["a second outbound connection", { ...known(false, 9_000), isInbound: false }, "alreadyConnected"],
    ["a crossing inbound connection", known(false, 9_000), undefined],
    ["an inbound connection long after the outbound one", known(false, -1), "alreadyConnected"],
    [
      "a third connection",
      { known: [...known(true, 9_000).known, ...known(false, 9_000).known] },
      "alreadyConnected",
    ],
  ])("%s", (_, changes, reason) => {
    expect(refuseConnection({ ...request, ...changes }, LIMITS, 10_000)?.reason).toBe(reason);
  });

  it("keeps the connection opened by the lower id, on both ends", () => {
    expect(isLastingDirection(LOW, HIGH, { isInbound: false })).toBe(true);
    expect(isLastingDirection(LOW, HIGH, { isInbound: true })).toBe(false);
    expect(isLastingDirection(HIGH, LOW, { isInbound: true })).toBe(true);
    expect(isLastingDirection(HIGH, LOW, { isInbound: false })).toBe(false);
  });
});

describe("random priorities", () => {
  const peer = (first: number, traits: Partial<PrioritizedPeer> = {}): PrioritizedPeer => ({
    nodeId: new Uint8Array(64).fill(first),
    isInbound: true,
    isMaintained: false,
    ...traits,
  });
  const surplus = (peers: readonly PrioritizedPeer[], maxPeers: number, maxInbound?: number, chance = 0) =>
    new PeerPriority(() => chance).surplus(peers, { maxPeers, maxInbound }).map(({ nodeId }) => nodeId[0]);

  it("let the lowest ones give way, of inbound connections first, and no maintained peer", () => {
    expect(surplus([peer(3), peer(1), peer(2)], 3)).toEqual([]);
    expect(surplus([peer(3), peer(1), peer(2)], 2)).toEqual([3]);
    expect(surplus([peer(3, { isMaintained: true }), peer(1), peer(2)], 2)).toEqual([2]);
    expect(surplus([peer(9, { isMaintained: true }), peer(8, { isMaintained: true })], 1)).toEqual([]);
    expect(surplus([peer(4, { isInbound: false }), peer(1), peer(2), peer(3)], 4, 2)).toEqual([3]);
    expect(surplus([peer(4, { isInbound: false }), peer(1), peer(2), peer(3)], 2, 2)).toEqual([3, 4]);
  });

  it("differ from node to node", () => {
    const peers = [peer(1), peer(2), peer(3)];
    expect([0, 3 / 256, 1].map((chance) => surplus(peers, 2, undefined, chance))).toEqual([[3], [1], [1]]);
    expect(surplus(peers, 2, undefined, 2 / 256)).toEqual([1]);
  });
});

describe("remembered peers", () => {
  const banListOf = (
    settings: { banned?: Uint8Array[]; maintained?: Uint8Array; nowMs?: () => number } = {},
  ) =>
    new BanList(
      { bannedIds: settings.banned ?? [], isMaintained: (nodeId) => nodeId === settings.maintained },
      settings.nowMs ?? (() => 5),
    );

  it("are banned for a breach detected here, and for nothing else", () => {
    const banList = banListOf();
    banList.remember({ ...BREACH, by: "them" }, { nodeId: LOW, host: "a" });
    banList.remember({ ...BREACH, reason: "timeout" }, { nodeId: LOW, host: "a" });
    expect(banList.isDenied(LOW)).toBe(false);
    banList.remember(BREACH, { nodeId: LOW, host: "a" });
    expect(banList.isDenied(LOW)).toBe(true);
    expect(banList.disconnects).toMatchObject([{ reason: "breachOfProtocol", count: 3, atMs: 5 }]);
  });

  it("are banned for a minute after a disconnect as useless", () => {
    let nowMs = 5;
    const banList = banListOf({ maintained: HIGH, nowMs: () => nowMs });
    for (const nodeId of [LOW, HIGH])
      banList.remember({ ...BREACH, reason: "uselessPeer" }, { nodeId, host: "a" });
    expect([banList.isDenied(LOW), banList.isDenied(HIGH)]).toEqual([true, false]);
    nowMs += 59_999;
    expect(banList.isDenied(LOW)).toBe(true);
    nowMs += 1;
    expect(banList.isDenied(LOW)).toBe(false);
  });

  it("are not banned when they are maintained, and always when the operator banned them", () => {
    const banList = banListOf({ banned: [HIGH], maintained: LOW });
    banList.remember(BREACH, { nodeId: LOW, host: "a" });
    expect([banList.isDenied(LOW), banList.isDenied(HIGH)]).toEqual([false, true]);
  });

  it("are admitted again when the operator names them later", () => {
    const named: Uint8Array[] = [];
    const banList = new BanList({ bannedIds: [], isMaintained: (nodeId) => named.includes(nodeId) }, () => 5);
    banList.remember(BREACH, { nodeId: LOW, host: "a" });
    named.push(LOW);
    expect(banList.isDenied(LOW)).toBe(false);
  });

  it("are five hundred at most; the oldest are dropped", () => {
    const banList = banListOf();
    const idOf = (number: number) => new Uint8Array(64).fill(number >> 8, 0, 32).fill(number & 0xff, 32);
    for (let number = 0; number < 700; number++)
      banList.remember(BREACH, { nodeId: idOf(number), host: "a" });
    expect(banList.disconnects.length).toBe(500);
    expect([199, 200, 699].map((number) => banList.isDenied(idOf(number)))).toEqual([false, true, true]);
  });
});

describe("reputation", () => {
  it("rises and falls with responses, and reaches its limit after five useless ones in a minute", () => {
    const reputation = new PeerScore();
    for (let count = 0; count < 100; count++) reputation.reward();
    expect(reputation.score).toBe(150);
    expect([0, 1, 2, 3].map((nowMs) => reputation.penalise(nowMs))).toEqual([false, false, false, false]);
    expect(reputation.penalise(60_002)).toBe(false);
    const later = [60_003, 60_004, 60_005, 60_006].map((nowMs) => reputation.penalise(nowMs));
    expect(later).toEqual([false, false, false, true]);
  });
});

describe("the dialer", () => {
  const nodeOf = (number: number): NodeAddress => ({
    nodeId: new Uint8Array(64).fill(number),
    host: "h",
    tcpPort: number,
  });
  const start = () => {
    const clock = createHandClock(0);
    const calls: string[] = [];
    const maintained = new MaintainedPeers({
      clock,
      chance: () => 0.5,
      isPermitted: () => true,
      onDenied: () => undefined,
    });
    const dialer = new Dialer({
      clock,
      candidates: maintained,
      dial: ({ tcpPort }) => void calls.push(`${tcpPort} at ${clock.nowMs()}`),
    });
    const add = (node: NodeAddress): boolean => {
      const isNew = maintained.add(node);
      dialer.reschedule();
      return isNew;
    };
    return { clock, calls, maintained, dialer, add };
  };

  it("dials at once, and redials after delays that double up to 30 s", () => {
    const { clock, calls, dialer, add } = start();
    add(nodeOf(1));
    clock.advanceBy(0);
    for (const waitMs of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      const count = calls.length;
      dialer.disconnected(nodeOf(1).nodeId, "tcpError", 0);
      clock.advanceBy(waitMs - 1);
      expect(calls.length).toBe(count);
      clock.advanceBy(1);
      expect(calls.length).toBe(count + 1);
    }
  });

  it("resets the delay after a connection that lasted, and waits longest after a refusal", () => {
    const { clock, calls, dialer, add } = start();
    add(nodeOf(1));
    clock.advanceBy(0);
    dialer.disconnected(nodeOf(1).nodeId, "tooManyPeers", 0);
    clock.advanceBy(29_999);
    expect(calls).toEqual(["1 at 0"]);
    clock.advanceBy(1);
    dialer.connected(nodeOf(1).nodeId);
    dialer.disconnected(nodeOf(1).nodeId, "clientQuitting", 30_000);
    clock.advanceBy(1_000);
    expect(calls).toEqual(["1 at 0", "1 at 30000", "1 at 31000"]);
  });

  it("does not dial nodes that are connected, removed, or already being dialed", () => {
    const { clock, calls, maintained, dialer, add } = start();
    for (const number of [1, 2, 3]) add(nodeOf(number));
    expect(add(nodeOf(3))).toBe(false);
    dialer.connected(nodeOf(1).nodeId);
    maintained.remove(nodeOf(2).nodeId);
    dialer.reschedule();
    clock.advanceBy(600_000);
    expect(calls).toEqual(["3 at 0"]);
    dialer.stop();
    dialer.disconnected(nodeOf(3).nodeId, "tcpError", 0);
    clock.advanceBy(600_000);
    expect(calls.length).toBe(1);
  });

  it("dials at most sixteen nodes at a time", () => {
    const { clock, calls, dialer, add } = start();
    for (let number = 1; number <= 20; number++) add(nodeOf(number));
    clock.advanceBy(0);
    expect(calls.length).toBe(16);
    dialer.connected(nodeOf(1).nodeId);
    clock.advanceBy(0);
    expect(calls.length).toBe(17);
  });

  it("counts a dial until it has ended, even when its node was removed", () => {
    const { clock, calls, maintained, dialer, add } = start();
    for (let number = 1; number <= 17; number++) add(nodeOf(number));
    clock.advanceBy(0);
    maintained.remove(nodeOf(1).nodeId);
    dialer.reschedule();
    clock.advanceBy(0);
    expect(calls.length).toBe(16);
    dialer.disconnected(nodeOf(1).nodeId, "timeout", 0);
    clock.advanceBy(0);
    expect(calls.length).toBe(17);
  });
});
