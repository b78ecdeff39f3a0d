import { withRound } from "../ibft/candidate.ts";
import { decodeLastSigned, type LastSignedState } from "../ibft/lastSigned.ts";
import type { Authored } from "../ibft/message.ts";
import { type Input, type Rules, type State, UNSTARTED } from "../ibft/state.ts";
import { type Step, step } from "../ibft/stateMachine.ts";
import type { Head } from "../ibft/validatorSet.ts";
import type { Logger } from "../observability/logger.ts";
import { equalBytes } from "../primitives/hex.ts";
import { createMailbox } from "../primitives/mailbox.ts";
import { addressOfPrivateKey, sign } from "../primitives/secp256k1.ts";
import { createPausedMessages } from "./buffers/pausedMessages.ts";
import { createEffectHandler, type EffectHandlerParts } from "./effectHandler.ts";
import { createMonitor } from "./monitor/monitor.ts";
import { type ConsensusStatus, describeStatus } from "./monitor/status.ts";
import { createVoteProposals, type VoteProposals } from "./voteProposals.ts";

/**
 * Consensus in a running node: an input queue, the pure state machine, and the effect handler.
 *
 *   heads, messages, timers, results -> mailbox -> ibft step -> effects -> builder, checker, committer, vote log, outbox
 *          ^                                                                  |
 *          +------------------------------------------------------------------+
 *
 * Invariants: one input at a time; effects in order; no effect after a vote log entry is performed before the record is
 * durable. When a record cannot be written the engine stops for good: a validator without a vote log must not vote.
 * The chain handles blocks, the network handles bytes on the wire, and the state machine makes every decision.
 */
export interface Engine {
  /** Reads the vote log, then takes part from `head` on. Throws when the last record is unusable. */
  start(head: Head): void;
  /** To be called for every new head, by whatever way it came; old heads, and those before the start, are ignored. */
  headAdvanced(head: Head): void;
  /**
   * Takes a decoded message of another validator that was buffered for `waitedMs` until its height began. Drops it when
   * too many are queued.
   */
  receive(message: Authored, waitedMs?: number): void;
  /** Stops proposing and voting until resumed; still follows heads, and buffers messages that count after `resume`. */
  pause(): void;
  resume(): void;
  /** The operator's proposals for the validator set. */
  readonly proposals: VoteProposals;
  status(): ConsensusStatus;
  /** Stops for good because a dependency failed, and reports the error. */
  fail(error: unknown): void;
  /** Stops; resolves when no commit is in progress. */
  stop(): Promise<void>;
}

export interface EngineSettings {
  /** The node key, from which our validator address is derived. */
  readonly privateKey: Uint8Array;
  readonly schedule: Rules["schedule"];
}

export interface EngineParts extends EffectHandlerParts {
  /** Called once, when the engine has stopped because of an error. */
  readonly onFailure: (error: unknown) => void;
}

export function createEngine(settings: EngineSettings, parts: EngineParts): Engine {
  const rules: Rules = {
    self: addressOfPrivateKey(settings.privateKey),
    schedule: settings.schedule,
    sign: (digest) => sign(digest, settings.privateKey),
    withRound,
  };
  return createEngineFor(rules, parts);
}

/** Like createEngine, with other signatures or an observed step function: the simulator uses both. */
export function createEngineFor(rules: Rules, parts: EngineParts, stateMachine: Step = step): Engine {
  const { clock, logger, metrics, voteLog } = parts;
  const messageLimit = rules.schedule.messageQueueLimit;
  const proposals = createVoteProposals();
  const effectHandler = createEffectHandler(rules, { ...parts, proposals }, post);
  const pausedMessages = createPausedMessages(rules);
  let state: State = UNSTARTED;
  let isStarted = false;
  let isStopped = false;
  let isFailed = false;

  const monitor = createMonitor({ rules, clock, logger, status, onTurnMissed: metrics?.turnMissed });

  function status(): ConsensusStatus {
    const connected = parts.outbox.connected?.();
    return describeStatus(state, { rules, isFailed, members: monitor.members(), connected });
  }

  const mailbox = createMailbox<Input>(messageLimit + OWN_INPUTS_LIMIT, apply, fail);

  async function apply(input: Input): Promise<void> {
    const before = state;
    const transition = stateMachine(rules, state, clock.nowMs(), input);
    state = transition.state;
    effectHandler.stateChanged(state);
    monitor.stepped(before, state, input);
    for (const effect of transition.effects) {
      if (isStopped) return;
      metrics?.effectEmitted(effect, input);
      if (effect.kind === "recordVote") await effectHandler.recordVote(effect.record);
      else effectHandler.perform(effect, state);
    }
    for (const message of pausedMessages.stepped(before, state, input))
      await apply({ kind: "message", message });
  }

  function post(input: Input): void {
    if (isStopped || mailbox.post(input)) return;
    fail(new Error("consensus cannot keep up: its mailbox is full of its own inputs"));
  }

  function fail(error: unknown): void {
    if (isFailed) return;
    isFailed = true;
    isStopped = true;
    effectHandler.end();
    monitor.end();
    logger.error(
      { error },
      "consensus has stopped: this node neither proposes nor votes until it is restarted",
    );
    parts.onFailure(error);
  }

  return {
    start(head) {
      const record = readRecord(voteLog.read(), head);
      if (record !== undefined) warnIfBound(logger, record, head);
      isStarted = true;
      post({ kind: "started", head, ...(record !== undefined && { record }) });
    },
    headAdvanced(head) {
      // Peers may deliver blocks while the node is still opening; `start` gets the newest head.
      if (isStarted) post({ kind: "headAdvanced", head });
    },
    receive(message, waitedMs = 0) {
      monitor.heard(message, waitedMs);
      if (mailbox.size < messageLimit) {
        post({ kind: "message", message });
        return;
      }
      metrics?.messageDropped();
      logger.debug({ limit: messageLimit }, "the queue of consensus messages is full; one is dropped");
    },
    pause: () => post({ kind: "paused" }),
    resume: () => post({ kind: "resumed" }),
    proposals,
    status,
    fail,
    async stop() {
      isStopped = true;
      effectHandler.end();
      monitor.end();
      await mailbox.close();
      await effectHandler.settled();
    },
  };
}

/** Queue slots beyond those for messages, for heads, timers and results: only a few are ever pending. */
const OWN_INPUTS_LIMIT = 256;

function readRecord(bytes: Uint8Array | undefined, head: Head): LastSignedState | undefined {
  if (bytes === undefined) return undefined;
  const record = decodeLastSigned(bytes);
  if (!record.ok) throw new Error(`the record of our votes is unusable: ${record.error.message}`);
  const { height, prepared } = record.value;
  const isNext = height === head.header.number + 1n;
  if (isNext && prepared !== undefined && !equalBytes(prepared.candidate.header.parentHash, head.hash)) {
    throw new Error(
      `the record of our votes belongs to another chain: its block ${height} has another parent`,
    );
  }
  return record.value;
}

function warnIfBound(logger: Logger, { height }: LastSignedState, head: Head): void {
  const next = head.header.number + 1n;
  if (height <= next) return;
  logger.warn(
    { votedAt: height, next },
    "this node has voted at a later height than that of its chain; it neither proposes nor votes until the chain gets there",
  );
}
