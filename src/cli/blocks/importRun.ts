import type { BulkImport, PreparedBlock } from "../../chain/bulk/bulkImport.ts";
import type { HeaderRun } from "../../chain/bulk/headerRun.ts";
import type { Chain } from "../../chain/createChain.ts";
import type { Progress } from "../../observability/progress.ts";
import { expectDefined } from "../../primitives/assert.ts";
import { equalBytes, toHex } from "../../primitives/hex.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { readRlpList } from "../../primitives/rlp.ts";
import { type Block, decodeBlock } from "../../types/block.ts";
import { hashOfHeader } from "../../types/blockHash.ts";
import { decodeHeader, type Header } from "../../types/header.ts";
import { BlockFileError, type RawBlock, readBlockFile } from "./blockFile.ts";
import type { ImportChain } from "./importChain.ts";

export interface ImportRequest {
  /** Names as given by the operator, and resolved paths. */
  readonly files: readonly { readonly name: string; readonly path: string }[];
  readonly startBlock: bigint;
  /** End of the range, exclusive; undefined for no limit. */
  readonly endBlock: bigint | undefined;
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

/** Limits of the waiting blocks, whichever is reached first. */
const WAITING_LIMITS = { blocks: 1024, transactions: 8192, bytes: 32 * 1024 * 1024 };
/** Headers that are checked together, so that their seals are recovered together. */
const CHECKED_TOGETHER = 128;

interface WaitingBlock {
  readonly block: Block;
  readonly raw: RawBlock;
}

interface ReadyBlock extends WaitingBlock {
  readonly prepared: PreparedBlock;
}

interface RefusedBlock extends WaitingBlock {
  readonly reason: string;
}

/** A file that is being imported; `before` is the size of the files before it. */
interface SourceFile {
  readonly name: string;
  readonly before: number;
}

/** Imports files one after another; see importBlocks.ts. */
export class ImportRun {
  skipped = 0;
  private readonly request: ImportRequest;
  private readonly chain: Chain;
  private readonly progress: Progress;
  /** Bytes of all files. */
  private readonly total: number;
  /** The bulk import; undefined until the first new block of a file. */
  private bulk: BulkImport | undefined;
  private headers: HeaderRun | undefined;
  /** Blocks whose headers are not checked yet. */
  private waiting: WaitingBlock[] = [];
  /** The check of the previous batch. */
  private checking: Promise<readonly ReadyBlock[]> = Promise.resolve([]);
  /** The block whose header failed its check, after the ready ones. */
  private refused: RefusedBlock | undefined;
  private ready: ReadyBlock[] = [];
  /** Number of the newest block that waits or is imported. */
  private newest = 0n;
  private load = { blocks: 0, transactions: 0, bytes: 0 };

  constructor(
    request: ImportRequest,
    { chain }: ImportChain,
    { progress, total }: { readonly progress: Progress; readonly total: number },
  ) {
    this.request = request;
    this.chain = chain;
    this.progress = progress;
    this.total = total;
  }

  /** `before` is the size of the files before this one. */
  async importFile(name: string, path: string, before: number): Promise<Result<void, ImportErrorCode>> {
    try {
      return await this.readFile({ name, before }, path);
    } finally {
      await this.bulk?.close();
      this.bulk = undefined;
      this.headers = undefined;
    }
  }

  private async readFile(file: SourceFile, path: string): Promise<Result<void, ImportErrorCode>> {
    try {
      for await (const raw of readBlockFile(path)) {
        if (this.request.isStopped()) return ok(undefined);
        const taken = await this.skipOrQueue(raw, file);
        if (!taken.ok) return await this.afterWaiting(file, taken);
        const imported = await this.importSome(file);
        if (!imported.ok) return imported;
      }
    } catch (error) {
      if (!(error instanceof BlockFileError)) throw error;
      const message = `${placeOf(file.name, error.offset)}: ${error.message}.`;
      return this.afterWaiting(file, fail("caller", "badFile", message));
    }
    return this.afterWaiting(file, ok(undefined));
  }

  /** Skips a block, or queues it. */
  private async skipOrQueue(raw: RawBlock, file: SourceFile): Promise<Result<void, ImportErrorCode>> {
    const { name } = file;
    const header = headerOf(raw.bytes);
    if (!header.ok) return malformed(name, raw, header.error.message);
    const { number } = header.value;
    const { startBlock, endBlock } = this.request;
    const skip = (): Result<void, ImportErrorCode> => {
      this.skipped++;
      // Known blocks cost almost nothing, and say nothing about the speed of the others.
      this.progress.change({ message: "skipping known blocks", total: this.total });
      this.progress.advance({ position: file.before + raw.offset + raw.bytes.length, fields: { number } });
      return ok(undefined);
    };
    if (number < startBlock || (endBlock !== undefined && number >= endBlock)) return skip();
    if (this.bulk === undefined && number <= this.chain.head.header.number)
      return this.conflictWithChain(header.value, raw, name) ?? skip();
    const newest = this.bulk === undefined ? this.chain.head.header.number : this.newest;
    if (number !== newest + 1n)
      return fail(
        "caller",
        "badBlock",
        `${placeOf(name, raw.offset)}: block ${number} does not follow block ${newest}.`,
      );
    const block = decodeBlock(raw.bytes);
    if (!block.ok) return malformed(name, raw, block.error.message);
    this.bulk ??= await this.chain.bulkImport();
    this.newest = number;
    this.waiting.push({ block: block.value, raw });
    this.addLoad(block.value, raw, 1);
    return ok(undefined);
  }

  /** The conflict of a block with the chain; undefined when the chain has the same block. */
  private conflictWithChain(
    header: Header,
    raw: RawBlock,
    name: string,
  ): Result<never, ImportErrorCode> | undefined {
    const known = this.chain.headerByNumber(header.number);
    const hash = hashOfHeader(header);
    if (hash.ok && known !== undefined && equalBytes(known.hash, hash.value)) return undefined;
    const [theirs, ours] = [hash.ok ? toHex(hash.value) : "unreadable", known && toHex(known.hash)];
    return fail(
      "caller",
      "otherChain",
      header.number === 0n
        ? `The file ${name} contains another chain: its genesis block is ${theirs}, that of this network is ${ours}.`
        : `${placeOf(name, raw.offset)}: block ${header.number} is ${theirs}, but the chain has ${ours} there already.`,
    );
  }

  /** Begins a check when a batch waits, and imports blocks while too many wait. */
  private async importSome(file: SourceFile): Promise<Result<void, ImportErrorCode>> {
    if (this.waiting.length >= CHECKED_TOGETHER) await this.beginCheck();
    while (this.isFull()) {
      const imported = await this.importNext(file);
      if (!imported.ok) return imported;
    }
    return ok(undefined);
  }

  private isFull(): boolean {
    const { blocks, transactions, bytes } = this.load;
    return (
      blocks >= WAITING_LIMITS.blocks ||
      transactions >= WAITING_LIMITS.transactions ||
      bytes >= WAITING_LIMITS.bytes
    );
  }

  /** Takes over the blocks that pass the check in progress, and begins to check the waiting headers. */
  private async beginCheck(): Promise<void> {
    this.ready.push(...(await this.checking));
    this.checking = this.refused === undefined ? this.check(this.waiting) : Promise.resolve([]);
    this.waiting = [];
  }

  private async check(batch: readonly WaitingBlock[]): Promise<readonly ReadyBlock[]> {
    const { bulk } = this;
    if (batch.length === 0 || bulk === undefined) return [];
    this.headers ??= this.chain.headerRun(bulk.tip);
    const { checked, error } = await this.headers.extend(batch.map(({ block }) => block.header));
    const first = batch[checked.length];
    if (error !== undefined && first !== undefined) this.refused = { ...first, reason: error.message };
    return checked.map((header, index) => {
      const waiting = expectDefined(batch[index], "the block of a header");
      const { transactions, ommers, withdrawals } = waiting.block;
      const body = { transactions, ommers, ...(withdrawals !== undefined && { withdrawals }) };
      return { ...waiting, prepared: this.chain.prepareBlock({ header, body }) };
    });
  }

  /** Imports all waiting blocks, then returns `outcome`. */
  private async afterWaiting(
    file: SourceFile,
    outcome: Result<void, ImportErrorCode>,
  ): Promise<Result<void, ImportErrorCode>> {
    while (this.load.blocks > 0 && !this.request.isStopped()) {
      const imported = await this.importNext(file);
      if (!imported.ok) return imported;
    }
    return outcome;
  }

  private async importNext({ name, before }: SourceFile): Promise<Result<void, ImportErrorCode>> {
    while (this.ready.length === 0 && this.load.blocks > 0 && this.refused === undefined)
      await this.beginCheck();
    const next = this.ready.shift();
    if (next === undefined)
      return this.refused === undefined ? ok(undefined) : this.refuseBlock(name, this.refused);
    const { block, raw, prepared } = next;
    this.addLoad(block, raw, -1);
    const imported = await expectDefined(this.bulk, "an import in progress").importBlock(prepared);
    if (!imported.ok) return this.refuseBlock(name, { block, raw, reason: imported.error.message });
    this.progress.change({ message: "importing blocks", total: this.total });
    this.progress.advance({
      position: before + raw.offset + raw.bytes.length,
      counts: { blocks: 1, transactions: block.transactions.length },
      fields: { number: block.header.number },
    });
    return ok(undefined);
  }

  private addLoad({ transactions }: Block, { bytes }: RawBlock, sign: 1 | -1): void {
    this.load.blocks += sign;
    this.load.transactions += sign * transactions.length;
    this.load.bytes += sign * bytes.length;
  }

  private refuseBlock(name: string, { block, raw, reason }: RefusedBlock): Result<never, ImportErrorCode> {
    const hash = hashOfHeader(block.header);
    const named = hash.ok ? ` (${toHex(hash.value)})` : "";
    return fail(
      "caller",
      "badBlock",
      `${placeOf(name, raw.offset)}: block ${block.header.number}${named} is refused: ${reason}. ` +
        `The chain ends with block ${this.bulk?.tip.header.number ?? this.chain.head.header.number}.`,
    );
  }
}

/** Decodes only the header of a block. */
function headerOf(bytes: Uint8Array): Result<Header, "malformedHeader" | "malformedBlock"> {
  try {
    const [header] = readRlpList(bytes);
    if (header !== undefined) return decodeHeader(bytes.subarray(header.start, header.until));
    return fail("caller", "malformedBlock", "an empty list is not a block");
  } catch (error) {
    const message = error instanceof Error ? error.message : "not RLP";
    return fail("caller", "malformedBlock", message);
  }
}

function malformed(name: string, raw: RawBlock, reason: string): Result<never, ImportErrorCode> {
  return fail("caller", "badFile", `${placeOf(name, raw.offset)}: no block can be read: ${reason}.`);
}

function placeOf(name: string, offset: number): string {
  return `${name}, byte ${offset}`;
}
