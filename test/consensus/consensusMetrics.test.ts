import { describe, expect, it } from "vitest";
import { declareConsensusMetrics, showConsensus } from "../../src/consensus/consensusMetrics.ts";
import { DOUBT_REASONS } from "../../src/ibft/lastSigned.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import { hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { addressOfPrivateKey } from "../../src/primitives/secp256k1.ts";
import { createHandClock } from "../builders/handClock.ts";
import { aCandidate, aGenesisHead, headOf, toyAddress } from "../builders/toyChain.ts";
import { aRegistry, readSample } from "../observability/aRegistry.ts";
import { runFor, startToyNode, type ToySettings } from "./toyNode.ts";

const privateKey = hexToBytes("11".repeat(32));
const self = addressOfPrivateKey(privateKey);

/** A node with metrics, among these validators, after the given time in milliseconds. */
async function aCountingNode(
  settings: Partial<ToySettings>,
  durationMs: number,
  validators = [self],
  heads = [aGenesisHead(validators, 1_700_000_000n)],
) {
  const registry = aRegistry();
  const clock = createHandClock(1_700_000_000_250);
  const disk = { heads, votes: undefined };
  const metrics = declareConsensusMetrics(registry);
  const node = startToyNode({ privateKey, metrics, ...settings }, clock, disk, { messages: [], commits: [] });
  showConsensus(registry, { self, nowMs: clock.nowMs }, node.engine.status);
  await runFor(clock, durationMs);
  return (name: string, labels = {}) => readSample(registry, `bft_${name}`, labels);
}

describe("metrics of consensus", () => {
  it("show height, round and validators, and count built and committed blocks", async () => {
    const read = await aCountingNode({}, 3_000);
    expect(await read("height")).toBe(4);
    expect(await read("round")).toBe(0);
    expect([await read("validators"), await read("quorum"), await read("is_validator")]).toEqual([1, 1, 1]);
    expect([await read("block_propose_seconds_count"), await read("commit_seconds_count")]).toEqual([3, 3]);
    expect(await read("round_changes_total", { reason: "timeout" })).toBe(0);
  });

  it("count round changes after timeouts", async () => {
    const read = await aCountingNode({ buildMs: 2_500 }, 2_500);
    expect(await read("round")).toBe(1);
    expect(await read("round_changes_total", { reason: "timeout" })).toBe(1);
    expect(await read("round_changes_total", { reason: "higher_round" })).toBe(0);
  });

  it("show which validators are silent", async () => {
    const [silent] = [1, 2, 3].map(toyAddress);
    const read = await aCountingNode({}, 3_000, [self, ...[1, 2, 3].map(toyAddress)]);
    expect(await read("validator_last_seen_seconds", { validator: toHex(silent ?? self) })).toBeNaN();
  });

  it("show why a validator without a record of its votes is silent, and it says what to do where the chain has stalled", async () => {
    const warnings: string[] = [];
    const warn = (_: unknown, message: string): void => void warnings.push(message);
    const genesis = aGenesisHead([self, ...[1, 2, 3].map(toyAddress)], 1_700_000_000n);
    const heads = [genesis, headOf(genesis, aCandidate(genesis))];
    const settings = { logger: { ...silentLogger, warn } };
    const read = await aCountingNode(settings, 9_000, [], heads);
    const reasons = await Promise.all(DOUBT_REASONS.map((reason) => read("silent", { reason })));
    expect(reasons).toEqual([1, 0, 0]);
    expect(await read("round")).toBeNaN();
    expect(warnings[0]).toMatch(/ has no record of its votes, although its chain has blocks: /);
    expect(warnings[1]).toMatch(
      /^no block for \d+ s at height 2: this node has no record of its votes and is silent\. .* 1 of the 3 other validators heard, quorum 3; not heard: .* stop ALL validators, .* docs\/operating\.md, Lost votes$/,
    );
  });

  it("show no round, and no validator, on a node that only follows", async () => {
    const read = await aCountingNode({}, 1_000, [1, 2, 3, 4].map(toyAddress));
    expect(await read("round")).toBeNaN();
    expect([await read("validators"), await read("quorum"), await read("is_validator")]).toEqual([4, 3, 0]);
  });
});
