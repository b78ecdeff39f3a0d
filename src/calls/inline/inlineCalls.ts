import type { ChainSpec } from "../../chainspec/chainSpec.ts";
import { isInterpreterLoaded } from "../../execution/blockSession.ts";
import { runSimulation } from "../../execution/runSimulation.ts";
import type { CallContext } from "../../execution/simulate.ts";
import type { SimulationJob, SimulationResult, Simulator } from "../../execution/simulation.ts";
import { deadlineOnly } from "../../execution/yieldPolicy.ts";
import { expectDefined } from "../../primitives/assert.ts";
import type { Requester } from "../../primitives/requester.ts";
import type { NamedHeader } from "../../types/block.ts";
import { FairQueue } from "../../workers/fairQueue.ts";
import { createCallCostEstimate, INLINE_MS } from "./callCostEstimate.ts";
import { callName, isSmall } from "./inlineCandidate.ts";
import { inlineReader } from "./inlineReader.ts";

/**
 * Most calls are over before a thread would have heard of them. They are run at once, on the thread that makes blocks,
 * against the state of the head; what lasts is given up and begun anew on a thread that can be killed.
 *
 *     run ──> small, on the head, ──> waiting, by client ──> at once ──> the answer
 *             not known to last             │                  └── too long, remembered ──> threads
 *             └── otherwise ──> threads     └── a block is executed ──> threads
 *
 * Invariants: an answer is the same here as on a thread · a call holds the event loop for BRIEF_MS, one that is not known
 * to be short for TRIAL_MS (callMemory.ts), and one step between two looks at the clock (pace.ts) · in one turn of the
 * event loop calls take TURN_MS, and then wait for the next one · none runs while transactions of a block are executed,
 * or the state of the head is rewritten · what is spent on calls that are not known to be short is bounded, by which ones
 * were given up before and as a share of the time (callMemory.ts).
 */
export interface InlineCallParts {
  readonly spec: ChainSpec;
  /** --rpc-gas-cap; 0 for none. */
  readonly gasCap: bigint;
  readonly chain: HeadChain;
  readonly threads: Simulator;
  /** In fractions of a millisecond, from any beginning. */
  nowMs(): number;
}

/** The chain as calls on its head see it. */
export interface HeadChain {
  readonly head: NamedHeader;
  /** True while transactions of a block are executed. */
  readonly isExecuting: boolean;
  /** True while the head's state is rewound or repaired. */
  readonly isRewriting: boolean;
  headerByNumber(number: bigint): NamedHeader | undefined;
  stateAt(number: bigint): CallContext["state"] | undefined;
}

/** How long all calls of one turn of the event loop may take; it is what a batch of other requests may take, too. */
export const TURN_MS = 5;
/** As many calls may wait as are done in this time, by what they took of late; more than these are for the threads. */
const WAITING_MS = 50;
const FEWEST_WAITING = 256;
const MOST_WAITING = 4096;
/** Weight of a call in what calls take of late. */
const NEWEST_WEIGHT = 1 / 64;

interface WaitingCall {
  readonly job: SimulationJob;
  readonly name: string;
  readonly requester: Requester;
  /** It was given up once, though such calls are known to be short. */
  readonly isAgain: boolean;
  resolve(result: SimulationResult | Promise<SimulationResult>): void;
  reject(error: unknown): void;
}

export function createInlineCalls(parts: InlineCallParts): Simulator {
  const { chain, threads, nowMs } = parts;
  let usualMs = INLINE_MS;
  const waiting = new FairQueue<WaitingCall>(() =>
    Math.max(FEWEST_WAITING, Math.min(WAITING_MS / usualMs, MOST_WAITING)),
  );
  const memory = createCallCostEstimate(nowMs);
  let isAtWork = false;
  let isTurnOpen = false;
  let spentMs = 0;

  function isPossible(job: SimulationJob): boolean {
    const isFree = !chain.isExecuting && !chain.isRewriting;
    return job.blockNumber === chain.head.header.number && isFree && isInterpreterLoaded();
  }

  /** One call at a time: their code is asynchronous by signature, so several would mix, and each take the time of all. */
  async function work(): Promise<void> {
    isAtWork = true;
    for (let call = waiting.take(); call !== undefined; call = waiting.take()) {
      if (isTurnOpen && spentMs >= TURN_MS) await nextTurn();
      await attempt(call).then((result) => settle(call, result), call.reject);
    }
    isAtWork = false;
  }

  /** What held up a call that is known to be short was something else, and a thread takes longer than a second time here. */
  function settle(call: WaitingCall, result: SimulationResult | undefined): void {
    const { job, name, requester, isAgain } = call;
    if (result !== undefined) call.resolve(result);
    else if (!isAgain && isPossible(job) && memory.isProven(name)) wait({ ...call, isAgain: true });
    else call.resolve(threads.run(job, requester));
  }

  function wait(call: WaitingCall): void {
    const dropped = waiting.add(call);
    dropped?.resolve(threads.run(dropped.job, dropped.requester));
  }

  /** Undefined when it is not for here, took too long, or failed: a thread reads the same state from other entries. */
  async function attempt({ job, name, requester }: WaitingCall): Promise<SimulationResult | undefined> {
    if (!isPossible(job) || !memory.mayRunInline(name) || requester.isAbandoned()) return undefined;
    const { head } = chain;
    const begunMs = nowMs();
    openTurn();
    let result: SimulationResult | undefined;
    try {
      result = await runSimulation(job, sceneOn(head, begunMs + memory.mostMs(name)));
    } catch {
      // Given up, or failed: a thread finds out which.
    }
    const tookMs = nowMs() - begunMs;
    spentMs += tookMs;
    usualMs += (tookMs - usualMs) * NEWEST_WEIGHT;
    if (result === undefined) memory.abandoned(name, tookMs);
    else memory.ended(name, tookMs);
    return chain.head === head ? result : undefined;
  }

  function openTurn(): void {
    if (isTurnOpen) return;
    isTurnOpen = true;
    spentMs = 0;
    setImmediate(() => {
      isTurnOpen = false;
    });
  }

  function sceneOn({ header }: NamedHeader, endMs: number): CallContext {
    const yieldPolicy = deadlineOnly(nowMs, endMs);
    const { check: look } = yieldPolicy.deadline;
    return {
      spec: parts.spec,
      gasCap: parts.gasCap,
      header,
      state: inlineReader(expectDefined(chain.stateAt(header.number), "the state of the head"), look),
      ancestorHash(number) {
        look();
        return chain.headerByNumber(number)?.hash;
      },
      yieldPolicy,
    };
  }

  return {
    run(job, requester) {
      if (!isPossible(job) || !isSmall(job)) return threads.run(job, requester);
      const name = callName(job);
      if (!memory.mayRunInline(name)) return threads.run(job, requester);
      return new Promise((resolve, reject) => {
        wait({ job, name, requester, isAgain: false, resolve, reject });
        if (!isAtWork) void work();
      });
    },
  };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
