import { smaller } from "../../primitives/quantity.ts";
import type { ProcessIo } from "../processIo.ts";
import { compareBlock } from "./compareBlock.ts";
import { type Endpoint, NodeUnreachable } from "./endpoint.ts";
import type { Roles, Side } from "./findings.ts";
import { firstBlockOf } from "./firstBlock.ts";
import { headOf } from "./identity.ts";
import { COMPARE_LIMITS } from "./limits.ts";
import type { Stop } from "./stop.ts";
import type { Tally } from "./tally.ts";

export interface RangeComparison {
  readonly nodes: Readonly<Record<Side, Endpoint>>;
  readonly roles: Roles;
  readonly tally: Tally;
  readonly stop: Stop;
  readonly io: ProcessIo;
  readonly isFollowing: boolean;
  /** How long a node may be behind, unless both are followed. */
  readonly giveUpAfterMs: number;
}

/** A range of blocks, both ends included. */
export interface BlockRange {
  readonly from: bigint;
  readonly to: bigint;
}

/** Compares the blocks of the range, a few at a time, and prints the progress. Waits for a node that is behind. */
export async function compareRange({ from, to }: BlockRange, comparison: RangeComparison): Promise<void> {
  const heads = { lower: -1n };
  const progress = createProgress({ from, to }, comparison);
  let next = from;
  const work = async (): Promise<void> => {
    while (next <= to) {
      comparison.stop.signal.throwIfAborted();
      const number = next++;
      await compareWhenThere(number, heads, comparison);
      const { tally } = comparison;
      tally.blocks++;
      if (tally.newest === undefined || number > tally.newest) tally.newest = number;
      progress();
    }
  };
  const workUnlessOneFails = (): Promise<void> =>
    work().catch((error: unknown) => {
      next = to + 1n;
      throw error;
    });
  const ends = await Promise.allSettled(
    Array.from({ length: COMPARE_LIMITS.blocksAtOnce }, workUnlessOneFails),
  );
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

/** The lower of the nodes' newest blocks; -1 while one does not answer. */
export async function lowerHead({ nodes }: RangeComparison): Promise<bigint> {
  const [ours, theirs] = await Promise.all([headOf(nodes.ours), headOf(nodes.theirs)]);
  if (ours === undefined || theirs === undefined) return -1n;
  return smaller(ours, theirs);
}

/** Whether a node has only later blocks, so that waiting for this one is useless. */
async function hasRemoved(node: Endpoint, number: bigint): Promise<boolean> {
  const head = await headOf(node);
  return head !== undefined && head > number && (await firstBlockOf(node, head)) > number;
}

/** Distance from the head within which blocks may lack their receipts and indexes for a moment. */
const NEW_BLOCKS = 8n;

async function compareWhenThere(
  number: bigint,
  heads: { lower: bigint },
  comparison: RangeComparison,
): Promise<void> {
  const { nodes, roles, tally, stop, isFollowing, giveUpAfterMs, io } = comparison;
  const startMs = performance.now();
  for (let isReported = false; ; isReported = true) {
    if (number > heads.lower) heads.lower = await lowerHead(comparison);
    if (number <= heads.lower) {
      const absentAt = await compareBlock(number, {
        ...nodes,
        roles,
        templates: () => tally.templates,
        onFinding: (...finding) => tally.add(...finding),
        onLeftOut: (requests) => {
          tally.leftOut += requests;
        },
        isNew: () => number > heads.lower - NEW_BLOCKS,
        sleep: (milliseconds) => stop.sleep(milliseconds),
      });
      if (absentAt === undefined) return;
      if (await hasRemoved(nodes[absentAt], number))
        return tally.addAbsent({ from: number, to: number }, absentAt);
    }
    heads.lower = -1n;
    if (!isReported) io.print(`waiting for block ${number}, which one of the nodes does not have\n`);
    if (!isFollowing && performance.now() - startMs > giveUpAfterMs)
      throw new NodeUnreachable(`one of the nodes does not have block ${number}`);
    await stop.sleep(COMPARE_LIMITS.pollMs);
  }
}

/** Intervals of progress lines: shorter on a terminal than in a log file. */
const TERMINAL_INTERVAL_MS = 1000;
const LOG_INTERVAL_MS = 5000;

/** Returns a function that prints how far the comparison is, at most once per interval. */
function createProgress({ from, to }: BlockRange, { tally, io }: RangeComparison): () => void {
  const intervalMs = io.isTerminal ? TERMINAL_INTERVAL_MS : LOG_INTERVAL_MS;
  const total = Number(to - from) + 1;
  const before = tally.blocks;
  let last = { atMs: performance.now(), blocks: tally.blocks };
  return () => {
    const atMs = performance.now();
    if (atMs - last.atMs < intervalMs) return;
    const perSecond = ((1000 * (tally.blocks - last.blocks)) / (atMs - last.atMs)).toFixed(1);
    const percent = ((100 * (tally.blocks - before)) / total).toFixed(1);
    io.print(`${percent} % of blocks ${from} to ${to}, ${perSecond} blocks/s: ${tally.summary()}\n`);
    last = { atMs, blocks: tally.blocks };
  };
}
