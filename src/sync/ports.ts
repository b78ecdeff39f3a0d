import type { CheckedHeader } from "../chain/bulk/headerRun.ts";
import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { CodedError, Result } from "../primitives/result.ts";
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
  /** True when the operator configured the peer: it is asked before others. */
  readonly isMaintained: boolean;
  requestHeaders(query: RangeQuery): Promise<Result<readonly Header[]>>;
  /** The bodies that it has, in any order, of at most `maxTransactions` each; bounded by the head's gas limit when absent. */
  requestBodies(hashes: readonly Hash[], maxTransactions?: number): Promise<Result<readonly Body[]>>;
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
  /** Validates headers ahead of their bodies, from a block of the chain on. */
  headerRun(from: NamedHeader): HeaderRun;
  /** Begins to recover the senders of a block that will be imported soon. */
  prepareBlock(block: { readonly header: CheckedHeader; readonly body: Body }): PreparedBlock;
  /** Begins a bulk import; nothing else moves the head until it is closed. */
  bulkImport(): Promise<BulkImport>;
}

export interface HeaderRun {
  /** The newest header that passed; at first the block that the run begins after. */
  readonly last: NamedHeader;
  /** Validates the headers that follow `last`, up to the first invalid one. One call at a time. */
  extend(headers: readonly Header[]): Promise<{
    readonly checked: readonly CheckedHeader[];
    /** Why the header after these is invalid, if it is. */
    readonly error?: CodedError;
  }>;
}

/** A block whose senders are being recovered. */
export interface PreparedBlock {
  readonly header: CheckedHeader;
  readonly body: Body;
}

/** Executes blocks ahead of the head, which moves when a group of them is durable. */
export interface BulkImport {
  /** The newest imported block, which may not be durable yet. */
  readonly tip: NamedHeader;
  /** Whether others wait to move the head. */
  readonly isOthersTurn: boolean;
  /** Fails when the block is invalid or does not follow the tip. One call at a time. */
  importBlock(block: PreparedBlock): Promise<Result<NamedHeader>>;
  /** Makes all imported blocks durable, moves the head, and lets others move it again. */
  close(): Promise<void>;
}

/** A block announced by a peer. */
export interface OfferedBlock {
  readonly header: Header;
  /** Memory that the block takes while it waits. */
  readonly bytes: number;
  /** Decodes its body, which may take long: `malformed` is a breach of protocol. */
  open(): Result<Block, "malformed" | "foreignBody">;
  readonly hash: Hash;
  /** Key of the peer. */
  readonly peer: string;
}
