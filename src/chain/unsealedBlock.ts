import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { nextBaseFee } from "../execution/baseFee.ts";
import { nextGasLimit } from "../execution/gasLimit.ts";
import type { Hash } from "../primitives/hash.ts";
import type { NamedHeader } from "../types/block.ts";

/** The header fields that are fixed before a block holds any transaction. */
export interface UnsealedBlock {
  readonly parentHash: Hash;
  readonly number: bigint;
  readonly timestamp: bigint;
  readonly gasLimit: bigint;
  readonly baseFeePerGas?: bigint;
}

/** The fixed header fields of the block after `parent`. */
export function unsealedBlock(
  spec: ChainSpec,
  parent: NamedHeader,
  { timestamp, targetGasLimit }: { readonly timestamp: bigint; readonly targetGasLimit: bigint | undefined },
): UnsealedBlock {
  const baseFeePerGas = nextBaseFee(spec, parent.header, timestamp);
  return {
    parentHash: parent.hash,
    number: parent.header.number + 1n,
    timestamp,
    gasLimit: nextGasLimit(spec, parent.header, timestamp, targetGasLimit),
    ...(baseFeePerGas !== undefined && { baseFeePerGas }),
  };
}
