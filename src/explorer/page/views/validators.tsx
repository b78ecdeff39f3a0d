import { withChecksum } from "../chain/addresses.ts";
import { call } from "../chain/connection.ts";
import { useLoaded } from "../chain/hooks.ts";
import type { RecentBlock } from "../chain/recentBlocks.ts";
import { type ConsensusStatus, firstProposer, isSilent, type Turns, turnsOf } from "../chain/validators.ts";
import { showNumber, showPercent } from "../format.ts";
import { Age } from "../parts/age.tsx";
import { AccountLink } from "../parts/links.tsx";
import { Panel } from "../parts/panel.tsx";

/** Number of blocks in the strip of turns. */
const STRIP = 48;

/** The validators in the order of their turns, with their proposals, and those that are silent. */
export function Validators({ blocks }: { readonly blocks: readonly RecentBlock[] }) {
  const [newest] = blocks;
  const height = newest?.number;
  const validators = useLoaded(
    () => call<readonly string[] | null>("ibft_getValidatorsByBlockNumber", ["latest"]),
    [height],
  );
  const status = useLoaded(() => call<ConsensusStatus>("ibft_status"), [height]);
  const sorted = (validators.value ?? []).toSorted();
  if (newest === undefined || sorted.length === 0) return null;
  const turns = turnsOf(sorted, blocks);
  const next = sorted[firstProposer(sorted, newest.proposer)];
  return (
    <Panel
      title="Validators in turn"
      aside={sorted.length === 1 ? "one validator" : `${sorted.length} validators`}
    >
      <Strip blocks={blocks.slice(0, STRIP)} validators={sorted} />
      <ul class="validators">
        {sorted.map((address, position) => (
          <Validator
            key={address}
            address={address}
            position={position}
            turns={turns.get(address)}
            isNext={address === next}
            isSilent={isSilent(
              status.value?.validators.find((one) => one.address === address),
              {
                lost: turns.get(address)?.missed ?? 0,
                last: turns.get(address)?.last?.number,
                newest: newest.number,
                count: sorted.length,
              },
            )}
          />
        ))}
      </ul>
    </Panel>
  );
}

/**
 * A strip with a cell for each of the newest blocks in the colour of its proposer; a block that took more than one round is
 * marked.
 */
function Strip({
  blocks,
  validators,
}: {
  readonly blocks: readonly RecentBlock[];
  readonly validators: readonly string[];
}) {
  const late = blocks.filter(({ round }) => round > 0).length;
  const label = `Proposers of the last ${blocks.length} blocks; ${late === 0 ? "all were decided in their first round" : `${late} took more than one round`}`;
  return (
    <div class="strip" role="img" aria-label={label}>
      {blocks.toReversed().map(({ number, proposer, round }) => (
        <span
          key={number}
          class={round > 0 ? "late" : ""}
          style={{ "--hue": hueAt(validators.indexOf(proposer)) }}
          title={`Block ${number}, round ${round}, ${withChecksum(proposer)}`}
        />
      ))}
    </div>
  );
}

function Validator({
  address,
  position,
  turns,
  isNext,
  isSilent,
}: {
  readonly address: string;
  readonly position: number;
  readonly turns: Turns | undefined;
  readonly isNext: boolean;
  readonly isSilent: boolean;
}) {
  const { proposed = 0, missed = 0, among = 0 } = turns ?? {};
  return (
    <li class={isNext ? "validator next" : "validator"} style={{ "--hue": hueAt(position) }}>
      <div class="validator-name">
        <AccountLink address={address} />
        {isNext && <span class="badge">next</span>}
        {isSilent && <span class="badge bad">silent</span>}
      </div>
      <p class="note">
        {showPercent(proposed, among)} of the blocks
        {missed > 0 && `, ${showNumber(missed)} missed`}
      </p>
      <p class="note">
        {turns?.last === undefined ? "none of the newest" : <Age timestamp={turns.last.timestamp} />}
      </p>
    </li>
  );
}

/** The hue at a position: neighbours in the order of turns have distant colours. */
function hueAt(position: number): string {
  return String(Math.round(170 + 137.5 * Math.max(0, position)) % 360);
}
