import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { withRound } from "../ibft/candidate.ts";
import { decodeLastSigned, type LastSignedState } from "../ibft/lastSigned.ts";
import { isListeningDue, isSealSought, lastKnownHeight } from "../ibft/lostVotes.ts";
import type { SignedMessage } from "../ibft/message.ts";
import { type Input, type OwnSeal, type Rules, type State, UNSTARTED } from "../ibft/state.ts";
import { type Step, step } from "../ibft/stateMachine.ts";
import type { Head } from "../ibft/validatorSet.ts";
import type { Logger } from "../observability/logger.ts";
import type { Address } from "../primitives/address.ts";
import { equalBytes } from "../primitives/hex.ts";
import { Mailbox } from "../primitives/mailbox.ts";
import { addressOfPrivateKey, sign } from "../primitives/secp256k1.ts";
import { PausedMessages } from "./buffers/pausedMessages.ts";
import { EffectHandler, type EffectHandlerParts } from "./effectHandler.ts";
import { Monitor } from "./monitor/monitor.ts";
import type { SignedTimes } from "./monitor/signedTimes.ts";
import { type ConsensusStatus, describeStatus } from "./monitor/status.ts";
import type { OwnSeals } from "./ports.ts";
import { SharedKeyWatch } from "./sharedKey/watch.ts";
import { VoteProposals } from "./voteProposals.ts";

type EngineSettings = { readonly schedule: Rules["schedule"] } & (
  | {
      /** The key from which our validator address is derived. */
      readonly privateKey: Uint8Array;
    }
  | {
      /** Our validator address, for which the signer among the parts signs. */
      readonly self: Address;
    }
);

interface EngineParts extends EffectHandlerParts {
  /** Finds votes that the vote log lacks; absent if blocks have no seals. */
  readonly ownSeals?: OwnSeals;
  /** Receives the times that others sign; unused when absent. */
  readonly signedTimes?: SignedTimes;
  /** Called once, when the engine has stopped because of an error. */
  readonly onFailure: (error: unknown) => void;
}

export function createEngine(settings: EngineSettings, parts: EngineParts): Engine {
  const { schedule } = settings;
  if ("self" in settings) return new Engine({ self: settings.self, schedule, withRound }, parts);
  const { privateKey } = settings;
  const self = addressOfPrivateKey(privateKey);
  return new Engine({ self, schedule, sign: (digest) => sign(digest, privateKey), withRound }, parts);
}

/**
 * Consensus in a running node: an input queue, the pure state machine, and the effect handler.
 *
 *   heads, messages, timers, results -> mailbox -> ibft step -> effects -> builder, checker, committer, vote log, outbox
 *          ^                                                                  |
 *          +------------------------------------------------------------------+
 *
 * Invariants: one input at a time; effects in order; no effect after a vote log entry is performed before the record is
 * durable. When a record cannot be written the engine stops for good: a validator without a vote log must not vote. The
 * chain handles blocks, the network handles bytes on the wire, and the state machine makes every decision.
 *
 * Operations that are passed on without the engine are fields.
 */
export class Engine {
  /** The operator's proposals for the validator set. */
  readonly proposals = new VoteProposals();
  /** Sends and receives notices of one key on two nodes. */
  readonly keyWatch: SharedKeyWatch;
  private readonly rules: Rules;
  private readonly parts: EngineParts;
  private readonly stateMachine: Step;
  private readonly messageLimit: number;
  private readonly effectHandler: EffectHandler;
  private readonly pausedMessages: PausedMessages;
  private pauseCause: (() => string) | undefined;
  private readonly monitor: Monitor;
  private readonly mailbox: Mailbox<Input>;
  private state: State = UNSTARTED;
  private isStarted = false;
  private isListeningDue = false;
  private isStopped = false;
  private isFailed = false;

  /** The simulator passes rules with other signatures, and an observed step function. */
  constructor(rules: Rules, parts: EngineParts, stateMachine: Step = step) {
    const { clock, signedTimes, logger, metrics } = parts;
    this.rules = rules;
    this.parts = parts;
    this.stateMachine = stateMachine;
    this.messageLimit = rules.schedule.messageQueueLimit;
    const { proposals, status } = this;
    this.effectHandler = new EffectHandler(rules, { ...parts, proposals }, (input) => this.post(input));
    this.pausedMessages = new PausedMessages(rules);
    this.monitor = new Monitor({
      ...{ rules, clock, signedTimes, logger, status },
      onTurnMissed: metrics?.turnMissed,
    });
    this.keyWatch = new SharedKeyWatch({
      ...{ rules, clock, metrics, outbox: parts.outbox, signer: parts.signer },
      state: () => this.state,
      post: (input) => this.post(input),
      receivedNotice: (notice) => this.monitor.receivedNotice(notice),
    });
    const limit = this.messageLimit + OWN_INPUTS_LIMIT;
    this.mailbox = new Mailbox<Input>(limit, (input) => this.apply(input), this.fail);
  }

  /** Reads the vote log, then takes part from `head` on. Throws when the last record is unusable. */
  readonly start = (head: Head): void => {
    const { voteLog, logger } = this.parts;
    const record = readRecord(voteLog.read(), head);
    if (record !== undefined) warnIfBound(logger, record, head);
    this.isStarted = true;
    this.isListeningDue = record !== undefined && isListeningDue(this.rules, record, head);
    const isSealedAbove = record !== undefined && this.isSealedAbove(record, head);
    this.post({ kind: "started", head, ...(record !== undefined && { record }), isSealedAbove });
  };

  /** Must be called for every new head, however it arrived; old heads, and those before the start, are ignored. */
  readonly headAdvanced = (head: Head): void => {
    // Peers may deliver blocks while the node is still opening; `start` gets the newest head. Blocks for development come after the end.
    if (!this.isStarted || this.isStopped) return;
    const ownSeal = this.findOwnSeal(head.header.number);
    this.post({ kind: "headAdvanced", head, ...(ownSeal && { ownSeal }) });
  };

  /**
   * Receives a decoded message of another validator that was buffered for `waitedMs` until its height began. Drops it when
   * too many are queued.
   */
  readonly receive = (message: SignedMessage, waitedMs = 0): void => {
    this.monitor.received(message, waitedMs);
    if (this.mailbox.size < this.messageLimit) {
      this.post({ kind: "message", message });
      return;
    }
    this.parts.metrics?.messageDropped();
    this.parts.logger.often("debug", "the queue of consensus messages is full; one is dropped", () => ({
      limit: this.messageLimit,
    }));
  };

  /** Stops proposing and voting until resumed; still follows heads, and buffers messages that count after `resume`. */
  readonly pause = (why?: () => string): void => {
    this.pauseCause = why;
    this.post({ kind: "paused" });
  };

  readonly resume = (): void => this.post({ kind: "resumed" });

  readonly status = (): ConsensusStatus => {
    const { rules, isFailed, pauseCause } = this;
    const connected = this.parts.outbox.connected?.();
    return describeStatus(this.state, {
      rules,
      isFailed,
      members: this.monitor.members(),
      connected,
      pauseCause,
    });
  };

  /** Whether this start should listen before it votes (listening.ts). */
  readonly shouldListen = (): boolean => this.isListeningDue;

  /** The height of our last vote, or below the height in progress; undefined when there is none. */
  readonly votedAt = (): bigint | undefined => this.state.lastSigned?.height;

  /** The kept votes and requests of a validator in the round in progress and later ones. */
  readonly messagesBy = (author: Address): readonly SignedMessage[] =>
    (this.state.height?.messages ?? []).filter(({ signed }) => equalBytes(signed.author, author));

  /** Stops for good because a dependency failed, and reports the error. */
  readonly fail = (error: unknown): void => {
    if (this.isFailed) return;
    this.isFailed = true;
    this.isStopped = true;
    this.effectHandler.end();
    this.monitor.end();
    this.keyWatch.end();
    this.parts.logger.error(
      { error },
      "consensus has stopped: this node neither proposes nor votes until it is restarted",
    );
    this.parts.onFailure(error);
  };

  /** Stops; resolves when no commit is in progress. */
  readonly stop = async (): Promise<void> => {
    this.isStopped = true;
    this.effectHandler.end();
    this.monitor.end();
    this.keyWatch.end();
    await this.mailbox.close();
    await this.effectHandler.settled();
  };

  /** Stops once proposing and voting is paused, or if it was not begun: no new commit follows then. */
  async stopWhenPaused(): Promise<void> {
    const isIdle = () => this.isStopped || this.state.head === undefined || this.state.isPaused;
    while (!isIdle()) await yieldToEventLoop();
    await this.stop();
  }

  /** Whether one of the first blocks above the record, or of the newest ones, has a seal of ours. */
  private isSealedAbove(record: LastSignedState, { header }: Head): boolean {
    const { ownSeals } = this.parts;
    const height = lastKnownHeight(record);
    if (ownSeals === undefined) return false;
    for (let above = 1n; above <= SEALED_BLOCKS_SOUGHT && height + above <= header.number; above++)
      if (ownSeals.find(height + above) ?? ownSeals.find(header.number + 1n - above)) return true;
    return false;
  }

  /** Searches the new blocks for a seal of ours, the newest first: a node that catches up gets many at a time. */
  private findOwnSeal(newest: bigint): OwnSeal | undefined {
    const { ownSeals } = this.parts;
    const known = this.state.head?.header.number ?? newest;
    let looks = 0;
    for (let number = newest; number > known && looks < SEAL_LOOKS; number--) {
      if (!isSealSought(this.state, this.rules.self, number)) continue;
      looks++;
      const found = ownSeals?.find(number);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  private async apply(input: Input): Promise<void> {
    const before = this.state;
    const { state, effects } = this.stateMachine(this.rules, before, this.parts.clock.nowMs(), input);
    this.state = state;
    this.effectHandler.stateChanged(state);
    this.monitor.stepped(before, state, input);
    this.keyWatch.stepped(before, state);
    for (const effect of effects) {
      if (this.isStopped) return;
      this.parts.metrics?.effectEmitted(effect, input);
      if (effect.kind === "reportEquivocation") this.keyWatch.equivocated(effect.first.signed.author);
      if (effect.kind === "recordVote") await this.effectHandler.recordVote(effect.record);
      else this.effectHandler.perform(effect, state);
    }
    for (const message of this.pausedMessages.stepped(before, state, input))
      await this.apply({ kind: "message", message });
  }

  private post(input: Input): void {
    if (this.isStopped || this.mailbox.post(input)) return;
    this.fail(new Error("consensus cannot keep up: its mailbox is full of its own inputs"));
  }
}

/** Number of blocks searched for our seal on start, at each end of those above the record: this takes a few milliseconds. */
const SEALED_BLOCKS_SOUGHT = 8n;

/** Most blocks searched for our seal at each new head. */
const SEAL_LOOKS = 64;

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
