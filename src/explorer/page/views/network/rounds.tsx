import { withChecksum } from "../../chain/addresses.ts";
import type { DecidedBlock } from "../../chain/decidedBlocks.ts";
import { useMedia } from "../../chain/hooks.ts";
import { showNumber } from "../../format.ts";
import { Age } from "../../parts/age.tsx";
import { AccountLink, BlockLink } from "../../parts/links.tsx";
import { Panel } from "../../parts/panel.tsx";
import { type Bucket, bucketsOf, countOf, validatorsOf } from "./turnBuckets.ts";

const COLUMNS = 100;
const COLUMNS_ON_A_PHONE = 40;

/** Heat map of proposals and lost turns over time: a row for each validator, a column for some blocks. */
export function Rounds({ blocks }: { readonly blocks: readonly DecidedBlock[] }) {
  const isNarrow = useMedia("(max-width: 720px)");
  const buckets = bucketsOf(blocks, isNarrow ? COLUMNS_ON_A_PHONE : COLUMNS);
  const size = Math.max(...buckets.map(({ first, last }) => last - first + 1));
  const lost = countOf(blocks.flatMap(({ lostTurns }) => lostTurns));
  return (
    <Panel
      title="Rounds and lost turns"
      aside={size === 1 ? "a column for each block" : `a column for each ${showNumber(size)} blocks`}
    >
      <div class="heat">
        <div class="heat-row">
          <span class="heat-name note">Highest round</span>
          <RoundCells buckets={buckets} blocks={blocks} />
        </div>
        {validatorsOf(blocks).map((address) => (
          <div class="heat-row" key={address}>
            <span class="heat-name">
              <AccountLink address={address} />
              <span class="note">{lostText(lost.get(address) ?? 0)}</span>
            </span>
            <TurnCells address={address} buckets={buckets} lost={lost.get(address) ?? 0} />
          </div>
        ))}
        <Axis buckets={buckets} />
      </div>
      <Legend />
    </Panel>
  );
}

function lostText(lost: number): string {
  return lost === 0 ? "" : `${showNumber(lost)} lost`;
}

function RoundCells({
  buckets,
  blocks,
}: {
  readonly buckets: readonly Bucket[];
  readonly blocks: readonly DecidedBlock[];
}) {
  const highest = Math.max(...blocks.map(({ round }) => round));
  const late = blocks.filter(({ round }) => round > 0).length;
  const label =
    late === 0
      ? `All ${blocks.length} blocks were decided in their first round.`
      : `${late} of ${blocks.length} blocks took more than one round, at most round ${highest}. They are listed below.`;
  return (
    <div class="heat-cells" role="img" aria-label={label}>
      {buckets.map((bucket) => (
        <span
          key={bucket.first}
          class={`round round-${Math.min(3, bucket.highestRound)}`}
          title={`${nameOf(bucket)}: ${bucket.highestRound === 0 ? "decided in the first round" : `up to round ${bucket.highestRound}`}`}
        >
          {bucket.highestRound > 0 && Math.min(9, bucket.highestRound)}
        </span>
      ))}
    </div>
  );
}

function TurnCells({
  address,
  buckets,
  lost,
}: {
  readonly address: string;
  readonly buckets: readonly Bucket[];
  readonly lost: number;
}) {
  const proposed = buckets.reduce((sum, bucket) => sum + (bucket.proposed.get(address) ?? 0), 0);
  const label = `${withChecksum(address)} proposed ${proposed} blocks and lost ${lost} turns.`;
  return (
    <div class="heat-cells" role="img" aria-label={label}>
      {buckets.map((bucket) => {
        const made = bucket.proposed.get(address) ?? 0;
        const missing = bucket.lost.get(address) ?? 0;
        return (
          <span
            key={bucket.first}
            class={`turn ${turnClass(made, missing)}`}
            title={`${nameOf(bucket)}: ${made} proposed, ${missing} ${missing === 1 ? "turn" : "turns"} lost`}
          />
        );
      })}
    </div>
  );
}

/** CSS class of a cell, which shows lost turns by its height as well as by its colour. */
function turnClass(made: number, missing: number): string {
  if (missing === 0) return made === 0 ? "none" : "kept";
  if (made === 0) return "lost-all";
  return missing < made ? "lost-some" : "lost-most";
}

function nameOf({ first, last }: Bucket): string {
  return first === last ? `Block ${showNumber(first)}` : `Blocks ${showNumber(first)} to ${showNumber(last)}`;
}

function Axis({ buckets }: { readonly buckets: readonly Bucket[] }) {
  const oldest = buckets[0];
  const newest = buckets.at(-1);
  if (oldest === undefined || newest === undefined) return null;
  return (
    <div class="heat-row">
      <span class="heat-name" />
      <div class="heat-axis note">
        <span>
          <BlockLink number={oldest.first} />, <Age timestamp={oldest.timestamp} />
        </span>
        <span>
          <BlockLink number={newest.last} />
        </span>
      </div>
    </div>
  );
}

function Legend() {
  return (
    <>
      <ul class="heat-legend note">
        {LEGEND.map(({ kind, meaning }) => (
          <li key={kind}>
            <span class={`turn ${kind}`} aria-hidden="true" />
            {meaning}
          </li>
        ))}
      </ul>
      <p class="note">
        A turn is lost when its round ends without a block: its proposer was away or slow, or too few others
        answered.
      </p>
    </>
  );
}

const LEGEND = [
  { kind: "kept", meaning: "proposed" },
  { kind: "lost-some", meaning: "fewer than half of its turns lost" },
  { kind: "lost-most", meaning: "half or more lost" },
  { kind: "lost-all", meaning: "all lost" },
  { kind: "none", meaning: "no turn" },
];
