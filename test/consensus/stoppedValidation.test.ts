import { expect, it } from "vitest";
import type { SignedMessage } from "../../src/ibft/message.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { addressOfPrivateKey } from "../../src/primitives/secp256k1.ts";
import { createHandClock } from "../builders/handClock.ts";
import {
  aCandidate,
  aGenesisHead,
  aSchedule,
  headOf,
  tokenSignature,
  toyAddress,
} from "../builders/toyChain.ts";
import { type Observed, runFor, settle, startToyNode, type ToyDisk } from "./toyNode.ts";

const START_S = 1_700_000_000;
const privateKey = new Uint8Array(32).fill(0x11);
const SELF = addressOfPrivateKey(privateKey);
const VALIDATORS = [toyAddress(1), toyAddress(2), toyAddress(3), SELF].sort((a, b) => Buffer.compare(a, b));

/** A node that validates a proposal of the first proposer, and never finishes. */
async function aValidation() {
  const clock = createHandClock(START_S * 1000 + 250);
  const parent = aGenesisHead(VALIDATORS, BigInt(START_S));
  const disk: ToyDisk = { heads: [parent], votes: undefined };
  const observed: Observed = { messages: [], commits: [] };
  const signals: AbortSignal[] = [];
  const { engine } = startToyNode(
    { privateKey, checkMs: 3_600_000, onCheck: (signal) => void signals.push(signal) },
    clock,
    disk,
    observed,
  );
  await runFor(clock, 1_000);
  const rounds = engine.status();
  const author =
    VALIDATORS.find((address) => toHex(address) === toHex(rounds.round?.proposer ?? SELF)) ?? SELF;
  const candidate = aCandidate(parent, { round: 0, timestamp: BigInt(START_S + 1), coinbase: author });
  const payload = { kind: "proposal", height: 1n, round: 0, digest: candidate.digest } as const;
  const signature = tokenSignature(author, candidate.digest);
  const proposal: SignedMessage = { kind: "proposal", signed: { payload, author, signature }, candidate };
  engine.receive(proposal);
  await settle();
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  const isAborted = (): boolean | undefined => signals[0]?.aborted;
  return { clock, engine, isAborted, next: headOf(parent, candidate, aSchedule()) };
}

it("stops when the round of its proposal is over, and not before", async () => {
  const { clock, isAborted, engine } = await aValidation();
  const endsAtMs = engine.status().round?.timeoutAtMs ?? 0;
  await runFor(clock, 500);
  expect(isAborted()).toBe(false);
  await runFor(clock, endsAtMs - clock.nowMs() + 100);
  expect(isAborted()).toBe(true);
});

it("stops when another block of its height has become the head", async () => {
  const { engine, isAborted, next } = await aValidation();
  engine.headAdvanced(next);
  await settle();
  expect(isAborted()).toBe(true);
});

it.each(["pause", "stop"] as const)("stops at a %s", async (end) => {
  const { engine, isAborted } = await aValidation();
  void engine[end]();
  await settle();
  expect(isAborted()).toBe(true);
});
