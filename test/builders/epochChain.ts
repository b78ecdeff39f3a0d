import { readFileSync } from "node:fs";
import type { Chain } from "../../src/chain/createChain.ts";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_KEY } from "../../src/config/devNetwork.ts";
import { expectDefined } from "../../src/primitives/assert.ts";
import { hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { addressOfPrivateKey } from "../../src/primitives/secp256k1.ts";
import { encodeBlock } from "../../src/types/block.ts";
import type { ValidatorVote } from "../../src/types/extraData.ts";
import { aChain } from "./aChain.ts";
import { aTransaction } from "./aTransaction.ts";
import { createHandClock } from "./handClock.ts";
import { commitBlock } from "./sealedChain.ts";
import { account } from "./testAccounts.ts";

const START_SECONDS = 1_700_000_000;
const EPOCH = 20;

/** A contract that returns the slot which its input names. Its constructor writes slots 1 and 2, and logs. */
const RUNTIME = "6000355460005260206000f3";
const INIT = hexToBytes(`6005600155600760025560aa60006000a16b${RUNTIME}600052600c6014f3`);

/** A chain of the development network with short epochs, sealed long ago. */
export interface EpochChain {
  readonly genesis: string;
  /** Blocks by number, as RLP. */
  readonly blocks: readonly Uint8Array[];
  readonly hashes: readonly string[];
  readonly chain: Chain;
}

export interface EpochChainChoices {
  /** Number of the newest block. */
  readonly head: number;
  /** Every 50th block and those from this number on deploy a contract and send ether. */
  readonly busyFrom: number;
  /** Votes of the development network's validator. */
  votesIn?(number: number): ValidatorVote | undefined;
  /** Who seals, besides that validator. */
  sealersOf?(number: number): readonly Uint8Array[];
  /** Accounts of the genesis block, besides the usual ones. */
  readonly accounts?: number;
}

export async function epochChain(choices: EpochChainChoices): Promise<EpochChain> {
  const { head, busyFrom, votesIn, sealersOf, accounts = 0 } = choices;
  const file = JSON.parse(readFileSync(DEV_GENESIS_FILE, "utf8"));
  file.config.ibft2.epochlength = EPOCH;
  for (let index = 1; index <= accounts; index++)
    file.alloc[`0x${index.toString(16).padStart(40, "0")}`] = { balance: `0x${(index * 7).toString(16)}` };
  const genesis = JSON.stringify(file);
  const clock = createHandClock(START_SECONDS * 1000);
  const { chain } = await aChain({ genesis, clock, builder: addressOfPrivateKey(DEV_VALIDATOR_KEY) });
  const blocks = [encodeBlock(expectDefined(chain.blockByNumber(0n), "the genesis block"))];
  const hashes = [toHex(chain.genesis.hash)];
  let nonce = 0n;
  const next = (fields: Partial<Parameters<typeof aTransaction>[0]>) =>
    aTransaction({ gasPrice: 1000n, gasLimit: 500_000n, nonce: nonce++, ...fields });
  for (let number = 1; number <= head; number++) {
    const timestamp = BigInt(START_SECONDS + number);
    clock.advanceTo(Number(timestamp) * 1000);
    const isBusy = number % 50 === 0 || number >= busyFrom;
    const body = isBusy
      ? [next({ to: undefined, data: INIT, value: 0n }), next({ to: account(3).address })]
      : [];
    const vote = votesIn?.(number);
    const keys = [DEV_VALIDATOR_KEY, ...(sealersOf?.(number) ?? [])];
    blocks.push(encodeBlock(await commitBlock(chain, timestamp, body, { keys, ...(vote && { vote }) })));
    hashes.push(toHex(chain.head.hash));
  }
  return { genesis, blocks, hashes, chain };
}
