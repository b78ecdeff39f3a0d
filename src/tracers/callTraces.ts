import { blockRules } from "../execution/blockRules.ts";
import { overridden } from "../execution/overrides.ts";
import { replayStart } from "../execution/replay.ts";
import { contextRules, overlayOf, simulateOn, type YieldingCallContext } from "../execution/simulate.ts";
import type { CallRequest, Overrides } from "../execution/simulation.ts";
import { memoryBounded } from "../execution/yieldPolicy.ts";
import type { Overlay } from "../state/overlay.ts";
import type { StateReader } from "../state/stateReader.ts";
import { StateUnavailable } from "./replay.ts";
import type { TraceStyle } from "./style.ts";
import { blockOf, type TraceSource } from "./traceSource.ts";
import { WatchedOverlay } from "./watchedOverlay.ts";

/** A call was refused before its first instruction; the message is the incumbent's. */
export class CallError extends Error {
  override name = "CallRefused";
}

/** What was to be otherwise before the calls cannot be. */
export class OverridesError extends Error {
  override name = "OverridesRefused";
}

/** Where calls are traced: after a block, or after its first `transactions`. */
export interface CallPlace {
  readonly blockNumber: bigint;
  readonly transactions?: number;
  readonly overrides?: Overrides;
}

/**
 * Traces calls one after another on the state after a block or in the middle of it, each seeing what those before it did.
 * Unlike with eth_call the base fee counts, and the gas must be paid for (json-rpc.md#tracing-options).
 * Throws CallRefused, OverridesRefused and StateUnavailable.
 */
export async function traceCalls(
  source: TraceSource,
  place: CallPlace,
  calls: readonly { readonly call: CallRequest; readonly style: TraceStyle }[],
): Promise<void> {
  const { header } = blockOf(source, place.blockNumber);
  const state = await stateOf(source, place);
  const { spec, gasCap } = source;
  const ancestorHash = (number: bigint) => source.hashOf(number);
  const wanted = overridden({ spec, header, state, ancestorHash, gasCap }, place.overrides ?? {});
  if (!wanted.ok) throw new OverridesError(wanted.error.message);
  const paced = { ...wanted.value, yieldPolicy: memoryBounded() };
  const overlay = overlayOf(paced);
  for (const each of calls) await traceCall(paced, overlay, each);
}

async function stateOf(source: TraceSource, { blockNumber, transactions }: CallPlace): Promise<StateReader> {
  const last = transactions === undefined ? blockNumber : blockNumber - 1n;
  const state = source.stateAt(last);
  if (state === undefined) throw new StateUnavailable(`the state of block ${last} is not stored`);
  if (transactions === undefined) return state;
  const block = blockOf(source, blockNumber);
  const rules = blockRules(source.spec, block.header, (number) => source.hashOf(number));
  return replayStart(rules, block.transactions.slice(0, transactions), state);
}

async function traceCall(
  context: YieldingCallContext,
  overlay: Overlay,
  { call, style }: { readonly call: CallRequest; readonly style: TraceStyle },
): Promise<void> {
  const { header, gasCap } = context;
  const state = new WatchedOverlay(overlay);
  const gasLimit = call.gasLimit ?? header.gasLimit;
  const trace = style({
    gasLimit: gasCap > 0n ? gasCap : gasLimit,
    place: undefined,
    beneficiary: contextRules(context).block.beneficiary,
    authorizationList: call.authorizationList ?? [],
    state,
  });
  const simulated = await simulateOn(state, context, call, {
    gasLimit,
    enforcesBalance: true,
    observer: trace.observer,
  });
  if (simulated.kind === "refused") throw new CallError(simulated.detail);
  trace.finish(simulated.result);
}
