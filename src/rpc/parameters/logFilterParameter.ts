import { criteriaOf, type LogCriteria } from "../../logs/logMatcher.ts";
import type { Address } from "../../primitives/address.ts";
import type { Hash } from "../../primitives/hash.ts";
import { decodeNumberOrTag, type NumberOrTag } from "./blockParameter.ts";
import {
  type Decoder,
  decodeAddress,
  decodeHash,
  decodeIndex,
  decodeList,
  decodeTopic,
  isAbsent,
  isObject,
} from "./parameters.ts";

/** The filter of eth_getLogs, eth_newFilter and the logs subscription (json-rpc.md#eth_getlogs). */
export interface LogFilter extends LogCriteria {
  readonly from: NumberOrTag;
  readonly to: NumberOrTag;
  /** The only block to search; excludes `from` and `to`. */
  readonly blockHash?: Hash;
}

/** Unlike a call object, a filter with an unknown member is refused. */
export function decodeLogFilter(value: unknown): LogFilter | undefined {
  if (!isObject(value)) return undefined;
  if (!Object.entries(value).every(([name, member]) => isKnownMember(name, member))) return undefined;
  const { fromBlock, toBlock, address, topics } = value;
  const hashGiven = value["blockHash"] ?? value["blockhash"];
  const blockHash = isAbsent(hashGiven) ? undefined : decodeHash(hashGiven);
  if (blockHash === undefined && !isAbsent(hashGiven)) return undefined;
  if (blockHash !== undefined && !(isAbsent(fromBlock) && isAbsent(toBlock))) return undefined;
  const from = isAbsent(fromBlock) ? "latest" : decodeNumberOrTag(fromBlock);
  const to = isAbsent(toBlock) ? "latest" : decodeNumberOrTag(toBlock);
  // Addresses are counted before they are decoded: a message may have a hundred thousand.
  if (Array.isArray(address) && address.length > CRITERIA_LIMIT) return undefined;
  const addresses = isAbsent(address) ? [] : decodeAddresses(address);
  const wanted = isAbsent(topics) ? [] : decodeTopics(topics);
  if (from === undefined || to === undefined || addresses === undefined || wanted === undefined)
    return undefined;
  const filter = { from, to, addresses, topics: wanted, ...(blockHash !== undefined && { blockHash }) };
  return criteriaOf(filter) > CRITERIA_LIMIT ? undefined : filter;
}

/** Addresses and topics in one filter: each costs a hash to prepare and a test of every header's bloom. */
export const CRITERIA_LIMIT = 10_000;

/** Members that only trace_filter uses are allowed here if they decode, because Besu shares one type. */
const FOREIGN_MEMBERS: ReadonlyMap<string, Decoder<unknown>> = new Map<string, Decoder<unknown>>([
  ["fromAddress", decodeAddresses],
  ["toAddress", decodeAddresses],
  ["after", decodeIndex],
  ["count", decodeIndex],
]);

const OWN_MEMBERS: ReadonlySet<string> = new Set([
  "fromBlock",
  "toBlock",
  "address",
  "topics",
  "blockHash",
  "blockhash",
]);

function isKnownMember(name: string, value: unknown): boolean {
  if (OWN_MEMBERS.has(name)) return true;
  const decode = FOREIGN_MEMBERS.get(name);
  return decode !== undefined && (isAbsent(value) || decode(value) !== undefined);
}

/** One address or a list of them, of any length. */
export function decodeAddresses(value: unknown): readonly Address[] | undefined {
  return decodeList(decodeAddress)(Array.isArray(value) ? value : [value]);
}

type TopicChoice = LogCriteria["topics"][number];

function decodeTopics(value: unknown): readonly TopicChoice[] | undefined {
  const choices: TopicChoice[] = [];
  for (const each of Array.isArray(value) ? (value as unknown[]) : [value]) {
    const choice = decodeTopicChoice(each);
    if (choice === undefined) return undefined;
    choices.push(choice);
  }
  return choices.slice(0, TOPIC_POSITIONS_KEPT);
}

/** A log has at most four topics, so a filter with five positions matches none, as with the million that a message may name. */
export const TOPIC_POSITIONS_KEPT = 5;

/** An empty list, and a null anywhere, let every topic pass at their position. */
function decodeTopicChoice(value: unknown): TopicChoice | undefined {
  if (isAbsent(value)) return "any";
  const alternatives: unknown[] = Array.isArray(value) ? value : [value];
  if (alternatives.length === 0) return "any";
  const topics = decodeList(decodeTopic)(alternatives.filter((item) => !isAbsent(item)));
  return topics !== undefined && alternatives.some(isAbsent) ? "any" : topics;
}
