import { useMemo } from "preact/hooks";
import type { DecidedBlock } from "../../chain/decidedBlocks.ts";
import { type ConsensusStatus, isSilent } from "../../chain/validators.ts";
import { showDuration, showNumber, showPercent } from "../../format.ts";
import { Age } from "../../parts/age.tsx";
import { AccountLink, BlockLink } from "../../parts/links.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Sideways } from "../../parts/sideways.tsx";
import { countOf, validatorsOf } from "./turnBuckets.ts";

interface ValidatorTableProps {
  readonly blocks: readonly DecidedBlock[];
  readonly status: ConsensusStatus | undefined;
}

type Member = ConsensusStatus["validators"][number];

/** The validators, with their last blocks and their silence. */
export function ValidatorTable({ blocks, status }: ValidatorTableProps) {
  const records = useMemo(() => recordsOf(blocks), [blocks]);
  const now = blocks[0]?.validators ?? [];
  return (
    <Panel title="Validators" aside={`${showNumber(now.length)} now`}>
      <Sideways>
        <table>
          <caption class="hidden">
            Validators, their blocks and lost turns among these blocks, and their silence
          </caption>
          <thead>
            <tr>
              <th scope="col">Validator</th>
              <th scope="col" class="number">
                Blocks
              </th>
              <th scope="col" class="number">
                Lost turns
              </th>
              <th scope="col">Last block</th>
              <th scope="col">Proposed</th>
              <th scope="col">Last heard</th>
              <th scope="col" class="number">
                Connections
              </th>
            </tr>
          </thead>
          <tbody>
            {records.map((record) => {
              const member = status?.validators.find(({ address }) => address === record.address);
              const newest = blocks[0]?.number ?? 0;
              const { lost, last } = record;
              return (
                <Row
                  key={record.address}
                  record={record}
                  among={blocks.length}
                  isFormer={!now.includes(record.address)}
                  isQuiet={
                    member !== undefined &&
                    isSilent(member, { lost, last: last?.number, newest, count: now.length })
                  }
                  member={member}
                />
              );
            })}
          </tbody>
        </table>
      </Sideways>
    </Panel>
  );
}

/** A validator's record in the blocks. */
interface TurnRecord {
  readonly address: string;
  readonly proposed: number;
  readonly lost: number;
  readonly last: DecidedBlock | undefined;
}

function recordsOf(blocks: readonly DecidedBlock[]): readonly TurnRecord[] {
  const proposed = countOf(blocks.map(({ proposer }) => proposer));
  const lost = countOf(blocks.flatMap(({ lostTurns }) => lostTurns));
  return validatorsOf(blocks).map((address) => ({
    address,
    proposed: proposed.get(address) ?? 0,
    lost: lost.get(address) ?? 0,
    last: blocks.find(({ proposer }) => proposer === address),
  }));
}

function Row({
  record: { address, proposed, lost, last },
  among,
  isFormer,
  isQuiet,
  member,
}: {
  readonly record: TurnRecord;
  readonly among: number;
  readonly isFormer: boolean;
  readonly isQuiet: boolean;
  readonly member: Member | undefined;
}) {
  return (
    <tr>
      <td>
        <AccountLink address={address} />
        {isFormer && <span class="badge plain">no longer one</span>}
        {member?.isSelf && <span class="badge">this node</span>}
        {member?.isProposer && <span class="badge">its turn</span>}
        {isQuiet && <span class="badge bad">silent</span>}
      </td>
      <td class="number">
        {showNumber(proposed)} <span class="note">{showPercent(proposed, among)}</span>
      </td>
      <td class="number">{lost === 0 ? "0" : <span class="badge warn">{showNumber(lost)}</span>}</td>
      <td>
        {last === undefined ? <span class="muted">none of these</span> : <BlockLink number={last.number} />}
      </td>
      <td>{last === undefined ? "–" : <Age timestamp={last.timestamp} />}</td>
      <td>{heardText(member)}</td>
      <td class="number">{member?.peers == null ? "–" : showNumber(Number(member.peers))}</td>
    </tr>
  );
}

const KINDS: Readonly<Record<string, string>> = {
  proposal: "a proposal",
  prepare: "a prepare",
  commit: "a commit",
  roundChange: "a round change",
  block: "a block",
};

function heardText(member: Member | undefined): string {
  if (member === undefined) return "–";
  if (member.isSelf) return "itself";
  if (member.lastHeard === null) return "not since the start";
  const { agoMs, kind } = member.lastHeard;
  return `${showDuration(agoMs / 1_000)} ago, ${KINDS[kind] ?? kind}`;
}
