import { messageOf } from "../../primitives/errorMessage.ts";
import { equalBytes } from "../../primitives/hex.ts";
import { RecordReader } from "../blocks/byteRecord.ts";
import { maskedChecksum, readUint32LittleEndian } from "./levelLog.ts";

/**
 * Finds the first damage in a table file (LevelDB's doc/table_format.md); undefined when every block matches its
 * checksum. LevelDB does not compare these checksums when it reads. Our tables are uncompressed, so the index is
 * readable.
 */
export function findTableDamage(table: Uint8Array): string | undefined {
  if (table.length < FOOTER_BYTES) return "it is cut off";
  const footer = table.subarray(table.length - FOOTER_BYTES);
  if (!equalBytes(footer.subarray(FOOTER_BYTES - MAGIC.length), MAGIC))
    return "it does not end as a table does";
  try {
    const reader = new RecordReader(footer);
    const indexes = [readHandle(reader), readHandle(reader)];
    for (const index of indexes)
      for (const handle of [index, ...handlesIn(verifiedBlock(table, index))]) verifiedBlock(table, handle);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

const FOOTER_BYTES = 48;
const MAGIC = Uint8Array.of(0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb);
/** Bytes after a block: a type (0: not compressed) and a checksum over block and type. */
const TRAILER_BYTES = 5;

interface BlockHandle {
  readonly offset: number;
  readonly length: number;
}

function readHandle(reader: RecordReader): BlockHandle {
  return { offset: reader.number(), length: reader.number() };
}

function verifiedBlock(table: Uint8Array, { offset, length }: BlockHandle): Uint8Array {
  const end = offset + length;
  if (end + TRAILER_BYTES > table.length)
    throw new RangeError(`its index leads beyond its end, to byte ${end}`);
  if (readUint32LittleEndian(table, end + 1) !== maskedChecksum(table.subarray(offset, end + 1)))
    throw new RangeError(`the block at byte ${offset} does not match its checksum`);
  if (table[end] !== 0)
    throw new RangeError(
      `the block at byte ${offset} is compressed, although Ibex writes uncompressed blocks`,
    );
  return table.subarray(offset, end);
}

/** The values of an index block: entries of (shared, unshared and value length, key, value), then restart points. */
function* handlesIn(block: Uint8Array): Generator<BlockHandle> {
  const restarts = readUint32LittleEndian(block, block.length - 4);
  const reader = new RecordReader(block.subarray(0, block.length - 4 - restarts * 4));
  while (!reader.isAtEnd) {
    reader.number();
    const keyLength = reader.number();
    const valueLength = reader.number();
    reader.skip(keyLength);
    yield readHandle(new RecordReader(reader.fixed(valueLength)));
  }
}
