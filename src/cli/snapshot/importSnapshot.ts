import { checkStoredRules } from "../../chain/checkStoredRules.ts";
import { deriveGenesisBlock } from "../../chain/genesisBlock.ts";
import type { Settings } from "../../config/settings.ts";
import { type DataDirectory, openDataDirectory } from "../../node/dataFolder/dataDirectory.ts";
import { type IdentityErrorCode, openIdentity } from "../../node/keys/identity.ts";
import type { Logger } from "../../observability/logger.ts";
import { Progress } from "../../observability/progress.ts";
import { systemClock } from "../../primitives/clock.ts";
import type { Hash } from "../../primitives/hash.ts";
import { equalBytes, toHex } from "../../primitives/hex.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { putState, StateLoader, StateMismatch } from "../../state/stateLoader.ts";
import type { StateRecord } from "../../state/stateRecord.ts";
import { Batch } from "../../storage/batch.ts";
import { BLOCK_STORE_LIMITS, BlockStore } from "../../storage/blocks/blockStore.ts";
import { openChainDatabase } from "../../storage/chainDatabase.ts";
import type { Database } from "../../storage/database.ts";
import { putHistoryStart } from "../../storage/historyStart.ts";
import { finishImport } from "../../storage/schema.ts";
import type { NamedHeader, StoredBlock } from "../../types/block.ts";
import { recoveryItemOf } from "../../types/transactionSignature.ts";
import { RecoveryPool } from "../../workers/recoveryPool.ts";
import { openForImport, removeChain } from "./emptyChainFolder.ts";
import { readKind, readSnapshotBlock } from "./importBlock.ts";
import { importHeaders } from "./importHeaders.ts";
import { ANCESTORS, FIRST_SNAPSHOT } from "./limits.ts";
import { decodeBegin, decodeEnd, readStateItems, type SnapshotBegin, type StateItem } from "./records.ts";
import { openSnapshotFile, SnapshotFileError, type SnapshotReader } from "./snapshotFile.ts";

interface SnapshotImport {
  readonly settings: Settings;
  /** Name as given by the operator, and the resolved path. */
  readonly file: { readonly name: string; readonly path: string };
  /** The block that the operator vouches for. */
  readonly blockHash: Hash;
  readonly logger: Logger;
  isStopped(): boolean;
}

interface ImportedSnapshot {
  readonly block: NamedHeader;
  readonly accounts: number;
  readonly slots: number;
}

type SnapshotImportErrorCode =
  | "badSnapshot"
  | "otherChain"
  | "otherBlock"
  | "notEmpty"
  | "differentGenesis"
  | "unusableDataPath"
  | "diskFailure"
  | IdentityErrorCode;

/**
 * `ibex snapshot import`: makes the chain of an empty data folder from a snapshot (exportSnapshot.ts).
 *
 *   the file's begin -> its genesis and block hash are those given -> the folder is empty, and is marked as unfinished
 *   -> headers by all rules, up to the given hash -> body and receipts against that header
 *   -> the state, built anew -> its root against that header -> one batch: block, head, mark removed
 *
 * Nothing in the file is trusted except what follows from the given hash. Returns undefined when it was stopped; then, and
 * when the file is refused, the folder is left without a chain. A kill leaves the mark, which a node refuses and the next
 * import removes. Throws DiskError and DamagedData.
 */
export async function importSnapshot(
  request: SnapshotImport,
): Promise<Result<ImportedSnapshot | undefined, SnapshotImportErrorCode>> {
  const { name } = request.file;
  try {
    const reader = await openSnapshotFile(request.file.path);
    try {
      return await importFrom(request, reader);
    } finally {
      await reader.close();
    }
  } catch (error) {
    if (!(error instanceof SnapshotFileError || error instanceof StateMismatch)) throw error;
    return fail("caller", "badSnapshot", `The snapshot ${name} is refused: ${error.message}.`);
  }
}

async function importFrom(
  request: SnapshotImport,
  reader: SnapshotReader,
): Promise<Result<ImportedSnapshot | undefined, SnapshotImportErrorCode>> {
  const { settings } = request;
  const genesis = deriveGenesisBlock(settings.chainSpec);
  const begin = decodeBegin(await readKind(reader, "begin"));
  const refused = refusalOf(request, begin, genesis);
  if (refused !== undefined) return refused;
  const directory = openDataDirectory(settings.dataPath);
  if (!directory.ok) return directory;
  // The node key is created, as in blocks import, so that a chain never lacks its node's key.
  const identity = await openIdentity(settings, directory.value, request.logger);
  if (!identity.ok) return identity;
  const opened = await openForImport(directory.value, settings.databaseCacheBytes);
  if (!opened.ok) return opened;
  const database = opened.value;
  let imported: ImportedSnapshot | undefined;
  try {
    imported = await importInto(database, { ...request, genesis, begin }, reader);
  } finally {
    await database.close();
    if (imported === undefined) removeChain(directory.value);
  }
  return imported === undefined ? ok(undefined) : conclude(request, directory.value, imported);
}

function refusalOf(
  { settings, blockHash, file }: SnapshotImport,
  { genesisHash, chainId, number, hash, firstHeader }: SnapshotBegin,
  genesis: StoredBlock,
): Result<never, SnapshotImportErrorCode> | undefined {
  const what = `The snapshot ${file.name}`;
  if (!equalBytes(genesisHash, genesis.hash) || chainId !== settings.chainSpec.chainId)
    return fail(
      "caller",
      "otherChain",
      `${what} is of another chain: its genesis block is ${toHex(genesisHash)} and its chain id ${chainId}, those of ` +
        `the genesis file ${settings.genesisFile} are ${toHex(genesis.hash)} and ${settings.chainSpec.chainId}.`,
    );
  if (!equalBytes(hash, blockHash))
    return fail(
      "caller",
      "otherBlock",
      `${what} is of block ${number} ${toHex(hash)}, but --block-hash says ${toHex(blockHash)}. Ask an operator whom ` +
        "you trust, or a node of yours, for the hash of that block.",
    );
  // With fewer headers the BLOCKHASH instruction would lack some, and this node would refuse valid blocks.
  const hasAncestors = firstHeader === 1n || firstHeader + ANCESTORS <= number;
  if (number < FIRST_SNAPSHOT || firstHeader < 1n || !hasAncestors)
    return fail(
      "caller",
      "badSnapshot",
      `${what} is refused: it names block ${number} and header ${firstHeader}.`,
    );
  return undefined;
}

interface ImportParts extends SnapshotImport {
  readonly genesis: StoredBlock;
  readonly begin: SnapshotBegin;
}

/** Imports into the database; undefined when it was stopped. */
async function importInto(
  database: Database,
  request: ImportParts,
  reader: SnapshotReader,
): Promise<ImportedSnapshot | undefined> {
  const { settings, genesis, begin, blockHash, logger } = request;
  const recovery = new RecoveryPool();
  const clock = systemClock;
  try {
    await writeGenesis(database, genesis);
    const headers = {
      spec: settings.chainSpec,
      genesis,
      database,
      clock,
      recoverSigners: recovery.recoverMany.bind(recovery),
    };
    const header = await importHeaders(headers, begin, reader);
    const { number } = begin;
    if (!equalBytes(header.hash, blockHash))
      throw new SnapshotFileError(`its block ${number} is ${toHex(header.hash)}, not ${toHex(blockHash)}`);
    logger.info({ from: begin.firstHeader, number }, "the headers of the snapshot are valid");
    const block = await readSnapshotBlock(reader, header, {
      clock,
      recoverSenders: (transactions) => recovery.recoverMany(transactions.map(recoveryItemOf)),
    });
    const loader = new StateLoader(database, Number(number) - 1);
    if (!(await loadState(request, reader, loader))) return undefined;
    const record = await finishState(block, loader);
    await writeHead(database, { block, record, firstHeader: begin.firstHeader });
    const { hash, totalDifficulty } = block;
    return {
      block: { header: block.header, hash, totalDifficulty },
      accounts: loader.accounts,
      slots: loader.slots,
    };
  } finally {
    await recovery.close();
  }
}

/** Writes the genesis block in a batch of its own, because a commit record counts the entries of one batch. */
async function writeGenesis(database: Database, genesis: StoredBlock): Promise<void> {
  const batch = new Batch();
  const blocks = new BlockStore(BLOCK_STORE_LIMITS, { database });
  blocks.put(batch, genesis);
  blocks.complete(batch, genesis);
  await database.write(batch);
}

/** Reads the state up to the end of the file; false when it was stopped. */
async function loadState(
  { logger, isStopped }: SnapshotImport,
  reader: SnapshotReader,
  loader: StateLoader,
): Promise<boolean> {
  const progress = new Progress({ message: "importing the state", total: reader.size }, logger);
  try {
    return await readState(reader, loader, progress, isStopped);
  } finally {
    progress.end();
  }
}

async function readState(
  reader: SnapshotReader,
  loader: StateLoader,
  progress: Progress,
  isStopped: () => boolean,
): Promise<boolean> {
  for (;;) {
    const frame = await reader.read();
    if (frame.kind === "end") {
      const { accounts, slots, codes } = decodeEnd(frame);
      if (accounts !== loader.accounts || slots !== loader.slots || codes !== loader.codes)
        throw new SnapshotFileError(
          `it does not have the ${accounts} accounts and ${slots} slots that its end names`,
        );
      reader.expectEnd();
      return true;
    }
    if (frame.kind !== "state")
      throw new SnapshotFileError(
        `a part that does not belong to the state begins at byte ${frame.position}`,
      );
    for (const item of readStateItems(frame)) {
      addItem(loader, item);
      await loader.flushIfFull();
    }
    const { accounts, slots } = loader;
    progress.advance({
      position: frame.position,
      counts: { accounts: accounts - progress.count("accounts") },
      fields: { accounts, slots },
    });
    if (isStopped()) return false;
  }
}

function addItem(loader: StateLoader, item: StateItem): void {
  if (item.kind === "code") loader.addCode(item.code);
  else if (item.kind === "account") loader.addAccount(item);
  else loader.addSlot(item);
}

async function finishState({ header }: StoredBlock, loader: StateLoader): Promise<StateRecord> {
  const record = await loader.finish();
  if (!equalBytes(record.root.hash, header.stateRoot))
    throw new StateMismatch(
      `its state has the root ${toHex(record.root.hash)}, block ${header.number} names ${toHex(header.stateRoot)}`,
    );
  return record;
}

/** Writes the batch that turns the import into a chain. */
async function writeHead(
  database: Database,
  {
    block,
    record,
    firstHeader,
  }: { readonly block: StoredBlock; readonly record: StateRecord; readonly firstHeader: bigint },
): Promise<void> {
  const { number } = block.header;
  const batch = new Batch();
  const blocks = new BlockStore(BLOCK_STORE_LIMITS, { database });
  blocks.put(batch, block);
  putState(batch, Number(number), record);
  putHistoryStart(batch, { headers: firstHeader, blocks: number, states: number });
  finishImport(batch);
  blocks.complete(batch, block);
  await database.write(batch);
}

/** Opens the chain as a node does, which verifies its newest block and records its head, and stores the chain's rules. */
async function conclude(
  { settings }: SnapshotImport,
  { chain, headFile }: DataDirectory,
  imported: ImportedSnapshot,
): Promise<Result<ImportedSnapshot, "differentGenesis">> {
  const stored = await openChainDatabase({ path: chain, headFile });
  try {
    const rules = await checkStoredRules(settings.chainSpec, stored.database, imported.block);
    return rules.ok ? ok(imported) : rules;
  } finally {
    await stored.close();
  }
}
