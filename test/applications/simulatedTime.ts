import { decodeErrorResult, decodeFunctionResult, type Hex } from "viem";
import { type Call, type ChainClient, dataOf, type Refusal } from "./chainClient.ts";

/** A call by an account in a simulated block. */
export interface SimulatedCall extends Call {
  readonly from: Hex;
}

export interface SimulatedBlock {
  /** Unix time of the block. */
  readonly time: bigint;
  readonly calls: readonly SimulatedCall[];
}

export type Outcome =
  | { readonly ok: true; readonly result: unknown; readonly gasUsed: bigint }
  | { readonly ok: false; readonly refusal: Refusal };

/**
 * Runs calls in blocks on top of the head, at any times after it, by eth_simulateV1: days and years pass there, and none of
 * it stays. Returns the outcomes of all blocks in one list.
 */
export async function simulate(
  { reader }: ChainClient,
  blocks: readonly SimulatedBlock[],
): Promise<readonly Outcome[]> {
  const simulated = await reader.simulateBlocks({
    blocks: blocks.map(({ time, calls }) => ({
      blockOverrides: { time },
      calls: calls.map((call) => ({
        from: call.from,
        to: call.contract.address,
        data: dataOf(call),
        ...(call.value !== undefined && { value: call.value }),
      })),
    })),
  });
  return simulated.flatMap(({ calls: results }, index) =>
    results.map((result, position) => {
      const call = blocks[index]?.calls[position];
      if (call === undefined) throw new Error("a result without its call");
      const { abi } = call.contract;
      if (result.status === "failure") {
        if (result.data === "0x") throw result.error;
        const { errorName, args = [] } = decodeErrorResult({ abi, data: result.data });
        return { ok: false, refusal: [errorName, args] };
      }
      const { functionName, args = [] } = call;
      const decoded = decodeFunctionResult({ abi, functionName, args, data: result.data });
      return { ok: true, result: decoded, gasUsed: result.gasUsed };
    }),
  );
}

/** A time for blocks on top of the head, also where the head moves on for minutes before the node has the request. */
export async function laterTime({ reader }: ChainClient): Promise<bigint> {
  return (await reader.getBlock()).timestamp + 3_600n;
}

/** Results of calls that all have to succeed. */
export function resultsOf(outcomes: readonly Outcome[]): readonly unknown[] {
  return outcomes.map((outcome) => {
    if (!outcome.ok) throw new Error(`refused: ${outcome.refusal[0]}(${outcome.refusal[1].join(", ")})`);
    return outcome.result;
  });
}
