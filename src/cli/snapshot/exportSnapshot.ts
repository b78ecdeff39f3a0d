import type { ChainSpec } from "../../chainspec/chainSpec.ts";
import { isEpochBlock } from "../../ibft/validatorVotes.ts";
import type { Logger } from "../../observability/logger.ts";
import { Progress } from "../../observability/progress.ts";
import { expectDefined } from "../../primitives/assert.ts";
import { toKey } from "../../primitives/byteKey.ts";
import { EMPTY_CODE_HASH, type Hash } from "../../primitives/hash.ts";
import { equalBytes, toHex } from "../../primitives/hex.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { CodeReader } from "../../state/codeReader.ts";
import { stateLeaves } from "../../state/stateLeaves.ts";
import type { BlockStore } from "../../storage/blocks/blockStore.ts";
import { RecordWriter } from "../../storage/blocks/byteRecord.ts";
import type { Database } from "../../storage/database.ts";
import { readHistoryStart } from "../../storage/historyStart.ts";
import { encodeBlock, type NamedHeader, type StoredBlock } from "../../types/block.ts";
import { encodeHeader } from "../../types/header.ts";
import { encodeReceipt } from "../../types/receipt.ts";
import {
  ANCESTORS,
  FIRST_SNAPSHOT,
  HEADERS_PER_FRAME,
  REMEMBERED_CODES,
  STATE_FRAME_BYTES,
} from "./limits.ts";
import { encodeBegin, encodeEnd, encodeItems, type StateItem, writeStateItem } from "./records.ts";
import { createSnapshotFile, type SnapshotWriter } from "./snapshotFile.ts";

interface SnapshotExport {
  readonly spec: ChainSpec;
  readonly database: Database;
  readonly blocks: BlockStore;
  /** Number of the block whose state is exported. */
  readonly number: bigint;
  /** File to write; it must not be in use by others. */
  readonly path: string;
  readonly logger: Logger;
  isStopped(): boolean;
}

interface ExportedSnapshot {
  readonly block: NamedHeader;
  readonly accounts: number;
  readonly slots: number;
  readonly bytes: number;
}

/** `tooEarly`: no snapshot of that block is possible or useful; `notStored`: this node lacks the block or its state. */
type ExportErrorCode = "tooEarly" | "notStored";

/**
 * `ibex snapshot export`: writes a file from which `ibex snapshot import` recreates the same state (snapshotFile.ts):
 *
 *   begin -> headers from the last epoch block that has 256 blocks after it -> the block and its receipts
 *   -> the state in the order of its tries, with code -> end
 *
 * Every trie node read is verified against its hash. Returns undefined when it was stopped. Throws errors of the file
 * system, DiskError and DamagedData.
 */
export async function exportSnapshot(
  request: SnapshotExport,
): Promise<Result<ExportedSnapshot | undefined, ExportErrorCode>> {
  const { spec, database, blocks, number, path } = request;
  if (number < FIRST_SNAPSHOT)
    return fail(
      "caller",
      "tooEarly",
      `A snapshot of block ${number} would save nothing: let the node fetch the chain.`,
    );
  const { states } = readHistoryStart(database);
  const block = number < states ? undefined : blocks.block(number);
  if (block === undefined)
    return fail(
      "caller",
      "notStored",
      `This node does not have the state of block ${number}: ${number < states ? `it has those from block ${states} on` : "it does not have the block yet"}.`,
    );
  const genesis = expectDefined(blocks.header(0n), "the genesis block");
  const firstHeader = firstHeaderOf(spec, number);
  if (blocks.header(firstHeader) === undefined)
    return fail("caller", "notStored", `This node does not have the headers from block ${firstHeader} on.`);
  const { chainId } = spec;
  const writer = await createSnapshotFile(path);
  try {
    await writer.write(
      "begin",
      encodeBegin({ genesisHash: genesis.hash, chainId, number, hash: block.hash, firstHeader }),
    );
    await writeHeaders(writer, blocks, firstHeader, number);
    await writer.write("block", encodeBlock(block));
    await writer.write("receipts", encodeItems(block.receipts.map(encodeReceipt)));
    const counts = await writeState(request, block, writer);
    if (counts === undefined) {
      await writer.abandon();
      return ok(undefined);
    }
    await writer.write("end", encodeEnd(counts));
    const bytes = await writer.finish();
    return ok({ block, ...counts, bytes });
  } catch (error) {
    await writer.abandon();
    throw error;
  }
}

/** The last epoch block that has all blocks that BLOCKHASH can reach after it; block 1 if there is none but genesis. */
function firstHeaderOf({ ibft }: Pick<ChainSpec, "ibft">, number: bigint): bigint {
  for (let first = number - ANCESTORS; first > 1n; first--) if (isEpochBlock(ibft, first)) return first;
  return 1n;
}

async function writeHeaders(
  writer: SnapshotWriter,
  blocks: BlockStore,
  first: bigint,
  last: bigint,
): Promise<void> {
  let headers: Uint8Array[] = [];
  for (let number = first; number <= last; number++) {
    headers.push(encodeHeader(expectDefined(blocks.header(number), `header ${number}`).header));
    if (headers.length < HEADERS_PER_FRAME && number < last) continue;
    await writer.write("headers", encodeItems(headers));
    headers = [];
  }
}

interface Counts {
  readonly accounts: number;
  readonly slots: number;
  readonly codes: number;
}

/** Writes the state; undefined when it was stopped. */
async function writeState(
  { database, logger, isStopped }: SnapshotExport,
  { header }: StoredBlock,
  writer: SnapshotWriter,
): Promise<Counts | undefined> {
  const progress = new Progress({ message: "exporting the state", total: HASHES }, logger);
  const items = new StateWriter(writer, progress, isStopped);
  const codes = new CodeReader(database, CODE_CACHE_BYTES);
  const written = new Set<string>();
  try {
    for (const { slots, ...account } of stateLeaves(database, Number(header.number))) {
      const { codeHash } = account.account;
      items.position = firstBytesOf(account.hash);
      if (isNewCode(codeHash, written)) await items.add({ kind: "code", code: codes.code(codeHash) });
      await items.add({ kind: "account", ...account });
      for (const slot of slots) {
        await items.add({ kind: "slot", ...slot });
        if (items.isStopped) return undefined;
      }
      if (items.isStopped) return undefined;
    }
    await items.flush();
    return items.isStopped ? undefined : items.counts;
  } finally {
    progress.end();
  }
}

/** Accounts come in the order of their hashes, which are spread evenly: the first bytes of one tell how far the state is. */
const HASHES = 2 ** 32;

function firstBytesOf(hash: Hash): number {
  return Buffer.from(hash.buffer, hash.byteOffset, hash.length).readUInt32BE(0);
}

const CODE_CACHE_BYTES = 1024 * 1024;

function isNewCode(codeHash: Hash, written: Set<string>): boolean {
  if (equalBytes(codeHash, EMPTY_CODE_HASH)) return false;
  const key = toKey(codeHash);
  if (written.has(key)) return false;
  if (written.size >= REMEMBERED_CODES) written.clear();
  written.add(key);
  return true;
}

/** Gathers items into frames. */
class StateWriter {
  readonly counts = { accounts: 0, slots: 0, codes: 0 };
  /** Whether a stop was requested; checked once per frame. */
  isStopped = false;
  private readonly writer: SnapshotWriter;
  /** How far the accounts are, in HASHES. */
  position = 0;
  private readonly progress: Progress;
  private readonly askStopped: () => boolean;
  private record = new RecordWriter(STATE_FRAME_BYTES);
  private bytes = 0;

  constructor(writer: SnapshotWriter, progress: Progress, askStopped: () => boolean) {
    this.writer = writer;
    this.progress = progress;
    this.askStopped = askStopped;
  }

  /** Returns a promise only when a frame was full, because there are millions of items. */
  add(item: StateItem): Promise<void> | undefined {
    writeStateItem(this.record, item);
    this.bytes += item.kind === "code" ? item.code.length : ITEM_BYTES;
    this.counts[COUNTED[item.kind]]++;
    return this.bytes >= STATE_FRAME_BYTES ? this.flush() : undefined;
  }

  async flush(): Promise<void> {
    const payload = this.record.finish();
    this.record = new RecordWriter(STATE_FRAME_BYTES);
    this.bytes = 0;
    if (payload.length > 0) await this.writer.write("state", payload);
    const { accounts, slots } = this.counts;
    this.progress.advance({
      position: this.position,
      counts: { accounts: accounts - this.progress.count("accounts") },
      fields: { accounts, slots },
    });
    this.isStopped = this.askStopped();
  }
}

/** Approximate bytes of an account or a slot. */
const ITEM_BYTES = 64;

const COUNTED = { code: "codes", account: "accounts", slot: "slots" } as const;

/** The fields of a finished export's log line. */
export function exportFields({ block, accounts, slots, bytes }: ExportedSnapshot, file: string) {
  return { number: block.header.number, hash: toHex(block.hash), accounts, slots, bytes, file };
}
