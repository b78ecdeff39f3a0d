import type { Logger } from "../../observability/logger.ts";
import type { Metrics } from "../../observability/registry.ts";
import type { Address } from "../../primitives/address.ts";
import { dropOldest } from "../../primitives/boundedCache.ts";
import type { Clock } from "../../primitives/clock.ts";
import { equalBytes, toDigits, toHex } from "../../primitives/hex.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { CheckCounts } from "../checkCounts.ts";
import { type CallResult, type HeadCalls, isUndecided } from "./headCalls.ts";
import { HostNames } from "./hostNames.ts";
import { connectionPayload, type Direction, type NodeEndpoint, nodePayload, urlHost } from "./nodePayload.ts";

export interface NodeContractSettings {
  readonly address: Address;
  /** Version of its interface. */
  readonly version: 1 | 2;
}

export interface NodeContractParts {
  readonly calls: Pick<HeadCalls, "head" | "run" | "runNow">;
  /** The name of an IP address by the system's resolver, for version 2; undefined where there is none. */
  readonly nameOf: (ip: string) => Promise<string | undefined>;
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: Logger;
  readonly metrics: Metrics | undefined;
}

/** "unknown" while an answer is awaited, and where the contract gives none. */
export type NodePermission = "permitted" | "denied" | "unknown";

/** Who raises a question: a connected node, one that connects or that this node calls, or anyone who sends datagrams. */
export type NodeRequester = "peer" | "newcomer" | "datagram";

interface Answer {
  /** Hash of the head that it holds after. */
  readonly after: Uint8Array;
  readonly permission: NodePermission;
}

/** The questions of one kind of requester. */
interface Questions {
  readonly answersLimit: number;
  readonly awaitedLimit: number;
  readonly answers: Map<string, Answer>;
  /** The questions that are awaited, each with the hash of the head at which it last arose. */
  readonly awaited: Map<string, Uint8Array>;
  /** Whether one was not put because too many were awaited, and whether one of those has an answer since then. */
  hasOmitted: boolean;
  hasDecided: boolean;
}

/**
 * Most questions whose answers are kept, and most that are awaited at a time, from the most trusted requester on. Anyone who sends
 * datagrams can raise a question, which must not delay or displace those about peers.
 */
const LIMITS: Readonly<Record<NodeRequester, Pick<Questions, "answersLimit" | "awaitedLimit">>> = {
  peer: { answersLimit: 1024, awaitedLimit: 32 },
  newcomer: { answersLimit: 1024, awaitedLimit: 16 },
  datagram: { answersLimit: 2048, awaitedLimit: 16 },
};
const REQUESTERS: readonly NodeRequester[] = ["peer", "newcomer", "datagram"];

/** The node that Besu asks about at its start. */
const EXAMPLE: NodeEndpoint = {
  nodeId: new Uint8Array(64).fill(1),
  ip: Uint8Array.of(10, 3, 58, 6),
  host: "10.3.58.6",
  tcpPort: 30303,
};

/**
 * The contract that decides which nodes may connect (--permissions-nodes-contract-address), asked at each head as Besu 24.7
 * asks, with the gas limit of the head or the gas cap:
 *
 *     version 1: one question about source and destination; the words 0xff…ff and 0x7f…ff are yes and no
 *     version 2: a question about each of the two, by its IP address, then by the name of that; the words 1 and 0
 *
 * A question is answered at once where a slice of the thread allows. Otherwise it is answered later by a thread for calls, and
 * until then the answer is that of an earlier head, or unknown. The same holds where the thread has no time or memory for it;
 * the question is then put again when it next arises.
 */
export class NodeContract {
  private readonly settings: NodeContractSettings;
  private readonly parts: NodeContractParts;
  private readonly counts: CheckCounts;
  private readonly questions: Readonly<Record<NodeRequester, Questions>> = {
    peer: noQuestions("peer"),
    newcomer: noQuestions("newcomer"),
    datagram: noQuestions("datagram"),
  };
  private readonly names: HostNames;
  private changed: () => void = () => undefined;

  constructor(settings: NodeContractSettings, parts: NodeContractParts) {
    this.settings = settings;
    this.parts = parts;
    this.names = new HostNames({ ...parts, onChanged: () => this.changed() });
    this.counts = new CheckCounts(parts.metrics, "node_smart_contract", "node contract");
  }

  /** Calls `listener` when an answer or name that was awaited is there, and differs from the one before. */
  whenChanged(listener: () => void): void {
    this.changed = listener;
  }

  /** Whether the connection is permitted at the head. */
  permits(direction: Direction, requester: NodeRequester): NodePermission {
    this.counts.asked();
    const permission =
      this.settings.version === 1
        ? this.answerTo(connectionPayload(direction), requester)
        : both(this.permitsNode(direction.source, requester), () =>
            this.permitsNode(direction.destination, requester),
          );
    if (permission !== "unknown") this.counts.answered(permission);
    return permission;
  }

  /** Asks about a node of no network, as Besu does at its start. Fails when the contract gives no answer, whatever it would be. */
  async probe(): Promise<Result<void, "unusablePermissions">> {
    const { address, version } = this.settings;
    const payload =
      version === 1
        ? connectionPayload({ source: EXAMPLE, destination: EXAMPLE })
        : nodePayload(EXAMPLE, urlHost(EXAMPLE));
    const read = readAnswer(await this.parts.calls.run(address, payload), version);
    if (read === "permitted" || read === "denied") return ok(undefined);
    const message = `Error: node permissioning contract at address ${toHex(address)} does not match the expected interface version ${version}. (${read.failure})`;
    return fail("local", "unusablePermissions", message);
  }

  private permitsNode(node: NodeEndpoint, requester: NodeRequester): NodePermission {
    const byIp = this.answerTo(nodePayload(node, urlHost(node)), requester);
    if (byIp !== "denied") return byIp;
    const known = this.names.of(node.host);
    if (known === undefined) return "unknown";
    return known.name === undefined ? "denied" : this.answerTo(nodePayload(node, known.name), requester);
  }

  private answerTo(payload: Uint8Array, requester: NodeRequester): NodePermission {
    const { calls } = this.parts;
    const { hash } = calls.head;
    const key = toDigits(payload);
    const questions = this.questionsWith(key, requester);
    const known = questions.answers.get(key);
    if (known !== undefined && equalBytes(known.after, hash)) return known.permission;
    const ofOthers = this.answerOfOthers(key, hash);
    if (ofOthers !== undefined) return this.remember(questions, key, ofOthers);
    const earlier = known?.permission ?? "unknown";
    const awaitedAt = questions.awaited.get(key);
    // Each datagram raises a question, and what took too long at this head does so again.
    if (awaitedAt !== undefined && equalBytes(awaitedAt, hash)) return earlier;
    const result = calls.runNow(this.settings.address, payload);
    if (result !== undefined && !isUndecided(result)) return this.keep(questions, key, hash, result);
    this.awaitAnswer(questions, key, payload);
    return earlier;
  }

  /** The questions that have this one already, of the requester or of a more trusted one; else the requester's. */
  private questionsWith(key: string, requester: NodeRequester): Questions {
    for (const other of REQUESTERS) {
      const questions = this.questions[other];
      if (other === requester || questions.answers.has(key) || questions.awaited.has(key)) return questions;
    }
    return this.questions[requester];
  }

  /** The answer at this head that a less trusted requester has had: a node is found by datagrams before it is called. */
  private answerOfOthers(key: string, head: Uint8Array): Answer | undefined {
    for (const requester of REQUESTERS) {
      const answer = this.questions[requester].answers.get(key);
      if (answer !== undefined && equalBytes(answer.after, head)) return answer;
    }
    return undefined;
  }

  /** Keeps the answer, unless the call was not given the time or memory to end: that says nothing about the node. */
  private keep(questions: Questions, key: string, after: Uint8Array, result: CallResult): NodePermission {
    const read = readAnswer(result, this.settings.version);
    const isRead = read === "permitted" || read === "denied";
    if (!isRead)
      this.parts.logger.often("error", "the node permissioning contract does not answer", () => ({
        address: this.settings.address,
        reason: read.failure,
      }));
    if (isUndecided(result)) return questions.answers.get(key)?.permission ?? "unknown";
    return this.remember(questions, key, { after, permission: isRead ? read : "unknown" });
  }

  private remember({ answers, answersLimit }: Questions, key: string, answer: Answer): NodePermission {
    answers.delete(key);
    answers.set(key, answer);
    dropOldest(answers, answersLimit);
    return answer.permission;
  }

  /** Asks a thread for calls, unless it is being asked or has enough to do; says then whether the answer has changed. */
  private awaitAnswer(questions: Questions, key: string, payload: Uint8Array): void {
    const { awaited, awaitedLimit } = questions;
    const isAwaited = awaited.has(key);
    if (!isAwaited && awaited.size >= awaitedLimit) {
      questions.hasOmitted = true;
      return;
    }
    awaited.set(key, this.parts.calls.head.hash);
    if (isAwaited) return;
    void this.askLater(questions, key, payload)
      .catch((error: unknown) => {
        this.parts.logger.warn({ error }, "the node permissioning contract could not be asked");
        return false;
      })
      .then((isChanged) => {
        awaited.delete(key);
        if (this.hasPlaces(questions) || isChanged) this.changed();
      });
  }

  /**
   * Whether questions that were omitted have a place now. A review asks about all peers at once, and again then; not where none was
   * decided, or it would ask the same ones for ever while there is no time for them.
   */
  private hasPlaces(questions: Questions): boolean {
    if (questions.awaited.size > 0) return false;
    const { hasOmitted, hasDecided } = questions;
    questions.hasOmitted = false;
    questions.hasDecided = false;
    return hasOmitted && hasDecided;
  }

  private async askLater(questions: Questions, key: string, payload: Uint8Array): Promise<boolean> {
    const { calls } = this.parts;
    const { hash } = calls.head;
    const before = questions.answers.get(key)?.permission ?? "unknown";
    const result = await calls.run(this.settings.address, payload);
    if (!isUndecided(result)) questions.hasDecided = true;
    return this.keep(questions, key, hash, result) !== before;
  }
}

function noQuestions(requester: NodeRequester): Questions {
  return {
    ...LIMITS[requester],
    answers: new Map(),
    awaited: new Map(),
    hasOmitted: false,
    hasDecided: false,
  };
}

function both(first: NodePermission, second: () => NodePermission): NodePermission {
  return first === "permitted" ? second() : first;
}

type Read = "permitted" | "denied" | { readonly failure: string };

/** Reads the result of a call; the failures have Besu's texts. */
function readAnswer(result: CallResult, version: NodeContractSettings["version"]): Read {
  if (result === "absent") return { failure: "Permissioning contract does not exist" };
  if (isUndecided(result)) return { failure: "the call takes too long, or too much memory" };
  if (result.kind === "refused") return { failure: "Permissioning transaction found to be Invalid" };
  if (result.kind !== "returned") return { failure: "Permissioning transaction failed when processing" };
  const { data } = result;
  if (data.length !== 32) return { failure: "Unexpected result size" };
  const { yes, no } = ANSWERS[version];
  if (equalBytes(data, yes)) return "permitted";
  return equalBytes(data, no) ? "denied" : { failure: "Unexpected result form" };
}

const ANSWERS = {
  1: { yes: filled(0xff, 0xff), no: filled(0x7f, 0xff) },
  2: { yes: filled(0, 0, 1), no: filled(0, 0) },
} as const;

/** A word of these bytes: the first, the others, and the last. */
function filled(first: number, others: number, last = others): Uint8Array {
  const bytes = new Uint8Array(32).fill(others);
  bytes[0] = first;
  bytes[31] = last;
  return bytes;
}
