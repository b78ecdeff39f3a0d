import { describe, expect, it } from "vitest";
import { type Called, createSharedKeyWarnings } from "../../src/network/sharedKey.ts";
import { createHandClock } from "../builders/handClock.ts";
import { loggedLines } from "../builders/loggedLines.ts";
import { identity } from "./identities.ts";

const OWN = identity(1).nodeId;

function aWatch() {
  const clock = createHandClock(0);
  const { logger, lines } = loggedLines();
  const signs: boolean[] = [];
  const warnings = createSharedKeyWarnings(OWN, clock, logger, (_address, { isProven }) =>
    signs.push(isProven),
  );
  return { clock, lines, signs, warnings };
}

function aCall(port: number): Called {
  return {
    connection: { remote: { host: "10.0.0.7", port: 50_000 }, isInbound: true },
    hello: { nodeId: identity(2).nodeId, listenPort: port },
  };
}

describe("a second connection of a connected peer", () => {
  it("is proof of a second node once the first is heard a second later", () => {
    const { clock, lines, signs, warnings } = aWatch();
    const first = aCall(30_303);
    warnings.refused("connected", aCall(30_304), [first]);
    expect(lines).toMatchObject([{ message: expect.stringContaining("run with the key of 0x") }]);
    clock.advanceBy(500);
    warnings.heard(first.connection);
    expect(signs).toEqual([]);
    clock.advanceBy(500);
    warnings.heard(aCall(30_303).connection);
    expect(signs).toEqual([]);
    warnings.heard(first.connection);
    warnings.heard(first.connection);
    expect([signs, lines.length]).toEqual([[true], 1]);
  });

  it("from the same address is told of with that proof alone", () => {
    const { clock, lines, signs, warnings } = aWatch();
    const first = aCall(30_303);
    warnings.refused("connected", aCall(30_303), [first]);
    expect(lines).toEqual([]);
    clock.advanceBy(1_000);
    warnings.heard(first.connection);
    expect([signs, lines.length]).toEqual([[true], 1]);
  });
});

describe("peers that refuse this node as one that is connected already", () => {
  it("are told of when they do so for two seconds", () => {
    const { clock, lines, signs, warnings } = aWatch();
    warnings.refusedUs();
    clock.advanceBy(1_900);
    warnings.refusedUs();
    expect(lines).toEqual([]);
    clock.advanceBy(100);
    warnings.refusedUs();
    warnings.refusedUs();
    expect(lines).toMatchObject([
      { level: "ERROR", message: expect.stringContaining("as it seems: peers refuse this one") },
    ]);
    expect(signs).toEqual([false]);
  });

  it("are not, when one does so once after a lost connection, and another much later", () => {
    const { clock, lines, warnings } = aWatch();
    warnings.refusedUs();
    clock.advanceBy(31_000);
    warnings.refusedUs();
    expect(lines).toEqual([]);
  });
});
