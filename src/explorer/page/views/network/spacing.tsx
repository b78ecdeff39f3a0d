import type { DecidedBlock } from "../../chain/decidedBlocks.ts";
import { showDuration, showNumber, showPercent } from "../../format.ts";
import { Panel } from "../../parts/panel.tsx";
import { Plot } from "../../parts/plot.tsx";

/** Rows of the distribution; what is longer is counted together. */
const MOST_ROWS = 8;

/** The time between blocks: how it is distributed, and when it was long. */
export function Spacing({
  blocks,
  period,
}: {
  readonly blocks: readonly DecidedBlock[];
  /** Seconds, as a quantity. */
  readonly period: string | undefined;
}) {
  const timed = blocks.flatMap(({ number, spacing }) => (spacing === undefined ? [] : [{ number, spacing }]));
  if (timed.length === 0) return null;
  const spacings = timed.map(({ spacing }) => spacing).toSorted((a, b) => a - b);
  const inOrder = timed.toReversed();
  const at = (share: number): number => spacings[Math.floor(share * (spacings.length - 1))] ?? 0;
  const longest = spacings.at(-1) ?? 0;
  return (
    <div class="columns">
      <Panel title="Block spacing" aside={period && `configured: ${Number(period)} s`}>
        <Distribution spacings={spacings} />
        <p class="note after">
          Median {at(0.5)} s, 95 of 100 within {at(0.95)} s, longest {showDuration(longest)}.
        </p>
      </Panel>
      <Panel title="Seconds between blocks">
        <Plot
          kind="line"
          height={190}
          x={inOrder.map(({ number }) => number)}
          y={inOrder.map(({ spacing }) => spacing)}
          show={(seconds) => `${seconds < 10 ? Number(seconds.toFixed(1)) : Math.round(seconds)} s`}
          label={`Seconds between the last ${timed.length} blocks: median ${at(0.5)}, at most ${longest}`}
        />
      </Panel>
    </div>
  );
}

interface SpacingRow {
  readonly name: string;
  readonly count: number;
}

/** A table whose bars are its numbers. */
function Distribution({ spacings }: { readonly spacings: readonly number[] }) {
  const rows = rowsOf(spacings);
  const most = Math.max(...rows.map(({ count }) => count));
  return (
    <table class="bars">
      <caption class="hidden">How many blocks came so many seconds after the one before</caption>
      <thead class="hidden">
        <tr>
          <th scope="col">Seconds</th>
          <th scope="col">Share</th>
          <th scope="col">Blocks</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, count }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td class="bar-cell">
              <span class="bar" style={{ width: `${(100 * count) / most}%` }} />
              <span class="hidden">{showPercent(count, spacings.length)}</span>
            </td>
            <td class="number">{showNumber(count)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function rowsOf(spacings: readonly number[]): readonly SpacingRow[] {
  const counts = new Map<number, number>();
  for (const spacing of spacings) counts.set(spacing, (counts.get(spacing) ?? 0) + 1);
  const each = [...counts].toSorted(([a], [b]) => a - b);
  if (each.length <= MOST_ROWS) return each.map(([seconds, count]) => ({ name: `${seconds} s`, count }));
  const kept = each.slice(0, MOST_ROWS - 1);
  const rest = each.slice(MOST_ROWS - 1);
  const from = rest[0]?.[0] ?? 0;
  const count = rest.reduce((sum, [, more]) => sum + more, 0);
  return [
    ...kept.map(([seconds, some]) => ({ name: `${seconds} s`, count: some })),
    { name: `${from} s +`, count },
  ];
}
