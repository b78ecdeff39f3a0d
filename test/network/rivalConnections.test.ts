import { describe, expect, it, onTestFinished } from "vitest";
import type { Traffic } from "../../src/network/traffic.ts";
import { toDigits } from "../../src/primitives/hex.ts";
import { openChokedLink } from "../builders/chokedLink.ts";
import { createHandClock } from "../builders/handClock.ts";
import { loggedLines } from "../builders/loggedLines.ts";
import { identity } from "./identities.ts";
import { closeAfterEach, startToy, until } from "./toyNetwork.ts";

closeAfterEach();

const [CALLER, CALLED] = [identity(1), identity(2)];
const CALLER_NAME = toDigits(CALLER.nodeId);

/** A node that calls another one through a link, each with a clock of its own. */
async function pair() {
  const { logger, lines } = loggedLines("WARN");
  const signs: boolean[] = [];
  const onSharedKey = (_: unknown, { isProven }: { readonly isProven: boolean }) => void signs.push(isProven);
  const [callerClock, calledClock] = [createHandClock(0), createHandClock(0)];
  let pings = 0;
  const traffic: Traffic = {
    passed: ({ direction, name }) => void (direction === "outbound" && name === "Ping" && pings++),
    inboundRefused: () => undefined,
    inputRefused: () => undefined,
    nodeRefused: () => undefined,
    discovered: () => undefined,
    datagramDropped: () => undefined,
  };
  const called = await startToy(2, { clock: calledClock, logger, onSharedKey, traffic });
  const link = await openChokedLink(called.address.tcpPort);
  onTestFinished(() => link.close());
  const maintained = [{ ...called.address, tcpPort: link.port }];
  const caller = await startToy(1, { clock: callerClock, logger, onSharedKey, maintained });
  callerClock.advanceBy(0);
  await until(() => caller.network.peerCount === 1 && called.network.peerCount === 1);
  /** Cuts the network until the caller has given up the connection and called again, so that the called one asks the old end. */
  async function cut(): Promise<void> {
    link.choke();
    caller.toy.sessionWith(CALLED)?.send(0, Uint8Array.of(1));
    await until(() => link.kept === 1);
    callerClock.advanceBy(15_000);
    callerClock.advanceBy(15_000);
    expect(caller.toy.closed).toMatchObject([{ reason: "timeout" }]);
    callerClock.advanceBy(1_000);
    await until(() => caller.network.peerCount === 1 && pings === 1);
  }
  return { called, caller, callerClock, calledClock, link, lines, signs, maintained, cut };
}

describe("a peer that calls again after a cut of the network of which the called one knows nothing", () => {
  it("takes the place of its dead connection within seconds, although what it once sent still arrives", async () => {
    const { called, caller, calledClock, link, lines, signs, cut } = await pair();
    await cut();
    // The called one decides nothing before its clock goes on, and reads nothing of the new connection.
    caller.toy.sessionWith(CALLED)?.send(0, Uint8Array.of(2));
    link.deliverOne();
    await until(() => called.toy.received.length === 1);
    expect(called.toy.closed).toEqual([]);
    calledClock.advanceBy(5_000);
    await until(() => called.toy.received.length === 2);
    expect(called.toy.received.map(({ payload }) => payload[0])).toEqual([1, 2]);
    expect(called.toy.closed).toEqual([{ nodeId: CALLER_NAME, reason: "timeout" }]);
    called.toy.sessionWith(CALLER)?.send(0, Uint8Array.of(3));
    await until(() => caller.toy.received.length === 1);
    expect([called.network.peerCount, caller.network.peerCount]).toEqual([1, 1]);
    expect([lines, signs]).toEqual([[], []]);
  });

  it("is let in as soon as the old connection ends by itself", async () => {
    const { called, caller, link, lines, signs, cut } = await pair();
    await cut();
    caller.toy.sessionWith(CALLED)?.send(0, Uint8Array.of(2));
    link.reset();
    await until(() => called.toy.received.length === 1);
    expect(called.toy.closed).toEqual([{ nodeId: CALLER_NAME, reason: "tcpError" }]);
    expect([lines, signs]).toEqual([[], []]);
  });

  it("is let in by its newest call, when earlier ones were cut as well", async () => {
    const { called, caller, callerClock, calledClock, link, lines, signs, cut } = await pair();
    await cut();
    link.choke();
    callerClock.advanceBy(15_000);
    callerClock.advanceBy(15_000);
    callerClock.advanceBy(2_000);
    await until(() => caller.network.peerCount === 1 && called.network.disconnects.length === 1);
    calledClock.advanceBy(5_000);
    caller.toy.sessionWith(CALLED)?.send(0, Uint8Array.of(2));
    await until(() => called.toy.received.length === 1);
    expect([lines, signs]).toEqual([[], []]);
  });
});

describe("two live nodes with one key", () => {
  it("are found by the peer of both, which refuses the second one, and by that one", async () => {
    const { called, caller, lines, signs, maintained } = await pair();
    const clock = createHandClock(0);
    const { logger, lines: linesOfSecond } = loggedLines("WARN");
    const second = await startToy(1, { clock, logger, maintained });
    clock.advanceBy(0);
    for (const [refusals, waitMs] of [1_000, 2_000, 4_000].entries()) {
      await until(() => second.toy.closed.length === refusals + 1);
      // A single further call may have crossed with one of the peer.
      expect(signs.length).toBe(refusals);
      clock.advanceBy(waitMs);
    }
    expect(new Set(second.toy.closed.map(({ reason }) => reason))).toEqual(new Set(["alreadyConnected"]));
    expect(lines).toMatchObject([{ message: expect.stringMatching(/^two nodes run with the key of 0x/) }]);
    expect(new Set(signs)).toEqual(new Set([true]));
    expect(linesOfSecond.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^TWO NODES RUN WITH THE KEY of this node/),
    ]);
    expect([called.network.peerCount, caller.network.peerCount]).toEqual([1, 1]);
    expect([called.toy.closed, caller.toy.closed]).toEqual([[], []]);
  });
});
