import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { forkAt } from "../chainspec/forks.ts";
import { ZERO_HASH } from "../primitives/hash.ts";
import { ok, type Result } from "../primitives/result.ts";
import type { Header } from "../types/header.ts";
import { type PrecompileOverrides, placePrecompiles } from "./precompiles/overrides.ts";
import type { CallContext } from "./simulate.ts";
import type { AccountOverride, BlockOverride, Overrides } from "./simulation.ts";

/** The scene as the caller wants it. */
export function overridden(
  context: CallContext,
  { accounts = [], block }: Overrides,
): Result<CallContext, "precompileNotMovable"> {
  const wanted = block === undefined ? context : withBlock(context, block);
  if (accounts.length === 0) return ok(wanted);
  const placed = precompilesOf(wanted.spec, wanted.header, accounts);
  if (!placed.ok) return placed;
  return ok({ ...wanted, accounts, ...(placed.value && { precompiles: placed.value }) });
}

/** Where precompiled contracts are in a block with these overrides; undefined when they all are where they belong. */
export function precompilesOf(
  { forks }: ChainSpec,
  { number, timestamp }: Pick<Header, "number" | "timestamp">,
  overrides: readonly AccountOverride[],
): Result<PrecompileOverrides | undefined, "precompileNotMovable"> {
  return placePrecompiles(forkAt(forks, number, timestamp), overrides);
}

/** A base fee only where the block has one: before London there is none to be otherwise. */
function withBlock(context: CallContext, block: BlockOverride): CallContext {
  const { header } = context;
  const { beneficiary, blobBaseFee, baseFeePerGas, number, ...others } = block;
  const parentHash =
    number === undefined
      ? header.parentHash
      : (number > 0n && context.ancestorHash(number - 1n)) || ZERO_HASH;
  return {
    ...context,
    header: {
      ...header,
      ...others,
      number: number ?? header.number,
      parentHash,
      ...(baseFeePerGas !== undefined && header.baseFeePerGas !== undefined && { baseFeePerGas }),
    },
    blockConfig: {
      ...(beneficiary !== undefined && { beneficiary }),
      ...(blobBaseFee !== undefined && { blobBaseFee }),
    },
  };
}
