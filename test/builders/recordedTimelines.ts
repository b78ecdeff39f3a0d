import { parseGenesis } from "../../src/chainspec/genesis.ts";
import type { IbftSchedule } from "../../src/chainspec/ibftParameters.ts";
import type { Head } from "../../src/ibft/validatorSet.ts";
import { tallyAfter, tallyAfterEpoch } from "../../src/ibft/validatorVotes.ts";
import { hexToBytes } from "../../src/primitives/hex.ts";
import { encodeRlpList, readRlpList } from "../../src/primitives/rlp.ts";
import { type Block, decodeBlock } from "../../src/types/block.ts";
import { readVectorBytes, readVectorJson } from "../vectors.ts";
import { readRecordedHeaders } from "./recordedHeaders.ts";
import type { Network } from "./recordedMessages.ts";

/** One event at one node: a message sent, received, or withheld by the capture's Commit switch. */
export interface TimelineEvent {
  readonly atMs: number;
  readonly node: string;
  readonly direction: "in" | "out" | "lost";
  readonly peer: string;
  /** height/round/kind/node */
  readonly id: string;
}

/** A height as recorded at four nodes. */
export interface Timeline {
  readonly network: Network;
  readonly height: number;
  readonly events: readonly TimelineEvent[];
}

export function recordedTimelines(network: Network): readonly Timeline[] {
  const recorded = readVectorJson<
    Record<string, { t0: number; events: [number, string, "in" | "out" | "lost", string, string][] }>
  >("besu-ibft", network, "wire", "ibft-timeline.json");
  return Object.entries(recorded).map(([height, { t0, events }]) => ({
    network,
    height: Number(height),
    events: events.map(([ms, node, direction, peer, id]) => ({ atMs: t0 + ms, node, direction, peer, id })),
  }));
}

/** The four validators of a recorded network. */
export const NODES = ["node1", "node2", "node3", "node4"] as const;

export function privateKeyOf(network: Network, node: string): Uint8Array {
  const keys = readVectorJson<{ node: string; privateKey: string }[]>("besu-ibft", network, "keys.json");
  const found = keys.find((key) => key.node === node);
  if (found === undefined) throw new Error(`${network} has no ${node}`);
  return hexToBytes(found.privateKey);
}

/** A complete block of a recorded chain. */
export function recordedBlock(network: Network, number: number): Block {
  const chain = encodeRlpList([readVectorBytes("besu-ibft", network, "chain.rlp")]);
  const span = readRlpList(chain)[number];
  const block = decodeBlock(chain.subarray(span?.start ?? 0, span?.until ?? 0));
  if (!block.ok) throw new Error(block.error.message);
  return block.value;
}

/** The chain of a recorded network as consensus sees it: the head after each block, by its number. */
export interface RecordedHeads {
  readonly schedule: IbftSchedule;
  readonly heads: readonly Head[];
}

export function recordedHeads(network: Network): RecordedHeads {
  const text = new TextDecoder().decode(readVectorBytes("besu-ibft", network, "genesis.json"));
  const spec = parseGenesis(text, network);
  if (!spec.ok) throw new Error(spec.error.message);
  const schedule = spec.value.ibft;
  const heads: Head[] = [];
  for (const block of readRecordedHeaders("besu-ibft", network, "chain.rlp")) {
    const parent = heads.at(-1);
    const tally =
      parent === undefined ? tallyAfterEpoch(block, schedule) : tallyAfter(parent.tally, block, schedule);
    heads.push({ header: block.header, hash: block.hash, totalDifficulty: BigInt(heads.length + 1), tally });
  }
  return { schedule, heads };
}
