import { describe, expect, it } from "vitest";
import { type Called, SharedKeyWarnings } from "../../src/network/sharedKey.ts";
import { createHandClock } from "../builders/handClock.ts";
import { loggedLines } from "../builders/loggedLines.ts";
import { identity } from "./identities.ts";

const OWN = { nodeId: identity(1).nodeId, clientId: "ibex/v1/linux" };
const [NAMED, UNNAMED] = [identity(2).nodeId, identity(3).nodeId];
const IBEX = { nodeId: NAMED, clientId: "ibex/name/v2" };
const BESU = { nodeId: NAMED, clientId: "besu/v24.7.0/linux" };

function aWatch() {
  const clock = createHandClock(0);
  const { logger, lines } = loggedLines();
  const signs: boolean[] = [];
  const warnings = new SharedKeyWarnings({
    own: OWN,
    clock,
    logger,
    isTrusted: (nodeId) => nodeId === NAMED,
    onSharedKey: (_address, { isProven }) => signs.push(isProven),
  });
  /** Has the peer refuse this node at these seconds from now on; those at which it was told of as of two nodes. */
  function refusedAt(peer: Parameters<typeof warnings.refusedUs>[0], ...seconds: number[]): number[] {
    const startMs = clock.nowMs();
    return seconds.filter((second) => {
      const before = signs.length;
      clock.advanceTo(startMs + second * 1_000);
      warnings.refusedUs(peer);
      return signs.length > before;
    });
  }
  return { clock, lines, signs, warnings, refusedAt };
}

function aCall(port: number): Called {
  return {
    connection: { remote: { host: "10.0.0.7", port: 50_000 }, isInbound: true },
    hello: { nodeId: NAMED, listenPort: port },
  };
}

describe("two live nodes with one peer's key", () => {
  it("are reported each time, and told of once a minute, with the places of both", () => {
    const { lines, signs, warnings } = aWatch();
    warnings.bothAlive(aCall(30_303), aCall(30_304));
    warnings.bothAlive(aCall(30_303), aCall(30_304));
    expect(signs).toEqual([true, true]);
    expect(lines).toMatchObject([
      { level: "WARN", message: expect.stringMatching(/30303 .*30304 is refused/) },
    ]);
  });
});

describe("peers that refuse this node as one that is connected already", () => {
  it("prove another node with this key after two seconds, where they ask its other end first", () => {
    const { lines, refusedAt } = aWatch();
    expect(refusedAt(IBEX, 0, 1.9, 2, 10)).toEqual([2]);
    expect(lines).toMatchObject([
      { level: "INFO", message: expect.stringContaining("still holds an earlier connection") },
      { level: "ERROR", message: expect.stringMatching(/^TWO NODES RUN WITH THE KEY of this node/) },
    ]);
  });

  it("prove nothing before a dead connection's longest life is over, where they may hold one", () => {
    const before = [0, 1, 3, 7, 15, 30, 60, 89];
    expect(aWatch().refusedAt(BESU, ...before, 90)).toEqual([90]);
    const afterACut = aWatch();
    afterACut.warnings.lost(NAMED);
    expect(afterACut.refusedAt(IBEX, ...before, 90)).toEqual([90]);
    expect(afterACut.lines.slice(0, -1).map(({ level }) => level)).toEqual(["INFO", "INFO"]);
  });

  it("prove nothing, if they are neither validators nor named by the operator", () => {
    const { lines, refusedAt } = aWatch();
    expect(refusedAt({ ...IBEX, nodeId: UNNAMED }, 0, 2, 60, 120)).toEqual([]);
    expect(lines.filter(({ level }) => level !== "INFO")).toEqual([]);
  });

  it("prove nothing, when each does so once, or one does so again much later", () => {
    const { refusedAt } = aWatch();
    expect(refusedAt(IBEX, 0)).toEqual([]);
    expect(refusedAt({ ...IBEX, nodeId: UNNAMED }, 2)).toEqual([]);
    expect(refusedAt(IBEX, 121)).toEqual([]);
  });
});
