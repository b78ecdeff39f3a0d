import fc from "fast-check";
import { expect, it } from "vitest";
import { recoverSealers } from "../../src/ibft/sealRules.ts";
import { equalBytes, hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { addressOfPrivateKey } from "../../src/primitives/secp256k1.ts";
import { createHandClock, type HandClock } from "../builders/handClock.ts";
import { aGenesisHead } from "../builders/toyChain.ts";
import { casesOf } from "../thorough.ts";
import { type Observed, runFor, startToyNode, type ToyDisk } from "./toyNode.ts";

const privateKey = hexToBytes("22".repeat(32));
const self = addressOfPrivateKey(privateKey);

/** One run of a node: it crashes at its n-th external effect, and restarts after a while. */
interface NodeRun {
  readonly crashAt: number;
  readonly downMs: number;
  readonly buildMs: number;
  readonly commitMs: number;
}

const aRun: fc.Arbitrary<NodeRun> = fc.record({
  crashAt: fc.integer({ min: 1, max: 24 }),
  downMs: fc.integer({ min: 0, max: 5_000 }),
  buildMs: fc.constantFrom(0, 200, 1_500, 2_500),
  commitMs: fc.constantFrom(0, 300, 2_500),
});

it("a lone validator that crashes anywhere, repeatedly, never contradicts its votes and makes progress", async () => {
  await fc.assert(keepsLastSigned({ remembers: true }), { numRuns: casesOf(150) });
});

it("without its vote log it contradicts them, so the test can fail", async () => {
  const { failed, errorInstance } = await fc.check(keepsLastSigned({ remembers: false }), {
    numRuns: 150,
    endOnFailure: true,
  });
  expect(failed).toBe(true);
  expect(String(errorInstance)).toMatch(
    /(\d+\/\d+\/(proposal|commit)|sealed aloud, then replaced): expected/,
  );
});

function keepsLastSigned({ remembers }: { readonly remembers: boolean }) {
  return fc.asyncProperty(fc.array(aRun, { minLength: 1, maxLength: 8 }), async (runs) => {
    const clock = createHandClock(1_700_000_000_000);
    const disk: ToyDisk = { heads: [aGenesisHead([self], 1_700_000_000n)], votes: undefined };
    const observed: Observed = { messages: [], commits: [] };
    for (const [index, run] of runs.entries()) {
      await runUntilCrash(run, clock, disk, observed, `run ${index}`);
      await runFor(clock, run.downMs, 500);
      if (!remembers) disk.votes = undefined;
    }
    const before = disk.heads.length;
    startToyNode({ privateKey }, clock, disk, observed, "last run");
    await runFor(clock, 20_000);
    expect(disk.heads.length).toBeGreaterThan(before + 5);
    expectPromisesKept(observed);
    expectChain(disk, observed);
  });
}

it("a lone validator that crashed between vote and commit commits the same block", async () => {
  const clock = createHandClock(1_700_000_000_000);
  const disk: ToyDisk = { heads: [aGenesisHead([self], 1_700_000_000n)], votes: undefined };
  const observed: Observed = { messages: [], commits: [] };
  const onMoment = (moment: string) => (moment === "commit asked" ? ("crash" as const) : undefined);
  startToyNode({ privateKey, onMoment }, clock, disk, observed, "first run");
  await runFor(clock, 3_000);
  expect(disk.heads.length).toBe(1);
  const [proposal] = observed.messages;
  if (proposal?.kind !== "proposal") throw new Error("a proposal was sent first");

  startToyNode({ privateKey }, clock, disk, observed, "second run");
  await runFor(clock, 100);
  expect(toHex(disk.heads[1]?.hash ?? new Uint8Array())).toBe(toHex(proposal.candidate.hash));
  expect(observed.commits[0]?.candidate.extra.round).toBe(1);
});

async function runUntilCrash(
  { crashAt, buildMs, commitMs }: NodeRun,
  clock: HandClock,
  disk: ToyDisk,
  observed: Observed,
  mark: string,
): Promise<void> {
  let moments = 0;
  const onMoment = () => (++moments === crashAt ? ("crash" as const) : undefined);
  const node = startToyNode({ privateKey, buildMs, commitMs, onMoment }, clock, disk, observed, mark);
  for (let seconds = 0; seconds < 60 && !node.isDead; seconds++) await runFor(clock, 1_000, 100);
  expect(node.isDead).toBe(true);
}

/** Everything sent in any run: one digest per height, round and kind; seals included. */
function expectPromisesKept({ messages, commits }: Observed): void {
  const promised = new Map<string, string>();
  const expectKept = (kind: string, height: bigint, round: number, digest: Uint8Array): void => {
    const place = `${height}/${round}/${kind}`;
    expect(promised.get(place) ?? toHex(digest), place).toBe(toHex(digest));
    promised.set(place, toHex(digest));
  };
  for (const { kind, signed } of messages) {
    const { payload } = signed;
    if (payload.kind !== "roundChange") expectKept(kind, payload.height, payload.round, payload.digest);
  }
  for (const { candidate } of commits) {
    expectKept("commit", candidate.header.number, candidate.extra.round, candidate.digest);
  }
}

/** Heads rise by one, each on the last, each sealed by the validator, and no block with a published seal is replaced. */
function expectChain({ heads }: ToyDisk, { messages, commits }: Observed): void {
  for (const [number, head] of heads.entries()) {
    expect(head.header.number).toBe(BigInt(number));
    const parent = heads[number - 1];
    if (parent === undefined) continue;
    expect(equalBytes(head.header.parentHash, parent.hash)).toBe(true);
    expect(head.header.timestamp).toBeGreaterThan(parent.header.timestamp);
  }
  for (const { candidate, seals } of commits) {
    const sealers = recoverSealers(candidate.digest, seals);
    expect(sealers.map((sealer) => sealer !== undefined && equalBytes(sealer, self))).toEqual([true]);
  }
  const proposed = new Map<string, bigint>();
  for (const message of messages) {
    if (message.kind === "proposal") {
      proposed.set(toHex(message.candidate.digest), message.candidate.header.number);
      continue;
    }
    if (message.kind !== "commit") continue;
    const { height, digest } = message.signed.payload;
    expect(proposed.get(toHex(digest))).toBe(height);
  }
  for (const message of messages) {
    if (message.kind !== "proposal") continue;
    const { header, hash } = message.candidate;
    const wasSealed = messages.some(
      (other) => other.kind === "commit" && equalBytes(other.signed.payload.digest, message.candidate.digest),
    );
    const committed = heads[Number(header.number)]?.hash ?? hash;
    if (wasSealed) expect(toHex(committed), "sealed aloud, then replaced").toBe(toHex(hash));
  }
}
