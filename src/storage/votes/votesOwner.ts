import { existsSync, statSync } from "node:fs";
import type { Logger } from "../../observability/logger.ts";
import { type Address, addressFromHex } from "../../primitives/address.ts";
import { NoSmallFile, readRegularFile } from "../../primitives/boundedFile.ts";
import { equalBytes, toHex } from "../../primitives/hex.ts";
import { DamagedData } from "../database.ts";
import { withDiskErrors } from "../diskErrors.ts";
import { replaceFile } from "../durableFile.ts";
import { openVoteLog, setVoteLogAside, type VoteLog } from "./voteLog.ts";

/**
 * Opens the vote log at `path` for `validator`. Warns when the folder has another validator's votes: a key file was replaced, or
 * two were mixed up. Throws DamagedData and DiskError.
 */
export async function openVotesOf(path: string, validator: Address, logger: Logger): Promise<VoteLog> {
  const foreign = claimVotes(path, validator);
  if (foreign !== undefined) {
    const { validator: former, copy } = foreign;
    const [was, is] = [toHex(former), toHex(validator)];
    logger.warn(
      { validator: former, copy },
      `this folder has the votes of the validator ${was}, but the key is that of ${is}: was the key file replaced, or mixed up ` +
        `with another node's? The votes of ${was} are kept as ${copy}, and ${is} has no record of its own. If ${was} is meant to ` +
        "run here, stop this node and put its key back; it is then silent for some blocks",
    );
  }
  return openVoteLog(path);
}

/** Votes of another validator that were found in a folder, and where they are kept now. */
interface ForeignVotes {
  readonly validator: Address;
  readonly copy: string;
}

/**
 * Assigns the vote log at `path`, of a node that is not running, to `validator`: votes of one key say nothing about
 * another's. A log begun by another validator is set aside, so that this one starts without; a log that nobody has claimed
 * is taken to be this one's. The file `path`.of has the address. Throws DamagedData and DiskError.
 */
export function claimVotes(path: string, validator: Address): ForeignVotes | undefined {
  const former = votesOwner(path);
  if (former !== undefined && equalBytes(former, validator)) return undefined;
  const isForeign = former !== undefined && existsSync(path) && statSync(path).size > 0;
  const foreign = isForeign ? { validator: former, copy: `${path}.of-${toHex(former)}` } : undefined;
  if (foreign !== undefined) setVoteLogAside(path, foreign.copy);
  writeVotesOwner(path, validator);
  return foreign;
}

/** The validator whose votes the log at `path` has; undefined if that was never recorded. Throws DamagedData. */
export function votesOwner(path: string): Address | undefined {
  const file = ownerFile(path);
  if (!existsSync(file)) return undefined;
  const text = withDiskErrors(`The file ${file} cannot be read`, () => readOwner(file));
  if (text !== undefined && /^0x[0-9a-f]{40}$/i.test(text)) return addressFromHex(text);
  throw new DamagedData(
    `The file ${file} is damaged: it does not have the address of the validator whose votes ${path} has. ` +
      `Write that address into it; or, if you do not know it, delete ${path}, ${path}.mark and ${file}: the validator is ` +
      "then silent for a while.",
  );
}

/** Records, durably, whose votes the log at `path` has. Throws DiskError. */
export function writeVotesOwner(path: string, validator: Address): void {
  replaceFile(ownerFile(path), `${toHex(validator)}\n`, 0o644);
}

/** Reads the address; undefined when the file has other content. */
function readOwner(file: string): string | undefined {
  try {
    return readRegularFile(file, OWNER_BYTES).trim();
  } catch (error) {
    if (error instanceof NoSmallFile) return undefined;
    throw error;
  }
}

/** Most bytes read: an address has 42, and an editor may add some. */
const OWNER_BYTES = 256;

const ownerFile = (path: string): string => `${path}.of`;
