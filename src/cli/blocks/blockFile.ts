import { type FileHandle, open } from "node:fs/promises";
import { messageOf } from "../../primitives/errorMessage.ts";

/** A block in a file of concatenated RLP without framing. */
export interface RawBlock {
  readonly bytes: Uint8Array;
  /** Position of its first byte in the file. */
  readonly offset: number;
}

/** There is no complete block at this offset. */
export class BlockFileError extends Error {
  override name = "BlockFileError";
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

const CHUNK_BYTES = 4 * 1024 * 1024;
/** The longest RLP list header: one byte and a length of eight. */
const LONGEST_PREFIX = 9;
/** Largest block to read, far above any real one: gas limits bound blocks to some megabytes. */
const MAX_BLOCK_BYTES = 256 * 1024 * 1024;

/**
 * Yields the blocks of a file in order, with a few megabytes in memory at a time. A block's bytes are a view of the
 * chunk read and must not be changed. Throws BlockFileError at the first offset without a complete block.
 */
export async function* readBlockFile(path: string): AsyncGenerator<RawBlock> {
  const file = await openFile(path);
  try {
    const { size } = await file.stat();
    let chunk: Uint8Array = new Uint8Array(0);
    let offset = 0;
    while (offset < size) {
      const ahead = Math.min(LONGEST_PREFIX, size - offset);
      if (chunk.length < ahead) chunk = await readOn(file, { chunk, offset, size, atLeast: ahead });
      const length = lengthOfList(chunk, offset);
      if (length > size - offset)
        throw new BlockFileError(
          offset,
          `the file ends in the middle of a block of ${length} bytes: it has only ${size - offset} more`,
        );
      if (chunk.length < length) chunk = await readOn(file, { chunk, offset, size, atLeast: length });
      yield { bytes: chunk.subarray(0, length), offset };
      chunk = chunk.subarray(length);
      offset += length;
    }
  } finally {
    await file.close();
  }
}

interface ReadRequest {
  /** Unused bytes of the previous chunk, which begin at `offset`. */
  readonly chunk: Uint8Array;
  readonly offset: number;
  readonly size: number;
  readonly atLeast: number;
}

/** Reads the bytes from `offset` on: a chunk, or `atLeast` when that is more. */
async function readOn(file: FileHandle, { chunk, offset, size, atLeast }: ReadRequest): Promise<Uint8Array> {
  const bytes = new Uint8Array(Math.min(Math.max(atLeast, CHUNK_BYTES), size - offset));
  bytes.set(chunk);
  for (let filled = chunk.length; filled < bytes.length; ) {
    const bytesRead = await readInto(file, bytes, filled, offset + filled);
    if (bytesRead === 0) throw new BlockFileError(offset, "the file became shorter while it was read");
    filled += bytesRead;
  }
  return bytes;
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, "r");
  } catch (error) {
    throw new BlockFileError(0, `the file cannot be opened: ${messageOf(error)}`);
  }
}

async function readInto(file: FileHandle, bytes: Uint8Array, at: number, position: number): Promise<number> {
  try {
    return (await file.read(bytes, at, bytes.length - at, position)).bytesRead;
  } catch (error) {
    throw new BlockFileError(position, `the file cannot be read: ${messageOf(error)}`);
  }
}

/** Encoded length of the RLP list that begins here. */
function lengthOfList(bytes: Uint8Array, offset: number): number {
  const lead = bytes[0] ?? 0;
  if (lead < 0xc0) throw new BlockFileError(offset, "no block begins here: a block is an RLP list");
  if (lead < 0xf8) return 1 + lead - 0xc0;
  const digits = lead - 0xf7;
  let length = 0;
  for (let at = 1; at <= digits; at++) length = length * 256 + (bytes[at] ?? 0);
  if (length > MAX_BLOCK_BYTES) throw new BlockFileError(offset, `no block has ${length} bytes`);
  return 1 + digits + length;
}
