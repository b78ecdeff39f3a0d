import { join } from "node:path";
import { readRegularFile } from "../../primitives/boundedFile.ts";
import { messageOf } from "../../primitives/errorMessage.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { FILE_BYTES, LIST_BYTES } from "./limits.ts";

/** The file that makes a folder a backup: written last. */
export const LIST_NAME = "backup.json";

/** Name of the node's key in a backup, whatever it is called elsewhere. */
export const KEY_NAME = "key";
export const KEYSTORE_NAME = "keystore.json";

/** Contents and origin of a backup: `backup.json`. */
export interface FileList {
  readonly format: 1;
  /** The program that made it. */
  readonly client: string;
  /** Time of creation in ISO format, UTC. */
  readonly createdAt: string;
  /** 0x and 64 digits. */
  readonly genesisHash: string;
  readonly head: { readonly number: number; readonly hash: string };
  readonly files: readonly BackedUpFile[];
}

export interface BackedUpFile {
  /** Relative to the backup, as in the data folder: chain/000123.ldb. */
  readonly path: string;
  readonly bytes: number;
  /** CRC-32 of the contents. */
  readonly crc32: number;
  /**
   * Identifies the node's file that a table was copied from. A table is written once, so the same file with the same size and time of
   * change has the same contents.
   */
  readonly origin?: string;
}

/**
 * Reads and checks the list of a backup, which anyone may have written: names must stay within the backup, and sizes are
 * bounded.
 */
export function readFileList(folder: string): Result<FileList, "notABackup"> {
  const path = join(folder, LIST_NAME);
  try {
    const list: unknown = JSON.parse(readRegularFile(path, LIST_BYTES));
    return isFileList(list)
      ? ok(list)
      : notABackup(`${path} is not the list of a backup that this version reads`);
  } catch (error) {
    return notABackup(`${folder} is not a complete backup: ${messageOf(error)}`);
  }
}

function isFileList(list: unknown): list is FileList {
  if (!isRecord(list) || list["format"] !== 1) return false;
  const { client, createdAt, genesisHash, head, files } = list;
  return (
    [client, createdAt].every((text) => typeof text === "string") &&
    isHash(genesisHash) &&
    isRecord(head) &&
    isCount(head["number"], Number.MAX_SAFE_INTEGER) &&
    isHash(head["hash"]) &&
    Array.isArray(files) &&
    files.every(isFile)
  );
}

function isFile(file: unknown): boolean {
  return (
    isRecord(file) &&
    typeof file["path"] === "string" &&
    PATHS.test(file["path"]) &&
    isCount(file["bytes"], FILE_BYTES) &&
    isCount(file["crc32"], 0xffffffff) &&
    ["string", "undefined"].includes(typeof file["origin"])
  );
}

const PATHS =
  /^(chain\/(\d{6,20}\.(ldb|sst|log)|MANIFEST-\d{6,20}|CURRENT)|static-nodes\.json|permissions_config\.toml|key|keystore\.json)$/;

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function isHash(value: unknown): boolean {
  return typeof value === "string" && /^0x[0-9a-f]{64}$/.test(value);
}

function isCount(value: unknown, max: number): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= max;
}

function notABackup(message: string): Result<never, "notABackup"> {
  return fail("caller", "notABackup", `${message}.`);
}
