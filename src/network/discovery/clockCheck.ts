import type { Logger } from "../../observability/logger.ts";
import { dropOldest } from "../../primitives/boundedCache.ts";
import type { Clock } from "../../primitives/clock.ts";
import { toHex } from "../../primitives/hex.ts";
import type { Packet, ReceivedPacket } from "./packets.ts";

interface ClockCheckParts {
  readonly clock: Pick<Clock, "nowMs">;
  /** Milliseconds since 1970. */
  readonly epochMs: () => number;
  /** Whether the operator named the node: it counts as several others. */
  readonly isTrusted: (nodeId: Uint8Array) => boolean;
  readonly logger: Logger;
}

/**
 * Validity of packets from Besu and this node when they are sent; go-ethereum's is 20. A packet that has expired on arrival,
 * or is valid for twice as long, indicates a wrong clock.
 */
const LIFE_SECONDS = 60;
/** Number of senders that must disagree; a trusted one counts as this many, because anyone can make up ids. */
const ENOUGH_SENDERS = 3;
/** Number of senders whose last packet is remembered. */
const MAX_SENDERS = 64;
const REPEAT_WARNING_MS = 60 * 60_000;

/**
 * Compares the expirations of packets with this node's time of day, and warns when most senders disagree with it: packets
 * then expire on their way, and discovery finds nobody, without any other sign (p2p.md#packets).
 */
export class ClockCheck {
  private readonly parts: ClockCheckParts;
  /** How far each sender's clock seems to be ahead of ours, seconds, by id; the latest last. */
  private readonly senders = new Map<string, { readonly aheadSeconds: number; readonly weight: number }>();
  private warnedMs: number | undefined;

  constructor(parts: ClockCheckParts) {
    this.parts = parts;
  }

  note({ packet, nodeId }: ReceivedPacket): void {
    const expiration = expirationOf(packet);
    if (expiration === undefined) return;
    const id = toHex(nodeId);
    this.senders.delete(id);
    this.senders.set(id, {
      aheadSeconds: Number(expiration) - LIFE_SECONDS - this.parts.epochMs() / 1000,
      weight: this.parts.isTrusted(nodeId) ? ENOUGH_SENDERS : 1,
    });
    dropOldest(this.senders, MAX_SENDERS);
    this.review();
  }

  private review(): void {
    const all = [...this.senders.values()];
    const isWrong = (difference: number): boolean => Math.abs(difference) > LIFE_SECONDS;
    const wrong = all.filter(({ aheadSeconds }) => isWrong(aheadSeconds));
    const right = all.filter(({ aheadSeconds }) => !isWrong(aheadSeconds));
    if (weightOf(wrong) < ENOUGH_SENDERS || weightOf(wrong) <= weightOf(right)) return;
    const nowMs = this.parts.clock.nowMs();
    if (this.warnedMs !== undefined && nowMs < this.warnedMs + REPEAT_WARNING_MS) return;
    this.warnedMs = nowMs;
    const differences = wrong.map(({ aheadSeconds }) => aheadSeconds).toSorted((a, b) => a - b);
    const median = Math.round(differences[differences.length >> 1] ?? 0);
    this.parts.logger.warn(
      { seconds: -median, nodes: wrong.length },
      `this node's clock seems to be ${Math.abs(median)} s ${median > 0 ? "behind" : "ahead"}: packets of discovery expire, so that it neither finds nodes nor is found; set the time (NTP)`,
    );
  }
}

function weightOf(senders: readonly { readonly weight: number }[]): number {
  return senders.reduce((sum, { weight }) => sum + weight, 0);
}

/** The expiration of a packet; undefined if it has none, or one that no clock shows. */
function expirationOf(packet: Packet): bigint | undefined {
  if (!("expiration" in packet)) return undefined;
  const { expiration } = packet;
  return expiration > 0n && expiration < LATEST_TIME ? expiration : undefined;
}

/** Latest plausible expiration, in the year 2255: later ones are made up, or in milliseconds. */
const LATEST_TIME = 9_000_000_000n;
