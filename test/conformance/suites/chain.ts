import { readFileSync } from "node:fs";
import { addressFromHex } from "../../../src/primitives/address.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { keccak256 } from "../../../src/primitives/hash.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { bytesToBigint } from "../../../src/primitives/quantity.ts";
import type { StateReader } from "../../../src/state/stateReader.ts";
import { encodeHeader } from "../../../src/types/header.ts";
import { readVectorJson, vectorPath } from "../../vectors.ts";
import { blocksOfFile } from "../chains/blockFile.ts";
import { type ForeignChain, openForeignChain } from "../chains/foreignChain.ts";
import { rulesOfGenesis } from "../chains/foreignRules.ts";
import { damageIn } from "../chains/storeDamage.ts";
import type { TreeBlock } from "../chains/tree.ts";
import type { Case, Failure, Suite } from "../suite.ts";

/** Whole chains from Besu's and go-ethereum's tests, under proof of work and proof of stake. */
export const CHAIN: Suite = {
  name: "chain",
  total: 16,
  every: 10,
  cases: () => [...wholeChains(), HEAD_STATE, ...forkedChain(), BAD_PROOF],
};

/** An entry of chains-expected.json. */
interface ExpectedChain {
  readonly blocks: string;
  readonly genesis: string | null;
  readonly lastNumber: number;
  readonly genesisHash: string;
  readonly lastHash: string;
  readonly lastStateRoot: string;
}

function wholeChains(): Case[] {
  const { chains } = readVectorJson<{ chains: ExpectedChain[] }>("chains-expected.json");
  return chains.flatMap((expected) => {
    const { blocks, genesis } = expected;
    return genesis === null ? [] : [{ id: blocks, run: () => checkChain(expected, blocks, genesis) }];
  });
}

async function checkChain(
  expected: ExpectedChain,
  blocks: string,
  genesis: string,
): Promise<Failure | undefined> {
  const chain = await openChain(genesis);
  if (toHex(chain.genesis.hash) !== expected.genesisHash)
    return `the genesis is ${toHex(chain.genesis.hash)}`;
  const failure = await importFile(chain, blocks);
  if (failure !== undefined) return failure;
  const { hash, header } = chain.head;
  if (header.number !== BigInt(expected.lastNumber)) return `the head is block ${header.number}`;
  if (toHex(hash) !== expected.lastHash) return `the head is ${toHex(hash)}`;
  if (toHex(header.stateRoot) !== expected.lastStateRoot) return `root ${toHex(header.stateRoot)}`;
  return damageIn(chain.database);
}

function openChain(genesis: string): Promise<ForeignChain> {
  return openForeignChain(rulesOfGenesis(readFileSync(vectorPath(genesis), "utf8"), genesis));
}

/** Imports a file, which may begin with the genesis block; returns the first refusal. */
async function importFile(chain: ForeignChain, path: string): Promise<Failure | undefined> {
  for (const block of blocksOfFile(path)) {
    const { header } = block;
    const imported = await chain.import(block);
    if (!imported.ok) return `block ${header.number}: ${imported.error.code} (${imported.error.message})`;
    if (toHex(imported.value.hash) !== toHex(keccak256(encodeHeader(header)))) return "another block";
  }
  return undefined;
}

interface HeadState {
  readonly accounts: Readonly<Record<string, DumpedAccount>>;
}

interface DumpedAccount {
  readonly balance: string;
  readonly nonce: number;
  readonly root: string;
  readonly codeHash: string;
  readonly code?: string;
  readonly storage?: Readonly<Record<string, string>>;
}

/** go-ethereum's dump of a head's state, compared by account and slot, after a rewind and re-execution. */
const HEAD_STATE: Case = {
  id: "geth-hivechain/headstate.json",
  async run() {
    const chain = await openChain("geth-hivechain/genesis.json");
    const failure = await importFile(chain, "geth-hivechain/chain.rlp");
    if (failure !== undefined) return failure;
    await chain.goTo(ancestorOf(chain.head, chain.head.header.number / 2n));
    await chain.goTo(chain.head);
    const { accounts } = readVectorJson<HeadState>("geth-hivechain", "headstate.json");
    for (const reader of [chain.world.head, chain.world.at(chain.head.header.number)])
      for (const [address, dumped] of Object.entries(accounts)) {
        const difference = reader === undefined ? "no such state" : compareAccount(reader, address, dumped);
        if (difference !== undefined) return `${address}: ${difference}`;
      }
    return damageIn(chain.database);
  },
};

function ancestorOf(block: TreeBlock, number: bigint): TreeBlock {
  let ancestor: TreeBlock | undefined = block;
  while (ancestor !== undefined && ancestor.header.number > number) ancestor = ancestor.parent;
  return expectDefined(ancestor, `the ancestor ${number}`);
}

function compareAccount(state: StateReader, name: string, dumped: DumpedAccount): Failure | undefined {
  const address = addressFromHex(name);
  const account = state.account(address);
  if (account === undefined) return "does not exist";
  const found = {
    balance: account.balance.toString(),
    nonce: Number(account.nonce),
    root: toHex(account.storageRoot),
    codeHash: toHex(account.codeHash),
    code: toHex(state.code(account.codeHash)),
  };
  for (const [field, value] of Object.entries({ ...found }))
    if (value !== ({ code: "0x", ...dumped } as Record<string, unknown>)[field]) return `${field} ${value}`;
  for (const [slot, value] of Object.entries(dumped.storage ?? {}))
    if (bytesToBigint(state.storage(address, hexToBytes(slot))) !== BigInt(`0x${value}`))
      return `slot ${slot}`;
  return undefined;
}

/** A chain that splits where only one of two genesis files activates a fork: each refuses the other's block. */
function forkedChain(): Case[] {
  const folder = "besu-jsonrpc/chains/fork";
  return (["upgraded", "outdated"] as const).map((own, index) => {
    const other = index === 0 ? "outdated" : "upgraded";
    return {
      id: `${folder}/fork-${other}.blocks under genesis-${own}.json`,
      async run() {
        const chain = await openChain(`${folder}/genesis-${own}.json`);
        const failure = await importFile(chain, `${folder}/fork-${other}.blocks`);
        if (!failure?.startsWith("block 7: wrongGasUsed")) return `block 7 was not refused: ${failure}`;
        return importFile(chain, `${folder}/fork-${own}.blocks`);
      },
    };
  });
}

const BAD_PROOF: Case = {
  id: "besu-jsonrpc/chains/mainnet/badpow.blocks",
  async run() {
    const chain = await openChain("besu-core/networks/mainnet.json");
    const failure = await importFile(chain, "besu-jsonrpc/chains/mainnet/badpow.blocks");
    return failure === undefined ? "block 1 is accepted, whose proof of work is wrong" : undefined;
  },
};
