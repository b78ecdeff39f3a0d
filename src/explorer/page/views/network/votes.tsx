import type { DecidedBlock } from "../../chain/decidedBlocks.ts";
import type { ConsensusStatus } from "../../chain/validators.ts";
import { showNumber } from "../../format.ts";
import { AccountLink, BlockLink } from "../../parts/links.tsx";
import { Panel } from "../../parts/panel.tsx";

/** Most votes in blocks that are listed. */
const LISTED = 8;

/** Votes on the validator set: those without a majority yet, and those in these blocks. */
export function Votes({
  blocks,
  status,
}: {
  readonly blocks: readonly DecidedBlock[];
  readonly status: ConsensusStatus;
}) {
  const { needed, expireAtBlock, outstanding } = status.validatorVotes;
  return (
    <Panel title="Votes under way" aside={`a majority takes ${showNumber(Number(needed))}`}>
      {outstanding.length === 0 ? (
        <p class="muted">None. The validators agree on who is one of them.</p>
      ) : (
        <ul class="votes">
          {outstanding.flatMap(({ address, add, drop }) => [
            add.length > 0 && (
              <Vote key={`+${address}`} address={address} verb="Add" by={add} needed={needed} />
            ),
            drop.length > 0 && (
              <Vote key={`-${address}`} address={address} verb="Remove" by={drop} needed={needed} />
            ),
          ])}
        </ul>
      )}
      {outstanding.length > 0 && expireAtBlock !== null && (
        <p class="note after">Votes without a majority end with block {showNumber(Number(expireAtBlock))}.</p>
      )}
      <Ballots blocks={blocks} />
    </Panel>
  );
}

function Vote({
  address,
  verb,
  by,
  needed,
}: {
  readonly address: string;
  readonly verb: string;
  readonly by: readonly string[];
  readonly needed: string;
}) {
  return (
    <li>
      <p class="accounts">
        <b>{verb}</b> <AccountLink address={address} />
        <span class="note">
          {by.length} of {showNumber(Number(needed))} votes
        </span>
      </p>
      <p class="accounts note">
        by{" "}
        {by.map((voter) => (
          <AccountLink key={voter} address={voter} />
        ))}
      </p>
    </li>
  );
}

function Ballots({ blocks }: { readonly blocks: readonly DecidedBlock[] }) {
  const ballots = blocks.filter(({ vote }) => vote !== null);
  if (ballots.length === 0) return null;
  return (
    <details class="after">
      <summary>
        {ballots.length === 1 ? "One block" : `${showNumber(ballots.length)} blocks`} of these had a ballot
      </summary>
      <ul class="ballots">
        {ballots.slice(0, LISTED).map(({ number, proposer, vote }) => (
          <li class="accounts" key={number}>
            <BlockLink number={number} />
            <AccountLink address={proposer} />
            {vote?.kind === "drop" ? "removes" : "adds"}
            {vote !== null && <AccountLink address={vote.address} />}
          </li>
        ))}
      </ul>
      {ballots.length > LISTED && <p class="note">and {showNumber(ballots.length - LISTED)} before</p>}
    </details>
  );
}
