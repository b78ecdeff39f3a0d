import { asAddress } from "../../primitives/address.ts";
import { bytesOfKey, toKey } from "../../primitives/byteKey.ts";
import { asHash } from "../../primitives/hash.ts";
import type { AccessListEntry } from "../../types/transaction.ts";
import { nothingObserved, type Observed } from "../evm.ts";
import { toSimulationResult } from "./call.ts";
import {
  type CallRequest,
  packTouched,
  type SimulationResult,
  SLOT_LENGTH,
  type TouchedSlots,
} from "./callRequest.ts";
import { forEstimate, hasSucceeded, inflatedGas } from "./estimateGas.ts";
import { type CallContext, type Simulated, simulate } from "./simulate.ts";

/**
 * eth_createAccessList (json-rpc.md#eth_createaccesslist): the storage that a call touches, and the gas it takes with
 * that list. Runs the call a second time if the list differs from the one supplied.
 */
export async function createAccessList(
  context: CallContext,
  request: CallRequest,
): Promise<SimulationResult> {
  const first = await runListing(context, request);
  if (first.list.length === 0 || isSameList(first.list, request.accessList)) return toResult(first);
  return toResult(await runListing(context, { ...request, accessList: first.list }));
}

interface Listing {
  readonly simulated: Simulated;
  readonly observed: Observed;
  readonly list: readonly AccessListEntry[];
}

async function runListing(context: CallContext, request: CallRequest): Promise<Listing> {
  const observed = nothingObserved();
  const config = { gasLimit: context.header.gasLimit, enforcesBalance: request.strict === true, observed };
  const simulated = await simulate(context, forEstimate(request), config);
  return { simulated, observed, list: simulated.kind === "executed" ? warmList(simulated, observed) : [] };
}

/** The touched slots by account; omits accounts without any. Empty when no instruction was executed. */
function warmList(
  { session }: Simulated & { readonly kind: "executed" },
  { maxDepth }: Observed,
): readonly AccessListEntry[] {
  if (maxDepth < 0) return [];
  return [...session.accesses.warmStorage()].map(([address, slots]) => ({
    address: asAddress(bytesOfKey(address)),
    storageKeys: [...slots].map((slot) => asHash(bytesOfKey(slot))),
  }));
}

function toResult({ simulated, observed, list }: Listing): SimulationResult {
  if (!hasSucceeded(simulated)) return toSimulationResult(simulated);
  const { output, gasBeforeRefund } = simulated.result;
  return {
    kind: "returned",
    data: output,
    gas: inflatedGas(gasBeforeRefund, observed),
    accessList: packTouched(list.map(joinSlots)),
  };
}

function joinSlots({ address, storageKeys }: AccessListEntry): TouchedSlots {
  const slots = new Uint8Array(storageKeys.length * SLOT_LENGTH);
  for (const [index, key] of storageKeys.entries()) slots.set(key, index * SLOT_LENGTH);
  return { address, slots };
}

function isSameList(
  list: readonly AccessListEntry[],
  supplied: readonly AccessListEntry[] | undefined,
): boolean {
  if (supplied === undefined || supplied.length !== list.length) return false;
  const expected = new Map(list.map(({ address, storageKeys }) => [toKey(address), storageKeys.map(toKey)]));
  return supplied.every(({ address, storageKeys }) => {
    const keys = expected.get(toKey(address));
    return keys?.length === storageKeys.length && storageKeys.every((key) => keys.includes(toKey(key)));
  });
}
