import { keccak256 } from "../primitives/hash.ts";
import { atOnce, type Steps } from "../primitives/steps.ts";
import type { Log } from "./log.ts";

/** 2048-bit log bloom of the yellow paper §4.3.1: three bits of keccak256 for each address and topic. */
export const BLOOM_BYTES = 256;

export const EMPTY_BLOOM: Uint8Array = new Uint8Array(BLOOM_BYTES);

export function bloomOfLogs(logs: readonly Log[]): Uint8Array {
  return atOnce(bloomOfLogsInSteps(logs));
}

/** Like bloomOfLogs, in steps: one transaction can have some hundred thousand logs. */
export function* bloomOfLogsInSteps(logs: readonly Log[]): Steps<Uint8Array> {
  const bloom = new Uint8Array(BLOOM_BYTES);
  for (let at = 0; at < logs.length; at += STEP_LOGS) {
    if (at > 0) yield;
    for (const log of logs.slice(at, at + STEP_LOGS)) {
      addToBloom(bloom, log.address);
      for (const topic of log.topics) addToBloom(bloom, topic);
    }
  }
  return bloom;
}

/** Logs per step, here and where logs are encoded: a millisecond at most, with four topics each. */
export const STEP_LOGS = 256;

/** Sets in `bloom` every bit that is set in `other`. */
export function mergeBloom(bloom: Uint8Array, other: Uint8Array): void {
  for (let i = 0; i < BLOOM_BYTES; i++) bloom[i] = (bloom[i] ?? 0) | (other[i] ?? 0);
}

/** False when the entry is certainly absent; true when it may be present. */
export function mayContain(bloom: Uint8Array, entry: Uint8Array): boolean {
  return hasBits(bloom, bloomBits(entry));
}

/** The three bits that one entry sets, computed once for many blooms. */
export type BloomBits = readonly { readonly byte: number; readonly mask: number }[];

/** Like mayContain, for an entry whose bits are known. */
function hasBits(bloom: Uint8Array, bits: BloomBits): boolean {
  return bits.every(({ byte, mask }) => ((bloom[byte] ?? 0) & mask) !== 0);
}

function addToBloom(bloom: Uint8Array, entry: Uint8Array): void {
  for (const { byte, mask } of bloomBits(entry)) bloom[byte] = (bloom[byte] ?? 0) | mask;
}

export function bloomBits(entry: Uint8Array): BloomBits {
  const hash = keccak256(entry);
  return [0, 2, 4].map((offset) => {
    const bit = (((hash[offset] ?? 0) << 8) | (hash[offset + 1] ?? 0)) & 2047;
    return { byte: BLOOM_BYTES - 1 - (bit >> 3), mask: 1 << (bit & 7) };
  });
}
