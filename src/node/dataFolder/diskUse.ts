import { remembered } from "../../primitives/remembered.ts";
import { freeBytesOf } from "../../storage/diskGuard.ts";
import { bytesInFolder } from "../../storage/folderBytes.ts";

interface DiskUse {
  /** Free bytes on the disk of the data folder; undefined when the system does not say. */
  readonly freeBytes: number | undefined;
  /** Bytes of the chain's database files. */
  readonly databaseBytes: number;
}

export type ReadDiskUse = () => Promise<DiskUse>;

/** Bounds how often sizes are read, because a large database has thousands of files. */
const REFRESH_MS = 30_000;

/** What the data folder takes, half a minute old at most. */
export function createDiskUse({
  path,
  chain,
}: {
  readonly path: string;
  readonly chain: string;
}): ReadDiskUse {
  return remembered(() => read(path, chain), REFRESH_MS);
}

async function read(path: string, chain: string): Promise<DiskUse> {
  return { freeBytes: await freeBytesOf(path), databaseBytes: await bytesInFolder(chain) };
}
