import { type ForkName, isAtLeast } from "../../../src/chainspec/forks.ts";
import { EMPTY_LIST_HASH } from "../../../src/primitives/hash.ts";
import { equalBytes } from "../../../src/primitives/hex.ts";
import type { Header } from "../../../src/types/header.ts";

/** Difficulty of the block after `parent` at `timestamp` under the ethash rules of a fork (yellow paper §4.3.4, EIPs 2, 100, 649). */
export function nextDifficulty(fork: ForkName, parent: Header, timestamp: bigint): bigint {
  const adjusted = parent.difficulty + (parent.difficulty / 2048n) * adjustment(fork, parent, timestamp);
  return max(adjusted, MINIMUM_DIFFICULTY) + bomb(fork, parent.number + 1n);
}

const MINIMUM_DIFFICULTY = 131_072n;

/** The adjustment for the time since the parent, in steps of 1/2048. */
function adjustment(fork: ForkName, parent: Header, timestamp: bigint): bigint {
  const seconds = timestamp - parent.timestamp;
  if (!isAtLeast(fork, "homestead")) return seconds < 13n ? 1n : -1n;
  if (!isAtLeast(fork, "byzantium")) return max(1n - seconds / 10n, -99n);
  const base = equalBytes(parent.ommersHash, EMPTY_LIST_HASH) ? 1n : 2n;
  return max(base - seconds / 9n, -99n);
}

/** The difficulty bomb, which doubles every 100,000 blocks and was delayed several times. */
function bomb(fork: ForkName, number: bigint): bigint {
  const [, delay = 0n] = BOMB_DELAYS.find(([since]) => isAtLeast(fork, since)) ?? [];
  const period = max(number - delay, 0n) / 100_000n;
  return period < 2n ? 0n : 2n ** (period - 2n);
}

/** EIPs 5133, 4345, 3554, 2384, 1234, 649; newest first. */
const BOMB_DELAYS: readonly (readonly [since: ForkName, blocks: bigint])[] = [
  ["grayGlacier", 11_400_000n],
  ["arrowGlacier", 10_700_000n],
  ["london", 9_700_000n],
  ["muirGlacier", 9_000_000n],
  ["constantinople", 5_000_000n],
  ["byzantium", 3_000_000n],
];

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
