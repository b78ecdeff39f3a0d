import type { RecentBlock } from "../chain/recentBlocks.ts";
import { showNumber, showPercent } from "../format.ts";
import { Age } from "./age.tsx";
import { AccountLink, BlockLink } from "./links.tsx";
import { Sideways } from "./sideways.tsx";

/** A table of blocks. */
export function BlockTable({ blocks }: { readonly blocks: readonly RecentBlock[] }) {
  return (
    <Sideways>
      <table>
        <caption class="hidden">Blocks, the newest first</caption>
        <thead>
          <tr>
            <th scope="col">Block</th>
            <th scope="col">Age</th>
            <th scope="col" class="number">
              Transactions
            </th>
            <th scope="col" class="number">
              Gas used
            </th>
            <th scope="col">Proposer</th>
            <th scope="col" class="number">
              Round
            </th>
          </tr>
        </thead>
        <tbody>
          {blocks.map((block) => (
            <tr key={block.hash}>
              <td>
                <BlockLink number={block.number} />
              </td>
              <td>
                <Age timestamp={block.timestamp} />
              </td>
              <td class="number">{block.isWhole ? showNumber(block.transactions) : "–"}</td>
              <td class="number">{showPercent(block.gasUsed, block.gasLimit)}</td>
              <td>
                <AccountLink address={block.proposer} />
              </td>
              <td class="number">{block.round}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Sideways>
  );
}
