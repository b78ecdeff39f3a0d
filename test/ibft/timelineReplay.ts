import { type Candidate, candidateOfBlock, withRound } from "../../src/ibft/candidate.ts";
import { encodeMessage, signPayload } from "../../src/ibft/codec/encoding.ts";
import { forgottenAt } from "../../src/ibft/lostVotes.ts";
import type { SignedMessage } from "../../src/ibft/message.ts";
import { type Effect, type Input, type OwnKeyRules, type State, UNSTARTED } from "../../src/ibft/state.ts";
import { step } from "../../src/ibft/stateMachine.ts";
import { hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { addressOfPrivateKey, sign } from "../../src/primitives/secp256k1.ts";
import { decoded, type Network, recordedMessages } from "../builders/recordedMessages.ts";
import {
  NODES,
  privateKeyOf,
  recordedBlock,
  recordedHeads,
  recordedTimelines,
  type Timeline,
  type TimelineEvent,
} from "../builders/recordedTimelines.ts";

/**
 * Replays a recorded height with our state machine in the role of one of its validators.
 *
 * The recording shows what a validator took from its queue, and when: it relays a message just before it processes it,
 * and its own first message after a timer shows when that timer fired. So the state machine gets the same messages in
 * the same order between the same timers; requested blocks are the recorded ones, and all blocks are valid.
 */
interface Replay {
  /** First sendings of the recorded validator, in order: its own messages, and those it relayed. */
  readonly recorded: readonly string[];
  /** The same for our state machine; a message counts as relayed where the recorded validator relayed it. */
  readonly ours: readonly string[];
  /** Our own messages as they would be sent, by id. */
  readonly sent: ReadonlyMap<string, string>;
  /** Candidates that we asked to build. */
  readonly built: readonly Built[];
  /** Errors that we found in messages of real validators. */
  readonly rejected: readonly string[];
  /** The block that we decided, if we did, and whose seals it has. */
  readonly decided: { readonly candidate: Candidate; readonly sealers: readonly string[] } | undefined;
}

interface Built {
  readonly round: number;
  /** The timestamp that we requested. */
  readonly timestamp: bigint;
  /** What the recorded validator built then; undefined when it is not known. */
  readonly candidate: Candidate | undefined;
}

export interface Recording {
  readonly network: Network;
  readonly timelines: readonly Timeline[];
  /** Recorded payloads, by id. */
  readonly payloads: ReadonlyMap<string, string>;
  replay(height: number, node: string): Replay;
  /** Of the block that was committed at a height. */
  hashOf(height: number): Uint8Array;
}

export function openRecording(network: Network): Recording {
  const { schedule, heads } = recordedHeads(network);
  const timelines = recordedTimelines(network);
  const messages = recordedMessages(network);
  const payloads = new Map(messages.map(({ id, data }) => [id, data]));
  const read = new Map<string, SignedMessage>(
    messages.map(({ id, code, data }) => [id, decoded(code, hexToBytes(data))]),
  );
  const rulesByNode = new Map<string, OwnKeyRules>(NODES.map((node) => [node, rulesFor(node)]));

  function rulesFor(node: string): OwnKeyRules {
    const key = privateKeyOf(network, node);
    return {
      self: addressOfPrivateKey(key),
      schedule,
      sign: (digest) => sign(digest, key),
      withRound,
    };
  }

  const rulesOf = (node: string): OwnKeyRules => must(rulesByNode.get(node), node);

  const nodeOf = (address: Uint8Array): string =>
    NODES.find((node) => toHex(rulesOf(node).self) === toHex(address)) ?? "outsider";

  function idOf({ kind, signed }: SignedMessage): string {
    const { height, round } = signed.payload;
    return `${height}/${round}/${kind.charAt(0).toUpperCase()}${kind.slice(1)}/${nodeOf(signed.author)}`;
  }

  /** The block that was committed at a height, with another round than it was sealed in if needed. */
  function chainCandidate(height: number, round: number): Candidate {
    const candidate = candidateOfBlock(recordedBlock(network, height));
    if (!candidate.ok) throw new Error(candidate.error.message);
    return withRound(candidate.value, round);
  }

  /** The block that a validator built: from its recorded Proposal, else the one committed at that height. */
  function builtCandidate(height: number, round: number, node: string): Candidate | undefined {
    const id = `${height}/${round}/Proposal/${node}`;
    if (!timelineOf(height).events.some((event) => event.id === id)) return undefined;
    const proposal = read.get(id);
    return proposal?.kind === "proposal" ? proposal.candidate : chainCandidate(height, round);
  }

  /** A message that the capture omits, produced by our state machine in its author's role. */
  function messageOf(id: string): SignedMessage {
    const known = read.get(id);
    if (known !== undefined) return known;
    const [height, round, kind, node = ""] = id.split("/");
    if (kind === "Prepare" || kind === "Commit") return voteOf(Number(height), Number(round), kind, node);
    const spoken = replayUntil(Number(height), node, id).find((message) => idOf(message) === id);
    const message = must(spoken, `${id}, which is not recorded and which our machine does not say`);
    read.set(id, message);
    return message;
  }

  /** All votes of a round are about one block. */
  function voteOf(height: number, round: number, kind: "Prepare" | "Commit", node: string): SignedMessage {
    const other = [...read.values()].find(
      ({ kind, signed: { payload } }) =>
        kind !== "roundChange" && Number(payload.height) === height && payload.round === round,
    );
    const digest =
      other === undefined || other.kind === "roundChange"
        ? chainCandidate(height, round).digest
        : other.signed.payload.digest;
    const rules = rulesOf(node);
    const about = { height: BigInt(height), round, digest };
    if (kind === "Prepare")
      return { kind: "prepare", signed: signPayload(rules, { kind: "prepare", ...about }) };
    const seal = rules.sign(digest);
    return {
      kind: "commit",
      signed: signPayload(rules, { kind: "commit", ...about, seal }),
      sealer: rules.self,
    };
  }

  const timelineOf = (height: number): Timeline =>
    must(
      timelines.find((timeline) => timeline.height === height),
      `height ${height}`,
    );

  /** What our state machine sends in the role of `node`, up to the message `until`. */
  function replayUntil(height: number, node: string, until: string): readonly SignedMessage[] {
    const run = startRun(height, node);
    for (const cue of cuesOf(timelineOf(height), node)) {
      run.take(cue);
      if (run.said.some((message) => idOf(message) === until)) break;
    }
    return run.said;
  }

  function startRun(height: number, node: string) {
    const rules = rulesOf(node);
    const parent = must(heads[height - 1], `block ${height - 1}`);
    const said: SignedMessage[] = [];
    const log: string[] = [];
    const built: Built[] = [];
    const rejected: string[] = [];
    let decided: Replay["decided"];
    let state: State = UNSTARTED;
    let nowMs = 0;

    function tell(input: Input): void {
      const transition = step(rules, state, nowMs, input);
      state = transition.state;
      for (const effect of transition.effects) perform(effect);
    }

    function perform(effect: Effect): void {
      switch (effect.kind) {
        case "multicast":
          said.push(effect.message);
          log.push(idOf(effect.message));
          break;
        case "buildCandidate": {
          const { id, timestamp } = effect;
          if (id.height !== BigInt(height)) break;
          const candidate = builtCandidate(height, id.round, node);
          built.push({ round: id.round, timestamp, candidate });
          if (candidate !== undefined) tell({ kind: "candidateBuilt", id, candidate });
          break;
        }
        case "checkCandidate":
          tell({ kind: "candidateChecked", id: effect.id, digest: effect.candidate.digest, sound: true });
          break;
        case "commitBlock":
          decided = {
            candidate: effect.candidate,
            sealers:
              state.height?.messages
                .filter(({ kind }) => kind === "commit")
                .map(({ signed }) => nodeOf(signed.author)) ?? [],
          };
          tell({ kind: "headAdvanced", head: must(heads[height], `block ${height}`) });
          break;
        case "rejectMessage":
          rejected.push(`${idOf(effect.message)}: ${effect.error}`);
          break;
        case "reportEquivocation":
          rejected.push(`${idOf(effect.first)} twice`);
          break;
        case "recordVote":
        case "setBlockTimer":
        case "setRoundTimer":
          break;
      }
    }

    function take(cue: Cue): void {
      nowMs = Math.max(nowMs, cue.atMs);
      const round = state.height?.round.number;
      if (cue.kind === "message") {
        if (cue.isRelayed) log.push(cue.id);
        tell({ kind: "message", message: messageOf(cue.id) });
      } else if (cue.kind === "head") {
        tell({ kind: "headAdvanced", head: must(heads[height], `block ${height}`) });
      } else if (cue.kind === "blockTimer") {
        tell({ kind: "blockTimer", id: { height: BigInt(height), round: 0 } });
      } else if (cue.kind === "roundTimer" && round !== undefined && round < cue.round) {
        tell({ kind: "roundTimer", id: { height: BigInt(height), round } });
      }
    }

    const [first] = timelineOf(height).events;
    nowMs = Math.max(Number(parent.header.timestamp) * 1000, (first?.atMs ?? 0) - 60_000);
    tell({ kind: "started", head: parent, record: forgottenAt(BigInt(height)) });
    return {
      said,
      take,
      outcome: () => ({ log, built, rejected, decided }),
    };
  }

  function replay(height: number, node: string): Replay {
    const timeline = timelineOf(height);
    const run = startRun(height, node);
    for (const cue of cuesOf(timeline, node)) run.take(cue);
    const { log, built, rejected, decided } = run.outcome();
    return {
      recorded: firstSendings(timeline, node).map(({ id }) => id),
      ours: log,
      sent: new Map(run.said.map((message) => [idOf(message), toHex(encodeMessage(message).payload)])),
      built,
      rejected,
      decided,
    };
  }

  const hashOf = (height: number): Uint8Array => must(heads[height], `block ${height}`).hash;
  return { network, timelines, payloads, replay, hashOf };
}

/** The next input of the state machine, as far as the recording shows. */
type Cue =
  | Arrival
  | { readonly kind: "blockTimer" | "head"; readonly atMs: number }
  /** The timer of the round before `round`. */
  | { readonly kind: "roundTimer"; readonly atMs: number; readonly round: number };

/** In the order in which the recorded validator took them from its queue. */
function cuesOf(timeline: Timeline, node: string): readonly Cue[] {
  const sent = firstSendings(timeline, node);
  const relayed = sent.filter(({ id }) => !isBy(id, node));
  const waiting = arrivals(timeline, node, new Set(relayed.map(({ id }) => id)));
  const cues: Cue[] = [];
  for (const { id, atMs } of sent) {
    if (isBy(id, node)) {
      // Messages never relayed count as taken before any later arrival that was taken.
      while (
        waiting[0] !== undefined &&
        !waiting[0].isRelayed &&
        waiting[0].atMs <= atMs &&
        waiting.some(isRelayed)
      )
        cues.push(must(waiting.shift(), "a message"));
      cues.push(...timerBefore(id, atMs));
    } else {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        cues.push(next.isRelayed ? { ...next, id, atMs } : next);
        if (next.isRelayed) break;
      }
    }
  }
  const heard = new Set(timeline.events.filter((event) => event.node === node).map(({ peer }) => peer));
  const late = waiting.findIndex(({ id, from }) =>
    [...heard].some((peer) => peer !== from && !isBy(id, peer)),
  );
  if (late < 0) return [...cues, ...waiting];
  // A message that could have been relayed and was not came too late: the block was committed already.
  return [
    ...cues,
    ...waiting.slice(0, late),
    { kind: "head", atMs: waiting[late]?.atMs ?? 0 },
    ...waiting.slice(late),
  ];
}

/** The timer that makes a validator send this, if any; a message that follows from other messages needs none. */
function timerBefore(id: string, atMs: number): readonly Cue[] {
  const [, round, kind] = id.split("/");
  if (kind === "Proposal" && round === "0") return [{ kind: "blockTimer", atMs }];
  return kind === "RoundChange" ? [{ kind: "roundTimer", atMs, round: Number(round) }] : [];
}

interface Arrival {
  readonly kind: "message";
  readonly atMs: number;
  readonly id: string;
  readonly from: string;
  readonly isRelayed: boolean;
}

const isRelayed = (arrival: Arrival): boolean => arrival.isRelayed;

/** Foreign messages in order of their first arrival. */
function arrivals({ events }: Timeline, node: string, relayed: ReadonlySet<string>): Arrival[] {
  const seen = new Set<string>();
  const found: Arrival[] = [];
  for (const { id, atMs, direction, node: at, peer } of events) {
    if (at !== node || direction !== "in" || isBy(id, node) || seen.has(id)) continue;
    seen.add(id);
    found.push({ kind: "message", atMs, id, from: peer, isRelayed: relayed.has(id) });
  }
  return found;
}

/** What a node sent, each message once; Commits that the capture's switch withheld count as sent. */
function firstSendings({ events }: Timeline, node: string): readonly TimelineEvent[] {
  const seen = new Set<string>();
  return events.filter(({ id, direction, node: at }) => {
    if (at !== node || direction === "in" || seen.has(id)) return false;
    seen.add(id);
    return true;
  });
}

function isBy(id: string, node: string): boolean {
  return id.endsWith(`/${node}`);
}

function must<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`the recording has no ${what}`);
  return value;
}
