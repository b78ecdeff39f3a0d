import {
  addressType,
  bigintType,
  bytesType,
  decimalType,
  integerType,
  positiveType,
  weiType,
} from "../valueTypes.ts";
import { option } from "./option.ts";

const NO_BYTES: Uint8Array = new Uint8Array(0);

/**
 * Space for 16,000 transfers of 130 bytes, a third more than a block of 12,000. Takes 1.7 s at 10 Mbit/s, which is
 * within round 1 of the shortest request timeout (1 s, doubled).
 */
const DEFAULT_MAX_BLOCK_BYTES = 2 * 1024 * 1024;
/**
 * Besu serves bodies of up to 10 MiB (p2p.md#requests-and-limits): a node that misses a larger block could not fetch
 * it from Besu.
 */
const LARGEST_MAX_BLOCK_BYTES = 9n * 1024n * 1024n;

export const MINING_OPTIONS = {
  "min-gas-price": option({
    type: weiType,
    default: 1000n,
    group: "Block production",
    help: "Minimum gas price of transactions in this node's blocks.",
  }),
  "min-priority-fee": option({
    type: weiType,
    default: 0n,
    group: "Block production",
    help: "Minimum priority fee per gas of transactions in this node's blocks.",
  }),
  "min-block-occupancy-ratio": option({
    type: decimalType({ label: "<FRACTION>", min: 0, max: 1 }),
    default: 0.8,
    group: "Block production",
    help: "Fraction of the gas limit above which a block is full enough: no smaller transactions are tried.",
  }),
  "max-block-bytes": option({
    type: integerType({ label: "<BYTES>", unit: "bytes", min: 1024n, max: LARGEST_MAX_BLOCK_BYTES }),
    default: DEFAULT_MAX_BLOCK_BYTES,
    group: "Block production",
    help: "Maximum size of the transactions in this node's blocks, so that they cross slow links in time; a larger transaction is alone in its block.",
  }),
  "target-gas-limit": option({
    type: bigintType({ label: "<GAS>", unit: "gas", min: 5000n, max: 2n ** 63n - 1n }),
    default: undefined,
    defaultText: "the parent's",
    group: "Block production",
    help: "Gas limit that this node's blocks move towards, each by less than 1/1024.",
  }),
  "poa-block-txs-selection-max-time": option({
    type: positiveType({ label: "<PERCENT>", unit: "percent of the block period" }),
    default: 75,
    group: "Block production",
    help: "Maximum time for filling a block, in percent of the block period.",
  }),
  "block-txs-selection-max-time": option({
    type: positiveType({ label: "<MILLISECONDS>", unit: "milliseconds" }),
    default: undefined,
    defaultText: "5000 on such networks",
    group: "Block production",
    isHidden: true,
    help: "Only for networks that are not proof of authority; refused here.",
  }),
  "miner-extra-data": option({
    type: bytesType({ maxBytes: 32 }),
    default: NO_BYTES,
    defaultText: "zeros",
    group: "Block production",
    help: "Up to 32 bytes of extra data (the vanity) in this node's blocks.",
  }),
  "miner-coinbase": option({
    type: addressType,
    default: undefined,
    defaultText: "the node's address",
    group: "Block production",
    help: "Address that eth_coinbase returns. Rewards go to the beneficiary in the genesis file, or else to the proposer.",
  }),
} as const;
