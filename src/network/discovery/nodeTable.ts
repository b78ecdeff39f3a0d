import { keccak256 } from "../../primitives/hash.ts";
import { equalBytes } from "../../primitives/hex.ts";
import { isLocal, subnetOf } from "./endpoint.ts";
import type { NodeContact } from "./packets.ts";

export const BUCKET_SIZE = 16;
/**
 * Limits that keep one operator's addresses from filling a bucket or the table, and bound how many are dialed. Local
 * addresses are exempt: whole networks share theirs.
 */
const MAX_OF_SUBNET = { inBucket: 8, inTable: 32 } as const;
const MAX_REPLACEMENTS = 8;

interface Entry {
  readonly node: NodeContact;
  /** keccak-256 of the node id, on which distances are based. */
  readonly key: Uint8Array;
}

interface Bucket {
  entries: Entry[];
  replacements: Entry[];
}

/**
 * The nodes that have proved their endpoint, by their distance from this one (Kademlia; p2p.md#node-table). Each bucket
 * holds those of one distance, the most recently seen first. A full bucket keeps its nodes, since long-lived nodes live
 * longest, and an untrusted peer must not be able to push them out; it remembers the newest others as replacements.
 */
export class NodeTable {
  private readonly ownId: Uint8Array;
  private readonly ownKey: Uint8Array;
  private readonly onRefused: (reason: "subnet" | "bucket") => void;
  private readonly buckets = new Map<number, Bucket>();

  /** `onRefused` is called when there is no room for a node, for this reason. */
  constructor(ownId: Uint8Array, onRefused: (reason: "subnet" | "bucket") => void = () => undefined) {
    this.ownId = ownId;
    this.onRefused = onRefused;
    this.ownKey = keccak256(ownId);
  }

  get size(): number {
    let size = 0;
    for (const { entries } of this.buckets.values()) size += entries.length;
    return size;
  }

  get nodes(): readonly NodeContact[] {
    return [...this.buckets.values()].flatMap(({ entries }) => entries.map(({ node }) => node));
  }

  get(nodeId: Uint8Array): NodeContact | undefined {
    return this.bucketOf(keccak256(nodeId))?.entries.find(isOf(nodeId))?.node;
  }

  /** Adds a node, or notes that it was seen again, perhaps at another endpoint. Returns false when there is no room for it. */
  see(node: NodeContact): boolean {
    if (equalBytes(node.nodeId, this.ownId)) return false;
    const entry = { node, key: keccak256(node.nodeId) };
    const bucket = this.bucketFor(entry.key);
    const others = bucket.entries.filter((one) => !isOf(node.nodeId)(one));
    bucket.replacements = bucket.replacements.filter((one) => !isOf(node.nodeId)(one));
    const isFull = others.length === BUCKET_SIZE;
    if (isFull || !this.fits(node, others)) {
      this.onRefused(isFull ? "bucket" : "subnet");
      bucket.entries = others;
      bucket.replacements = [entry, ...bucket.replacements].slice(0, MAX_REPLACEMENTS);
      return false;
    }
    bucket.entries = [entry, ...others];
    return true;
  }

  /** Removes a node; a replacement takes its place, if there is one. */
  remove(nodeId: Uint8Array): void {
    const bucket = this.bucketOf(keccak256(nodeId));
    if (bucket === undefined) return;
    bucket.entries = bucket.entries.filter((one) => !isOf(nodeId)(one));
    bucket.replacements = bucket.replacements.filter((one) => !isOf(nodeId)(one));
    const next = bucket.replacements.find(({ node }) => this.fits(node, bucket.entries));
    if (next === undefined || bucket.entries.length === BUCKET_SIZE) return;
    bucket.replacements = bucket.replacements.filter((one) => one !== next);
    // It was seen least recently, so it is verified before the others.
    bucket.entries.push(next);
  }

  /** Up to `count` nodes, the closest to a node id first. */
  closest(target: Uint8Array, count: number): readonly NodeContact[] {
    const key = keccak256(target);
    return [...this.buckets.values()]
      .flatMap(({ entries }) => entries)
      .sort((a, b) => compareDistance(key, a.key, b.key))
      .slice(0, count)
      .map(({ node }) => node);
  }

  /** The least recently seen node of a random bucket; `chance` is from 0 to 1. */
  leastRecent(chance: number): NodeContact | undefined {
    const filled = [...this.buckets.values()].filter(({ entries }) => entries.length > 0);
    return filled[Math.min(Math.floor(chance * filled.length), filled.length - 1)]?.entries.at(-1)?.node;
  }

  /** Whether a node fits the limits; `others` are those of its bucket. */
  private fits({ nodeId, ip }: NodeContact, others: readonly Entry[]): boolean {
    if (isLocal(ip)) return true;
    const subnet = subnetOf(ip);
    const isNear = ({ node }: Entry): boolean => subnetOf(node.ip) === subnet;
    if (others.filter(isNear).length >= MAX_OF_SUBNET.inBucket) return false;
    let count = 0;
    for (const { entries } of this.buckets.values())
      count += entries.filter((one) => isNear(one) && !isOf(nodeId)(one)).length;
    return count < MAX_OF_SUBNET.inTable;
  }

  private bucketOf(key: Uint8Array): Bucket | undefined {
    return this.buckets.get(logDistance(this.ownKey, key));
  }

  private bucketFor(key: Uint8Array): Bucket {
    const distance = logDistance(this.ownKey, key);
    let bucket = this.buckets.get(distance);
    if (bucket === undefined) {
      bucket = { entries: [], replacements: [] };
      this.buckets.set(distance, bucket);
    }
    return bucket;
  }
}

function isOf(nodeId: Uint8Array): (entry: Entry) => boolean {
  return ({ node }) => equalBytes(node.nodeId, nodeId);
}

/** Number of bits from the first that differs between two keys of 32 bytes: 256 for half of all nodes, 0 for equal keys. */
export function logDistance(a: Uint8Array, b: Uint8Array): number {
  for (let at = 0; at < 32; at++) {
    const difference = (a[at] ?? 0) ^ (b[at] ?? 0);
    if (difference !== 0) return (32 - at) * 8 - (Math.clz32(difference) - 24);
  }
  return 0;
}

/** Negative when `a` is closer to `key` than `b` is. */
export function compareDistance(key: Uint8Array, a: Uint8Array, b: Uint8Array): number {
  for (let at = 0; at < 32; at++) {
    const toKey = key[at] ?? 0;
    const difference = ((a[at] ?? 0) ^ toKey) - ((b[at] ?? 0) ^ toKey);
    if (difference !== 0) return difference;
  }
  return 0;
}
