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

/** The places of the bits that entries set, BITS_PER_ENTRY for each, computed once for many blooms. */
export function* bloomPlacesInSteps(entries: readonly Uint8Array[]): Steps<Uint16Array> {
  const places = new Uint16Array(entries.length * BITS_PER_ENTRY);
  for (const [index, entry] of entries.entries()) {
    if (index > 0 && index % STEP_LOGS === 0) yield;
    const hash = keccak256(entry);
    for (let bit = 0; bit < BITS_PER_ENTRY; bit++) places[index * BITS_PER_ENTRY + bit] = placeOf(hash, bit);
  }
  return places;
}

/**
 * Whether the bloom that begins at this offset has all bits of one of the entries. The loop is unrolled: a search calls it a
 * million times.
 */
export function hasOneOf(blooms: Uint8Array, at: number, places: Uint16Array): boolean {
  for (let first = 0; first < places.length; first += BITS_PER_ENTRY)
    if (
      hasBit(blooms, at, places[first] as number) &&
      hasBit(blooms, at, places[first + 1] as number) &&
      hasBit(blooms, at, places[first + 2] as number)
    )
      return true;
  return false;
}

function hasBit(blooms: Uint8Array, at: number, place: number): boolean {
  return ((blooms[at + (place >> 3)] ?? 0) & (1 << (place & 7))) !== 0;
}

export const BITS_PER_ENTRY = 3;

function addToBloom(bloom: Uint8Array, entry: Uint8Array): void {
  const hash = keccak256(entry);
  for (let bit = 0; bit < BITS_PER_ENTRY; bit++) {
    const place = placeOf(hash, bit);
    bloom[place >> 3] = (bloom[place >> 3] ?? 0) | (1 << (place & 7));
  }
}

/** The place of one of the bits of an entry: eight for each byte of the bloom, whose last byte has the lowest bits. */
function placeOf(hash: Uint8Array, bit: number): number {
  const number = (((hash[2 * bit] ?? 0) << 8) | (hash[2 * bit + 1] ?? 0)) & 2047;
  return (BLOOM_BYTES - 1 - (number >> 3)) * 8 + (number & 7);
}
