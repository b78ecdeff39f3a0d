import { expect } from "vitest";
import type { CheckedHeader } from "../../src/chain/bulk/headerRun.ts";
import { type Logger, silentLogger } from "../../src/observability/logger.ts";
import { type Address, asAddress } from "../../src/primitives/address.ts";
import { keccak256 } from "../../src/primitives/hash.ts";
import { equalBytes, toDigits } from "../../src/primitives/hex.ts";
import { type CodedError, err, ok, type Result } from "../../src/primitives/result.ts";
import type { RangeQuery, SyncChain, SyncPeer } from "../../src/sync/ports.ts";
import { createSync, type Sync } from "../../src/sync/sync.ts";
import type { Block, Body, NamedHeader } from "../../src/types/block.ts";
import type { Header } from "../../src/types/header.ts";
import { rootOfList } from "../../src/types/listRoot.ts";
import { createHandClock, type HandClock } from "../builders/handClock.ts";
import { type RecordedChain, recordedChain } from "../builders/recordedChain.ts";

/** A peer with a recorded chain, whose responses a test may corrupt. */
export interface ToyPeer extends SyncPeer {
  height: bigint | undefined;
  readonly headerRequests: RangeQuery[];
  readonly bodyRequests: number[];
  readonly disconnectDetail: string | undefined;
  readonly penalties: number;
}

export interface ToyPeerBehaviour {
  readonly headers: (
    honest: readonly Header[],
  ) => Result<readonly Header[]> | Promise<Result<readonly Header[]>>;
  readonly bodies: (honest: readonly Body[]) => Result<readonly Body[]> | Promise<Result<readonly Body[]>>;
}

export const silence: Result<never> = err({
  code: "timedOut",
  fault: "peer",
  message: "no response in time",
});

export function aPeer(
  key: string,
  source: RecordedChain,
  {
    headers = ok,
    bodies = ok,
    height,
    isMaintained = false,
  }: Partial<ToyPeerBehaviour> & { readonly height?: bigint; readonly isMaintained?: boolean } = {},
): ToyPeer {
  let disconnectDetail: string | undefined;
  let penalties = 0;
  const headerRequests: RangeQuery[] = [];
  const bodyRequests: number[] = [];
  return {
    key,
    address: asAddress(keccak256(Buffer.from(key)).subarray(12)),
    height: height ?? source.head.header.number,
    isMaintained,
    headerRequests,
    bodyRequests,
    get disconnectDetail() {
      return disconnectDetail;
    },
    get penalties() {
      return penalties;
    },
    async requestHeaders(query) {
      headerRequests.push(query);
      const from = Number(query.start.number);
      return headers(source.blocks.slice(from, from + query.max).map(({ header }) => header));
    },
    async requestBodies(hashes) {
      bodyRequests.push(hashes.length);
      const found = hashes.flatMap((hash) => source.blockByHash(hash) ?? []);
      return bodies(found.map(({ transactions, ommers }) => ({ transactions, ommers })));
    },
    penalise() {
      penalties++;
    },
    disconnect(_, detail) {
      disconnectDetail = detail;
    },
  };
}

export interface ToyNode {
  readonly sync: Sync;
  readonly clock: HandClock;
  /** Moves the head as consensus does. */
  moveHead(number: number): void;
  readonly head: NamedHeader;
  readonly imported: bigint[];
  /** What peers did in vain. */
  readonly refused: string[];
  /** What the steps of bulk downloads took in and were done with. */
  readonly processed: Readonly<Record<string, number>>;
  /** Its connected peers. */
  peers: ToyPeer[];
  /** Blocks that were relayed, with the head's number at that time. */
  readonly relayed: readonly { readonly number: bigint; readonly head: bigint }[];
  /** Makes the import of these blocks fail. */
  refuse: (block: Block) => Result<never> | undefined;
  settle(): Promise<void>;
}

/** A node whose chain is the recorded one up to `head`; it accepts only the recorded blocks. */
export function aNode(
  source: RecordedChain,
  head: number,
  {
    validators = [],
    logger = silentLogger,
    groupBlocks = 1,
  }: {
    readonly validators?: readonly Address[];
    readonly logger?: Logger;
    /** Blocks of a bulk import that become the head together. */
    readonly groupBlocks?: number;
  } = {},
): ToyNode {
  const clock = createHandClock(1_000_000);
  let number = head;
  let isBulkOpen = false;
  const imported: bigint[] = [];
  const relayed: { number: bigint; head: bigint }[] = [];
  const refused: string[] = [];
  const processed: Record<string, number> = {};
  const known = new Map(source.blocks.map((block) => [toDigits(block.hash), block]));
  const headerAt = (at: number): NamedHeader => {
    const header = source.headerByNumber(BigInt(at));
    if (header === undefined) throw new Error("no such block");
    return header;
  };
  const chain: SyncChain = {
    get head() {
      return headerAt(number);
    },
    headerByHash(hash) {
      const block = known.get(toDigits(hash));
      return block === undefined || block.header.number > BigInt(number) ? undefined : block;
    },
    async checkNextHeader(header) {
      const isValid = equalBytes(
        header.stateRoot,
        source.blocks[number + 1]?.header.stateRoot ?? header.stateRoot,
      );
      return isValid ? ok(undefined) : err({ code: "wrongValidators", fault: "peer", message: "invalid" });
    },
    async importBlock(block) {
      const result = await importOn(number, block);
      if (!result.ok) return result;
      number++;
      return ok(headerAt(number));
    },
    headerRun(from) {
      let last = from;
      return {
        get last() {
          return last;
        },
        async extend(headers) {
          const checked: CheckedHeader[] = [];
          for (const header of headers) {
            const error = headerError(header, last);
            if (error !== undefined) return { checked, error };
            last = headerAt(Number(header.number));
            checked.push({ ...last, header } as CheckedHeader);
          }
          return { checked };
        },
      };
    },
    prepareBlock: (block) => block,
    async bulkImport() {
      expect(isBulkOpen, "one bulk import at a time").toBe(false);
      isBulkOpen = true;
      let tip = number;
      return {
        get tip() {
          return headerAt(tip);
        },
        isOthersTurn: false,
        async importBlock({ header: { header }, body }) {
          const imported = await importOn(tip, { header, ...body });
          if (!imported.ok) return imported;
          tip++;
          if (tip - number >= groupBlocks) number = tip;
          return ok(headerAt(tip));
        },
        async close() {
          number = tip;
          isBulkOpen = false;
        },
      };
    },
  };
  async function importOn(at: number, block: Block): Promise<Result<void>> {
    const { header, transactions } = block;
    const refusal = node.refuse(block);
    if (refusal !== undefined) return refusal;
    if (header.number !== BigInt(at + 1) || !equalBytes(header.parentHash, headerAt(at).hash))
      return err({ code: "notAfterHead", fault: "local", message: "it does not follow the head" });
    const isComplete = equalBytes(rootOfList(transactions.map(({ raw }) => raw)), header.transactionsRoot);
    const isValid =
      isComplete && equalBytes(header.stateRoot, source.blocks[at + 1]?.header.stateRoot ?? header.stateRoot);
    if (!isValid) return err({ code: "wrongStateRoot", fault: "peer", message: "invalid" });
    imported.push(header.number);
    return ok(undefined);
  }
  /** The rules of a toy: a header is that of the recorded chain. */
  function headerError(header: Header, last: NamedHeader): CodedError | undefined {
    const refuse = (code: string): CodedError => ({ code, fault: "peer", message: "invalid" });
    if (!equalBytes(header.parentHash, last.hash)) return refuse("wrongParent");
    if (header.number !== last.header.number + 1n) return refuse("wrongNumber");
    const recorded = source.headerByNumber(header.number)?.header;
    const isRecorded =
      recorded !== undefined &&
      equalBytes(header.stateRoot, recorded.stateRoot) &&
      equalBytes(header.transactionsRoot, recorded.transactionsRoot);
    return isRecorded ? undefined : refuse("sealerNotValidator");
  }
  const node: ToyNode = {
    sync: createSync({
      peers: () => node.peers.filter(({ disconnectDetail }) => disconnectDetail === undefined),
      chain,
      isValidator: (address) => validators.some((validator) => equalBytes(validator, address)),
      clock,
      logger,
      onRefused: (reason) => void refused.push(reason),
      onProcessed(step, action, count) {
        processed[`${step} ${action}`] = (processed[`${step} ${action}`] ?? 0) + count;
      },
      relay: ({ header }) => void relayed.push({ number: header.number, head: chain.head.header.number }),
    }),
    clock,
    moveHead(to) {
      number = to;
    },
    get head() {
      return chain.head;
    },
    imported,
    relayed,
    refused,
    processed,
    peers: [],
    refuse: () => undefined,
    // A macrotask after all immediate responses.
    settle: () => new Promise((resolve) => setImmediate(() => setImmediate(resolve))),
  };
  return node;
}

export const aRecordedChain = (): RecordedChain => recordedChain("net2");
