/**
 * CRC-32C (Castagnoli), the checksum in LevelDB's files; Node has only the ordinary CRC-32. Processes eight bytes a step,
 * with a table for each: more than 1 GB/s. (Indexes into the tables of 256 entries have eight bits, so the casts hold.)
 */
export function crc32c(bytes: Uint8Array): number {
  let crc = -1;
  let at = 0;
  for (const end = bytes.length - 7; at < end; at += 8) {
    const low =
      crc ^
      ((bytes[at] as number) |
        ((bytes[at + 1] as number) << 8) |
        ((bytes[at + 2] as number) << 16) |
        ((bytes[at + 3] as number) << 24));
    crc =
      (T7[low & 255] as number) ^
      (T6[(low >>> 8) & 255] as number) ^
      (T5[(low >>> 16) & 255] as number) ^
      (T4[low >>> 24] as number) ^
      (T3[bytes[at + 4] as number] as number) ^
      (T2[bytes[at + 5] as number] as number) ^
      (T1[bytes[at + 6] as number] as number) ^
      (T0[bytes[at + 7] as number] as number);
  }
  for (; at < bytes.length; at++) crc = (T0[(crc ^ (bytes[at] as number)) & 255] as number) ^ (crc >>> 8);
  return ~crc >>> 0;
}

const POLYNOMIAL = 0x82f63b78;

const T0 = Int32Array.from({ length: 256 }, (_, index) => {
  let crc = index;
  for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
  return crc;
});
const T1 = withZeroAppended(T0);
const T2 = withZeroAppended(T1);
const T3 = withZeroAppended(T2);
const T4 = withZeroAppended(T3);
const T5 = withZeroAppended(T4);
const T6 = withZeroAppended(T5);
const T7 = withZeroAppended(T6);

/** The checksums of the same bytes with one more zero byte after them. */
function withZeroAppended(table: Int32Array): Int32Array {
  return table.map((crc) => (crc >>> 8) ^ (T0[crc & 255] as number));
}
