import { crc32c } from "../crc32c.ts";

/** Whether a log or manifest of LevelDB is whole. */
interface LogState {
  /** Where a record that had been durable is damaged; undefined when none is. */
  readonly damagedAt: number | undefined;
  /** True when the last record is incomplete: the process or the power ended while it was written. */
  readonly isTorn: boolean;
}

/** The contents of a log or manifest. */
interface LogContents extends LogState {
  /** The valid records, in order. */
  readonly records: readonly Uint8Array[];
}

/** Reads a log or manifest with its records. */
export function readLog(bytes: Uint8Array): LogContents {
  const records: Uint8Array[] = [];
  const state = verifyLog(bytes, (parts) => records.push(Buffer.concat(parts)));
  return { ...state, records };
}

/**
 * Verifies a log of LevelDB (its doc/log_format.md): blocks of 32 KB with fragments of records, each with a checksum.
 * LevelDB silently drops invalid fragments. Here an invalid fragment is damage if another record begins after it,
 * because each of our writes is synced before the next begins; only the last record may have been interrupted. Where writes
 * are not synced (a folder that is marked for development), file systems still write a file that grows from its beginning on.
 * Calls `onRecord` with the parts of each valid record, which are views of `bytes`.
 */
export function verifyLog(
  bytes: Uint8Array,
  onRecord: (parts: readonly Uint8Array[]) => void = () => undefined,
): LogState {
  /** Payloads of the current record so far; undefined between records. */
  let parts: Uint8Array[] | undefined;
  let suspectAt: number | undefined;
  let damagedAt: number | undefined;
  for (const { at, type, payload } of fragments(bytes)) {
    const begins = type === FULL || type === FIRST;
    if (begins && parts !== undefined) suspectAt ??= at;
    if (begins && suspectAt !== undefined) damagedAt ??= suspectAt;
    if (begins) parts = [];
    if (payload === undefined || parts === undefined) {
      suspectAt ??= at;
      parts = undefined;
      continue;
    }
    parts.push(payload);
    if (type === FIRST || type === MIDDLE) continue;
    onRecord(parts);
    parts = undefined;
  }
  return { damagedAt, isTorn: suspectAt !== undefined || parts !== undefined };
}

/** Kinds of fragments. */
const FULL = 1;
const FIRST = 2;
const MIDDLE = 3;
const LAST = 4;

const BLOCK_BYTES = 32 * 1024;
const HEADER_BYTES = 7;

interface Fragment {
  readonly at: number;
  readonly type: number;
  /** The fragment's payload; undefined when length or checksum are wrong: the rest of the block is then unreadable. */
  readonly payload: Uint8Array | undefined;
}

function* fragments(bytes: Uint8Array): Generator<Fragment> {
  for (let block = 0; block < bytes.length; block += BLOCK_BYTES) {
    const blockEnd = Math.min(block + BLOCK_BYTES, bytes.length);
    for (let at = block; at + HEADER_BYTES <= blockEnd; ) {
      const length = (bytes[at + 4] ?? 0) | ((bytes[at + 5] ?? 0) << 8);
      const type = bytes[at + 6] ?? 0;
      if (type === 0 && length === 0) break;
      const end = at + HEADER_BYTES + length;
      const isValid =
        type >= FULL &&
        type <= LAST &&
        end <= blockEnd &&
        readUint32LittleEndian(bytes, at) === maskedChecksum(bytes.subarray(at + 6, end));
      yield {
        at,
        type: isValid ? type : 0,
        payload: isValid ? bytes.subarray(at + HEADER_BYTES, end) : undefined,
      };
      if (!isValid) break;
      at = end;
    }
  }
}

/** A checksum as LevelDB stores it: rotated and offset, so that data with embedded checksums is not valid by chance. */
export function maskedChecksum(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

export function readUint32LittleEndian(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at] ?? 0) |
      ((bytes[at + 1] ?? 0) << 8) |
      ((bytes[at + 2] ?? 0) << 16) |
      ((bytes[at + 3] ?? 0) << 24)) >>>
    0
  );
}
