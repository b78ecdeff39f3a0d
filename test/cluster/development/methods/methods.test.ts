import { beforeAll, describe, expect, it } from "vitest";
import { TEST_HANG_MS } from "../../../hang.ts";
import { IS_THOROUGH } from "../../../thorough.ts";
import { RpcFailure } from "../../harness/nodeProcess.ts";
import { BLOCK_TRIALS } from "./blockTrials.ts";
import { CHAIN_TRIALS, LAST_TRIALS } from "./chainTrials.ts";
import {
  type DevelopmentNode,
  type NodeName,
  startAnvil,
  startHardhat,
  startIbex,
} from "./developmentNodes.ts";
import { ERROR_TRIALS } from "./errorTrials.ts";
import { RULINGS, type Ruling } from "./rulings.ts";
import { STATE_TRIALS } from "./stateTrials.ts";
import type { Trial } from "./trial.ts";
import { TrialChain } from "./trialChain.ts";

/**
 * The same requests, asked of anvil, of Hardhat 2 and of Ibex. Ibex answers as the one whose name the method has: Hardhat where it knows the
 * method, and anvil otherwise. What differs is a ruling of development-network.md#where-it-differs.
 */

const TRIALS: readonly Trial[] = [
  ...BLOCK_TRIALS,
  ...CHAIN_TRIALS,
  ...STATE_TRIALS,
  ...ERROR_TRIALS,
  ...LAST_TRIALS,
];

/** What each node did in each trial, in their order. */
type Seen = ReadonlyMap<NodeName, readonly unknown[]>;

/** Hardhat's error for a method that it does not know. */
const UNKNOWN_TO_HARDHAT = -32004;

async function tried(node: DevelopmentNode): Promise<readonly unknown[]> {
  const chain = new TrialChain(node, await node.rpc<string[]>("eth_accounts"));
  await chain.get("evm_mine");
  const seen: unknown[] = [];
  for (const trial of TRIALS)
    try {
      seen.push(trial.notAskedOf === node.name ? undefined : await seenOf(trial, chain));
    } catch (cause) {
      throw new Error(`${node.name}, ${trial.method} (${trial.form}): ${String(cause)}`, { cause });
    }
  return seen;
}

async function seenOf({ run }: Trial, chain: TrialChain): Promise<unknown> {
  await chain.calm();
  const id = await chain.get("evm_snapshot");
  const seen = await run(chain).catch(failure);
  await chain.halt();
  await chain.get("evm_revert", id).catch(failure);
  return seen;
}

/** A request of a trial that is to succeed was refused. */
function failure(error: unknown): unknown {
  if (!(error instanceof RpcFailure)) throw error;
  return { failed: error.code };
}

function referenceOf({ method, notAskedOf }: Trial, ofHardhat: ReadonlySet<string>): NodeName {
  return ofHardhat.has(method) && notAskedOf !== "hardhat" ? "hardhat" : "anvil";
}

async function methodsOf(hardhat: DevelopmentNode): Promise<ReadonlySet<string>> {
  const known = new Set<string>();
  for (const method of new Set(TRIALS.map((each) => each.method))) {
    const isUnknown = await hardhat.rpc(method).then(
      () => false,
      (error: unknown) => error instanceof RpcFailure && error.code === UNKNOWN_TO_HARDHAT,
    );
    if (!isUnknown) known.add(method);
  }
  return known;
}

function isCovered({ requests }: Ruling, { method, form }: Trial): boolean {
  return requests.some(
    ([methods, ...forms]) =>
      forms.includes(form) && new RegExp(`^${methods.replaceAll("*", "[A-Za-z0-9]*")}$`).test(method),
  );
}

describe.skipIf(!IS_THOROUGH)("the methods of anvil and Hardhat", () => {
  let seen: Seen | undefined;
  let ofHardhat: ReadonlySet<string> = new Set();

  beforeAll(async () => {
    const anvil = await startAnvil();
    const hardhat = anvil && (await startHardhat());
    if (anvil === undefined || hardhat === undefined) {
      await anvil?.stop();
      return console.warn("SKIPPED: anvil or Hardhat is not there");
    }
    const nodes = [await startIbex(), anvil, hardhat];
    ofHardhat = await methodsOf(hardhat);
    await hardhat.rpc("hardhat_reset");
    seen = new Map(await Promise.all(nodes.map(async (node) => [node.name, await tried(node)] as const)));
    await Promise.all(nodes.map((node) => node.stop()));
  }, TEST_HANG_MS);

  it("are answered as they answer, but for named rulings", () => {
    if (seen === undefined) return;
    const needed = new Set<Ruling>();
    const unexplained: string[] = [];
    for (const [index, trial] of TRIALS.entries()) {
      const of = (name: NodeName) => JSON.stringify(seen?.get(name)?.[index]);
      const reference = referenceOf(trial, ofHardhat);
      if (of("ibex") === of(reference)) continue;
      const ruling = RULINGS.find((each) => isCovered(each, trial));
      if (ruling !== undefined) needed.add(ruling);
      else unexplained.push(`${trial.method} (${trial.form}): ${of("ibex")} / ${reference} ${of(reference)}`);
    }
    console.log(`${TRIALS.length} requests of ${new Set(TRIALS.map(({ method }) => method)).size} methods`);
    expect(unexplained).toEqual([]);
    expect(RULINGS.filter((ruling) => !needed.has(ruling)).map(({ what }) => what)).toEqual([]);
  });
});
