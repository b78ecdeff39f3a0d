import { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { PendingConnections } from "../../src/network/pendingConnections.ts";
import { Connection } from "../../src/network/rlpx/connection.ts";
import { ownHello } from "../../src/network/rlpx/hello.ts";
import { createHandClock } from "../builders/handClock.ts";
import { identity } from "./identities.ts";

describe("pending connections", () => {
  it("are a hundred at once after a quiet period, and fifty a second from then on", () => {
    const clock = createHandClock(0);
    const pending = new PendingConnections(clock);
    const admitted = (): number => Array.from({ length: 200 }, () => pending.admit()).filter(Boolean).length;
    expect(admitted()).toBe(100);
    expect(admitted()).toBe(0);
    clock.advanceBy(1_000);
    expect(admitted()).toBe(50);
    clock.advanceBy(60_000);
    expect(admitted()).toBe(100);
  });

  it("are sixty-four at most; the oldest gives way", () => {
    const pending = new PendingConnections(createHandClock(0));
    const [first, second, ...others] = Array.from({ length: 65 }, aConnection);
    if (first === undefined || second === undefined) throw new Error("there are sixty-five");
    for (const connection of [first, second, ...others.slice(0, 61)]) pending.add(connection);
    expect(pending.takeSurplus()).toBeUndefined();
    for (const connection of others.slice(61, 62)) pending.add(connection);
    expect(pending.takeSurplus()).toBe(first);
    expect(pending.takeSurplus()).toBeUndefined();
    expect([pending.remove(first), pending.remove(second), pending.remove(second)]).toEqual([
      false,
      true,
      false,
    ]);
    expect([...pending.all]).toEqual(others.slice(0, 62));
  });
});

function aConnection(): Connection {
  const own = identity(1);
  const hello = ownHello({ clientId: "test", capabilities: [], listenPort: 0, nodeId: own.nodeId });
  return new Connection(
    { own, hello, remote: { host: "127.0.0.1", port: 1 } },
    { socket: new Socket(), clock: createHandClock(0) },
    { opened: () => undefined, message: () => undefined, ended: () => undefined, released: () => undefined },
  );
}
