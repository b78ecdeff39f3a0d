import { describe, expect, it } from "vitest";
import { Dialer, type NodeAddress } from "../../src/network/dialer.ts";
import { DiscoveredPeers, joinCandidates } from "../../src/network/discoveredPeers.ts";
import { MaintainedPeers } from "../../src/network/maintainedPeers.ts";
import { createHandClock } from "../builders/handClock.ts";

const MINUTE_MS = 60_000;

function node(at: number): NodeAddress {
  return { nodeId: new Uint8Array(64).fill(at), host: `10.0.0.${at}`, tcpPort: 30303 };
}

function setUp(room: { left: number } = { left: 10 }, provenIds: readonly Uint8Array[] = []) {
  const clock = createHandClock(0);
  const known = new Set<number>();
  const unlisted = new Set<string>();
  const judged: string[] = [];
  const dials: [number, string][] = [];
  const discovered = new DiscoveredPeers({
    clock,
    chance: () => 0,
    room: () => room.left,
    maxPeers: 25,
    provenIds,
    isKnown: (nodeId) => known.has(nodeId[0] ?? 0),
    isPermitted({ host }) {
      judged.push(host);
      return !unlisted.has(host);
    },
  });
  const maintained = new MaintainedPeers({
    clock,
    chance: () => 0.5,
    isPermitted: ({ host }) => !unlisted.has(host),
    onDenied: () => undefined,
  });
  const dialer = new Dialer({
    clock,
    candidates: joinCandidates([maintained, discovered]),
    dial: ({ host }) => void dials.push([clock.nowMs(), host]),
  });
  return { clock, known, unlisted, judged, dials, discovered, maintained, dialer };
}

describe("nodes that discovery found", () => {
  it("are dialed at once, and again after 30 s, a minute and so on up to ten", () => {
    const { clock, dials, discovered, dialer } = setUp();
    discovered.offer(node(1));
    dialer.reschedule();
    clock.advanceBy(0);
    for (let at = 0; at < 7; at++) {
      dialer.disconnected(node(1).nodeId, "tcpError", 0);
      clock.advanceBy(15 * MINUTE_MS - (clock.nowMs() % (15 * MINUTE_MS)));
    }
    const waits = dials.slice(1).map(([atMs], at) => atMs - (at === 0 ? 0 : 15 * MINUTE_MS * at));
    expect(waits.map((ms) => ms / MINUTE_MS)).toEqual([0.5, 1, 2, 4, 8, 10, 10]);

    // The eighth failure ends it, until it is found again.
    dialer.disconnected(node(1).nodeId, "tcpError", 0);
    clock.advanceBy(60 * MINUTE_MS);
    expect(dials).toHaveLength(8);
    discovered.offer(node(1));
    dialer.reschedule();
    clock.advanceBy(0);
    expect(dials).toHaveLength(9);
  });

  it("are not dialed while the operator's lists do not permit them", () => {
    const { clock, unlisted, dials, discovered, dialer } = setUp();
    unlisted.add(node(1).host);
    discovered.offer(node(1));
    dialer.reschedule();
    clock.advanceBy(5 * MINUTE_MS);
    expect(dials).toEqual([]);
    unlisted.clear();
    clock.advanceBy(5 * MINUTE_MS);
    expect(dials).toHaveLength(1);
  });

  it("and those that the operator named are dialed at once when the rules permit them", () => {
    const { clock, unlisted, dials, discovered, maintained, dialer } = setUp();
    for (const host of ["10.0.0.1", "10.0.0.2"]) unlisted.add(host);
    discovered.offer(node(1));
    maintained.add(node(2));
    dialer.reschedule();
    clock.advanceBy(0);
    dialer.review();
    clock.advanceBy(1_000);
    expect(dials).toEqual([]);
    unlisted.clear();
    dialer.review();
    clock.advanceBy(0);
    expect(dials).toEqual([
      [1_000, "10.0.0.2"],
      [1_000, "10.0.0.1"],
    ]);
    // What ended for another reason is no question of rules.
    for (const at of [1, 2]) dialer.disconnected(node(at).nodeId, "tcpError", 0);
    dialer.review();
    clock.advanceBy(0);
    expect(dials).toHaveLength(2);
  });

  it("are dialed at once when the rules that ended their connections are changed back", () => {
    const { clock, unlisted, dials, discovered, maintained, dialer } = setUp();
    discovered.offer(node(1));
    maintained.add(node(2));
    dialer.reschedule();
    clock.advanceBy(0);
    for (const at of [1, 2]) {
      dialer.connected(node(at).nodeId);
      unlisted.add(node(at).host);
      dialer.denied(node(at).nodeId);
      dialer.disconnected(node(at).nodeId, "requested", 5_000);
    }
    dialer.review();
    clock.advanceBy(0);
    expect(dials).toHaveLength(2);
    unlisted.clear();
    dialer.review();
    clock.advanceBy(0);
    expect(dials).toHaveLength(4);
  });

  it("are judged in turn while they are denied, a few in each review", () => {
    const { clock, unlisted, judged, discovered, dialer } = setUp({ left: 200 });
    for (let at = 1; at <= 100; at++) {
      unlisted.add(node(at).host);
      discovered.offer(node(at));
    }
    dialer.reschedule();
    clock.advanceBy(0);
    expect(judged.splice(0)).toHaveLength(100);
    for (let review = 0; review < 7; review++) {
      clock.advanceBy(1_000);
      const before = judged.length;
      dialer.review();
      clock.advanceBy(0);
      expect(judged.length - before).toBe(16);
    }
    expect(new Set(judged).size).toBe(100);
  });

  it("are dialed again after 30 s when a connection lasted", () => {
    const { clock, dials, discovered, dialer } = setUp();
    discovered.offer(node(1));
    dialer.reschedule();
    clock.advanceBy(0);
    for (let at = 0; at < 3; at++) {
      dialer.connected(node(1).nodeId);
      clock.advanceBy(MINUTE_MS);
      dialer.disconnected(node(1).nodeId, "tcpError", MINUTE_MS);
      clock.advanceBy(MINUTE_MS / 2);
    }
    expect(dials).toHaveLength(4);
  });

  it("wait while there is no room for peers, and come after those that the operator named", () => {
    const room = { left: 0 };
    const { clock, dials, discovered, maintained, dialer } = setUp(room);
    discovered.offer(node(1));
    maintained.add(node(2));
    dialer.reschedule();
    clock.advanceBy(MINUTE_MS);
    expect(dials).toEqual([[0, "10.0.0.2"]]);
    room.left = 1;
    dialer.disconnected(node(2).nodeId, "tcpError", MINUTE_MS);
    clock.advanceBy(0);
    expect(dials.at(-1)).toEqual([MINUTE_MS, "10.0.0.1"]);
  });

  it("are not dialed while they are connected, and are dialed at their newest address", () => {
    const { clock, known, dials, discovered, dialer } = setUp();
    known.add(1);
    discovered.offer(node(1));
    dialer.reschedule();
    clock.advanceBy(MINUTE_MS);
    expect(dials).toEqual([]);
    known.clear();
    discovered.offer({ ...node(1), host: "10.9.9.9" });
    clock.advanceBy(10 * MINUTE_MS);
    expect(dials.map(([, host]) => host)).toEqual(["10.9.9.9"]);
  });

  it("are dialed in other subnets once five of one public subnet are", () => {
    const { clock, dials, discovered, dialer } = setUp({ left: 25 });
    for (let at = 1; at <= 7; at++) discovered.offer({ ...node(at), host: `198.51.7.${at}` });
    discovered.offer({ ...node(8), host: "198.51.8.1" });
    for (let at = 9; at <= 15; at++) discovered.offer(node(at));
    dialer.reschedule();
    clock.advanceBy(0);
    const inSubnet = () => dials.filter(([, host]) => host.startsWith("198.51.7.")).length;
    expect([inSubnet(), dials.length]).toEqual([5, 13]);
    for (const at of [1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15]) dialer.connected(node(at).nodeId);
    clock.advanceBy(9.75 * MINUTE_MS);
    expect([inSubnet(), dials.length]).toEqual([5, 13]);
    // One that goes makes way for another one; it is itself tried later.
    dialer.disconnected(node(1).nodeId, "clientQuitting", MINUTE_MS);
    clock.advanceBy(29_999);
    expect(dials.slice(13).map(([, host]) => host)).toEqual(["198.51.7.6"]);
  });

  it("leave a fifth of the places to those that were good before, while these may come back", () => {
    const room = { left: 6 };
    const good = [201, 202, 203].map(node);
    const { clock, known, dials, discovered, dialer } = setUp(
      room,
      good.map(({ nodeId }) => nodeId),
    );
    const connect = (at: number): void => {
      room.left -= 1;
      dialer.connected(node(at).nodeId);
    };
    for (const one of good) discovered.offer(one);
    dialer.reschedule();
    clock.advanceBy(0);
    expect(dials.map(([, host]) => host)).toEqual(good.map(({ host }) => host));
    for (const { nodeId } of good) dialer.disconnected(nodeId, "tcpError", 0);

    for (let at = 1; at <= 6; at++) discovered.offer(node(at));
    for (let at = 1; at <= 3; at++) {
      expect(discovered.take()?.host).toBe(`10.0.0.${at}`);
      connect(at);
    }
    expect(discovered.take()).toBeUndefined();
    expect(discovered.nextDueMs).toBe(30_000);
    clock.advanceBy(30_000);
    expect(dials.slice(3).map(([, host]) => host)).toEqual(good.map(({ host }) => host));
    known.add(201);
    connect(201);
    for (const at of [202, 203]) dialer.disconnected(node(at).nodeId, "tcpError", 0);
    expect(discovered.take()).toBeUndefined();

    // Forgotten after eight dials, they keep no place.
    for (let failure = 0; failure < 6; failure++)
      for (const at of [202, 203]) dialer.disconnected(node(at).nodeId, "tcpError", 0);
    expect(discovered.take()?.host).toBe("10.0.0.4");
  });

  it("are good once a connection has lasted ten minutes", () => {
    const { clock, discovered, dialer } = setUp();
    for (const at of [1, 2]) {
      discovered.offer(node(at));
      dialer.connected(node(at).nodeId);
    }
    const proven = () => [1, 2].map((at) => discovered.isProven(node(at).nodeId));
    clock.advanceBy(10 * MINUTE_MS - 1);
    dialer.disconnected(node(2).nodeId, "clientQuitting", 10 * MINUTE_MS - 1);
    expect(proven()).toEqual([false, false]);
    clock.advanceBy(1);
    expect(proven()).toEqual([true, false]);
    dialer.disconnected(node(1).nodeId, "clientQuitting", 10 * MINUTE_MS);
    expect(proven()).toEqual([true, false]);
    dialer.stop();
  });

  it("are remembered up to a number of them", () => {
    const { clock, dials, discovered, dialer } = setUp();
    for (let at = 0; at < 1200; at++) {
      const nodeId = new Uint8Array(64);
      new DataView(nodeId.buffer).setUint32(0, at);
      discovered.offer({ ...node(1), nodeId });
    }
    let count = 0;
    while (discovered.take() !== undefined) count += 1;
    expect(count).toBe(1024);
    dialer.stop();
    expect([dials, clock.nextAlarmMs]).toEqual([[], undefined]);
  });
});
