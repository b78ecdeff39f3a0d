import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Result } from "../primitives/result.ts";
import type { Block, Body, NamedHeader } from "../types/block.ts";
import type { Header } from "../types/header.ts";

/** A query for consecutive headers, by ascending number. */
export interface RangeQuery {
  readonly start: { readonly number: bigint };
  readonly max: number;
  readonly skip: 0;
  readonly isReverse: false;
}

/** A peer to sync from. Its responses are within the limits of the request; whether they are valid is checked here. */
export interface SyncPeer {
  readonly key: string;
  /** Address of the node key; the validator's address, if it is a validator. */
  readonly address: Address;
  /** Highest block that it should have; undefined while unknown. */
  readonly height: bigint | undefined;
  /** Configured by the operator: asked before other peers. */
  readonly isMaintained: boolean;
  requestHeaders(query: RangeQuery): Promise<Result<readonly Header[]>>;
  /** The bodies that it has, in any order. */
  requestBodies(hashes: readonly Hash[]): Promise<Result<readonly Body[]>>;
  penalise(): void;
  disconnect(reason: "breachOfProtocol" | "uselessPeer", detail: string): void;
}

/** The local chain. */
export interface SyncChain {
  readonly head: NamedHeader;
  headerByHash(hash: Hash): NamedHeader | undefined;
  /** Validates a header on top of the head, seals included. */
  checkNextHeader(header: Header): Promise<Result<unknown>>;
  /**
   * Validates a block on top of the head, executes and commits it; fails when it is invalid or does not follow the
   * head.
   */
  importBlock(block: Block): Promise<Result<NamedHeader>>;
}

/** A block announced by a peer. */
export interface OfferedBlock {
  readonly header: Header;
  /** Memory that it takes while it waits. */
  readonly bytes: number;
  /** Decoding its body takes so long that its header must be validated before. */
  readonly isLong: boolean;
  /** Decodes its body: `malformed` is a breach of protocol. */
  open(): Result<Block, "malformed" | "foreignBody">;
  readonly hash: Hash;
  /** Key of the peer. */
  readonly peer: string;
}
