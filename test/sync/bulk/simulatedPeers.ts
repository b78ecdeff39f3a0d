import { asAddress } from "../../../src/primitives/address.ts";
import type { Clock } from "../../../src/primitives/clock.ts";
import { type Hash, keccak256 } from "../../../src/primitives/hash.ts";
import { toDigits } from "../../../src/primitives/hex.ts";
import { err, ok, type Result } from "../../../src/primitives/result.ts";
import type { RangeQuery, SyncPeer } from "../../../src/sync/ports.ts";
import type { Body } from "../../../src/types/block.ts";
import type { Header } from "../../../src/types/header.ts";
import { memoryOfBlock } from "../../../src/types/memory.ts";
import type { Random } from "../../simulation/random.ts";
import { branchOf, type SimulatedBlock, withInvalidSeal } from "./simulatedChain.ts";

/** What is wrong with a peer. Only the first two, and those that are just behind, must never be disconnected. */
export const PEER_KINDS = [
  "honest",
  "slow",
  "behind",
  "silent",
  "withholdsBodies",
  "oneHeaderAtATime",
  "oneBodyAtATime",
  "noBodies",
  "invalidSeals",
  "gaps",
  "foreignBodies",
  "changedBodies",
  "claimsTheMoon",
  "otherBranch",
  "comesAndGoes",
] as const;
export type PeerKind = (typeof PEER_KINDS)[number];

/** Kinds that break no rule. */
export const BLAMELESS: readonly PeerKind[] = ["honest", "slow", "behind", "comesAndGoes"];

export interface SimulatedPeer extends SyncPeer {
  readonly kind: PeerKind;
  height: bigint;
  isConnected: boolean;
  readonly disconnectDetail: string | undefined;
  readonly openHeaderRequests: number;
  readonly openBodyRequests: number;
  readonly bodiesServed: number;
}

export interface SimulatedPeerParts {
  readonly name: string;
  readonly kind: PeerKind;
  readonly isMaintained: boolean;
  readonly blocks: readonly SimulatedBlock[];
  readonly clock: Clock;
  readonly random: Random;
}

const REQUEST_TIMEOUT_MS = 5_000;
const SERVED_BODIES = 128;
const SERVED_BYTES = 2 * 1024 * 1024;

export function createSimulatedPeer(parts: SimulatedPeerParts): SimulatedPeer {
  return new Peer(parts);
}

class Peer implements SimulatedPeer {
  readonly #parts: SimulatedPeerParts;
  readonly #blocks: readonly SimulatedBlock[];
  readonly #byHash: ReadonlyMap<string, SimulatedBlock>;
  readonly #latencyMs: number;
  readonly #bytesPerMs: number;
  readonly key: string;
  readonly address;
  readonly isMaintained: boolean;
  readonly kind: PeerKind;
  height: bigint;
  isConnected = true;
  disconnectDetail: string | undefined;
  openHeaderRequests = 0;
  openBodyRequests = 0;
  bodiesServed = 0;

  constructor(parts: SimulatedPeerParts) {
    this.#parts = parts;
    const { random, kind, blocks } = parts;
    this.key = `${parts.name} ${kind}`;
    this.kind = kind;
    this.address = asAddress(keccak256(Buffer.from(this.key)).subarray(12));
    this.isMaintained = parts.isMaintained;
    const last = blocks.length - 1;
    this.height = BigInt(kind === "behind" ? random.between(1, last) : last);
    if (kind === "claimsTheMoon") this.height = 10n ** 9n;
    this.#blocks = kind === "otherBranch" ? branchOf(blocks, random.between(1, last), random) : blocks;
    this.#byHash = new Map(this.#blocks.map((block) => [toDigits(block.hash), block]));
    this.#latencyMs = kind === "slow" ? random.between(1_500, 4_500) : random.between(1, 150);
    // A real request lasts while its response arrives, these do not: slower ones never deliver what one request asks for.
    this.#bytesPerMs = random.between(300, 5_000);
  }

  requestHeaders({ start, max }: RangeQuery): Promise<Result<readonly Header[]>> {
    const from = Number(start.number);
    const until = Math.min(from + max, this.kind === "claimsTheMoon" ? from : Number(this.height) + 1);
    const honest = this.#blocks.slice(from, until).map(({ header }) => header);
    this.openHeaderRequests++;
    return this.#answer(this.#headersOf(honest), 600 * honest.length).finally(
      () => void this.openHeaderRequests--,
    );
  }

  requestBodies(hashes: readonly Hash[]): Promise<Result<readonly Body[]>> {
    const found: Body[] = [];
    let bytes = 0;
    for (const hash of hashes.slice(0, SERVED_BODIES)) {
      const block = this.#byHash.get(toDigits(hash));
      if (block === undefined || block.header.number > this.height) continue;
      found.push(block.body);
      bytes += memoryOfBlock({ header: block.header, ...block.body });
      if (bytes >= SERVED_BYTES) break;
    }
    this.openBodyRequests++;
    return this.#answer(this.#bodiesOf(found), bytes).finally(() => void this.openBodyRequests--);
  }

  penalise(): void {}

  disconnect(_: string, detail: string): void {
    this.disconnectDetail ??= detail;
    this.isConnected = false;
  }

  #headersOf(honest: readonly Header[]): readonly Header[] | undefined {
    switch (this.kind) {
      case "silent":
        return undefined;
      case "oneHeaderAtATime":
        return honest.slice(0, 1);
      case "gaps":
        return honest.length > 3 ? honest.toSpliced(2, 1) : honest;
      case "invalidSeals":
        return honest.map((header, index) =>
          index === honest.length - 1 ? withInvalidSeal(header) : header,
        );
      default:
        return honest;
    }
  }

  #bodiesOf(honest: readonly Body[]): readonly Body[] | undefined {
    const { random } = this.#parts;
    switch (this.kind) {
      case "silent":
      case "withholdsBodies":
        return undefined;
      case "noBodies":
        return [];
      case "oneBodyAtATime":
        return honest.slice(0, 1);
      case "foreignBodies":
        return honest.length < 4 ? honest : [...honest, ...this.#blocks.slice(-1).map(({ body }) => body)];
      case "changedBodies":
        return honest.map((body) => ({ ...body, transactions: body.transactions.slice(1) }));
      default:
        // In any order, and sometimes not all.
        return random.chance(0.2) ? honest.slice(0, random.between(1, honest.length)).reverse() : honest;
    }
  }

  /** Undefined is no answer. */
  async #answer<T>(items: readonly T[] | undefined, bytes: number): Promise<Result<readonly T[]>> {
    const { clock } = this.#parts;
    const ms = this.#latencyMs + bytes / this.#bytesPerMs;
    const isLate = items === undefined || ms > REQUEST_TIMEOUT_MS;
    await new Promise<void>((resolve) =>
      clock.at(clock.nowMs() + Math.round(isLate ? REQUEST_TIMEOUT_MS : ms), resolve),
    );
    if (!this.isConnected) return err({ code: "peerGone", fault: "peer", message: "the peer is gone" });
    if (isLate) return err({ code: "timedOut", fault: "peer", message: "no response in time" });
    this.bodiesServed++;
    return ok(items);
  }
}
