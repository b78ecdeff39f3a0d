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
import type { StateReader } from "../../state/stateReader.ts";
import type { NamedHeader } from "../../types/block.ts";
import { CallSlice } from "./callSlice.ts";
import { callName, isInlineCandidate } from "./inlineCandidate.ts";
import { CALL_SLICE_MS, SliceCosts } from "./sliceCosts.ts";

/**
 * Runs short calls on the thread that received them, since most calls take less time than sending them to a worker. A call
 * that exceeds its slice is aborted and restarted on a worker, which can be terminated.
 *
 *     run ──> small, and ──> queue, by client ──> run inline ──> result
 *             expected to be short                    └── over its slice, recorded ──> worker pool
 *             └── otherwise ──> worker pool
 *
 * Invariants: results are the same as on a worker · a call holds the event loop for CALL_SLICE_MS (sliceCosts.ts), plus one
 * step between two deadline checks (yieldPolicy.ts) · calls take at most SLICE_MS (callSlice.ts) of one event-loop cycle,
 * and then wait for the next one.
 */
interface InlineCallParts {
  readonly spec: ChainSpec;
  /** The gas cap (--rpc-gas-cap); 0 for none. */
  readonly gasCap: bigint;
  readonly chain: CalledChain;
  /** Runs the calls that are not run inline. */
  readonly pool: Simulator;
  /** Monotonic clock, milliseconds with fractions. */
  nowMs(): number;
}

/** The part of the chain that calls need. */
export interface CalledChain {
  readonly head: NamedHeader;
  headerByNumber(number: bigint): NamedHeader | undefined;
  stateAt(number: bigint): CallContext["state"] | undefined;
}

/** Longest queue, in time by the average of recent calls. Further calls go to the worker pool. */
const QUEUE_MS = 50;
const MIN_QUEUE_LIMIT = 256;
const MAX_QUEUE_LIMIT = 4096;
/** Time of a call before any has run, and the weight of the newest call in the moving average. */
const FIRST_AVERAGE_MS = 1;
const NEWEST_WEIGHT = 1 / 64;

interface WaitingCall {
  readonly job: SimulationJob;
  readonly name: string;
  readonly requester: Requester;
  resolve(result: SimulationResult | Promise<SimulationResult>): void;
  reject(error: unknown): void;
}

export class InlineCalls implements Simulator {
  private readonly parts: InlineCallParts;
  private readonly costs: SliceCosts;
  private readonly slice = new CallSlice();
  private averageMs = FIRST_AVERAGE_MS;
  private readonly waiting = new FairQueue<WaitingCall>(() =>
    Math.max(MIN_QUEUE_LIMIT, Math.min(QUEUE_MS / this.averageMs, MAX_QUEUE_LIMIT)),
  );
  private isWorking = false;

  constructor(parts: InlineCallParts) {
    this.parts = parts;
    this.costs = new SliceCosts(() => parts.nowMs());
  }

  run(job: SimulationJob, requester: Requester): Promise<SimulationResult> {
    const { pool } = this.parts;
    if (!isInterpreterLoaded() || !isInlineCandidate(job)) return pool.run(job, requester);
    const name = callName(job);
    if (!this.costs.mayRunInline(name)) return pool.run(job, requester);
    return new Promise((resolve, reject) => {
      this.wait({ job, name, requester, resolve, reject });
      if (!this.isWorking) void this.work();
    });
  }

  /** Runs a call at once on the head or an earlier block; undefined unless it ends within its slice of the thread. */
  runNow(job: SimulationJob): SimulationResult | undefined {
    if (!isInterpreterLoaded() || !isInlineCandidate(job) || this.slice.isUsedUp) return undefined;
    const name = callName(job);
    const block = this.parts.chain.headerByNumber(job.blockNumber);
    if (block === undefined || !this.costs.mayRunInline(name)) return undefined;
    return this.timed(name, (endMs) => {
      const result = runSimulation(job, contextOn(this.parts, block, endMs));
      if (!(result instanceof Promise)) return result;
      // It would have to yield, which ends such a call.
      result.catch(() => undefined);
      return undefined;
    });
  }

  /** Runs a call within a slice that it is charged for; undefined when it is aborted or fails. */
  private timed(
    name: string,
    run: (endMs: number) => SimulationResult | undefined,
  ): SimulationResult | undefined {
    const startMs = this.parts.nowMs();
    this.slice.open();
    let result: SimulationResult | undefined;
    try {
      result = run(startMs + CALL_SLICE_MS);
    } catch {
      // The worker pool finds out whether the call was aborted or failed.
    }
    this.slice.spend(this.parts.nowMs() - startMs);
    if (result === undefined) this.costs.aborted(name);
    else this.costs.completed(name);
    return result;
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
    const { job, requester } = call;
    try {
      call.resolve((await this.runInline(call)) ?? this.parts.pool.run(job, requester));
    } catch (error) {
      call.reject(error);
    }
  }

  /** Runs a call inline; undefined when it cannot run inline, exceeds its slice, or failed: the worker pool then runs it. */
  private async runInline({ job, name, requester }: WaitingCall): Promise<SimulationResult | undefined> {
    const { costs } = this;
    const { chain, nowMs } = this.parts;
    if (!costs.mayRunInline(name) || requester.isAbandoned()) return undefined;
    const { head } = chain;
    const block = chain.headerByNumber(job.blockNumber);
    if (block === undefined) return undefined;
    const startMs = nowMs();
    this.slice.open();
    let result: SimulationResult | undefined;
    try {
      result = await runSimulation(job, contextOn(this.parts, block, startMs + CALL_SLICE_MS));
    } catch {
      // The call was aborted or failed: the worker pool finds out which.
    }
    const tookMs = nowMs() - startMs;
    this.slice.spend(tookMs);
    this.averageMs += (tookMs - this.averageMs) * NEWEST_WEIGHT;
    if (result === undefined) costs.aborted(name);
    else costs.completed(name);
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

/** A reader that checks the deadline before each read: a read from disk may take as long as a thousand instructions. */
function inlineReader(state: StateReader, checkDeadline: () => void): StateReader {
  return {
    account(address) {
      checkDeadline();
      return state.account(address);
    },
    storage(address, slot) {
      checkDeadline();
      return state.storage(address, slot);
    },
    code(codeHash) {
      checkDeadline();
      return state.code(codeHash);
    },
  };
}
