import { BlockSession } from "../../../src/execution/blockSession.ts";
import { NEVER_YIELD } from "../../../src/execution/yieldPolicy.ts";
import { JournaledOverlay, type Overlay } from "../../../src/state/overlay.ts";
import { EMPTY_STATE } from "../../../test/execution/context.ts";
import { printBeside } from "../report.ts";
import { measureBlock } from "./block.ts";
import { measureCall } from "./call.ts";
import { measureChains } from "./chains.ts";
import { findGoEvm } from "./goEvm.ts";
import { deployAll, RULES } from "./stage.ts";
import { type Workload, workloads } from "./workloads.ts";

/**
 * Million gas of contract code per second on one thread, each call on a fresh overlay of the same state; beside
 * go-ethereum's `evm run --bench`, if that command is installed. It copies its state for each call, which takes longer than
 * the smallest of them; what is called many times in one call compares without that.
 */
export async function measureExecution(seconds: number, only?: string): Promise<void> {
  const world = new JournaledOverlay(EMPTY_STATE);
  const deployed = await deployAll(world);
  const goEvm = findGoEvm(world);
  console.log("\nexecution of contract code, one thread");
  if (goEvm === undefined) console.log("go-ethereum's evm is not here; GO_EVM can name it");
  for (const workload of workloads(deployed)) {
    if (only !== undefined && !workload.name.includes(only)) continue;
    const ours = await measure(world, workload, seconds);
    const theirs = goEvm?.measure(workload);
    if (theirs !== undefined && theirs.gas !== ours.gas)
      throw new Error(`${workload.name}: ${ours.gas} gas here, ${theirs.gas} there`);
    const perSecond = (run: { gas: number; seconds: number }): number => run.gas / 1e6 / run.seconds;
    printBeside(workload.name, "Mgas/s", perSecond(ours), "go evm", theirs && perSecond(theirs));
  }
  if (only === undefined || "call".includes(only)) await measureCall(world, deployed, seconds);
  if (only === undefined || "block".includes(only)) await measureBlock(goEvm);
  goEvm?.close();
  if (only === undefined || "chains".includes(only)) await measureChains();
}

async function measure(
  world: Overlay,
  workload: Workload,
  seconds: number,
): Promise<{ gas: number; seconds: number }> {
  let gas = await runOnce(world, workload);
  const warmUntil = performance.now() + seconds * 300;
  while (performance.now() < warmUntil) gas = await runOnce(world, workload);
  let runs = 0;
  const begin = performance.now();
  const end = begin + seconds * 1000;
  let now = begin;
  for (; now < end; now = performance.now(), runs++) await runOnce(world, workload);
  return { gas, seconds: (now - begin) / 1000 / runs };
}

async function runOnce(world: Overlay, { sender, to, input }: Workload): Promise<number> {
  const overlay = new JournaledOverlay(world);
  overlay.beginTransaction();
  const { config, rules, block } = RULES;
  const session = new BlockSession({ config, rules, block, overlay, yieldPolicy: NEVER_YIELD });
  session.accesses.clear();
  session.accesses.warm(sender);
  session.accesses.warm(to);
  session.accesses.warm(RULES.block.beneficiary);
  const result = await session.evm.run({
    caller: sender,
    to,
    value: 0n,
    data: input,
    gasLimit: 500_000_000n,
    gasPrice: 0n,
    blobVersionedHashes: [],
  });
  if (result.outcome.kind !== "succeeded") throw new Error(`the call ${JSON.stringify(result.outcome)}`);
  return Number(result.gasUsed);
}
