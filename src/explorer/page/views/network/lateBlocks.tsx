import { useState } from "preact/hooks";
import type { DecidedBlock } from "../../chain/decidedBlocks.ts";
import { showNumber, showSeconds } from "../../format.ts";
import { Age } from "../../parts/age.tsx";
import { AccountLink, BlockLink } from "../../parts/links.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Sideways } from "../../parts/sideways.tsx";
import { countOf } from "./turnBuckets.ts";

const FIRST_SHOWN = 10;

/** The contents of the heat map, block by block. */
export function LateBlocks({ blocks }: { readonly blocks: readonly DecidedBlock[] }) {
  const [isAll, setAll] = useState(false);
  const late = blocks.filter(({ round }) => round > 0);
  if (late.length === 0) return null;
  const shown = isAll ? late : late.slice(0, FIRST_SHOWN);
  return (
    <Panel
      title="Blocks that took more than one round"
      aside={`${showNumber(late.length)} of ${showNumber(blocks.length)}`}
    >
      <Sideways>
        <table>
          <caption class="hidden">Blocks that took more than one round, the newest first</caption>
          <thead>
            <tr>
              <th scope="col">Block</th>
              <th scope="col">Age</th>
              <th scope="col" class="number">
                Round
              </th>
              <th scope="col" class="number">
                After
              </th>
              <th scope="col">Proposer</th>
              <th scope="col">Lost turns</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((block) => (
              <tr key={block.hash}>
                <td>
                  <BlockLink number={block.number} />
                </td>
                <td>
                  <Age timestamp={block.timestamp} />
                </td>
                <td class="number">{block.round}</td>
                <td class="number">{block.spacing === undefined ? "–" : showSeconds(block.spacing)}</td>
                <td>
                  <AccountLink address={block.proposer} />
                </td>
                <td>
                  <LostTurns turns={block.lostTurns} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Sideways>
      {late.length > FIRST_SHOWN && (
        <button type="button" class="button" onClick={() => setAll(!isAll)}>
          {isAll ? "Show fewer" : `Show all ${showNumber(late.length)}`}
        </button>
      )}
    </Panel>
  );
}

function LostTurns({ turns }: { readonly turns: readonly string[] }) {
  return (
    <span class="accounts">
      {[...countOf(turns)].map(([address, count]) => (
        <span key={address}>
          <AccountLink address={address} />
          {count > 1 && <span class="note"> {count} times</span>}
        </span>
      ))}
    </span>
  );
}
