import { withRound } from "../ibft/candidate.ts";
import type { Head, Input } from "../ibft/input.ts";
import { decodeLastSigned, type LastSignedState } from "../ibft/lastSigned.ts";
import type { Authored } from "../ibft/message.ts";
import { type Rules, type State, UNSTARTED } from "../ibft/state.ts";
import { type Step, step } from "../ibft/step.ts";
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
 * Consensus as it lives in a node: a queue, the pure machine, and hands.
 *
 *   heads, messages, timers, answers -> mailbox -> ibft step -> effects -> builder, checker, committer, votes, outbox
 *          ^                                                                  |
 *          +------------------------------------------------------------------+
 *
 * It keeps these: one input at a time; effects in order; nothing that follows a vote record is performed before the
 * record is durable. When a record cannot be written it stops for good: a validator without memory must not vote.
 * It leaves blocks to the chain, bytes on the wire to the network, and every decision to the machine.
 */
export interface Engine {
  /** Reads what we promised before the last stop, then takes part from `head` on. Throws when the memory is unusable. */
  start(head: Head): void;
  /** To be told of every new head, whoever committed it; those that are no news, or come before the start, are ignored. */
  headAdvanced(head: Head): void;
  /**
   * A message of another validator, signers recovered, that waited for its height so long. Dropped when too many are
   * waiting.
   */
  receive(message: Authored, waitedMs?: number): void;
  /** Neither proposes nor votes until resumed; goes on following heads, and what it hears meanwhile counts then. */
  pause(): void;
  resume(): void;
  /** The operator's wishes for the validator set. */
  readonly proposals: VoteProposals;
  status(): ConsensusStatus;
  /** Stops for good, and tells why, because something that it rests on is broken. */
  fail(error: unknown): void;
  /** Resolves when no commit is under way any more. */
  stop(): Promise<void>;
}

export interface EngineSettings {
  /** The node key: our validator address follows from it. */
  readonly privateKey: Uint8Array;
  readonly schedule: Rules["schedule"];
  /** See Rules.buildAheadMs. */
  readonly buildAheadMs: number;
}

export interface EngineParts extends EffectHandlerParts {
  /** Told once, when the engine has stopped by itself. */
  readonly onFailure: (error: unknown) => void;
}

export function createEngine(settings: EngineSettings, parts: EngineParts): Engine {
  const rules: Rules = {
    self: addressOfPrivateKey(settings.privateKey),
    schedule: settings.schedule,
    buildAheadMs: settings.buildAheadMs,
    sign: (digest) => sign(digest, settings.privateKey),
    withRound,
  };
  return createEngineFor(rules, parts);
}

/** For whoever signs otherwise, or looks on at each step: the simulator does both. */
export function createEngineFor(rules: Rules, parts: EngineParts, machine: Step = step): Engine {
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

  const mailbox = createMailbox<Input>(messageLimit + OWN_INPUTS_LIMIT, read, fail);

  async function read(input: Input): Promise<void> {
    const before = state;
    const transition = machine(rules, state, clock.nowMs(), input);
    state = transition.state;
    effectHandler.follow(state);
    monitor.stepped(before, state, input);
    for (const effect of transition.effects) {
      if (isStopped) return;
      metrics?.asked(effect, input);
      if (effect.kind === "recordVote") await effectHandler.recordVote(effect.record);
      else effectHandler.perform(effect, state);
    }
    for (const message of pausedMessages.stepped(before, state, input))
      await read({ kind: "message", message });
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
      // Peers may bring blocks while the node is still opening; the start is given the newest.
      if (isStarted) post({ kind: "headAdvanced", head });
    },
    receive(message, waitedMs = 0) {
      monitor.heard(message, waitedMs);
      if (mailbox.size < messageLimit) {
        post({ kind: "message", message });
        return;
      }
      metrics?.messageDropped();
      logger.debug({ limit: messageLimit }, "too many consensus messages are waiting; one is dropped");
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

/** Room beyond the messages for heads, timers and answers: a handful are ever under way. */
const OWN_INPUTS_LIMIT = 256;

function readRecord(bytes: Uint8Array | undefined, head: Head): LastSignedState | undefined {
  if (bytes === undefined) return undefined;
  const record = decodeLastSigned(bytes);
  if (!record.ok) throw new Error(`the record of our votes is unusable: ${record.error.message}`);
  const { height, prepared } = record.value;
  const isNext = height === head.header.number + 1n;
  if (isNext && prepared !== undefined && !equalBytes(prepared.candidate.header.parentHash, head.hash)) {
    throw new Error(`the record of our votes is of another chain: its block ${height} has another parent`);
  }
  return record.value;
}

function warnIfBound(logger: Logger, { height }: LastSignedState, head: Head): void {
  const next = head.header.number + 1n;
  if (height <= next) return;
  logger.warn(
    { votedAt: height, next },
    "this node has voted at a later height than its chain has; it neither proposes nor votes until the chain is there",
  );
}
