import { describe, expect, it } from "vitest";
import type { RemoteSigner, SignatureRequest } from "../../src/consensus/ports.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { addressOfPrivateKey, sign } from "../../src/primitives/secp256k1.ts";
import { createHandClock } from "../builders/handClock.ts";
import { aGenesisHead } from "../builders/toyChain.ts";
import { type Observed, runFor, settle, startToyNode, type ToyDisk } from "./toyNode.ts";

const START_S = 1_700_000_000;
const privateKey = new Uint8Array(32).fill(0x11);

/** The only validator, and what happens to it, in order. */
function aValidator(answer: (request: SignatureRequest) => ReturnType<RemoteSigner["sign"]>) {
  const clock = createHandClock(START_S * 1000 + 250);
  const disk: ToyDisk = {
    heads: [aGenesisHead([addressOfPrivateKey(privateKey)], BigInt(START_S))],
    votes: undefined,
  };
  const observed: Observed = { messages: [], commits: [] };
  const events: string[] = [];
  const requests: { readonly digest: string; readonly signal: AbortSignal }[] = [];
  const signer: RemoteSigner = {
    sign(request, signal) {
      events.push("signature requested");
      requests.push({ digest: toHex(request.digest), signal });
      return answer(request);
    },
  };
  let endsAt: string | undefined;
  const node = startToyNode(
    {
      ...{ privateKey, signer },
      onMoment(moment) {
        events.push(moment);
        return moment === endsAt ? "crash" : undefined;
      },
    },
    clock,
    disk,
    observed,
  );
  return {
    ...{ clock, disk, observed, events, requests, node },
    crashAt(moment: string) {
      endsAt = moment;
    },
  };
}

const atOnce = async ({ digest }: SignatureRequest) => sign(digest, privateKey);
const NEVER = new Promise<never>(() => undefined);

describe("a validator that requests its signatures", () => {
  it("does so once its vote is durable, and sends nothing before it has them", async () => {
    const { clock, disk, events, node } = aValidator(atOnce);
    await runFor(clock, 2_500);
    expect(disk.heads.length).toBeGreaterThan(1);
    const first = events.slice(0, events.indexOf("commit asked"));
    expect(first).toEqual([
      ...["build asked", "built", "vote written", "vote durable"],
      ...["signature requested", "sent proposal", "signature requested", "signature requested"],
      ...["vote written", "vote durable", "sent commit"],
    ]);
    await node.engine.stop();
  });

  it("requests nothing when its vote cannot be written", async () => {
    const { clock, requests, crashAt } = aValidator(atOnce);
    crashAt("vote written");
    await runFor(clock, 5_000);
    expect(requests).toEqual([]);
  });

  it("requests each signature once in a round, and gives all up when the round is over", async () => {
    const { clock, requests, node } = aValidator(() => NEVER);
    await runFor(clock, 1_500);
    expect(requests.map(({ signal }) => signal.aborted)).toEqual([false]);
    await runFor(clock, 3_000);
    expect(requests.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    expect(new Set(requests.map(({ digest }) => digest)).size).toBe(2);
    await node.engine.stop();
    expect(requests.every(({ signal }) => signal.aborted)).toBe(true);
  });

  it("gives them up when it is paused", async () => {
    const { clock, requests, node } = aValidator(() => NEVER);
    await runFor(clock, 1_500);
    node.engine.pause();
    await settle();
    expect(requests.map(({ signal }) => signal.aborted)).toEqual([true]);
    node.engine.resume();
    await settle();
    expect(requests.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    await node.engine.stop();
  });
});
