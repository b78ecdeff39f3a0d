import type { NextBlockRules } from "../../src/chain/nextBlockView.ts";
import type { Address } from "../../src/primitives/address.ts";
import { toDigits } from "../../src/primitives/hex.ts";
import { DEFAULT_TX_POOL_LIMITS, type TxPoolLimits } from "../../src/txpool/limits.ts";
import type { PoolParts } from "../../src/txpool/ports.ts";
import { TxPool } from "../../src/txpool/txPool.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";

interface AccountAtHead {
  nonce: bigint;
  balanceWei: bigint;
  isContract: boolean;
}

/** A head that a test advances: unnamed accounts have nonce 0 and a thousand ether. */
interface HeadInHand {
  headGasLimit: bigint;
  nextBaseFeePerGas: bigint | undefined;
  isStateAvailable: boolean;
  rules: NextBlockRules;
  /** Changes an account at the head. */
  set(sender: Address, changes: Partial<AccountAtHead>): void;
  nonce(sender: Address): bigint;
  balanceWei(sender: Address): bigint;
  isContract(sender: Address): boolean;
}

export interface PoolInHand {
  readonly pool: TxPool;
  readonly head: HeadInHand;
  /** What onAdded and onDropped said so far, as "added 0x…" and "dropped 0x…: reason". */
  readonly events: string[];
  /** Lets time pass. */
  wait(ms: number): void;
  /** Moves the senders' nonces past the transactions and tells the pool of the block. */
  mine(...transactions: readonly SentTransaction[]): void;
}

/** London rules with a base fee of 7 wei at least, on chain 1337; intrinsic gas is a flat 21,000. */
const LONDON_RULES: NextBlockRules = {
  chainId: 1337n,
  acceptedTypes: new Set([0, 1, 2]),
  hasBaseFee: true,
  isFreeFromStart: false,
  isZeroBaseFee: false,
  initCodeLimit: undefined,
  intrinsicGas: () => 21_000n,
};

/** An empty pool with the default limits over a head whose next base fee is 1,000 wei. */
export function aPool(
  changes: {
    readonly limits?: Partial<TxPoolLimits>;
    readonly rules?: Partial<NextBlockRules>;
    readonly parts?: Partial<Pick<PoolParts, "isSenderPermitted">>;
  } = {},
): PoolInHand {
  const head = aHead({ ...LONDON_RULES, ...changes.rules });
  let nowMs = 1_700_000_000_000;
  const clock = { nowMs: () => nowMs++ };
  const pool = new TxPool(
    { ...DEFAULT_TX_POOL_LIMITS, ...changes.limits },
    { chain: head, clock, ...changes.parts },
  );
  const events: string[] = [];
  pool.onAdded(({ transaction }) => events.push(`added ${toDigits(transaction.hash)}`));
  pool.onDropped(({ transaction }, reason) =>
    events.push(`dropped ${toDigits(transaction.hash)}: ${reason}`),
  );
  return {
    pool,
    head,
    events,
    wait(ms) {
      nowMs += ms;
    },
    mine(...transactions) {
      for (const { sender, nonce } of transactions) {
        if (nonce >= head.nonce(sender)) head.set(sender, { nonce: nonce + 1n });
      }
      pool.headChanged({ added: [{ transactions }], removed: [] });
    },
  };
}

function aHead(rules: NextBlockRules): HeadInHand {
  const accounts = new Map<string, AccountAtHead>();
  const at = (sender: Address): AccountAtHead => accounts.get(toDigits(sender)) ?? UNTOUCHED;
  return {
    headGasLimit: 30_000_000n,
    nextBaseFeePerGas: rules.hasBaseFee ? (rules.isZeroBaseFee ? 0n : 1000n) : undefined,
    isStateAvailable: true,
    rules,
    set: (sender, changes) => accounts.set(toDigits(sender), { ...at(sender), ...changes }),
    nonce: (sender) => at(sender).nonce,
    balanceWei: (sender) => at(sender).balanceWei,
    isContract: (sender) => at(sender).isContract,
  };
}

const UNTOUCHED: AccountAtHead = { nonce: 0n, balanceWei: 10n ** 21n, isContract: false };
