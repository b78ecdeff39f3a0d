import { createOverlay, type Overlay } from "../../state/overlay.ts";
import { blockRules } from "../blockRules.ts";
import { type SimulationScene, simulateOn } from "../simulate.ts";
import type { CallRequest } from "../simulation.ts";
import { StateUnavailable } from "./replay.ts";
import type { TraceStyle } from "./style.ts";
import { blockOf, type TraceSource } from "./traceSource.ts";
import { WatchedOverlay } from "./watchedOverlay.ts";

/** A call was refused before its first instruction; the message is the incumbent's. */
export class CallRefused extends Error {
  override name = "CallRefused";
}

/**
 * Traces calls one after another on the state after a block, each seeing what those before it did. Unlike with eth_call
 * the base fee counts, and the gas must be paid for (json-rpc.md §7). Throws CallRefused and StateUnavailable.
 */
export async function traceCalls(
  source: TraceSource,
  blockNumber: bigint,
  calls: readonly { readonly call: CallRequest; readonly style: TraceStyle }[],
): Promise<void> {
  const { header } = blockOf(source, blockNumber);
  const state = source.stateAt(blockNumber);
  if (state === undefined) throw new StateUnavailable(`the state of block ${blockNumber} is not stored`);
  const { spec, gasCap } = source;
  const scene = { spec, header, state, ancestorHash: (number: bigint) => source.hashOf(number), gasCap };
  const overlay = createOverlay(state);
  for (const each of calls) await traceCall(scene, overlay, each);
}

async function traceCall(
  scene: SimulationScene,
  overlay: Overlay,
  { call, style }: { readonly call: CallRequest; readonly style: TraceStyle },
): Promise<void> {
  const { spec, header, ancestorHash, gasCap } = scene;
  const state = new WatchedOverlay(overlay);
  const gasLimit = call.gasLimit ?? header.gasLimit;
  const trace = style({
    gasLimit: gasCap > 0n ? gasCap : gasLimit,
    place: undefined,
    beneficiary: blockRules(spec, header, ancestorHash).block.beneficiary,
    state,
  });
  const simulated = await simulateOn(state, scene, call, {
    gasLimit,
    enforcesBalance: true,
    observer: trace.observer,
  });
  if (simulated.kind === "refused") throw new CallRefused(simulated.detail);
  trace.finish(simulated.result);
}
