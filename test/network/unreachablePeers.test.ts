import { createServer } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import type { NodeAddress } from "../../src/network/dialer.ts";
import { UNREACHABLE_REMINDER_MS, UNREACHABLE_WARNING_MS } from "../../src/network/unreachablePeers.ts";
import { createHandClock } from "../builders/handClock.ts";
import { loggedLines } from "../builders/loggedLines.ts";
import { identity } from "./identities.ts";
import { closeAfterEach, createToy, HOST, startToy, until } from "./toyNetwork.ts";

closeAfterEach();

/** A node that is to stay connected with another, after as long as it takes to tell that it is not. */
async function afterWaiting(named: NodeAddress, toy = createToy()) {
  const clock = createHandClock(1_000_000);
  const { logger, lines } = loggedLines("WARN");
  const node = await startToy(1, { clock, logger, toy, maintained: [named] });
  /** Past the first call and its end. */
  const live = async (durationMs: number): Promise<void> => {
    for (let leftMs = durationMs; leftMs > 0; leftMs -= 500) {
      clock.advanceBy(Math.min(leftMs, 500));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  const parted = () => until(() => node.network.disconnects.length > 0);
  const told = () => lines.map(({ message }) => message);
  return { node, clock, live, parted, told, name: `${named.host}:${named.tcpPort}` };
}

it("names a node where nothing listens, after 15 s, and rarely again", async () => {
  const gone = await startToy(2);
  await gone.network.close();
  const { clock, parted, live, told, name } = await afterWaiting(gone.address);
  clock.advanceBy(0);
  await parted();
  await live(UNREACHABLE_WARNING_MS - 100);
  expect(told()).toEqual([]);
  await live(200);
  const first = `no connection with ${name} for 15 s: nothing listens there (ECONNREFUSED)`;
  expect(told()).toEqual([first]);
  clock.advanceBy(UNREACHABLE_REMINDER_MS - 1_000);
  expect(told()).toEqual([first]);
  clock.advanceBy(1_000);
  expect(told()).toEqual([first, expect.stringContaining(`no connection with ${name} for 615 s: `)]);
});

it("names a node that takes the call and says nothing", async () => {
  const server = createServer(() => undefined);
  onTestFinished(() => void server.close());
  const port = await new Promise<number>((resolve) =>
    server.listen(0, HOST, () => {
      const address = server.address();
      resolve(typeof address === "object" ? (address?.port ?? 0) : 0);
    }),
  );
  const { live, told, name } = await afterWaiting({ nodeId: identity(2).nodeId, host: HOST, tcpPort: port });
  await live(UNREACHABLE_WARNING_MS + 500);
  expect(told()).toEqual([`no connection with ${name} for 15 s: it does not answer`]);
});

it("names a node that has another key than its enode URL says", async () => {
  const { address } = await startToy(2);
  const { clock, parted, live, told, name } = await afterWaiting({ ...address, nodeId: identity(3).nodeId });
  clock.advanceBy(0);
  await parted();
  await live(UNREACHABLE_WARNING_MS);
  expect(told()).toEqual([
    `no connection with ${name} for 15 s: something listens there, but closes the connection before it has proven its key: ` +
      "it may have another key than its enode URL says",
  ]);
});

it("suspects its own genesis file when it refuses all that were named", async () => {
  const { address } = await startToy(2);
  const detail = "another genesis: theirs 0x02, ours 0x01";
  const toy = { ...createToy(), hasGreeting: true };
  const refusing = {
    ...toy,
    onOpen: (session: Parameters<typeof toy.onOpen>[0]) => session.disconnect("subprotocolTriggered", detail),
  };
  const { clock, parted, live, told, name } = await afterWaiting(address, refusing);
  clock.advanceBy(0);
  await parted();
  await live(UNREACHABLE_WARNING_MS);
  expect(told()).toEqual([
    "this node refuses every configured peer for a rule violation: its genesis file may be the wrong one",
    `no connection with ${name} for 15 s: ${detail}`,
  ]);
});

it("says nothing of a node that is there, nor of one that nobody wants any more", async () => {
  const there = await startToy(2);
  const { node, clock, live, told } = await afterWaiting(there.address);
  clock.advanceBy(0);
  await until(() => node.network.peerCount === 1);
  await live(UNREACHABLE_WARNING_MS * 2);
  expect(told()).toEqual([]);
  await there.network.close();
  await until(() => node.network.peerCount === 0);
  await live(UNREACHABLE_WARNING_MS - 1_000);
  node.network.removePeer(there.identity.nodeId);
  await live(UNREACHABLE_WARNING_MS * 2);
  expect(told()).toEqual([]);
});
