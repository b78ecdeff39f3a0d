import type { DecidedBlock } from "../../chain/decidedBlocks.ts";
import { showNumber, showPercent, showSeconds } from "../../format.ts";
import { Panel } from "../../parts/panel.tsx";
import { Plot } from "../../parts/plot.tsx";
import { quantile, spacingRows } from "./spacingRows.ts";

/** The time between blocks: its distribution, and when it was long. */
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
  const at = (share: number): string => showSeconds(quantile(spacings, share));
  const exact = blocks.filter(({ arrivedMs }) => arrivedMs !== undefined).length;
  return (
    <div class="columns">
      <Panel title="Block spacing" aside={period && `configured: ${Number(period)} s`}>
        <Distribution spacings={spacings} />
        <p class="note after">
          Median {at(0.5)}, 95 of 100 within {at(0.95)}, longest {at(1)}.
        </p>
      </Panel>
      <Panel title="Seconds between blocks">
        <Plot
          kind="line"
          height={190}
          x={inOrder.map(({ number }) => number)}
          y={inOrder.map(({ spacing }) => spacing)}
          show={(seconds) => showSeconds(Number(seconds.toFixed(2)))}
          label={`Time between the last ${timed.length} blocks: median ${at(0.5)}, at most ${at(1)}`}
        />
        <p class="note after">{sourceText(exact, blocks.length)}</p>
      </Panel>
    </div>
  );
}

function sourceText(exact: number, all: number): string {
  if (exact === 0) return "By the stamps of blocks, which are whole seconds.";
  const source = "To the millisecond at which this node had each block";
  return exact === all ? `${source}.` : `${source}; by their whole-second stamps before its start.`;
}

/** A table whose numbers are also bars. */
function Distribution({ spacings }: { readonly spacings: readonly number[] }) {
  const rows = spacingRows(spacings);
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
