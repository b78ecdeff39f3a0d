import { expect } from "vitest";
import { type Candidate, withRound } from "../../src/ibft/candidate.ts";
import { signPayload } from "../../src/ibft/codec/encoding.ts";
import type { LastSignedState } from "../../src/ibft/lastSigned.ts";
import type {
  PreparedBlock,
  RoundChangeCertificate,
  RoundId,
  SignedMessage,
} from "../../src/ibft/message.ts";
import { type Effect, type Input, type OwnKeyRules, type State, UNSTARTED } from "../../src/ibft/state.ts";
import { step } from "../../src/ibft/stateMachine.ts";
import type { Head } from "../../src/ibft/validatorSet.ts";
import { type Address, ZERO_ADDRESS } from "../../src/primitives/address.ts";
import { keccak256 } from "../../src/primitives/hash.ts";
import { equalBytes, toHex } from "../../src/primitives/hex.ts";
import {
  aCandidate,
  aGenesisHead,
  aSchedule,
  headOf,
  indexOfAddress,
  type ScheduleChange,
  toyAddresses,
  toyRules,
} from "../builders/toyChain.ts";

/**
 * One state machine whose inputs and effects are recorded line by line. Validators
 * are a, b, c… in the order of their addresses: at height 1, a proposes in round 0, b in round 1, and so on. Blocks are
 * named by the scenario; "X@1" is block X in round 1. Times are seconds since the genesis block; blocks come every
 * second and round 0 takes two, unless the scenario says otherwise.
 */
export interface Stage {
  /** Everything so far, input by input with its effects indented below. */
  transcript(): string;
  readonly state: State;
  /** Sets the clock, without any input. */
  at(seconds: number): void;
  start(record?: LastSignedState): void;
  /** Starts where one of the first blocks above the record has our seal. */
  startSealedAbove(record: LastSignedState): void;
  /** Restarts on the same head with nothing but the vote log. */
  restart(): void;
  pause(): void;
  resume(): void;
  blockTimer(round: number): void;
  roundTimer(round: number): void;
  built(block: string, round: number): void;
  checked(block: string, round: number, result: "valid" | "invalid"): void;
  /** The remote signer has signed what was requested in that round: a seal, or a message of that kind. */
  signed(what: "seal" | SignedMessage["kind"], round: number): void;
  hear(message: SignedMessage): void;
  headAdvanced(block: string, isSealedByUs?: boolean): void;
  /** Goes on from the head of that many blocks, one a second, before the start. */
  growChain(blocks: number): void;
  /** Announces the current head once more. */
  repeatHead(): void;
  /** The candidate of that name on the present head, in round 0; made when first named. */
  block(name: string, coinbase?: number): Candidate;
  /** A message of another validator; `v` is its letter. */
  proposal(v: string, block: string, round: number, certificate?: readonly SignedMessage[]): SignedMessage;
  prepare(v: string, block: string, round: number): SignedMessage;
  commit(v: string, block: string, round: number): SignedMessage;
  roundChange(v: string, round: number, prepared?: PreparedBlock): SignedMessage;
  /** A prepared certificate for `block` in `round` by those validators; the proposer's letter comes first. */
  prepared(letters: string, block: string, round: number): PreparedBlock;
}

export interface StageSettings extends ScheduleChange {
  readonly validators: number;
  /** Letter of this state machine; one beyond the validators is a follower. */
  readonly self: string;
  /** Its key is in another process. */
  readonly hasRemoteSigner?: boolean;
}

export function aStage({ validators, self, hasRemoteSigner, ...change }: StageSettings): Stage {
  const schedule = aSchedule(change);
  const members = toyAddresses(validators);
  const rulesOf = (letter: string): OwnKeyRules => toyRules(addressOf(letter), schedule);
  const rules = rulesOf(self);
  const rulesOfStep = hasRemoteSigner === true ? { ...rules, sign: undefined } : rules;
  /** By what is signed and round; the newest of each. */
  const requests = new Map<string, EffectOf<"requestSignature">>();
  const names = new Map<string, string>();
  const blocks = new Map<string, Candidate>();
  const lines: string[] = [];
  let head: Head = aGenesisHead(members);
  let state: State = UNSTARTED;
  let nowMs = 0;

  function addressOf(letter: string): Address {
    const address = toyAddresses(LETTERS.length)[LETTERS.indexOf(letter)];
    if (address === undefined) throw new Error(`nobody is called ${letter}`);
    return address;
  }

  const letterOf = (address: Address): string =>
    LETTERS[indexOfAddress(toyAddresses(LETTERS.length), address)] ?? "?";

  function nameOf(candidate: Candidate): string {
    return `${names.get(keyOf(candidate)) ?? "?"}@${candidate.extra.round}`;
  }

  function nameOfDigest(digest: Uint8Array | undefined): string {
    if (digest === undefined) return "nothing";
    for (const candidate of blocks.values()) {
      for (let round = 0; round < 10; round++) {
        const inRound = withRound(candidate, round);
        if (equalBytes(inRound.digest, digest)) return nameOf(inRound);
      }
    }
    return "?";
  }

  function block(name: string, coinbase?: number): Candidate {
    const known = blocks.get(name);
    if (known !== undefined) return known;
    const order = {
      mark: name,
      ...(coinbase !== undefined && { coinbase: members[coinbase] ?? ZERO_ADDRESS }),
    };
    const candidate = aCandidate(head, order);
    blocks.set(name, candidate);
    names.set(keyOf(candidate), name);
    return candidate;
  }

  function tell(line: string, input: Input): void {
    const transition = step(rulesOfStep, state, nowMs, input);
    state = transition.state;
    lines.push(
      `${(nowMs / 1000).toFixed(1)} ${line}`,
      ...transition.effects.map((effect) => `    ${describe(effect)}`),
    );
  }

  const idOf = (round: number): RoundId => ({ height: head.header.number + 1n, round });
  const place = ({ height, round }: RoundId): string => `${height}/${round}`;

  function describe(effect: Effect): string {
    switch (effect.kind) {
      case "recordVote": {
        const { prepared, digest } = effect.record;
        const block = prepared === undefined ? "" : `, prepared ${nameOf(prepared.candidate)}`;
        return `record ${place(effect.record)} ${nameOfDigest(digest)}${block}${describeDoubt(effect.record)}`;
      }
      case "multicast":
        return `say ${describeMessage(effect.message)}`;
      case "requestSignature": {
        const what = signedBy(effect);
        requests.set(`${what} ${effect.id.round}`, effect);
        return `request ${what} ${place(effect.id)}`;
      }
      case "setBlockTimer":
        return `block timer ${place(effect.id)} at ${effect.atMs / 1000}`;
      case "setRoundTimer":
        return `round timer ${place(effect.id)} at ${effect.atMs / 1000}`;
      case "buildCandidate":
        return `build ${place(effect.id)} stamped ${effect.timestamp}`;
      case "checkCandidate":
        return `check ${nameOf(effect.candidate)}`;
      case "commitBlock": {
        const sealers = effect.seals.map(({ s }) =>
          letterOf(toyAddresses(Number(s))[Number(s) - 1] ?? ZERO_ADDRESS),
        );
        return `commit ${nameOf(effect.candidate)} sealed by ${sealers.join("")}`;
      }
      case "rejectMessage":
        return `reject: ${effect.error}`;
      case "reportEquivocation":
        return `double vote: ${describeMessage(effect.first)} and ${describeMessage(effect.second)}`;
    }
  }

  /** What is signed: a block by its seal, or a message, whose kind is the first byte of what is hashed. */
  function signedBy({ digest, preimage }: EffectOf<"requestSignature">): string {
    expect(toHex(keccak256(preimage))).toBe(toHex(digest));
    const isSeal = nameOfDigest(digest) !== "?";
    return isSeal ? "seal" : (["proposal", "prepare", "commit", "roundChange"][preimage[0] ?? 9] ?? "?");
  }

  function describeMessage(message: SignedMessage): string {
    const { kind, signed } = message;
    const { author, payload } = signed;
    const text = `${kind} ${place(payload)} by ${letterOf(author)}`;
    switch (message.kind) {
      case "proposal": {
        const requesters = message.certificate?.map((requester) => letterOf(requester.author)).join("");
        return `${text}: ${nameOf(message.candidate)}${requesters === undefined ? "" : ` as asked by ${requesters}`}`;
      }
      case "roundChange":
        return message.candidate === undefined ? text : `${text}, prepared ${nameOf(message.candidate)}`;
      default:
        return `${text}: ${nameOfDigest(message.signed.payload.digest)}`;
    }
  }

  const aboutOf = (name: string, round: number) => ({
    ...idOf(round),
    digest: withRound(block(name), round).digest,
  });

  return {
    transcript: () => lines.join("\n"),
    get state() {
      return state;
    },
    at(seconds) {
      nowMs = seconds * 1000;
    },
    startSealedAbove: (record) =>
      tell("started, sealed above", { kind: "started", head, record, isSealedAbove: true }),
    start: (record) => tell("started", { kind: "started", head, ...(record !== undefined && { record }) }),
    restart() {
      const { lastSigned: record } = state;
      state = UNSTARTED;
      tell("started again", { kind: "started", head, ...(record !== undefined && { record }) });
    },
    pause: () => tell("paused", { kind: "paused" }),
    resume: () => tell("resumed", { kind: "resumed" }),
    blockTimer: (round) => tell(`block timer ${place(idOf(round))}`, { kind: "blockTimer", id: idOf(round) }),
    roundTimer: (round) => tell(`round timer ${place(idOf(round))}`, { kind: "roundTimer", id: idOf(round) }),
    built(name, round) {
      const candidate = withRound(
        block(
          name,
          members.findIndex((member) => equalBytes(member, rules.self)),
        ),
        round,
      );
      tell(`built ${nameOf(candidate)}`, { kind: "candidateBuilt", id: idOf(round), candidate });
    },
    checked(name, round, result) {
      const { digest } = withRound(block(name), round);
      const input = {
        kind: "candidateChecked",
        id: idOf(round),
        digest,
        sound: result === "valid",
      } as const;
      tell(`${name}@${round} is ${result}`, input);
    },
    signed(what, round) {
      const request = requests.get(`${what} ${round}`);
      if (request === undefined) throw new Error(`no ${what} was to be signed in round ${round}`);
      const { id, digest } = request;
      tell(`${what} ${place(id)} is signed`, { kind: "signed", id, digest, signature: rules.sign(digest) });
    },
    hear: (message) => tell(`hears ${describeMessage(message)}`, { kind: "message", message }),
    headAdvanced(name, isSealedByUs = false) {
      head = headOf(head, block(name), schedule);
      const ownSeal = { number: head.header.number, timestamp: head.header.timestamp };
      const input: Input = { kind: "headAdvanced", head, ...(isSealedByUs && { ownSeal }) };
      tell(`head ${name}${isSealedByUs ? ", sealed by us" : ""}`, input);
    },
    growChain(count) {
      for (let at = 0; at < count; at++) head = headOf(head, aCandidate(head), schedule);
    },
    repeatHead: () => tell("the same head", { kind: "headAdvanced", head }),
    block,
    proposal(v, name, round, certificate) {
      const signed = signPayload(rulesOf(v), { kind: "proposal", ...aboutOf(name, round) } as const);
      const asked: RoundChangeCertificate | undefined = certificate?.map((message) => {
        if (message.kind !== "roundChange") throw new Error("a certificate is made of round changes");
        return message.signed;
      });
      const candidate = withRound(block(name), round);
      return { kind: "proposal", signed, candidate, ...(asked !== undefined && { certificate: asked }) };
    },
    prepare: (v, name, round) => ({
      kind: "prepare",
      signed: signPayload(rulesOf(v), { kind: "prepare", ...aboutOf(name, round) } as const),
    }),
    commit(v, name, round) {
      const about = aboutOf(name, round);
      const seal = rulesOf(v).sign(about.digest);
      const signed = signPayload(rulesOf(v), { kind: "commit", ...about, seal } as const);
      return { kind: "commit", signed, sealer: addressOf(v) };
    },
    roundChange: (v, round, prepared) => ({
      kind: "roundChange",
      signed: signPayload(rulesOf(v), {
        kind: "roundChange",
        ...idOf(round),
        ...(prepared !== undefined && { prepared: prepared.certificate }),
      } as const),
      ...(prepared !== undefined && { candidate: prepared.candidate }),
    }),
    prepared(letters, name, round) {
      const [proposer = "", ...preparers] = letters;
      const about = aboutOf(name, round);
      return {
        candidate: withRound(block(name), round),
        certificate: {
          proposal: signPayload(rulesOf(proposer), { kind: "proposal", ...about } as const),
          prepares: preparers.map((v) => signPayload(rulesOf(v), { kind: "prepare", ...about } as const)),
        },
      };
    },
  };
}

function describeDoubt({ doubt, forgotten }: LastSignedState): string {
  if (forgotten !== undefined) return `, ${forgotten} forgotten`;
  if (doubt === undefined) return "";
  return `, silent (${doubt.reason}) up to ${doubt.upTo} and to second ${doubt.untilTimestamp}`;
}

/** A transcript as a scenario states it: indentation of the source removed. */
export function script(text: string): string {
  const rows = text.split("\n").filter((row) => row.trim() !== "");
  const margin = Math.min(...rows.map((row) => row.length - row.trimStart().length));
  return rows.map((row) => row.slice(margin)).join("\n");
}

type EffectOf<Kind extends Effect["kind"]> = Extract<Effect, { kind: Kind }>;

const LETTERS = "abcdefgh";

function keyOf({ hash }: Candidate): string {
  return Buffer.from(hash).toString("hex");
}
