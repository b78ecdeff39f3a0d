import { stat } from "node:fs/promises";
import type { Chain } from "../../chain/createChain.ts";
import type { Logger } from "../../observability/logger.ts";
import { equalBytes, toHex } from "../../primitives/hex.ts";
import { err, ok, type Result } from "../../primitives/result.ts";
import { readRlpList } from "../../primitives/rlp.ts";
import { type Block, decodeBlock } from "../../types/block.ts";
import { hashOfHeader } from "../../types/blockHash.ts";
import { decodeHeader, type Header } from "../../types/header.ts";
import { BlockFileError, type RawBlock, readBlockFile } from "./blockFile.ts";
import type { ImportChain } from "./importChain.ts";
import { createProgress, type Progress } from "./progress.ts";

/**
 * `ibex blocks import`: imports blocks one by one from files of concatenated RLP into the chain.
 *
 *     file ──> bytes ──> header ──┬─ known, outside the range ──> compared, skipped
 *                                 └─ new ──> decoded, recovery started ──> waiting ──> validated, executed, committed
 *
 * While a block is executed, the signers of the blocks behind it are recovered on worker threads. The waiting blocks
 * are bounded. The first invalid block ends the import; the blocks before it stay. There is no state beside the chain:
 * importing the same file again skips known blocks by hash and continues.
 */
export interface ImportRequest {
  /** Names as given by the operator, and resolved paths. */
  readonly files: readonly { readonly name: string; readonly path: string }[];
  readonly startBlock: bigint;
  /** Exclusive; undefined for no limit. */
  readonly endBlock: bigint | undefined;
  readonly isTerminal: boolean;
  /** True once a stop was requested. */
  isStopped(): boolean;
}

export interface ImportResult {
  readonly imported: number;
  readonly skipped: number;
  readonly wasStopped: boolean;
}

/** The messages name file, byte, block and reason. */
export type ImportErrorCode = "badFile" | "badBlock" | "otherChain";

export async function importBlocks(
  request: ImportRequest,
  importChain: ImportChain,
  logger: Logger,
): Promise<Result<ImportResult, ImportErrorCode>> {
  const sizes: number[] = [];
  for (const { name, path } of request.files) {
    const size = await sizeOf(path);
    if (size === undefined) return refuse("badFile", `The file ${name} cannot be read.`);
    sizes.push(size);
  }
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const progress = createProgress(
    { message: "importing blocks", total, isTerminal: request.isTerminal },
    logger,
  );
  const run = new ImportRun(request, importChain, progress);
  let before = 0;
  for (const [index, file] of request.files.entries()) {
    const result = await run.importFile(file.name, file.path, before);
    if (!result.ok) return result;
    before += sizes[index] ?? 0;
  }
  await importChain.flush();
  const { head } = importChain.chain;
  logger.info(
    { ...progress.summary(), skipped: run.skipped, number: head.header.number, hash: head.hash },
    request.isStopped() ? "import stopped" : "import finished",
  );
  return ok({ imported: progress.summary().blocks, skipped: run.skipped, wasStopped: request.isStopped() });
}

/** Limits of the waiting blocks, whichever is reached first. */
const WAITING_LIMITS = { blocks: 1024, transactions: 8192, bytes: 32 * 1024 * 1024 };

interface WaitingBlock {
  readonly block: Block;
  readonly raw: RawBlock;
}

class ImportRun {
  skipped = 0;
  private readonly request: ImportRequest;
  private readonly chain: Chain;
  private readonly prefetch: ImportChain["prefetch"];
  private readonly progress: Progress;
  private waiting: WaitingBlock[] = [];
  private load = { transactions: 0, bytes: 0 };

  constructor(request: ImportRequest, { chain, prefetch }: ImportChain, progress: Progress) {
    this.request = request;
    this.chain = chain;
    this.prefetch = prefetch;
    this.progress = progress;
  }

  /** `before` is the size of the files before this one. */
  async importFile(name: string, path: string, before: number): Promise<Result<void, ImportErrorCode>> {
    try {
      for await (const raw of readBlockFile(path)) {
        if (this.request.isStopped()) return ok(undefined);
        const taken = this.skipOrQueue(raw, name, before);
        if (!taken.ok) return await this.afterWaiting(name, before, taken);
        while (this.isFull()) {
          const imported = await this.importNext(name, before);
          if (!imported.ok) return imported;
        }
      }
    } catch (error) {
      if (!(error instanceof BlockFileError)) throw error;
      const message = `${placeOf(name, error.offset)}: ${error.message}.`;
      return this.afterWaiting(name, before, refuse("badFile", message));
    }
    return this.afterWaiting(name, before, ok(undefined));
  }

  /** Skips a block, or queues it and starts the recovery of its signers. */
  private skipOrQueue(raw: RawBlock, name: string, before: number): Result<void, ImportErrorCode> {
    const header = headerOf(raw.bytes);
    if (!header.ok) return malformed(name, raw, header.error.message);
    const { number } = header.value;
    const { startBlock, endBlock } = this.request;
    const skip = (): Result<void, ImportErrorCode> => {
      this.skipped++;
      this.progress.skip({ number, until: before + raw.offset + raw.bytes.length });
      return ok(undefined);
    };
    if (number < startBlock || (endBlock !== undefined && number >= endBlock)) return skip();
    if (number <= this.chain.head.header.number && this.waiting.length === 0) {
      const conflict = this.conflictWithChain(header.value, raw, name);
      return conflict ?? skip();
    }
    const newest = this.waiting.at(-1)?.block.header.number ?? this.chain.head.header.number;
    if (number !== newest + 1n)
      return refuse(
        "badBlock",
        `${placeOf(name, raw.offset)}: block ${number} does not follow block ${newest}.`,
      );
    const block = decodeBlock(raw.bytes);
    if (!block.ok) return malformed(name, raw, block.error.message);
    this.prefetch.begin(block.value);
    this.waiting.push({ block: block.value, raw });
    this.load.transactions += block.value.transactions.length;
    this.load.bytes += raw.bytes.length;
    return ok(undefined);
  }

  /** Undefined when the chain has the same block. */
  private conflictWithChain(
    header: Header,
    raw: RawBlock,
    name: string,
  ): Result<never, ImportErrorCode> | undefined {
    const known = this.chain.headerByNumber(header.number);
    const hash = hashOfHeader(header);
    if (hash.ok && known !== undefined && equalBytes(known.hash, hash.value)) return undefined;
    const [theirs, ours] = [hash.ok ? toHex(hash.value) : "unreadable", known && toHex(known.hash)];
    return refuse(
      "otherChain",
      header.number === 0n
        ? `The file ${name} holds another chain: its genesis block is ${theirs}, that of this network is ${ours}.`
        : `${placeOf(name, raw.offset)}: block ${header.number} is ${theirs}, but the chain has ${ours} there already.`,
    );
  }

  private isFull(): boolean {
    return (
      this.waiting.length >= WAITING_LIMITS.blocks ||
      this.load.transactions >= WAITING_LIMITS.transactions ||
      this.load.bytes >= WAITING_LIMITS.bytes
    );
  }

  /** Imports all waiting blocks, then returns `outcome`. */
  private async afterWaiting(
    name: string,
    before: number,
    result: Result<void, ImportErrorCode>,
  ): Promise<Result<void, ImportErrorCode>> {
    while (this.waiting.length > 0 && !this.request.isStopped()) {
      const imported = await this.importNext(name, before);
      if (!imported.ok) return imported;
    }
    return result;
  }

  private async importNext(name: string, before: number): Promise<Result<void, ImportErrorCode>> {
    const next = this.waiting.shift();
    if (next === undefined) return ok(undefined);
    const { block, raw } = next;
    this.load.transactions -= block.transactions.length;
    this.load.bytes -= raw.bytes.length;
    const imported = await this.chain.importBlock(block);
    if (!imported.ok)
      return refuse("badBlock", this.describeRefusal(block.header, raw, name, imported.error.message));
    this.progress.advance({
      number: block.header.number,
      transactions: block.transactions.length,
      from: before + raw.offset,
      until: before + raw.offset + raw.bytes.length,
    });
    return ok(undefined);
  }

  private describeRefusal(header: Header, raw: RawBlock, name: string, reason: string): string {
    const hash = hashOfHeader(header);
    const named = hash.ok ? ` (${toHex(hash.value)})` : "";
    return (
      `${placeOf(name, raw.offset)}: block ${header.number}${named} is refused: ${reason}. ` +
      `The chain ends with block ${this.chain.head.header.number}.`
    );
  }
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    const status = await stat(path);
    return status.isFile() ? status.size : undefined;
  } catch {
    return undefined;
  }
}

/** Decodes only the header of a block. */
function headerOf(bytes: Uint8Array): Result<Header, "malformedHeader" | "malformedBlock"> {
  try {
    const [header] = readRlpList(bytes);
    if (header !== undefined) return decodeHeader(bytes.subarray(header.start, header.until));
    return err({ code: "malformedBlock", fault: "caller", message: "an empty list is not a block" });
  } catch (error) {
    const message = error instanceof Error ? error.message : "not RLP";
    return err({ code: "malformedBlock", fault: "caller", message });
  }
}

function malformed(name: string, raw: RawBlock, reason: string): Result<never, ImportErrorCode> {
  return refuse("badFile", `${placeOf(name, raw.offset)}: no block can be read: ${reason}.`);
}

function placeOf(name: string, offset: number): string {
  return `${name}, byte ${offset}`;
}

function refuse(code: ImportErrorCode, message: string): Result<never, ImportErrorCode> {
  return err({ code, fault: "caller", message });
}
