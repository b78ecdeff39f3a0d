import { encodeFunctionData } from "viem";
import type { ChainSpec } from "../../../src/chainspec/chainSpec.ts";
import { runSimulation } from "../../../src/execution/simulation/runSimulation.ts";
import type { CallContext } from "../../../src/execution/simulation/simulate.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import type { Overlay } from "../../../src/state/overlay.ts";
import type { Header } from "../../../src/types/header.ts";
import { atQuantile, printBeside } from "../report.ts";
import { CONTRACTS } from "./contracts.ts";
import { type Deployed, HOLDER, RULES } from "./stage.ts";

const CALLS_AT_A_TIME = 200;

/**
 * Microseconds for an eth_call of balanceOf, as a thread runs it: without JSON, HTTP and the way to the thread. The median of
 * many short measurements, and the least, which other work on the machine disturbs less.
 */
export async function measureCall(world: Overlay, { token }: Deployed, seconds: number): Promise<void> {
  const data = hexToBytes(
    encodeFunctionData({ abi: CONTRACTS.Token.abi, functionName: "balanceOf", args: [toHex(HOLDER)] }),
  );
  const context = contextOn(world);
  const once = async (): Promise<void> => {
    const job = { kind: "call", call: { to: token, data }, blockNumber: context.header.number } as const;
    const result = await runSimulation(job, context);
    if (result.kind !== "returned" || result.data.length !== 32)
      throw new Error(`the call ${JSON.stringify(result.kind)}`);
  };
  const warmUntil = performance.now() + seconds * 300;
  while (performance.now() < warmUntil) await once();
  const times: number[] = [];
  for (const end = performance.now() + seconds * 1000; performance.now() < end; ) {
    const begin = performance.now();
    for (let count = 0; count < CALLS_AT_A_TIME; count++) await once();
    times.push(((performance.now() - begin) / CALLS_AT_A_TIME) * 1000);
  }
  printBeside("eth_call of balanceOf in process", "µs", atQuantile(times, 0.5), "", undefined);
  printBeside("  the fastest of them", "µs", atQuantile(times, 0), "", undefined);
}

/** Calls on the block of the benchmark's rules. */
function contextOn(world: Overlay): CallContext {
  const { config, rules, block } = RULES;
  const spec = {
    chainId: config.chainId,
    forks: { activations: [{ fork: rules.fork, at: { block: 0n } }] },
    ibft: { eras: [{ fromBlock: 0n, parameters: { blockPeriodSeconds: 1, blockRewardWei: 0n } }] },
    contractSizeLimitBytes: config.contractSizeLimitBytes,
    evmStackSize: 1024,
    isZeroBaseFee: false,
  } as unknown as ChainSpec;
  const { hashOf, beneficiary, blobBaseFee: _, ...fields } = block;
  const header = { ...fields, coinbase: beneficiary, parentHash: RULES.parentHash } as unknown as Header;
  return { spec, header, state: world, ancestorHash: hashOf, gasCap: 0n };
}
