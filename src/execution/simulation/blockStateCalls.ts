import type { ChainSpec } from "../../chainspec/chainSpec.ts";
import { parametersAt } from "../../chainspec/ibftParameters.ts";
import type { Header } from "../../types/header.ts";
import type { AccountOverride, BlockOverride, CallRequest } from "./callRequest.ts";
import { BlocksError } from "./simulatedBlocksError.ts";

/** Hypothetical blocks, one on top of the other, with calls in them (execution-apis, eth_simulateV1). */
export interface BlockStateCalls {
  readonly blocks: readonly BlockRequest[];
  /** Shows transfers of the native currency as logs. */
  readonly showsTransfers: boolean;
  /** Enforces nonces, balances and base fees; otherwise a call without a price is free, as in eth_call. */
  readonly isStrict: boolean;
}

export interface BlockRequest {
  readonly block: BlockOverride;
  readonly accounts: readonly AccountOverride[];
  readonly calls: readonly BlockStateCall[];
}

export interface BlockStateCall {
  readonly call: CallRequest;
  /** Defaults to the sender's next. */
  readonly nonce: bigint | undefined;
}

/** A block with its number and timestamp decided. */
export interface PlannedBlock extends BlockRequest {
  readonly number: bigint;
  /** Seconds. */
  readonly timestamp: bigint;
}

/** Blocks of one simulation, including those that fill gaps between given numbers. */
const MOST_BLOCKS = 256n;
/** go-ethereum's limits. */
const MOST_CALLS_IN_BLOCK = 5000;
const MOST_CALLS = 10_000;

/**
 * Decides numbers and timestamps of all blocks above `base` before any is built, and fills gaps between numbers with
 * empty blocks. The default distance between timestamps is the chain's block period. Throws BlocksError.
 */
export function planBlocks(
  spec: ChainSpec,
  base: Header,
  requests: readonly BlockRequest[],
): readonly PlannedBlock[] {
  checkCalls(requests);
  const planned: PlannedBlock[] = [];
  let last: { readonly number: bigint; readonly timestamp: bigint } = base;
  const add = (request: BlockRequest): void => {
    const number = last.number + 1n;
    const period = BigInt(parametersAt(spec.ibft, number).blockPeriodSeconds);
    const timestamp = request.block.timestamp ?? last.timestamp + period;
    if (timestamp <= last.timestamp)
      throw new BlocksError("timestampNotRising", `timestamp ${timestamp} after ${last.timestamp}`);
    last = { ...request, number, timestamp };
    planned.push({ ...request, number, timestamp });
  };
  for (const request of requests) {
    const number = request.block.number ?? last.number + 1n;
    if (number <= last.number)
      throw new BlocksError("numberNotRising", `block number ${number} after ${last.number}`);
    if (number - base.number > MOST_BLOCKS)
      throw new BlocksError("tooManyBlocks", `more than ${MOST_BLOCKS}`);
    while (last.number + 1n < number) add({ block: {}, accounts: [], calls: [] });
    add(request);
  }
  return planned;
}

function checkCalls(requests: readonly BlockRequest[]): void {
  let sum = 0;
  for (const { calls } of requests) {
    sum += calls.length;
    if (calls.length > MOST_CALLS_IN_BLOCK)
      throw new BlocksError("tooManyCalls", `more than ${MOST_CALLS_IN_BLOCK} calls in a block`);
  }
  if (sum > MOST_CALLS) throw new BlocksError("tooManyCalls", `more than ${MOST_CALLS} calls`);
}
