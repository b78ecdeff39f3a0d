import type { GenesisAccount } from "../../../src/chainspec/chainSpec.ts";
import { addressFromHex } from "../../../src/primitives/address.ts";
import { asHash, type Hash } from "../../../src/primitives/hash.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { bigintToBytes, bigintToFixedBytes, bytesToBigint } from "../../../src/primitives/quantity.ts";
import { err, type Result } from "../../../src/primitives/result.ts";
import type { StateReader } from "../../../src/state/stateReader.ts";
import { WorldState } from "../../../src/state/worldState.ts";
import { createMemoryDatabase } from "../../../src/storage/memoryDatabase.ts";
import { EMPTY_ACCOUNT } from "../../../src/types/account.ts";
import { decodeBlock } from "../../../src/types/block.ts";
import { explains } from "./exceptions.ts";
import { type ForeignChain, type ForeignErrorCode, openForeignChain } from "./foreignChain.ts";
import { rulesOfNetwork } from "./foreignRules.ts";
import { damageIn } from "./storeDamage.ts";

/** One test of BlockchainTests, with the members used here. */
export interface BlockchainTest {
  readonly network: string;
  readonly genesisRLP: string;
  readonly genesisBlockHeader: { readonly hash: string };
  readonly pre: TestState;
  readonly blocks: readonly { readonly rlp: string; readonly expectException?: string }[];
  readonly lastblockhash: string;
  readonly postState?: TestState;
  readonly postStateHash?: string;
}

type TestState = Readonly<Record<string, TestAccount>>;

interface TestAccount {
  readonly balance: string;
  readonly nonce: string;
  readonly code: string;
  readonly storage: Readonly<Record<string, string>>;
}

/** Imports a test's blocks; returns undefined on success, else the difference. */
export async function runBlockchainTest(test: BlockchainTest): Promise<string | undefined> {
  const genesis = decodeBlock(hexToBytes(test.genesisRLP));
  if (!genesis.ok) return `genesis: ${genesis.error.message}`;
  const { header } = genesis.value;
  const chain = await openForeignChain(rulesOfNetwork(test.network, { header, alloc: allocOf(test.pre) }));
  if (toHex(chain.genesis.hash) !== test.genesisBlockHeader.hash)
    return `genesis ${toHex(chain.genesis.hash)}`;
  for (const [index, { rlp, expectException }] of test.blocks.entries()) {
    const failure = failureOf(await importRlp(chain, rlp), expectException);
    if (failure !== undefined) return `block ${index}: ${failure}`;
  }
  await chain.goTo(chain.head);
  if (toHex(chain.head.hash) !== test.lastblockhash) return `the head is ${toHex(chain.head.hash)}`;
  return compareState(chain, test) ?? damageIn(chain.database);
}

async function importRlp(
  chain: ForeignChain,
  rlp: string,
): Promise<Result<unknown, ForeignErrorCode | "malformedBlock">> {
  const block = decodeBlock(hexToBytes(rlp));
  return block.ok ? chain.import(block.value) : err({ ...block.error, code: "malformedBlock" });
}

function failureOf(
  result: Result<unknown, ForeignErrorCode | "malformedBlock">,
  exception: string | undefined,
): string | undefined {
  if (result.ok) return exception === undefined ? undefined : `accepted, expected ${exception}`;
  const { code, message } = result.error;
  if (exception === undefined) return `refused: ${code} (${message})`;
  return explains(exception, code) ? undefined : `refused for ${code} (${message}), expected ${exception}`;
}

/** Compares the listed accounts at the head, and their root, which shows that there are no others. */
function compareState(chain: ForeignChain, { postState, postStateHash }: BlockchainTest): string | undefined {
  const root = toHex(chain.head.header.stateRoot);
  if (postStateHash !== undefined && postStateHash !== root) return `state root ${root}`;
  if (postState === undefined) return undefined;
  const alloc = allocOf(postState);
  for (const account of alloc) {
    const difference = compareAccount(chain.world.head, account);
    if (difference !== undefined) return `${toHex(account.address)}: ${difference}`;
  }
  return toHex(rootOfAlloc(alloc)) === root
    ? undefined
    : `state root ${root}, not that of the listed accounts`;
}

function compareAccount(state: StateReader, expected: GenesisAccount): string | undefined {
  const account = state.account(expected.address);
  if (account === undefined) return "does not exist";
  if (account.nonce !== expected.nonce) return `nonce ${account.nonce}, expected ${expected.nonce}`;
  if (account.balance !== expected.balance) return `balance ${account.balance}, expected ${expected.balance}`;
  const code = toHex(state.code(account.codeHash));
  if (code !== toHex(expected.code)) return `code ${code}, expected ${toHex(expected.code)}`;
  for (const { slot, value } of expected.storage) {
    const stored = bytesToBigint(state.storage(expected.address, slot));
    if (stored !== bytesToBigint(value)) return `slot ${toHex(slot)} is ${stored}`;
  }
  return undefined;
}

function rootOfAlloc(alloc: readonly GenesisAccount[]): Hash {
  const world = new WorldState({ database: createMemoryDatabase() });
  const overlay = world.overlay();
  for (const { address, nonce, balance, code, storage } of alloc) {
    overlay.putAccount(address, { ...EMPTY_ACCOUNT, nonce, balance });
    if (code.length > 0) overlay.putCode(address, code);
    for (const { slot, value } of storage) overlay.putStorage(address, slot, value);
  }
  return world.stage(overlay.changes(), 0n).root;
}

function allocOf(state: TestState): readonly GenesisAccount[] {
  return Object.entries(state).map(([address, { balance, nonce, code, storage }]) => ({
    address: addressFromHex(address),
    nonce: BigInt(nonce),
    balance: BigInt(balance),
    code: hexToBytes(code),
    storage: Object.entries(storage)
      .map(([slot, value]) => ({
        slot: asHash(bigintToFixedBytes(BigInt(slot), 32)),
        value: bigintToBytes(BigInt(value)),
      }))
      .filter(({ value }) => value.length > 0),
  }));
}
