import type { Answering } from "./scriptedNode.ts";

export const VALIDATORS = ["11", "22", "33", "44"].map((byte) => `0x${byte.repeat(20)}`);

/** What the first of four validators answers about consensus and itself. */
export function aNetworkAnswer(): Readonly<Record<string, Answering>> {
  return {
    ibft_getValidatorsByBlockNumber: () => VALIDATORS,
    ibft_status: () => STATUS,
    explorer_getNodeStatus: () => NODE,
  };
}

const STATUS = {
  mode: "validating",
  address: VALIDATORS[0],
  isValidator: true,
  height: "0x3",
  round: "0x0",
  proposer: VALIDATORS[0],
  phase: "proposal",
  timers: { roundAgeMs: 100, roundEndsInMs: 900 },
  quorum: "0x3",
  validators: VALIDATORS.map((address, index) => ({
    address,
    isSelf: index === 0,
    isProposer: index === 0,
    isHeard: true,
    missedTurns: "0x0",
    peers: index === 0 ? null : "0x1",
    lastHeard: index === 0 ? null : { agoMs: 100, kind: "commit" },
    clockAheadMs: index === 0 ? null : [20],
  })),
  validatorVotes: { needed: "0x3", expireAtBlock: null, outstanding: [] },
};

const NODE = {
  version: "ibex/scripted",
  chainId: "0x539",
  networkId: "0x539",
  genesisHash: `0x${"0".repeat(64)}`,
  fork: "cancun",
  blockPeriodSeconds: "0x1",
  requestTimeoutSeconds: "0x2",
  startedAt: "0x6553f100",
  isInSync: true,
  pauses: [],
  peerCount: "0x0",
  maxPeers: "0x19",
  peers: [],
  disk: { freeBytes: null, reserveBytes: "0x0", resumeBytes: "0x0", databaseBytes: "0x1000" },
  unminedCount: "0x0",
  unmined: [],
  walletRpc: null,
  memory: { residentBytes: "0x1000", ownBytes: null, mappedBytes: null, limitBytes: "0x2000" },
  openFiles: { open: null, limit: null },
  blockHistory: { firstBlock: "0x0", keptBlocks: null, blocksToRemove: "0x0" },
  stateHistory: { firstBlock: "0x0", keptBlocks: null, blocksToRemove: "0x0" },
};
