import { addressFromHex } from "../../src/primitives/address.ts";
import { hexToBytes, toDigits, toHex } from "../../src/primitives/hex.ts";
import { bytesToBigint } from "../../src/primitives/quantity.ts";
import type { StateReader } from "../../src/state/stateReader.ts";
import type { TxPool } from "../../src/txpool/txPool.ts";
import type { NamedBlock } from "../../src/types/block.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { TEST_ACCOUNTS } from "../builders/testAccounts.ts";
import type { Random } from "./random.ts";

/**
 * Clients of a network of real nodes: each has an account, sends one transaction after another to any node that answers,
 * resends those that are not mined, and relies on every block that a node announced.
 */
export interface Clients {
  sendNew(pool: TxPool): void;
  sendAgain(pool: TxPool): void;
  /** A node announces a block. Throws when one of its transactions was announced in another block before. */
  onBlock(block: NamedBlock): void;
  /** Blocks by transaction, by keys. */
  readonly told: ReadonlyMap<string, string>;
  readonly unmined: number;
  readonly sent: number;
  /** Compares the state with the expected one after all transactions are mined; returns the first difference. */
  differenceIn(state: StateReader): string | undefined;
}

/** Counts its calls in slot 0. */
export const COUNTER = {
  address: addressFromHex("0x00000000000000000000000000000000000c0de0"),
  code: "0x60005460010160005500",
};

/** Creates another such contract. */
const COUNTER_INIT = hexToBytes(`69${COUNTER.code.slice(2)}600052600a6016f3`);

export function createClients(random: Random): Clients {
  const nonces = TEST_ACCOUNTS.map(() => 0n);
  const unmined = new Map<string, SentTransaction>();
  const told = new Map<string, string>();
  let calls = 0n;
  let sent = 0;

  function nextOf(index: number): SentTransaction {
    const nonce = nonces[index] ?? 0n;
    nonces[index] = nonce + 1n;
    const privateKey = TEST_ACCOUNTS[index]?.privateKey ?? new Uint8Array();
    const common = { nonce, gasPrice: 1n, privateKey, value: 0n };
    switch (random.between(0, 7)) {
      case 0:
        return aTransaction({ ...common, to: undefined, data: COUNTER_INIT, gasLimit: 200_000n });
      case 1:
      case 2:
      case 3:
        calls += 1n;
        return aTransaction({ ...common, to: COUNTER.address });
      default:
        return aTransaction({ ...common, value: 1n });
    }
  }

  return {
    sendNew(pool) {
      const transaction = nextOf(random.between(0, TEST_ACCOUNTS.length - 1));
      sent += 1;
      unmined.set(toDigits(transaction.hash), transaction);
      pool.add(transaction, "local");
    },
    sendAgain(pool) {
      for (const transaction of unmined.values()) pool.add(transaction, "local");
    },
    onBlock({ hash, header, transactions }) {
      for (const transaction of transactions) {
        const key = toDigits(transaction.hash);
        const place = toDigits(hash);
        if ((told.get(key) ?? place) !== place)
          throw new Error(`${toHex(transaction.hash)} is in another block ${header.number} as well`);
        told.set(key, place);
        unmined.delete(key);
      }
    },
    told,
    get unmined() {
      return unmined.size;
    },
    get sent() {
      return sent;
    },
    differenceIn(state) {
      for (const [index, { address }] of TEST_ACCOUNTS.entries()) {
        const nonce = state.account(address)?.nonce ?? 0n;
        if (nonce !== nonces[index]) return `account ${index} has nonce ${nonce}, not ${nonces[index]}`;
      }
      const counted = bytesToBigint(state.storage(COUNTER.address, new Uint8Array(32)));
      return counted === calls ? undefined : `the counter says ${counted}, not ${calls}`;
    },
  };
}
