import type { ChainSpec } from "../../chainspec/chainSpec.ts";
import { forkAt } from "../../chainspec/forks.ts";
import { ZERO_HASH } from "../../primitives/hash.ts";
import { ok, type Result } from "../../primitives/result.ts";
import type { Header } from "../../types/header.ts";
import { overridePrecompiles, type PrecompileOverrides } from "../precompiles/precompileOverrides.ts";
import type { AccountOverride, BlockOverride, Overrides } from "./callRequest.ts";
import type { CallContext } from "./simulate.ts";

/** Applies the caller's overrides to a call context. */
export function overridden(
  context: CallContext,
  { accounts = [], block }: Overrides,
): Result<CallContext, "precompileNotMovable"> {
  const changed = block === undefined ? context : withBlock(context, block);
  if (accounts.length === 0) return ok(changed);
  const precompiles = precompilesOf(changed.spec, changed.header, accounts);
  if (!precompiles.ok) return precompiles;
  return ok({ ...changed, accounts, ...(precompiles.value && { precompiles: precompiles.value }) });
}

/** Addresses of the precompiled contracts in a block with these overrides; undefined if none is moved or replaced. */
export function precompilesOf(
  { forks }: ChainSpec,
  { number, timestamp }: Pick<Header, "number" | "timestamp">,
  overrides: readonly AccountOverride[],
): Result<PrecompileOverrides | undefined, "precompileNotMovable"> {
  return overridePrecompiles(forkAt(forks, number, timestamp), overrides);
}

/** Overrides the base fee only if the block has one: before London there is none. */
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
