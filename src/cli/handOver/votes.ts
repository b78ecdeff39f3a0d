import { existsSync, rmSync } from "node:fs";
import { decodeLastSigned } from "../../ibft/lastSigned.ts";
import type { Address } from "../../primitives/address.ts";
import { equalBytes } from "../../primitives/hex.ts";
import { DamagedData } from "../../storage/database.ts";
import { openVoteLog, setVoteLogAside } from "../../storage/votes/voteLog.ts";
import { votesOwner } from "../../storage/votes/votesOwner.ts";
import { freeName } from "../freeName.ts";

/**
 * The newest record of a stopped node's vote log, checked; undefined when there is none of this validator. Throws DamagedData
 * and DiskError.
 */
export async function readVotes(voteFile: string, validator: Address): Promise<Uint8Array | undefined> {
  if (!existsSync(voteFile)) return undefined;
  const owner = votesOwner(voteFile);
  if (owner !== undefined && !equalBytes(owner, validator)) return undefined;
  const bytes = await newestRecord(voteFile);
  if (bytes === undefined) return undefined;
  const record = decodeLastSigned(bytes);
  if (record.ok) return bytes;
  throw new DamagedData(`The vote log ${voteFile} is unusable: ${record.error.message}.`);
}

/**
 * Gives the folder a vote log with just this record, or none, durably; repeating it changes nothing. An existing different
 * one is kept under `copy`, or a similar name. Throws DiskError.
 */
export async function replaceVotes(
  voteFile: string,
  record: Uint8Array | undefined,
  copy: string,
): Promise<void> {
  if (existsSync(voteFile)) {
    if (record !== undefined && (await isNewest(voteFile, record))) return;
    setVoteLogAside(voteFile, freeName(copy));
  }
  // A mark without its log would count as lost votes.
  rmSync(`${voteFile}.mark`, { force: true });
  if (record === undefined) return;
  const log = await openVoteLog(voteFile);
  await log.write(record);
  await log.close();
}

async function newestRecord(voteFile: string): Promise<Uint8Array | undefined> {
  const log = await openVoteLog(voteFile);
  try {
    return log.read();
  } finally {
    await log.close();
  }
}

/** Whether the record is already the newest; a damaged vote log is set aside like any other. */
async function isNewest(voteFile: string, record: Uint8Array): Promise<boolean> {
  try {
    const newest = await newestRecord(voteFile);
    return newest !== undefined && equalBytes(newest, record);
  } catch (error) {
    if (error instanceof DamagedData) return false;
    throw error;
  }
}
