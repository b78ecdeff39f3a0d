import type { DecidedBlock } from "../../chain/decidedBlocks.ts";
import type { NodeStatus } from "../../chain/nodeStatus.ts";
import type { ConsensusStatus } from "../../chain/validators.ts";
import { showBytes, showDuration, showNumber, showPercent } from "../../format.ts";
import { AccountLink } from "../../parts/links.tsx";
import { Figure } from "../../parts/panel.tsx";

interface ConditionProps {
  readonly blocks: readonly DecidedBlock[];
  readonly status: ConsensusStatus | undefined;
  readonly node: NodeStatus | undefined;
}

/** The condition of the network, in a line of figures. */
export function Condition({ blocks, status, node }: ConditionProps) {
  const late = blocks.filter(({ round }) => round > 0).length;
  return (
    <dl class="figures">
      <Figure name="This node" note={noteOf(status, node)}>
        {status === undefined ? "…" : (MODES[status.mode] ?? status.mode)}
      </Figure>
      <Figure name="Round in progress" note={status?.proposer && <TurnOf address={status.proposer} />}>
        {roundOf(status)}
      </Figure>
      <Figure name="Validators heard" note={status && `quorum ${showNumber(Number(status.quorum))}`}>
        {heardOf(status)}
      </Figure>
      <Figure
        name="First round"
        note={late === 0 ? "no block was late" : `${showNumber(late)} blocks were late`}
      >
        {blocks.length === 0 ? "–" : showShare(blocks.length - late, blocks.length)}
      </Figure>
      <Figure name="Sync" note={node && syncNote(node)}>
        {node === undefined ? "…" : node.isInSync ? "in sync" : "behind"}
      </Figure>
    </dl>
  );
}

const MODES: Readonly<Record<string, string>> = {
  notStarted: "starting",
  validating: "validates",
  following: "follows",
  paused: "paused",
  bound: "bound",
  silent: "silent",
  failed: "failed",
};

const PAUSES: Readonly<Record<string, string>> = {
  catchingUp: "it catches up first",
  lostEnd: "it restores the blocks that its database has lost first",
  listening: "it listens for its own key first",
  operator: "stopped by its operator",
  development: "blocks are made on demand, without votes",
};

function pauseText(pause: string, { disk }: NodeStatus): string {
  if (pause === "diskAlmostFull")
    return `the disk is almost full, until ${showBytes(Number(disk.resumeBytes))} (${showNumber(Number(disk.resumeBytes))} bytes) are free`;
  return PAUSES[pause] ?? pause;
}

function noteOf(status: ConsensusStatus | undefined, node: NodeStatus | undefined): string | undefined {
  if (node !== undefined && node.pauses.length > 0)
    return node.pauses.map((pause) => pauseText(pause, node)).join(", ");
  if (status === undefined) return undefined;
  return status.isValidator ? "one of the validators" : "not a validator";
}

function TurnOf({ address }: { readonly address: string }) {
  return (
    <>
      turn of <AccountLink address={address} />
    </>
  );
}

function roundOf(status: ConsensusStatus | undefined): string {
  if (status === undefined) return "…";
  if (status.round === null) return "–";
  const seconds = (status.timers?.roundAgeMs ?? 0) / 1_000;
  const round = showNumber(Number(status.round));
  return seconds < LONG_ROUND ? round : `${round}, for ${showDuration(seconds)}`;
}

/** Duration of a round above which it is shown, seconds. */
const LONG_ROUND = 3;

/** The number of validators heard, which only a node that takes part knows. */
function heardOf(status: ConsensusStatus | undefined): string {
  if (status === undefined) return "…";
  const all = status.validators.length;
  if (status.round === null) return `– of ${all}`;
  return `${status.validators.filter(({ isHeard }) => isHeard === true).length} of ${all}`;
}

/** Formats a share, without rounding up to all when some are missing. */
function showShare(part: number, whole: number): string {
  const percent = (100 * part) / whole;
  return part < whole && percent > 99
    ? `${(Math.floor(10 * percent) / 10).toFixed(1)} %`
    : showPercent(part, whole);
}

function syncNote({ peerCount, maxPeers }: NodeStatus): string {
  return peerCount === null
    ? "peer-to-peer is off"
    : `${showNumber(Number(peerCount))} of at most ${showNumber(Number(maxPeers))} peers`;
}
