import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { ChainSpec } from "../../chainspec/chainSpec.ts";
import { isInterpreterLoaded } from "../../execution/blockSession.ts";
import type { SimulationJob, SimulationResult, Simulator } from "../../execution/callRequest.ts";
import { runSimulation } from "../../execution/runSimulation.ts";
import type { CallContext } from "../../execution/simulate.ts";
import { deadlineOnly } from "../../execution/yieldPolicy.ts";
import { expectDefined } from "../../primitives/assert.ts";
import type { Requester } from "../../primitives/requester.ts";
import type { NamedHeader } from "../../types/block.ts";
import { FairQueue } from "../../workers/fairQueue.ts";
import { createCallCostEstimate, INLINE_MS } from "./callCostEstimate.ts";
import { callName, isInlineCandidate } from "./inlineCandidate.ts";
import { inlineReader } from "./inlineReader.ts";

/**
 * Runs short calls on the main thread, against the state of the head, since most calls take less time than sending them to
 * a worker. A call that exceeds its time limit is aborted and started again on a worker, which can be terminated.
 *
 *     run ──> small, on the head, ──> queue, by client ──> run inline ──> result
 *             expected to be short          │                  └── over the limit, recorded ──> worker pool
 *             └── otherwise ──> worker pool └── a block is executed ──> worker pool
 *
 * Invariants: results are the same as on a worker · a call holds the event loop for INLINE_MS, or TRIAL_MS without credit
 * (callCostEstimate.ts), plus one step between two deadline checks (yieldPolicy.ts) · calls take SLICE_MS of one
 * event-loop cycle, and then wait for the next one · none runs while transactions of a block are executed or the head's
 * state is rewritten · the time spent on calls without credit is bounded by their earlier aborts and as a share of the
 * time (callCostEstimate.ts).
 */
export interface InlineCallParts {
  readonly spec: ChainSpec;
  /** --rpc-gas-cap; 0 for none. */
  readonly gasCap: bigint;
  readonly chain: HeadChain;
  /** Runs the calls that are not run inline. */
  readonly pool: Simulator;
  /** Monotonic clock, milliseconds with fractions. */
  nowMs(): number;
}

/** What calls on the head need of the chain. */
export interface HeadChain {
  readonly head: NamedHeader;
  /** True while transactions of a block are executed. */
  readonly isExecuting: boolean;
  /** True while the head's state is rewound or repaired. */
  readonly isRewriting: boolean;
  headerByNumber(number: bigint): NamedHeader | undefined;
  stateAt(number: bigint): CallContext["state"] | undefined;
}

/** Time that calls may take in one event-loop cycle; the same as for a batch of other requests. */
export const SLICE_MS = 5;
/** Time for which calls may be queued, by the average of recent calls. Further ones go to the worker pool. */
const QUEUE_MS = 50;
const MIN_QUEUE_LIMIT = 256;
const MAX_QUEUE_LIMIT = 4096;
/** Weight of the newest call in the moving average. */
const NEWEST_WEIGHT = 1 / 64;

interface WaitingCall {
  readonly job: SimulationJob;
  readonly name: string;
  readonly requester: Requester;
  /** Whether it was aborted once although its name has credit. */
  readonly isRetry: boolean;
  resolve(result: SimulationResult | Promise<SimulationResult>): void;
  reject(error: unknown): void;
}

export function createInlineCalls(parts: InlineCallParts): Simulator {
  const { chain, pool, nowMs } = parts;
  let averageMs = INLINE_MS;
  const waiting = new FairQueue<WaitingCall>(() =>
    Math.max(MIN_QUEUE_LIMIT, Math.min(QUEUE_MS / averageMs, MAX_QUEUE_LIMIT)),
  );
  const costs = createCallCostEstimate(nowMs);
  let isWorking = false;
  let isSliceOpen = false;
  let spentMs = 0;

  function canRunInline(job: SimulationJob): boolean {
    const isStateStable = !chain.isExecuting && !chain.isRewriting;
    return job.blockNumber === chain.head.header.number && isStateStable && isInterpreterLoaded();
  }

  /** Runs one call at a time: calls are asynchronous, so several would interleave and each be charged for all. */
  async function work(): Promise<void> {
    isWorking = true;
    for (let call = waiting.take(); call !== undefined; call = waiting.take()) {
      if (isSliceOpen && spentMs >= SLICE_MS) await yieldToEventLoop();
      await runInline(call).then((result) => settle(call, result), call.reject);
    }
    isWorking = false;
  }

  /** Retries an aborted call inline once if its name has credit: other work delayed it, and a worker would take longer. */
  function settle(call: WaitingCall, result: SimulationResult | undefined): void {
    const { job, name, requester, isRetry } = call;
    if (result !== undefined) call.resolve(result);
    else if (!isRetry && canRunInline(job) && costs.isProven(name)) wait({ ...call, isRetry: true });
    else call.resolve(pool.run(job, requester));
  }

  function wait(call: WaitingCall): void {
    const dropped = waiting.add(call);
    dropped?.resolve(pool.run(dropped.job, dropped.requester));
  }

  /** Undefined when the call cannot run inline, is over its limit, or failed; the worker pool then runs it. */
  async function runInline({ job, name, requester }: WaitingCall): Promise<SimulationResult | undefined> {
    if (!canRunInline(job) || !costs.mayRunInline(name) || requester.isAbandoned()) return undefined;
    const { head } = chain;
    const startMs = nowMs();
    openSlice();
    let result: SimulationResult | undefined;
    try {
      result = await runSimulation(job, contextOn(head, startMs + costs.limitMs(name)));
    } catch {
      // Aborted or failed: the worker pool finds out which.
    }
    const tookMs = nowMs() - startMs;
    spentMs += tookMs;
    averageMs += (tookMs - averageMs) * NEWEST_WEIGHT;
    if (result === undefined) costs.aborted(name, tookMs);
    else costs.completed(name, tookMs);
    return chain.head === head ? result : undefined;
  }

  function openSlice(): void {
    if (isSliceOpen) return;
    isSliceOpen = true;
    spentMs = 0;
    setImmediate(() => {
      isSliceOpen = false;
    });
  }

  function contextOn({ header }: NamedHeader, endMs: number): CallContext {
    const yieldPolicy = deadlineOnly(nowMs, endMs);
    const { check: checkDeadline } = yieldPolicy.deadline;
    return {
      spec: parts.spec,
      gasCap: parts.gasCap,
      header,
      state: inlineReader(
        expectDefined(chain.stateAt(header.number), "the state of the head"),
        checkDeadline,
      ),
      ancestorHash(number) {
        checkDeadline();
        return chain.headerByNumber(number)?.hash;
      },
      yieldPolicy,
    };
  }

  return {
    run(job, requester) {
      if (!canRunInline(job) || !isInlineCandidate(job)) return pool.run(job, requester);
      const name = callName(job);
      if (!costs.mayRunInline(name)) return pool.run(job, requester);
      return new Promise((resolve, reject) => {
        wait({ job, name, requester, isRetry: false, resolve, reject });
        if (!isWorking) void work();
      });
    },
  };
}
