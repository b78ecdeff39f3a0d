import { blockRules } from "../execution/blockRules.ts";
import { replayStart } from "../execution/replayStart.ts";
import type { CallRequest, Overrides } from "../execution/simulation/callRequest.ts";
import { overridden } from "../execution/simulation/overrides.ts";
import {
  type CallContext,
  contextRules,
  simulateOn,
  type Workspace,
  workspaceOn,
} from "../execution/simulation/simulate.ts";
import type { StateReader } from "../state/stateReader.ts";
import { StateUnavailableError } from "./replay.ts";
import type { TraceStyle } from "./tracer.ts";
import { blockOf, type TraceSource } from "./traceSource.ts";
import { WatchedOverlay } from "./watchedOverlay.ts";

/** A call was refused before its first instruction; the message is Besu's. */
export class CallError extends Error {
  override name = "CallError";
}

/** The overrides of state or block are invalid. */
export class OverridesError extends Error {
  override name = "OverridesError";
}

/** The state on which calls are traced: after a block, or after its first `transactions`. */
interface CallLocation {
  readonly blockNumber: bigint;
  readonly transactions?: number;
  readonly overrides?: Overrides;
}

/**
 * Traces calls one after another on the state after a block or in the middle of it; each sees the changes of those before.
 * Unlike in eth_call the base fee applies, and the gas must be paid for (json-rpc.md#tracing-options).
 * Throws CallError, OverridesError and StateUnavailableError.
 */
export async function traceCalls(
  source: TraceSource,
  location: CallLocation,
  calls: readonly { readonly call: CallRequest; readonly style: TraceStyle }[],
): Promise<void> {
  const { header } = blockOf(source, location.blockNumber);
  const state = await stateOf(source, location);
  const { spec, gasCap, slice } = source;
  const ancestorHash = (number: bigint) => source.hashOf(number);
  const started = overridden({ spec, header, state, ancestorHash, gasCap, slice }, location.overrides ?? {});
  if (!started.ok) throw new OverridesError(started.error.message);
  const context = started.value;
  const workspace = workspaceOn(context);
  for (const each of calls) await traceCall(context, workspace, each);
}

async function stateOf(
  source: TraceSource,
  { blockNumber, transactions }: CallLocation,
): Promise<StateReader> {
  const last = transactions === undefined ? blockNumber : blockNumber - 1n;
  const state = source.stateAt(last);
  if (state === undefined) throw new StateUnavailableError(`the state of block ${last} is not stored`);
  if (transactions === undefined) return state;
  const block = blockOf(source, blockNumber);
  const rules = blockRules(source.spec, block.header, (number) => source.hashOf(number));
  return replayStart(rules, block.transactions.slice(0, transactions), state, source.slice);
}

async function traceCall(
  context: CallContext,
  { overlay, yieldPolicy }: Workspace,
  { call, style }: { readonly call: CallRequest; readonly style: TraceStyle },
): Promise<void> {
  const { header, gasCap } = context;
  const state = new WatchedOverlay(overlay);
  const gasLimit = call.gasLimit ?? header.gasLimit;
  const trace = style({
    gasLimit: gasCap > 0n ? gasCap : gasLimit,
    location: undefined,
    beneficiary: contextRules(context).block.beneficiary,
    authorizationList: call.authorizationList ?? [],
    state,
  });
  const simulated = await simulateOn({ overlay: state, yieldPolicy }, context, call, {
    gasLimit,
    enforcesBalance: true,
    observer: trace.observer,
  });
  if (simulated.kind === "refused") throw new CallError(simulated.detail);
  trace.finish(simulated.result);
}
