import { useMemo } from "preact/hooks";
import { useClock } from "../chain/clock.ts";
import { call } from "../chain/connection.ts";
import { type DecidedBlock, useDecidedBlocks } from "../chain/decidedBlocks.ts";
import { type Loaded, useLoaded } from "../chain/hooks.ts";
import type { NodeStatus } from "../chain/nodeStatus.ts";
import { useHeight } from "../chain/recentBlocks.ts";
import type { ConsensusStatus } from "../chain/validators.ts";
import { Problem } from "../parts/notices.tsx";
import { Clocks } from "./network/clocks.tsx";
import { Condition } from "./network/condition.tsx";
import { LateBlocks } from "./network/lateBlocks.tsx";
import { Machine, ThisNode } from "./network/machine.tsx";
import { Peers } from "./network/peers.tsx";
import { Rounds } from "./network/rounds.tsx";
import { Spacing } from "./network/spacing.tsx";
import { Unmined } from "./network/unmined.tsx";
import { ValidatorTable } from "./network/validatorTable.tsx";
import { Votes } from "./network/votes.tsx";

/** The page for operators: who takes part, where turns were lost, and the condition of this node and its machine. */
export function NetworkView() {
  const decided = useDecidedBlocks();
  const status = useStatus<ConsensusStatus>("ibft_status");
  const node = useStatus<NodeStatus>("explorer_getNodeStatus");
  const blocks = decided.value ?? NO_BLOCKS;
  const period = node.value?.blockPeriodSeconds;
  // The node is polled more often than a thousand blocks need to be redrawn.
  const rounds = useMemo(() => <Rounds blocks={blocks} />, [blocks]);
  const lateBlocks = useMemo(() => <LateBlocks blocks={blocks} />, [blocks]);
  const spacing = useMemo(() => <Spacing blocks={blocks} period={period} />, [blocks, period]);
  return (
    <article class="page">
      <header>
        <h1>Network</h1>
        <p class="muted">{spanOf(blocks)}</p>
      </header>
      <Condition blocks={blocks} status={status.value} node={node.value} />
      {[decided, status, node].map(
        ({ error }) => error !== undefined && <Problem key={error.message} error={error} />,
      )}
      {node.value !== undefined && <Unmined node={node.value} />}
      {blocks.length > 0 && (
        <>
          {rounds}
          <ValidatorTable blocks={blocks} status={status.value} />
          {lateBlocks}
          {spacing}
        </>
      )}
      <div class="columns">
        {status.value !== undefined && <Votes blocks={blocks} status={status.value} />}
        {status.value !== undefined && <Clocks status={status.value} />}
      </div>
      {node.value !== undefined && (
        <div class="columns">
          <ThisNode node={node.value} />
          <Machine node={node.value} />
          <Peers node={node.value} />
        </div>
      )}
    </article>
  );
}

const NO_BLOCKS: readonly DecidedBlock[] = [];

/** Polling interval while no block comes, which is when operators look. */
const REFRESH_MS = 2_000;

function useStatus<T>(method: string): Loaded<T> {
  const height = useHeight();
  const turn = useClock((nowMs) => Math.floor(nowMs / REFRESH_MS));
  return useLoaded(() => call<T>(method), [height, turn]);
}

function spanOf(blocks: readonly DecidedBlock[]): string {
  const oldest = blocks.at(-1);
  const [newest] = blocks;
  if (oldest === undefined || newest === undefined) return "Consensus, and this node.";
  return blocks.length === 1
    ? `Consensus on block ${newest.number}, and this node.`
    : `Consensus on the last ${blocks.length.toLocaleString("en")} blocks, and this node.`;
}
