import { declareConsensusMetrics } from "../../src/consensus/consensusMetrics.ts";
import type { ConsensusStatus } from "../../src/consensus/monitor/status.ts";
import type { MessageRouter } from "../../src/consensus/router/messageRouter.ts";
import { declareMessageRouterMetrics, VALIDATION_RESULTS } from "../../src/consensus/router/routerMetrics.ts";
import { type Candidate, withRound } from "../../src/ibft/candidate.ts";
import { type Encoded, encodeMessage, signPayload } from "../../src/ibft/codec/encoding.ts";
import { encodeLastSigned } from "../../src/ibft/lastSigned.ts";
import { forgottenAt } from "../../src/ibft/lostVotes.ts";
import type {
  Commit,
  CommitPayload,
  PreparedBlock,
  PreparePayload,
  ProposalPayload,
  RoundChangeCertificate,
  RoundChangePayload,
  Signed,
  SignedMessage,
} from "../../src/ibft/message.ts";
import { MESSAGE_ERRORS } from "../../src/ibft/messageRules.ts";
import type { Head } from "../../src/ibft/validatorSet.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import { compareBytes, equalBytes, toHex } from "../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../src/primitives/quantity.ts";
import {
  addressOfPrivateKey,
  SECP256K1_ORDER,
  type Signature,
  sign,
} from "../../src/primitives/secp256k1.ts";
import type { Digest } from "../../src/types/blockHash.ts";
import { aMessageRouter } from "../builders/aMessageRouter.ts";
import { createHandClock, type HandClock } from "../builders/handClock.ts";
import { aCandidate, aGenesisHead, aSchedule } from "../builders/toyChain.ts";
import { aRegistry, readSample } from "../observability/aRegistry.ts";
import { type Observed, runFor, settle, startToyNode, type ToyDisk } from "./toyNode.ts";

const START_S = 1_700_000_000;

/** In the order of their addresses: a, b, c and d are the validators, e is not one. */
const KEYS = [1n, 2n, 3n, 4n, 5n].map((key) => bigintToFixedBytes(key, 32));
const VALIDATOR_KEYS = KEYS.slice(0, 4).sort((a, b) =>
  compareBytes(addressOfPrivateKey(a), addressOfPrivateKey(b)),
);
const LETTERS = "abcde";

const keyOf = (letter: string): Uint8Array =>
  [...VALIDATOR_KEYS, ...KEYS.slice(4)][LETTERS.indexOf(letter)] ?? new Uint8Array();

const signerOf = (letter: string) => ({
  self: addressOfPrivateKey(keyOf(letter)),
  sign: (digest: Uint8Array): Signature => sign(digest, keyOf(letter)),
});

/** The parent of the block being decided. */
export const PARENT: Head = aGenesisHead(VALIDATOR_KEYS.map(addressOfPrivateKey), BigInt(START_S));

/** In height 1, where a proposes in round 0, b in round 1, c in round 2 and d in round 3, all with real keys. */
const HEIGHT = 1n;

/** A block on the parent, in a round, built by a unless stated; blocks differ by their names. */
export function block(name: string, round = 0, builder = "a"): Candidate {
  return withRound(aCandidate(PARENT, { mark: name, coinbase: signerOf(builder).self }), round);
}

export interface Place {
  readonly height?: bigint;
  readonly round: number;
  readonly digest?: Digest;
}

export function signedProposal(
  by: string,
  { height = HEIGHT, round, digest }: Place,
): Signed<ProposalPayload> {
  const about = digest ?? block("X", round).digest;
  return signPayload(signerOf(by), { kind: "proposal", height, round, digest: about });
}

export function signedPrepare(by: string, { height = HEIGHT, round, digest }: Place): Signed<PreparePayload> {
  const about = digest ?? block("X", round).digest;
  return signPayload(signerOf(by), { kind: "prepare", height, round, digest: about });
}

export function proposal(
  by: string,
  candidate: Candidate,
  certificate?: RoundChangeCertificate,
): SignedMessage {
  const { round } = candidate.extra;
  const signed = signedProposal(by, { round, digest: candidate.digest });
  return { kind: "proposal", signed, candidate, ...(certificate !== undefined && { certificate }) };
}

export function prepare(by: string, place: Place): SignedMessage {
  return { kind: "prepare", signed: signedPrepare(by, place) };
}

/** `seals` is the sealed digest, if it differs from the payload's; `sealer` is the seal's signer. */
export function commit(
  by: string,
  { height = HEIGHT, round, digest }: Place,
  { seals, sealer = by }: { readonly seals?: Uint8Array; readonly sealer?: string } = {},
): Commit {
  const about = digest ?? block("X", round).digest;
  const seal = sign(seals ?? about, keyOf(sealer));
  return commitOf(by, { kind: "commit", height, round, digest: about, seal });
}

export function commitOf(by: string, payload: CommitPayload): Commit {
  const signer = signerOf(by);
  return { kind: "commit", signed: signPayload(signer, payload), sealer: signer.self };
}

export function signedRoundChange(
  by: string,
  round: number,
  { prepared, height = HEIGHT }: { readonly prepared?: PreparedBlock; readonly height?: bigint } = {},
): Signed<RoundChangePayload> {
  const brought = prepared !== undefined && { prepared: prepared.certificate };
  return signPayload(signerOf(by), { kind: "roundChange", height, round, ...brought });
}

export function roundChange(by: string, round: number, prepared?: PreparedBlock): SignedMessage {
  const signed = signedRoundChange(by, round, prepared && { prepared });
  return { kind: "roundChange", signed, ...(prepared !== undefined && { candidate: prepared.candidate }) };
}

/** A prepared certificate for X, or another block, in a round, by the proposer and these others. */
export function prepared(
  letters: string,
  { name = "X", round = 0 }: { readonly name?: string; readonly round?: number } = {},
): PreparedBlock {
  const candidate = block(name, round);
  const [proposer = "", ...others] = letters;
  const place = { round, digest: candidate.digest };
  return {
    candidate,
    certificate: {
      proposal: signedProposal(proposer, place),
      prepares: others.map((letter) => signedPrepare(letter, place)),
    },
  };
}

/** Round-change requests by these validators. */
export function asking(letters: string, round: number): RoundChangeCertificate {
  return [...letters].map((letter) => signedRoundChange(letter, round));
}

/** A quorum of requests for a round, of which d's has this certificate. */
export function bringing(brought: PreparedBlock, round = 1): RoundChangeCertificate {
  return [...asking("bc", round), signedRoundChange("d", round, { prepared: brought })];
}

/** The other valid signature of the same payload by the same key: each ECDSA signature has a twin that anyone can derive. */
export function turned<S extends { readonly signature: Signature }>(signed: S): S {
  const { r, s, yParity } = signed.signature;
  return { ...signed, signature: { r, s: SECP256K1_ORDER - s, yParity: yParity === 0 ? 1 : 0 } };
}

/** A validator as seen from the network: bytes in, and their results. */
export interface Edge {
  readonly clock: HandClock;
  readonly disk: ToyDisk;
  readonly observed: Observed;
  /** Errors that stopped the engine. */
  readonly failures: readonly unknown[];
  /** Delivers the bytes, as c would, and lets the engine process them. Returns the increased counters: "accepted", "accepted, wrongSealer"… */
  hear(message: SignedMessage | Encoded): Promise<string>;
  /** The visible consensus state, except heartbeats. */
  state(): Omit<ConsensusStatus, "members">;
  runFor(durationMs: number): Promise<void>;
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** A metric sample as scraped. */
  read(name: string, labels?: Readonly<Record<string, string>>): Promise<number | undefined>;
}

/** The tests sign with its key too: what it hears of that raises no doubt. */
export const NO_VOTES = encodeLastSigned(forgottenAt(1n));

/** Validator d at height 1, round 0, half a second before a may propose; the only real node of the network. */
export async function anEdge(): Promise<Edge> {
  const clock = createHandClock(START_S * 1000 + 500);
  const schedule = aSchedule();
  const registry = aRegistry();
  const disk: ToyDisk = { heads: [PARENT], votes: NO_VOTES };
  const observed: Observed = { messages: [], commits: [] };
  const failures: unknown[] = [];
  const news: string[] = [];
  const counted = declareMessageRouterMetrics(registry);
  const metrics = declareConsensusMetrics(registry);
  const router: MessageRouter = aMessageRouter({
    self: signerOf("d").self,
    schedule,
    carrier: { send: () => undefined },
    deliver: (message, waitedMs) => node.engine.receive(message, waitedMs),
    clock,
    logger: silentLogger,
    metrics: {
      relayed: counted.relayed,
      received(result) {
        news.push(result);
        counted.received(result);
      },
    },
  });
  const node = startToyNode(
    {
      privateKey: keyOf("d"),
      schedule,
      outbox: router,
      onHead: router.headAdvanced,
      onFailure: (error) => failures.push(error),
      metrics: {
        ...metrics,
        effectEmitted(effect, by) {
          if (effect.kind === "rejectMessage") news.push(effect.error);
          if (effect.kind === "reportEquivocation") news.push("double vote");
          metrics.effectEmitted(effect, by);
        },
      },
    },
    clock,
    disk,
    observed,
  );
  router.headAdvanced(PARENT);
  await settle();
  return {
    clock,
    disk,
    observed,
    failures,
    async hear(message) {
      const { code, payload } = "kind" in message ? encodeMessage(message) : message;
      router.receive({ sender: signerOf("c").self, code, payload });
      await settle();
      return news.splice(0).join(", ");
    },
    state() {
      const { members: _, ...seen } = node.engine.status();
      return seen;
    },
    runFor: (durationMs) => runFor(clock, durationMs),
    async pause() {
      node.engine.pause();
      await settle();
    },
    async resume() {
      node.engine.resume();
      await settle();
    },
    read: (name, labels) => readSample(registry, `bft_${name}`, labels),
  };
}

/** Counters of received messages: by result, and for accepted ones by error. */
export async function countedAt(
  edge: Edge,
): Promise<{ readonly received: number; readonly rejected: number }> {
  const sum = async (name: string, label: string, values: readonly string[]): Promise<number> => {
    const samples = await Promise.all(values.map((value) => edge.read(name, { [label]: value })));
    return samples.reduce<number>((total, sample) => total + (sample ?? Number.NaN), 0);
  };
  return {
    received: await sum("messages_validated_total", "result", VALIDATION_RESULTS),
    rejected: await sum("messages_rejected_total", "error", MESSAGE_ERRORS),
  };
}

/** Sends d the Proposal of X, the Prepares of the others, and two Commits; throws unless it commits the block. */
export async function decideX(edge: Edge): Promise<void> {
  for (const message of [
    proposal("a", block("X")),
    prepare("b", { round: 0 }),
    prepare("c", { round: 0 }),
    commit("a", { round: 0 }),
    commit("c", { round: 0 }),
  ])
    await edge.hear(message);
  const hash = edge.disk.heads[1]?.hash;
  if (hash === undefined || !equalBytes(hash, block("X").hash)) throw new Error("X was not decided");
}

/** State as text, comparable by ===. */
export function printed(state: unknown): string {
  return JSON.stringify(state, (_key, value: unknown) => {
    if (value instanceof Uint8Array) return toHex(value);
    return typeof value === "bigint" ? `${value}` : value;
  });
}
