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
import { faultIn } from "../chains/soundness.ts";
import type { TreeBlock } from "../chains/tree.ts";
import type { Case, Failure, Suite } from "../suite.ts";

/** Whole chains of Besu's and go-ethereum's own tests, under proof of work and of stake. */
export const CHAIN: Suite = {
  name: "chain",
  total: 16,
  every: 5,
  cases: () => [...wholeChains(), HEAD_STATE, ...forkedChain(), BAD_PROOF],
};

/** What chains-expected.json says of a file. */
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
  const refusal = await importFile(chain, blocks);
  if (refusal !== undefined) return refusal;
  const { hash, header } = chain.head;
  if (header.number !== BigInt(expected.lastNumber)) return `the head is block ${header.number}`;
  if (toHex(hash) !== expected.lastHash) return `the head is ${toHex(hash)}`;
  if (toHex(header.stateRoot) !== expected.lastStateRoot) return `root ${toHex(header.stateRoot)}`;
  return faultIn(chain.database);
}

function openChain(genesis: string): Promise<ForeignChain> {
  return openForeignChain(rulesOfGenesis(readFileSync(vectorPath(genesis), "utf8"), genesis));
}

/** The first refusal. A file may begin with the genesis block. */
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

/** go-ethereum's dump of a head's state, account by account and slot by slot, after a way back and forth again. */
const HEAD_STATE: Case = {
  id: "geth-hivechain/headstate.json",
  async run() {
    const chain = await openChain("geth-hivechain/genesis.json");
    const refusal = await importFile(chain, "geth-hivechain/chain.rlp");
    if (refusal !== undefined) return refusal;
    await chain.goTo(ancestorOf(chain.head, chain.head.header.number / 2n));
    await chain.goTo(chain.head);
    const { accounts } = readVectorJson<HeadState>("geth-hivechain", "headstate.json");
    for (const reader of [chain.world.head, chain.world.at(chain.head.header.number)])
      for (const [address, dumped] of Object.entries(accounts)) {
        const difference = reader === undefined ? "no such state" : compareAccount(reader, address, dumped);
        if (difference !== undefined) return `${address}: ${difference}`;
      }
    return faultIn(chain.database);
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

/** One chain that parts where only one of two genesis files brings a fork: each refuses the other's block. */
function forkedChain(): Case[] {
  const folder = "besu-jsonrpc/chains/fork";
  return (["upgraded", "outdated"] as const).map((own, index) => {
    const other = index === 0 ? "outdated" : "upgraded";
    return {
      id: `${folder}/fork-${other}.blocks under genesis-${own}.json`,
      async run() {
        const chain = await openChain(`${folder}/genesis-${own}.json`);
        const refusal = await importFile(chain, `${folder}/fork-${other}.blocks`);
        if (!refusal?.startsWith("block 7: wrongGasUsed")) return `block 7 was not refused: ${refusal}`;
        return importFile(chain, `${folder}/fork-${own}.blocks`);
      },
    };
  });
}

const BAD_PROOF: Case = {
  id: "besu-jsonrpc/chains/mainnet/badpow.blocks",
  async run() {
    const chain = await openChain("besu-core/networks/mainnet.json");
    const refusal = await importFile(chain, "besu-jsonrpc/chains/mainnet/badpow.blocks");
    return refusal === undefined ? "block 1 is accepted, whose proof of work is wrong" : undefined;
  },
};
