import { createServer } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import type { NodeAddress } from "../../src/network/dialer.ts";
import { UNREACHABLE_REMINDER_MS, UNREACHABLE_WARNING_MS } from "../../src/network/unreachablePeers.ts";
import { createHandClock } from "../builders/handClock.ts";
import { loggedLines } from "../builders/loggedLines.ts";
import { identity } from "./identities.ts";
import { closeAfterEach, createToy, HOST, startToy, until } from "./toyNetwork.ts";

closeAfterEach();

/** A node with one configured peer. */
async function afterWaiting(named: NodeAddress, toy = createToy()) {
  const clock = createHandClock(1_000_000);
  const { logger, lines } = loggedLines("WARN");
  const node = await startToy(1, { clock, logger, toy, maintained: [named] });
  /** Advances the clock in steps, so that dials and their failures are handled in between. */
  const advance = async (durationMs: number): Promise<void> => {
    for (let leftMs = durationMs; leftMs > 0; leftMs -= 500) {
      clock.advanceBy(Math.min(leftMs, 500));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  const disconnected = () => until(() => node.network.disconnects.length > 0);
  const warnings = () => lines.map(({ message }) => message);
  return {
    node,
    clock,
    live: advance,
    parted: disconnected,
    told: warnings,
    name: `${named.host}:${named.tcpPort}`,
  };
}

it("warns about a node where nothing listens after 15 s, and again after ten minutes", async () => {
  const gone = await startToy(2);
  await gone.network.close();
  const {
    clock,
    parted: disconnected,
    live: advance,
    told: warnings,
    name,
  } = await afterWaiting(gone.address);
  clock.advanceBy(0);
  await disconnected();
  await advance(UNREACHABLE_WARNING_MS - 100);
  expect(warnings()).toEqual([]);
  await advance(200);
  const first = `no connection to ${name} for 15 s: nothing listens there (ECONNREFUSED)`;
  expect(warnings()).toEqual([first]);
  clock.advanceBy(UNREACHABLE_REMINDER_MS - 1_000);
  expect(warnings()).toEqual([first]);
  clock.advanceBy(1_000);
  expect(warnings()).toEqual([first, expect.stringContaining(`no connection to ${name} for 615 s: `)]);
});

it("warns about a node that accepts the connection and sends nothing", async () => {
  const server = createServer(() => undefined);
  onTestFinished(() => void server.close());
  const port = await new Promise<number>((resolve) =>
    server.listen(0, HOST, () => {
      const address = server.address();
      resolve(typeof address === "object" ? (address?.port ?? 0) : 0);
    }),
  );
  const {
    live: advance,
    told: warnings,
    name,
  } = await afterWaiting({ nodeId: identity(2).nodeId, host: HOST, tcpPort: port });
  await advance(UNREACHABLE_WARNING_MS + 500);
  expect(warnings()).toEqual([`no connection to ${name} for 15 s: it does not answer`]);
});

it("warns about a node that has another key than its enode URL says", async () => {
  const { address } = await startToy(2);
  const {
    clock,
    parted: disconnected,
    live: advance,
    told: warnings,
    name,
  } = await afterWaiting({ ...address, nodeId: identity(3).nodeId });
  clock.advanceBy(0);
  await disconnected();
  await advance(UNREACHABLE_WARNING_MS);
  expect(warnings()).toEqual([
    `no connection to ${name} for 15 s: something listens there, but closes the connection before it has proven its key: ` +
      "its key may differ from the one in its enode URL",
  ]);
});

it("suspects its own genesis file when it refuses all configured peers", async () => {
  const { address } = await startToy(2);
  const detail = "another genesis: theirs 0x02, ours 0x01";
  const toy = { ...createToy(), hasGreeting: true };
  const refusing = {
    ...toy,
    onOpen: (session: Parameters<typeof toy.onOpen>[0]) => session.disconnect("subprotocolTriggered", detail),
  };
  const {
    clock,
    parted: disconnected,
    live: advance,
    told: warnings,
    name,
  } = await afterWaiting(address, refusing);
  clock.advanceBy(0);
  await disconnected();
  await advance(UNREACHABLE_WARNING_MS);
  expect(warnings()).toEqual([
    "this node refuses every configured peer, because they follow other rules: its genesis file may be the wrong one. The peers are unaffected",
    `no connection to ${name} for 15 s: ${detail}`,
  ]);
});

it("does not warn about a connected node, nor about a removed one", async () => {
  const there = await startToy(2);
  const { node, clock, live: advance, told: warnings } = await afterWaiting(there.address);
  clock.advanceBy(0);
  await until(() => node.network.peerCount === 1);
  await advance(UNREACHABLE_WARNING_MS * 2);
  expect(warnings()).toEqual([]);
  await there.network.close();
  await until(() => node.network.peerCount === 0);
  await advance(UNREACHABLE_WARNING_MS - 1_000);
  node.network.removePeer(there.identity.nodeId);
  await advance(UNREACHABLE_WARNING_MS * 2);
  expect(warnings()).toEqual([]);
});
