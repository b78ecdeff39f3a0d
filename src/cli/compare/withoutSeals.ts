import { parseHex, toHex } from "../../primitives/hex.ts";
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
  const decoded = decodeExtraData(bytes);
  if (!decoded.ok) return block;
  const kept = encodeWithoutSealsAndRound(decoded.value);
  const extraData = toHex(kept);
  if (!Number.isSafeInteger(size)) return { ...Object(block), extraData };
  const payload = listPayload(size) - stringLength(bytes.length) + stringLength(kept.length);
  return { ...Object(block), extraData, size: `0x${payload.toString(16)}` };
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
