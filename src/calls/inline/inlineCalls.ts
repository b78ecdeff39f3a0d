import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { ChainSpec } from "../../chainspec/chainSpec.ts";
import { isInterpreterLoaded } from "../../execution/blockSession.ts";
import type { SimulationJob, SimulationResult, Simulator } from "../../execution/simulation/callRequest.ts";
import { runSimulation } from "../../execution/simulation/runSimulation.ts";
import type { CallContext } from "../../execution/simulation/simulate.ts";
import { deadlineOnly } from "../../execution/yieldPolicy.ts";
import { expectDefined } from "../../primitives/assert.ts";
import { FairQueue } from "../../primitives/fairQueue.ts";
import type { Requester } from "../../primitives/requester.ts";
import type { NamedHeader } from "../../types/block.ts";
import { type CallCostEstimate, INLINE_MS } from "./callCostEstimate.ts";
import { CallSlice } from "./callSlice.ts";
import { callName, isInlineCandidate } from "./inlineCandidate.ts";
import { inlineReader } from "./inlineReader.ts";

/**
 * Runs short calls on the thread that was asked, against the state of the head, since most calls take less time than sending
 * them to a worker. A call that exceeds its time limit is aborted and started again on a worker, which can be terminated.
 *
 *     run ──> small, on the head, ──> queue, by client ──> run inline ──> result
 *             expected to be short          │                  └── over the limit, recorded ──> worker pool
 *             └── otherwise ──> worker pool └── a block is executed ──> worker pool
 *
 * Invariants: results are the same as on a worker · a call holds the event loop for its limit (callCostEstimate.ts on the
 * main thread, sliceCosts.ts on the threads for callers), plus one step between two deadline checks (yieldPolicy.ts) · calls
 * take SLICE_MS (callSlice.ts) of one event-loop cycle, and then wait for the next one · none runs while transactions of a
 * block are executed or the head's state is rewritten.
 */
export interface InlineCallParts {
  readonly spec: ChainSpec;
  /** --rpc-gas-cap; 0 for none. */
  readonly gasCap: bigint;
  readonly chain: HeadChain;
  /** Runs the calls that are not run inline. */
  readonly pool: Simulator;
  /** Decides which calls to run inline, and for how long. */
  readonly costs: CallCostEstimate;
  /** Monotonic clock, milliseconds with fractions. */
  nowMs(): number;
}

/** What calls need of the chain. */
export interface HeadChain {
  readonly head: NamedHeader;
  /** True where calls on other blocks than the head, whose states may have to be read from disk, are run inline as well. */
  readonly isReadWhole?: boolean;
  /** True while transactions of a block are executed. */
  readonly isExecuting: boolean;
  /** True while the head's state is rewound or repaired. */
  readonly isRewriting: boolean;
  headerByNumber(number: bigint): NamedHeader | undefined;
  stateAt(number: bigint): CallContext["state"] | undefined;
}

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

export class InlineCalls implements Simulator {
  private readonly parts: InlineCallParts;
  private readonly slice = new CallSlice();
  private averageMs = INLINE_MS;
  private readonly waiting = new FairQueue<WaitingCall>(() =>
    Math.max(MIN_QUEUE_LIMIT, Math.min(QUEUE_MS / this.averageMs, MAX_QUEUE_LIMIT)),
  );
  private isWorking = false;

  constructor(parts: InlineCallParts) {
    this.parts = parts;
  }

  run(job: SimulationJob, requester: Requester): Promise<SimulationResult> {
    const { pool } = this.parts;
    if (!this.canRunInline(job) || !isInlineCandidate(job)) return pool.run(job, requester);
    const name = callName(job);
    if (!this.parts.costs.mayRunInline(name)) return pool.run(job, requester);
    return new Promise((resolve, reject) => {
      this.wait({ job, name, requester, isRetry: false, resolve, reject });
      if (!this.isWorking) void this.work();
    });
  }

  private canRunInline(job: SimulationJob): boolean {
    const { chain } = this.parts;
    const isStateStable = !chain.isExecuting && !chain.isRewriting;
    const isOnHead = job.blockNumber === chain.head.header.number;
    return (isOnHead || chain.isReadWhole === true) && isStateStable && isInterpreterLoaded();
  }

  private wait(call: WaitingCall): void {
    const dropped = this.waiting.add(call);
    dropped?.resolve(this.parts.pool.run(dropped.job, dropped.requester));
  }

  /** Runs one call at a time: calls are asynchronous, so several would interleave and each be charged for all. */
  private async work(): Promise<void> {
    this.isWorking = true;
    for (let call = this.waiting.take(); call !== undefined; call = this.waiting.take()) {
      if (this.slice.isUsedUp) await yieldToEventLoop();
      await this.workOn(call);
    }
    this.isWorking = false;
  }

  private async workOn(call: WaitingCall): Promise<void> {
    try {
      this.settle(call, await this.runInline(call));
    } catch (error) {
      call.reject(error);
    }
  }

  /** Retries an aborted call inline once if its name has credit: other work delayed it, and a worker would take longer. */
  private settle(call: WaitingCall, result: SimulationResult | undefined): void {
    const { job, name, requester, isRetry } = call;
    if (result !== undefined) call.resolve(result);
    else if (!isRetry && this.canRunInline(job) && this.parts.costs.isProven(name))
      this.wait({ ...call, isRetry: true });
    else call.resolve(this.parts.pool.run(job, requester));
  }

  /** Undefined when the call cannot run inline, is over its limit, or failed; the worker pool then runs it. */
  private async runInline({ job, name, requester }: WaitingCall): Promise<SimulationResult | undefined> {
    const { chain, costs, nowMs } = this.parts;
    if (!this.canRunInline(job) || !costs.mayRunInline(name) || requester.isAbandoned()) return undefined;
    const { head } = chain;
    const block = chain.headerByNumber(job.blockNumber);
    if (block === undefined) return undefined;
    const startMs = nowMs();
    this.slice.open();
    let result: SimulationResult | undefined;
    try {
      result = await runSimulation(job, contextOn(this.parts, block, startMs + costs.limitMs(name)));
    } catch {
      // Aborted or failed: the worker pool finds out which.
    }
    const tookMs = nowMs() - startMs;
    this.slice.spend(tookMs);
    this.averageMs += (tookMs - this.averageMs) * NEWEST_WEIGHT;
    if (result === undefined) costs.aborted(name, tookMs);
    else costs.completed(name, tookMs);
    return chain.head === head ? result : undefined;
  }
}

/** The state of a block, which is read until `endMs`; throws when it is not stored. */
function contextOn(
  { spec, gasCap, chain, nowMs }: InlineCallParts,
  { header }: NamedHeader,
  endMs: number,
): CallContext {
  const yieldPolicy = deadlineOnly(nowMs, endMs);
  const { check: checkDeadline } = yieldPolicy.deadline;
  const state = expectDefined(chain.stateAt(header.number), "the state of the block");
  return {
    spec,
    gasCap,
    header,
    state: inlineReader(state, checkDeadline),
    ancestorHash(number) {
      checkDeadline();
      return chain.headerByNumber(number)?.hash;
    },
    yieldPolicy,
  };
}
