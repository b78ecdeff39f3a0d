import { parseHex, toHex } from "../../primitives/hex.ts";
import { encodeRlp, type RlpItem, readRlp } from "../../primitives/rlp.ts";
import { decodeExtraData, encodeWithoutSealsAndRound } from "../../types/extraData.ts";
import { memberOf } from "./differingPlaces.ts";

/**
 * The part of a block's answer that its hash covers: each node keeps the commit seals that reached it, which may be more or
 * different ones, of another round (ibft2.md#chain-hash-and-digest). They are left out of `extraData`, and their bytes out
 * of `size`. Anything else stays unchanged.
 */
export function withoutSeals(block: unknown): unknown {
  const text = memberOf(block, "extraData");
  const size = Number(memberOf(block, "size"));
  const bytes = typeof text === "string" ? parseHex(text) : undefined;
  if (bytes === undefined) return block;
  const kept = hashedPartOf(bytes);
  if (kept === undefined) return block;
  const extraData = toHex(kept);
  if (!Number.isSafeInteger(size)) return { ...Object(block), extraData };
  const payload = listPayload(size) - stringLength(bytes.length) + stringLength(kept.length);
  return { ...Object(block), extraData, size: `0x${payload.toString(16)}` };
}

/** Like withoutSeals, for the RLP of a header, or of a block, which begins with one. */
export function rawWithoutSeals(raw: unknown): unknown {
  const bytes = typeof raw === "string" ? parseHex(raw) : undefined;
  if (bytes === undefined) return raw;
  let item: RlpItem;
  try {
    item = readRlp(bytes, DEEPEST_NESTING);
  } catch {
    return raw;
  }
  if (!isList(item)) return raw;
  const [first, ...rest] = item;
  const kept = isList(first) ? [headerWithoutSeals(first), ...rest] : headerWithoutSeals(item);
  return toHex(encodeRlp(kept));
}

/** A block is nested less deeply: its transactions have access lists of slots. */
const DEEPEST_NESTING = 16;
/** Place of the extra data among the items of a header. */
const EXTRA_DATA = 12;

function headerWithoutSeals(header: readonly RlpItem[]): readonly RlpItem[] {
  const extraData = header[EXTRA_DATA];
  const kept = extraData instanceof Uint8Array ? hashedPartOf(extraData) : undefined;
  return kept === undefined ? header : header.with(EXTRA_DATA, kept);
}

function isList(item: RlpItem | undefined): item is readonly RlpItem[] {
  return Array.isArray(item);
}

/** The part of extra data that a block's hash covers; undefined for other bytes. */
function hashedPartOf(extraData: Uint8Array): Uint8Array | undefined {
  const decoded = decodeExtraData(extraData);
  return decoded.ok ? encodeWithoutSealsAndRound(decoded.value) : undefined;
}

/** Length of a string's RLP encoding. */
function stringLength(bytes: number): number {
  return bytes + prefixLength(bytes);
}

/** Payload length of an RLP list whose encoding has `bytes`. */
function listPayload(bytes: number): number {
  let payload = bytes - 1;
  while (payload > 0 && payload + prefixLength(payload) > bytes) payload--;
  return payload;
}

function prefixLength(payload: number): number {
  let prefix = 1;
  if (payload >= 56) for (let rest = payload; rest > 0; rest = Math.floor(rest / 256)) prefix++;
  return prefix;
}
