import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Result } from "../primitives/result.ts";
import type { Block, Body, NamedHeader } from "../types/block.ts";
import type { Header } from "../types/header.ts";

/** Headers by number, upwards, one after another. */
export interface RangeQuery {
  readonly start: { readonly number: bigint };
  readonly max: number;
  readonly skip: 0;
  readonly isReverse: false;
}

/** A peer to catch up from. Its answers are within the limits of the question; whether they are true is judged here. */
export interface SyncPeer {
  readonly key: string;
  /** Of its node's key: the validator's, if it is one. */
  readonly address: Address;
  /** Number of a block that it should have; undefined while that is unknown. */
  readonly height: bigint | undefined;
  /** One that the operator named: asked before those who came by themselves. */
  readonly isMaintained: boolean;
  requestHeaders(query: RangeQuery): Promise<Result<readonly Header[]>>;
  /** Those it has, in any order. */
  requestBodies(hashes: readonly Hash[]): Promise<Result<readonly Body[]>>;
  penalise(): void;
  disconnect(reason: "breachOfProtocol" | "uselessPeer", detail: string): void;
}

/** The chain that is to grow. */
export interface SyncChain {
  readonly head: NamedHeader;
  headerByHash(hash: Hash): NamedHeader | undefined;
  /** Judges a header on top of the head, seals included. */
  checkNextHeader(header: Header): Promise<Result<unknown>>;
  /** Judges a block on top of the head, executes and commits it; refused when it is unsound or does not follow the head. */
  importBlock(block: Block): Promise<Result<NamedHeader>>;
}

/** A block that a peer says is new. */
export interface OfferedBlock {
  readonly header: Header;
  /** That it takes as long as it waits. */
  readonly bytes: number;
  /** Reading its body takes so long that its header must be judged before. */
  readonly isLong: boolean;
  /** Reads its body: `malformed` is a breach of protocol. */
  open(): Result<Block, "malformed" | "foreignBody">;
  readonly hash: Hash;
  /** Key of the peer. */
  readonly peer: string;
}
