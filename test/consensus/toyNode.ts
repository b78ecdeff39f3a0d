import type { IbftSchedule } from "../../src/chainspec/ibftParameters.ts";
import type { ConsensusMetrics } from "../../src/consensus/consensusMetrics.ts";
import { createEngine, type Engine } from "../../src/consensus/engine.ts";
import type {
  CandidateBuilder,
  CandidateChecker,
  Committer,
  Outbox,
  RemoteSigner,
} from "../../src/consensus/ports.ts";
import type { Candidate } from "../../src/ibft/candidate.ts";
import type { SignedMessage } from "../../src/ibft/message.ts";
import type { Head } from "../../src/ibft/validatorSet.ts";
import { type Logger, silentLogger } from "../../src/observability/logger.ts";
import type { Address } from "../../src/primitives/address.ts";
import { equalBytes } from "../../src/primitives/hex.ts";
import { addressOfPrivateKey, type Signature } from "../../src/primitives/secp256k1.ts";
import type { VoteLog } from "../../src/storage/votes/voteLog.ts";
import type { HandClock } from "../builders/handClock.ts";
import { aCandidate, aSchedule, headOf } from "../builders/toyChain.ts";

/** What survives a crash: the chain and the votes. */
export interface ToyDisk {
  /** Genesis first. */
  readonly heads: Head[];
  votes: Uint8Array | undefined;
}

/** What others saw of a node, which a crash cannot undo. */
export interface Observed {
  readonly messages: SignedMessage[];
  readonly commits: { readonly candidate: Candidate; readonly seals: readonly Signature[] }[];
}

export interface ToySettings {
  readonly privateKey: Uint8Array;
  /** Signs instead of the key, which then only names the node. */
  readonly signer?: RemoteSigner;
  readonly schedule?: IbftSchedule;
  readonly buildMs?: number;
  readonly checkMs?: number;
  readonly commitMs?: number;
  /** Receives the signal that aborts the validation. */
  readonly onCheck?: (signal: AbortSignal) => void;
  /** Called before and after every external effect; "crash" ends the node at that point. */
  readonly onMoment?: (moment: string) => "crash" | undefined;
  readonly onFailure?: (error: unknown) => void;
  /** Receives the engine before it starts. */
  readonly beforeStart?: (engine: Engine) => void;
  readonly logger?: Logger;
  readonly metrics?: ConsensusMetrics;
  /** The connected nodes; unknown when absent. */
  readonly connected?: () => readonly Address[];
  /** Sends the node's messages to other nodes as well. */
  readonly outbox?: Outbox;
  /** Called for a head after the engine. */
  readonly onHead?: (head: Head) => void;
}

export interface ToyNode {
  readonly engine: Engine;
  readonly isDead: boolean;
  readonly disk: ToyDisk;
}

/** One run of a node over a toy chain, from its start to its stop or crash. Blocks have the `mark` of their run. */
export function startToyNode(
  settings: ToySettings,
  clock: HandClock,
  disk: ToyDisk,
  observed: Observed,
  mark = "",
): ToyNode {
  const schedule = settings.schedule ?? aSchedule();
  const self = addressOfPrivateKey(settings.privateKey);
  let isDead = false;

  /** Never resolves once the node has ended: pending work is lost. */
  async function moment(name: string): Promise<void> {
    if (!isDead && settings.onMoment?.(name) === "crash") isDead = true;
    if (isDead) await new Promise(() => undefined);
  }

  async function takeMs(durationMs = 0): Promise<void> {
    if (durationMs > 0) await new Promise<void>((resolve) => clock.at(clock.nowMs() + durationMs, resolve));
  }

  const builder: CandidateBuilder = {
    async build({ parent, round, timestamp, vote }) {
      await moment("build asked");
      await takeMs(settings.buildMs);
      await moment("built");
      const tip = headOfDisk(disk);
      if (!equalBytes(parent.hash, tip.hash)) return undefined;
      return aCandidate(tip, {
        round,
        timestamp,
        coinbase: self,
        mark: `${mark} ${clock.nowMs()}`,
        ...(vote && { vote }),
      });
    },
  };
  const checker: CandidateChecker = {
    async check(candidate, signal) {
      settings.onCheck?.(signal);
      await moment("check asked");
      await takeMs(settings.checkMs);
      await moment("checked");
      // No toy block has a body.
      const isBare = candidate.transactions.length === 0;
      return isBare && equalBytes(candidate.header.parentHash, headOfDisk(disk).hash);
    },
  };
  const committer: Committer = {
    async commit(candidate, seals) {
      await moment("commit asked");
      await takeMs(settings.commitMs);
      await moment("commit begins");
      const tip = headOfDisk(disk);
      if (equalBytes(tip.hash, candidate.hash)) return true;
      if (!equalBytes(candidate.header.parentHash, tip.hash)) return false;
      const head = headOf(tip, candidate, schedule);
      disk.heads.push(head);
      observed.commits.push({ candidate, seals });
      await moment("committed");
      engine.headAdvanced(head);
      settings.onHead?.(head);
      return true;
    },
  };
  const voteLog: Pick<VoteLog, "read" | "write"> = {
    read: () => disk.votes,
    async write(bytes) {
      await moment("vote written");
      disk.votes = bytes;
      await moment("vote durable");
    },
  };
  const engine = createEngine(
    settings.signer === undefined ? { privateKey: settings.privateKey, schedule } : { self, schedule },
    {
      signer: settings.signer,
      builder,
      checker,
      committer,
      voteLog,
      outbox: {
        multicast(message, validators) {
          if (!isDead) observed.messages.push(message);
          if (!isDead) settings.outbox?.multicast(message, validators);
          if (settings.onMoment?.(`sent ${message.kind}`) === "crash") isDead = true;
        },
        ...(settings.connected && { connected: settings.connected }),
        sendNotice: (message) => settings.outbox?.sendNotice?.(message),
      },
      clock,
      logger: settings.logger ?? silentLogger,
      metrics: settings.metrics,
      onFailure: settings.onFailure ?? fail,
    },
  );
  settings.beforeStart?.(engine);
  engine.start(headOfDisk(disk));
  return {
    engine,
    disk,
    get isDead() {
      return isDead;
    },
  };
}

export function headOfDisk({ heads }: ToyDisk): Head {
  const head = heads.at(-1);
  if (head === undefined) throw new Error("a disk has a genesis block");
  return head;
}

/** Runs all pending tasks of the event loop. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** Advances the clock in small steps and runs pending work in between. */
export async function runFor(clock: HandClock, durationMs: number, stepMs = 50): Promise<void> {
  const endMs = clock.nowMs() + durationMs;
  await settle();
  while (clock.nowMs() < endMs) {
    clock.advanceTo(Math.min(endMs, clock.nowMs() + stepMs));
    await settle();
  }
}

function fail(error: unknown): never {
  throw error;
}
