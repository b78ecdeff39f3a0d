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
 * Room for 16,000 transfers of 130 bytes, a third more than a block of 12,000; crosses 10 Mbit/s in 1.7 s, that is,
 * within round 1 of the shortest request timeout there is (1 s, doubled).
 */
const DEFAULT_MAX_BLOCK_BYTES = 2 * 1024 * 1024;
/**
 * Besu serves bodies of up to 10 MiB (p2p.md#requests-and-limits): whoever misses a larger block could not
 * fetch it from there.
 */
const LARGEST_MAX_BLOCK_BYTES = 9n * 1024n * 1024n;

export const MINING_OPTIONS = {
  "min-gas-price": option({
    type: weiType,
    default: 1000n,
    group: "Block production",
    help: "Lowest price per gas that goes into this node's blocks.",
  }),
  "min-priority-fee": option({
    type: weiType,
    default: 0n,
    group: "Block production",
    help: "Lowest priority fee per gas that goes into this node's blocks.",
  }),
  "min-block-occupancy-ratio": option({
    type: decimalType({ label: "<FRACTION>", min: 0, max: 1 }),
    default: 0.8,
    group: "Block production",
    help: "How full a block must be to stop looking for smaller transactions.",
  }),
  "max-block-bytes": option({
    type: integerType({ label: "<BYTES>", unit: "bytes", min: 1024n, max: LARGEST_MAX_BLOCK_BYTES }),
    default: DEFAULT_MAX_BLOCK_BYTES,
    group: "Block production",
    help: "Most bytes of transactions in this node's blocks, so that they cross slow links in time; one that is larger goes alone.",
  }),
  "target-gas-limit": option({
    type: bigintType({ label: "<GAS>", unit: "gas", min: 5000n, max: 2n ** 63n - 1n }),
    default: undefined,
    defaultText: "the parent's",
    group: "Block production",
    help: "Gas limit that this node's blocks move to, by less than 1/1024 each.",
  }),
  "poa-block-txs-selection-max-time": option({
    type: positiveType({ label: "<PERCENT>", unit: "percent of the block period" }),
    default: 75,
    group: "Block production",
    help: "Longest time to fill a block, in percent of the block period.",
  }),
  "block-txs-selection-max-time": option({
    type: positiveType({ label: "<MILLISECONDS>", unit: "milliseconds" }),
    default: undefined,
    defaultText: "5000 where it counts",
    group: "Block production",
    isHidden: true,
    help: "Only for networks that are not proof of authority; refused here.",
  }),
  "miner-extra-data": option({
    type: bytesType({ maxBytes: 32 }),
    default: NO_BYTES,
    defaultText: "zeros",
    group: "Block production",
    help: "Up to 32 bytes of your own in this node's blocks (the vanity).",
  }),
  "miner-coinbase": option({
    type: addressType,
    default: undefined,
    defaultText: "the node's address",
    group: "Block production",
    help: "What eth_coinbase answers. Rewards go where the genesis file says, or to the proposer.",
  }),
} as const;
