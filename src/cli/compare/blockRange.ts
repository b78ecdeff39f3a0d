import { Progress } from "../../observability/progress.ts";
import { smaller } from "../../primitives/quantity.ts";
import type { PrintedOutput } from "../printedOutput.ts";
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
  readonly output: PrintedOutput;
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
  const { tally, output } = comparison;
  const work = { message: `comparing blocks ${from} to ${to}`, total: Number(to - from) + 1 };
  const progress = new Progress({ ...work, lineIntervalMs: LINE_INTERVAL_MS }, output);
  let done = 0;
  let next = from;
  const compareSome = async (): Promise<void> => {
    while (next <= to) {
      comparison.stop.signal.throwIfAborted();
      const number = next++;
      await compareWhenThere(number, heads, comparison);
      tally.blocks++;
      if (tally.newest === undefined || number > tally.newest) tally.newest = number;
      progress.advance({ position: ++done, counts: { blocks: 1 }, fields: { summary: tally.summary() } });
    }
  };
  const compareUnlessOneFails = (): Promise<void> =>
    compareSome().catch((error: unknown) => {
      next = to + 1n;
      throw error;
    });
  const ends = await Promise.allSettled(
    Array.from({ length: COMPARE_LIMITS.blocksAtOnce }, compareUnlessOneFails),
  );
  progress.end();
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
  const { nodes, roles, tally, stop, isFollowing, giveUpAfterMs, output } = comparison;
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
    if (!isReported) output.printLine(`waiting for block ${number}, which one of the nodes does not have`);
    if (!isFollowing && performance.now() - startMs > giveUpAfterMs)
      throw new NodeUnreachable(`one of the nodes does not have block ${number}`);
    await stop.sleep(COMPARE_LIMITS.pollMs);
  }
}

/** Milliseconds between two lines of progress, where there is no bar. */
const LINE_INTERVAL_MS = 5000;
