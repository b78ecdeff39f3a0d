import { HeaderRun } from "../../chain/bulk/headerRun.ts";
import { decodeAndHash } from "../../chain/headerValidator.ts";
import type { RecoverSigners } from "../../chain/signerRecovery.ts";
import { isSnapshotBlock, putTallySnapshot } from "../../chain/tallySnapshot.ts";
import type { ChainSpec } from "../../chainspec/chainSpec.ts";
import { checkSealers } from "../../ibft/sealRules.ts";
import { isEpochBlock, tallyAfterEpoch, tallyOf, type VoteTally } from "../../ibft/validatorVotes.ts";
import { expectDefined } from "../../primitives/assert.ts";
import type { Clock } from "../../primitives/clock.ts";
import { SignedDigest } from "../../primitives/recoveryBatch.ts";
import { Batch } from "../../storage/batch.ts";
import { putHeaderAlone } from "../../storage/blocks/headerStore.ts";
import type { Database } from "../../storage/database.ts";
import type { NamedHeader, StoredBlock } from "../../types/block.ts";
import { sealDigest } from "../../types/blockHash.ts";
import { decodeExtraData } from "../../types/extraData.ts";
import { decodeHeader, type Header } from "../../types/header.ts";
import { decodeItems, type SnapshotBegin } from "./records.ts";
import { SnapshotFileError, type SnapshotReader } from "./snapshotFile.ts";

interface HeaderImport {
  readonly spec: ChainSpec;
  readonly genesis: StoredBlock;
  readonly database: Database;
  readonly clock: Pick<Clock, "nowMs">;
  readonly recoverSigners: RecoverSigners;
}

type ImportedHeader = NamedHeader & { readonly tally: VoteTally };

/**
 * Checks the headers of a snapshot by all rules, seals and validator sets included, and stores them; returns the last one,
 * of the snapshot's block, which is not stored yet. The first is an epoch block, which names the validators from there on;
 * that it belongs to the chain is proved once the last header has the hash that the operator gave. Throws SnapshotFileError.
 */
export async function importHeaders(
  request: HeaderImport,
  begin: SnapshotBegin,
  reader: SnapshotReader,
): Promise<ImportedHeader> {
  let waiting = await readHeaders(reader);
  let last: ImportedHeader = genesisWithTally(request);
  const firstHeader = expectDefined(waiting[0], "a frame with headers");
  if (begin.firstHeader > 1n) {
    last = await firstOf(request, begin, firstHeader);
    await store(request.database, [last]);
    waiting = waiting.slice(1);
  }
  const run = new HeaderRun(last, request);
  for (;;) {
    const { checked, error } = await run.extend(waiting);
    if (error !== undefined)
      throw new SnapshotFileError(`block ${run.last.header.number + 1n} is invalid: ${error.message}`);
    last = checked.at(-1) ?? last;
    if (last.header.number >= begin.number) {
      await store(request.database, checked.slice(0, -1), last);
      break;
    }
    await store(request.database, checked);
    waiting = await readHeaders(reader);
  }
  if (last.header.number !== begin.number)
    throw new SnapshotFileError(
      `its headers continue to block ${last.header.number}, but it is for ${begin.number}`,
    );
  return last;
}

async function readHeaders(reader: SnapshotReader): Promise<readonly Header[]> {
  const frame = await reader.read();
  if (frame.kind !== "headers")
    throw new SnapshotFileError(`headers are missing at byte ${frame.position}: another part begins there`);
  const headers = decodeItems(frame).map((bytes) => {
    const header = decodeHeader(Uint8Array.from(bytes));
    if (!header.ok)
      throw new SnapshotFileError(
        `the part that begins at byte ${frame.position} is malformed: ${header.error.message}`,
      );
    return header.value;
  });
  if (headers.length === 0)
    throw new SnapshotFileError(`the part that begins at byte ${frame.position} has no header`);
  return headers;
}

function genesisWithTally({ spec, genesis }: HeaderImport): ImportedHeader {
  const extra = decodeExtraData(genesis.header.extraData);
  const { header, hash, totalDifficulty } = genesis;
  const tally = extra.ok ? tallyAfterEpoch({ header, extra: extra.value }, spec.ibft) : tallyOf([]);
  return { header, hash, totalDifficulty, tally };
}

/** The first header, whose parent is not in the snapshot. Every difficulty is 1, so the total follows from the number. */
async function firstOf(
  { spec, genesis, recoverSigners }: HeaderImport,
  begin: SnapshotBegin,
  header: Header,
): Promise<ImportedHeader> {
  const what = `block ${header.number}, the first in the snapshot,`;
  if (header.number !== begin.firstHeader || !isEpochBlock(spec.ibft, header.number))
    throw new SnapshotFileError(`${what} is not the epoch block with which headers must begin`);
  const decoded = decodeAndHash(header);
  if (!decoded.ok) throw new SnapshotFileError(`${what} is invalid: ${decoded.error.message}`);
  const { extra, hash } = decoded.value;
  const digest = sealDigest(header, extra);
  const seals = extra.seals.slice(0, extra.validators.length + 1);
  const sealers = await recoverSigners(seals.map((signature) => new SignedDigest(digest, signature)));
  const sealed = checkSealers(sealers, extra.validators);
  if (!sealed.ok) throw new SnapshotFileError(`${what} is invalid: ${sealed.error.message}`);
  const totalDifficulty = genesis.totalDifficulty + header.number;
  return { header, hash, totalDifficulty, tally: tallyAfterEpoch({ header, extra }, spec.ibft) };
}

/** Stores headers with their tallies, and the tally of `alsoTally`, whose header is stored with its block. */
async function store(
  database: Database,
  headers: readonly ImportedHeader[],
  alsoTally?: ImportedHeader,
): Promise<void> {
  const batch = new Batch();
  for (const header of headers) {
    putHeaderAlone(batch, header);
    putTally(batch, header);
  }
  if (alsoTally !== undefined) putTally(batch, alsoTally);
  await database.write(batch);
}

function putTally(batch: Batch, { header: { number }, hash, tally }: ImportedHeader): void {
  if (isSnapshotBlock(number)) putTallySnapshot(batch, { number, hash }, tally);
}
