import { parametersAt } from "../chainspec/ibftParameters.ts";
import { blockRules } from "../execution/blockRules.ts";
import { isCreation } from "../execution/observer.ts";
import type { Address } from "../primitives/address.ts";
import { toKey } from "../primitives/byteKey.ts";
import { toHex } from "../primitives/hex.ts";
import { toQuantity } from "../primitives/quantity.ts";
import { creationMethodOf, type FlatTrace, FlatTraces, flatTraceJson } from "./flatTraces.ts";
import { type ReplayedBlock, replayBlock } from "./replay.ts";
import type { TraceFilter } from "./traceJob.ts";
import type { TransactionLocation } from "./tracer.ts";
import { blockOf, type TraceSource } from "./traceSource.ts";
import type { TraceBudget, TraceText } from "./traceText.ts";

/** A flat trace of a mined transaction. */
interface MinedTrace {
  readonly trace: FlatTrace;
  readonly location: TransactionLocation;
  readonly creationMethod: "create" | "create2";
}

interface TraceOutput {
  readonly text: TraceText;
  readonly budget: TraceBudget;
}

/** trace_transaction, or with a path the one trace at that path: trace_get. */
export async function writeTransactionTraces(
  source: TraceSource,
  { blockNumber, index, path }: { blockNumber: bigint; index: number; path?: readonly number[] | undefined },
  { text, budget }: TraceOutput,
): Promise<void> {
  const traces = await tracesOf(source, blockOf(source, blockNumber), budget, index);
  if (path === undefined) writeList(traces.map(jsonOf), text);
  else {
    const found = traces.find(({ trace }) => trace.traceAddress.join() === path.join());
    text.add(found === undefined ? "null" : jsonOf(found));
  }
}

/** trace_block: the traces of all transactions, and the reward. */
export async function writeBlockTraces(
  source: TraceSource,
  blockNumber: bigint,
  { text, budget }: TraceOutput,
): Promise<void> {
  const block = blockOf(source, blockNumber);
  const traces = await tracesOf(source, block, budget);
  writeList([...traces.map(jsonOf), rewardJson(source, block)], text);
}

/**
 * trace_filter. Rewards match only when no addresses are given. The traces of one block at a time are held, so a page from a
 * long range costs no more memory than its longest block.
 */
export async function writeFilteredTraces(
  source: TraceSource,
  { fromBlock, toBlock, fromAddresses, toAddresses, isUnion, after, count }: TraceFilter,
  { text, budget }: TraceOutput,
): Promise<void> {
  const from = keysOf(fromAddresses);
  const to = keysOf(toAddresses);
  const end = count === undefined ? Number.POSITIVE_INFINITY : after + count;
  const isAnyAddress = from === undefined && to === undefined;
  let matches = 0;
  let isFirst = true;
  const offer = (json: () => string): void => {
    if (matches >= after && matches < end) {
      text.add(isFirst ? json() : `,${json()}`);
      isFirst = false;
    }
    matches++;
  };
  text.add("[");
  for (let number = fromBlock; number <= toBlock && matches < end; number++) {
    const block = blockOf(source, number);
    const before = budget.remainingBytes;
    const traces = await tracesOf(source, block, budget);
    const heldBytes = before - budget.remainingBytes;
    for (const traced of traces)
      if (isBetween(traced.trace, { from, to, isUnion })) offer(() => jsonOf(traced));
    budget.release(heldBytes);
    if (isAnyAddress && number > 0n) offer(() => rewardJson(source, block));
  }
  text.add("]");
}

/** A trace without sender or recipient does not match a filter on it; a creation has no recipient. */
function isBetween({ action }: FlatTrace, { from, to, isUnion }: AddressFilter): boolean {
  if (from === undefined && to === undefined) return true;
  if (action.kind === "suicide") return false;
  const isFrom = from?.has(toKey(action.from));
  const isTo = to === undefined ? undefined : !isCreation(action.kind) && to.has(toKey(action.to));
  if (isFrom === undefined || isTo === undefined) return isFrom ?? isTo ?? true;
  return isUnion ? isFrom || isTo : isFrom && isTo;
}

/** Undefined for any address. */
interface AddressFilter {
  readonly from: ReadonlySet<string> | undefined;
  readonly to: ReadonlySet<string> | undefined;
  readonly isUnion: boolean;
}

function keysOf(addresses: readonly Address[]): ReadonlySet<string> | undefined {
  return addresses.length === 0 ? undefined : new Set(addresses.map(toKey));
}

async function tracesOf(
  source: TraceSource,
  block: ReplayedBlock,
  budget: TraceBudget,
  index?: number,
): Promise<MinedTrace[]> {
  const mined: MinedTrace[] = [];
  if (block.transactions.length === 0) return mined;
  await replayBlock(source, block, {
    ...(index !== undefined && { index }),
    style: ({ location }) => {
      const flat = new FlatTraces(budget);
      return {
        observer: flat,
        finish() {
          const creationMethod = creationMethodOf(flat.traces);
          if (location === undefined) return;
          for (const trace of flat.traces) mined.push({ trace, location, creationMethod });
        },
      };
    },
  });
  return mined;
}

function jsonOf({ trace, location, creationMethod }: MinedTrace): string {
  return flatTraceJson(trace, { location, creationMethod });
}

function rewardJson({ spec, hashOf }: TraceSource, { header, hash }: ReplayedBlock): string {
  const { blockRewardWei } = parametersAt(spec.ibft, header.number);
  const { beneficiary } = blockRules(spec, header, hashOf).block;
  return (
    `{"action":{"author":"${toHex(beneficiary)}","rewardType":"block","value":"${toQuantity(blockRewardWei)}"},` +
    `"blockHash":"${toHex(hash)}","blockNumber":${header.number},"result":null,"subtraces":0,"traceAddress":[],` +
    `"transactionHash":null,"transactionPosition":null,"type":"reward"}`
  );
}

function writeList(items: readonly string[], text: TraceText): void {
  text.add("[");
  for (const [index, item] of items.entries()) text.add(index === 0 ? item : `,${item}`);
  text.add("]");
}
