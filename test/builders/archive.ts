import { readFileSync } from "node:fs";
import type { Chain } from "../../src/chain/createChain.ts";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_ADDRESS } from "../../src/config/devNetwork.ts";
import { asAddress } from "../../src/primitives/address.ts";
import { expectDefined } from "../../src/primitives/assert.ts";
import { keccak256 } from "../../src/primitives/hash.ts";
import { hexToBytes, toHex } from "../../src/primitives/hex.ts";
import type { WorldState } from "../../src/state/worldState.ts";
import type { Database } from "../../src/storage/database.ts";
import { encodeReceipt } from "../../src/types/receipt.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { REGISTER_CREATION, writeRegister } from "../contracts/register.ts";
import type { Random } from "../storage/random.ts";
import { aChain, type ChainChoices } from "./aChain.ts";
import { aTransaction } from "./aTransaction.ts";
import { createHandClock } from "./handClock.ts";
import { commitBlock } from "./sealedChain.ts";
import { accountFromSeed } from "./testAccounts.ts";

const START_SECONDS = 1_700_000_000;
const GENESIS = readFileSync(DEV_GENESIS_FILE, "utf8");
const RECIPIENTS = 16;
const SLOTS = 12;
/** The contract that account 0 creates with its first transaction. */
const REGISTER = asAddress(hexToBytes("0x5fbdb2315678afecb367f032d93f642f64180aa3"));

/** A chain and what it stands on, as an archive or a node that removes what is old has it. */
export interface OpenChain {
  readonly chain: Chain;
  readonly world: WorldState;
  readonly database: Database;
}

/** Opens a chain of the development network, in memory unless a database is given. */
export function openHistory(choices: Partial<ChainChoices> = {}): Promise<OpenChain> {
  return aChain({
    genesis: GENESIS,
    clock: createHandClock((START_SECONDS + 1_000_000) * 1000),
    builder: DEV_VALIDATOR_ADDRESS,
    ...choices,
  });
}

/** All blocks of one chain, each made once, in a node that keeps them and their states. */
export class Archive {
  readonly node: OpenChain;
  private readonly random: Random;
  private readonly bodies: (readonly SentTransaction[])[] = [[]];
  private nonce = 0n;

  constructor(node: OpenChain, random: Random) {
    this.node = node;
    this.random = random;
  }

  /** Has a chain commit its next block. */
  async extend(chain: Chain): Promise<void> {
    const number = Number(chain.head.header.number) + 1;
    if (this.bodies[number] === undefined) {
      this.bodies[number] = this.newBody(number);
      await this.commit(this.node.chain, number);
    }
    await this.commit(chain, number);
  }

  private async commit(chain: Chain, number: number): Promise<void> {
    await commitBlock(chain, BigInt(START_SECONDS + number), expectDefined(this.bodies[number], "a body"));
  }

  private newBody(number: number): readonly SentTransaction[] {
    const { random } = this;
    if (number === 1)
      return [aTransaction({ nonce: this.nonce++, to: undefined, value: 0n, data: REGISTER_CREATION })];
    return Array.from({ length: random.below(5) }, () => {
      const nonce = this.nonce++;
      if (random.below(2) === 0)
        return aTransaction({ nonce, to: accountFromSeed(1 + random.below(RECIPIENTS)).address });
      const data = writeRegister(random.below(SLOTS), BigInt(random.below(3)));
      return aTransaction({ nonce, to: REGISTER, value: 0n, data });
    });
  }
}

/** Everything of a state, with proofs: its hash, because the text is long. Undefined where the state is not stored. */
export function stateOf(world: WorldState, number: bigint): string | undefined {
  if (world.at(number) === undefined) return undefined;
  const slots = Array.from({ length: SLOTS }, (_, slot) => bytesOfSlot(slot));
  const addresses = Array.from({ length: RECIPIENTS }, (_, index) => accountFromSeed(1 + index).address);
  const proofs = [
    world.prove(number, REGISTER, slots),
    ...addresses.map((address) => world.prove(number, address, [])),
  ];
  const text = JSON.stringify(proofs, (_, value) =>
    value instanceof Uint8Array ? toHex(value) : typeof value === "bigint" ? `${value}` : value,
  );
  return toHex(keccak256(Buffer.from(text)));
}

function bytesOfSlot(slot: number): Parameters<WorldState["prove"]>[2][number] {
  const bytes = new Uint8Array(32);
  bytes[31] = slot;
  return bytes as Parameters<WorldState["prove"]>[2][number];
}

/** Everything of a block; undefined where it is not stored whole. */
export function contentsOf(chain: Chain, number: bigint): unknown {
  const block = chain.blockByNumber(number);
  if (block === undefined) return undefined;
  const { hash, transactions, receipts } = block;
  return {
    hash: toHex(hash),
    transactions: transactions.map(({ raw }) => toHex(raw)),
    places: transactions.map((transaction) => chain.transactionByHash(transaction.hash)?.block.hash),
    receipts: receipts.map((receipt) => toHex(encodeReceipt(receipt))),
  };
}
