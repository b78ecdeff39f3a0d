import type { Address } from "../primitives/address.ts";
import { toKey } from "../primitives/byteKey.ts";
import { EventLoopPacer } from "../primitives/pacer.ts";
import { atOnce, inSteps, type Steps } from "../primitives/steps.ts";
import type { StoredLogTest } from "../storage/blocks/storedLogs.ts";
import { BITS_PER_ENTRY, BLOOM_BYTES, bloomPlacesInSteps, hasOneOf, STEP_LOGS } from "../types/bloom.ts";
import type { Log } from "../types/log.ts";

/** Selects logs (json-rpc.md#eth_getlogs). No addresses means any address. */
export interface LogCriteria {
  readonly addresses: readonly Address[];
  /**
   * One entry for each position: "any", or a list, never empty, one of which the topic must equal. A log must have at least as
   * many topics as there are positions.
   */
  readonly topics: readonly ("any" | readonly Uint8Array[])[];
}

/** Number of addresses and topics in the criteria. */
export function criteriaOf({ addresses, topics }: LogCriteria): number {
  return topics.reduce((sum, choice) => sum + (choice === "any" ? 0 : choice.length), addresses.length);
}

/** Criteria prepared for matching many blocks. */
export interface LogMatcher {
  /** Number of addresses and topics. */
  readonly criteria: number;
  /** False when no log under this header bloom can match. `at` is the offset of the bloom in `blooms`. */
  mayMatch(blooms: Uint8Array, at?: number): boolean;
  matches(log: Log): boolean;
  /** Like `matches`, for a stored log that is not decoded yet. */
  readonly matchesStored: StoredLogTest;
}

export function createLogMatcher(criteria: LogCriteria): LogMatcher {
  return atOnce(createLogMatcherInSteps(criteria));
}

/** Like createLogMatcher, in slices of the event loop: thousands of criteria take many milliseconds to prepare. */
export function prepareLogMatcher(criteria: LogCriteria): Promise<LogMatcher> {
  return inSteps(createLogMatcherInSteps(criteria), new EventLoopPacer());
}

export function* createLogMatcherInSteps({ addresses, topics }: LogCriteria): Steps<LogMatcher> {
  const ofAddress = yield* prepareInSteps(addresses, ADDRESS_BYTES);
  const ofTopics: (PreparedChoice | undefined)[] = [];
  for (const choice of topics)
    ofTopics.push(choice === "any" ? undefined : yield* prepareInSteps(choice, TOPIC_BYTES));
  return matcherOf(addresses.length === 0 ? undefined : ofAddress, ofTopics);
}

function matcherOf(
  ofAddress: PreparedChoice | undefined,
  ofTopics: readonly (PreparedChoice | undefined)[],
): LogMatcher {
  const places = [ofAddress, ...ofTopics].flatMap((choice) => (choice === undefined ? [] : [choice.places]));
  return {
    criteria: places.reduce((sum, { length }) => sum + length / BITS_PER_ENTRY, 0),
    mayMatch(bytes, at = 0) {
      if (places.length === 0) return hasAny(bytes, at);
      for (const choices of places) if (!hasOneOf(bytes, at, choices)) return false;
      return true;
    },
    matches({ address, topics }) {
      if (topics.length < ofTopics.length || ofAddress?.isAt(address, 0) === false) return false;
      return ofTopics.every((choice, position) => {
        const topic = topics[position];
        return choice === undefined || (topic !== undefined && choice.isAt(topic, 0));
      });
    },
    matchesStored(record, from) {
      if ((record[from + ADDRESS_BYTES] ?? 0) < ofTopics.length) return false;
      if (ofAddress?.isAt(record, from) === false) return false;
      const topicsAt = from + ADDRESS_BYTES + 1;
      for (let position = 0; position < ofTopics.length; position++)
        if (ofTopics[position]?.isAt(record, topicsAt + position * TOPIC_BYTES) === false) return false;
      return true;
    },
  };
}

/** A list with one entry that must be equal. */
interface PreparedChoice {
  /** Bits of all entries in a bloom. */
  readonly places: Uint16Array;
  /** Whether one of the entries begins at this offset. */
  isAt(bytes: Uint8Array, at: number): boolean;
}

/** Prepares entries; those of another length than `length` match nothing. */
function* prepareInSteps(entries: readonly Uint8Array[], length: number): Steps<PreparedChoice> {
  const places = yield* bloomPlacesInSteps(entries);
  const wanted = entries.filter((entry) => entry.length === length);
  if (wanted.length < SHORT_LIST)
    return { places, isAt: (bytes, at) => wanted.some((entry) => isEqualAt(bytes, at, entry)) };
  const keys = new Set<string>();
  for (const [index, entry] of wanted.entries()) {
    if (index % STEP_LOGS === STEP_LOGS - 1) yield;
    keys.add(toKey(entry));
  }
  return {
    places,
    isAt: (bytes, at) => keys.has(toKey(bytes.length === length ? bytes : bytes.subarray(at, at + length))),
  };
}

function isEqualAt(bytes: Uint8Array, at: number, wanted: Uint8Array): boolean {
  for (let index = 0; index < wanted.length; index++) if (bytes[at + index] !== wanted[index]) return false;
  return true;
}

/** Whether a bloom is not empty, that is, whether the block has logs. */
function hasAny(bytes: Uint8Array, at: number): boolean {
  for (let offset = at; offset < at + BLOOM_BYTES; offset++) if (bytes[offset] !== 0) return true;
  return false;
}

const ADDRESS_BYTES = 20;
const TOPIC_BYTES = 32;
/** Length below which a list is searched faster than a set. */
const SHORT_LIST = 8;
