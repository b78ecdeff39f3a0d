import { type Address, encodeFunctionData, getContractAddress, type Hex, keccak256 } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import { DEV_MNEMONIC } from "../../../src/config/devNetwork.ts";
import { compileSampleContracts } from "../../contracts/sampleContracts.ts";
import { type NodeProcess, until } from "./nodeProcess.ts";

/** A transaction that was sent to the chain. */
interface SentTransaction {
  readonly name: string;
  readonly raw: Hex;
  readonly hash: Hex;
}

/** A chain with everything that explorers show: all kinds of transactions, calls, failures, creations and destructions. */
export interface VariedChain {
  readonly sent: readonly SentTransaction[];
  /** By the transaction's name. */
  readonly hashes: Readonly<Record<string, Hex>>;
  readonly contracts: Contracts;
  readonly abis: {
    readonly Token: SampleContracts["Token"]["abi"];
    readonly Zoo: SampleContracts["Zoo"]["abi"];
  };
  readonly maker: Address;
  readonly unfunded: Address;
  /** The last block with one of the transactions in it. */
  readonly lastBlock: number;
}

type Contracts = Readonly<Record<"token" | "zoo" | "child" | "salted" | "doomed", Address>>;
type SampleContracts = ReturnType<typeof compileSampleContracts>;
interface PlannedTransaction {
  readonly name: string;
  readonly to?: Address;
  readonly data?: Hex;
  readonly value?: bigint;
  readonly gas?: bigint;
  readonly fee?: object;
}

const CHAIN_ID = 1337;
export const SALT: Hex = `0x${"5a".repeat(32)}`;
export const HEIR: Address = "0x00000000000000000000000000000000000e1234";
const PLENTY_GAS = 3_000_000n;

/** Fees of each kind of transaction; gas is free on the development network, but may be paid for. */
const FREE = { type: "eip1559", maxFeePerGas: 0n, maxPriorityFeePerGas: 0n } as const;
const TIPPED = { type: "eip1559", maxFeePerGas: 9_000n, maxPriorityFeePerGas: 2_000n } as const;
const LEGACY = { type: "legacy", gasPrice: 3_000n } as const;

/** Makes the chain on a node of the development network, in three blocks or a few more, from unused accounts. */
export async function makeVariedChain(
  node: NodeProcess,
  compiled = compileSampleContracts(),
): Promise<VariedChain> {
  const account = mnemonicToAccount(DEV_MNEMONIC, { addressIndex: 5 });
  const maker = account.address;
  const created = (nonce: bigint) => getContractAddress({ from: maker, nonce });
  const token = created(0n);
  const zoo = created(1n);
  const contracts: Contracts = {
    token,
    zoo,
    child: getContractAddress({ from: zoo, nonce: 1n }),
    salted: getContractAddress({
      opcode: "CREATE2",
      from: zoo,
      salt: SALT,
      bytecode: `${compiled.Child.bytecode}${word(8n)}`,
    }),
    doomed: getContractAddress({ from: zoo, nonce: 3n }),
  };
  const sent: SentTransaction[] = [];
  const stages = stagesOf(compiled, contracts, maker);
  for (const stage of stages) {
    const first = sent.length;
    for (const planned of stage) {
      const { name, to, data, value = 0n, gas = PLENTY_GAS, fee = FREE } = planned;
      const raw = await account.signTransaction({
        chainId: CHAIN_ID,
        nonce: sent.length,
        gas,
        value,
        ...(to !== undefined && { to }),
        ...(data !== undefined && { data }),
        ...fee,
      } as Parameters<typeof account.signTransaction>[0]);
      sent.push({ name, raw, hash: keccak256(raw) });
    }
    for (const { raw } of sent.slice(first)) await node.rpc("eth_sendRawTransaction", [raw]);
    await minedIn(node, (sent.at(-1) as SentTransaction).hash);
  }
  return {
    sent,
    hashes: Object.fromEntries(sent.map(({ name, hash }) => [name, hash])),
    contracts,
    abis: { Token: compiled.Token.abi, Zoo: compiled.Zoo.abi },
    maker,
    unfunded: "0x000000000000000000000000000000000000dEaD",
    lastBlock: await minedIn(node, (sent.at(-1) as SentTransaction).hash),
  };
}

/** Transactions that are sent together; each stage uses the state of those before. */
function stagesOf(
  compiled: SampleContracts,
  to: Contracts,
  maker: Address,
): readonly (readonly PlannedTransaction[])[] {
  const zoo = (
    name: string,
    functionName: string,
    args: readonly unknown[],
    more: Partial<PlannedTransaction> = {},
  ) => ({
    name,
    to: to.zoo,
    data: encodeFunctionData({ abi: compiled.Zoo.abi, functionName, args }),
    ...more,
  });
  const token = (
    name: string,
    functionName: string,
    args: readonly unknown[],
    more: Partial<PlannedTransaction> = {},
  ) => ({
    name,
    to: to.token,
    data: encodeFunctionData({ abi: compiled.Token.abi, functionName, args }),
    ...more,
  });
  const listed = {
    type: "eip2930",
    gasPrice: 2_500n,
    accessList: [{ address: to.zoo, storageKeys: [`0x${word(0n)}`] }],
  };
  return [
    [
      // Its tip makes the beneficiary exist: anvil keeps an empty one in its tries where all of the first block is free.
      { name: "deploy token", data: `${compiled.Token.bytecode}${word(1_000_000n)}`, fee: TIPPED },
      { name: "deploy zoo", data: compiled.Zoo.bytecode, value: 100n, fee: TIPPED },
      { name: "plain transfer", to: HEIR, value: 77n, gas: 21_000n, fee: LEGACY },
      token("token transfer", "transfer", [HEIR, 250n]),
      token("approve", "approve", [maker, 40n]),
    ],
    [
      zoo("breed", "breed", [6n], { value: 10n, fee: TIPPED }),
      zoo("breedAt", "breedAt", [SALT, 8n], { fee: listed }),
      zoo("breedAndBury", "breedAndBury", [HEIR], { value: 3n }),
      zoo("endure", "endure", [to.child]),
      zoo("provoke", "provoke", [to.child]),
      zoo("lend", "lend", [to.child, 20n]),
      zoo("write", "write", [3n, 33n], { fee: listed }),
      zoo("hash", "hash", ["0x616263"]),
      token("transferFrom", "transferFrom", [maker, to.zoo, 40n]),
      token("overdraft", "transfer", [HEIR, 10_000_000n], { fee: TIPPED }),
      { name: "failed creation", data: "0x60006000fd", gas: 100_000n },
      zoo("out of gas", "spend", [], { gas: 60_000n }),
    ],
    [
      zoo("kill", "kill", [to.child, HEIR]),
      zoo("clear", "write", [3n, 0n], { fee: TIPPED }),
      zoo("rewrite", "rewrite", [4n]),
      zoo("transient", "transient", [9n]),
      zoo("recurse", "recurse", [4n]),
      zoo("closed", "close", []),
      zoo("silent", "silent", []),
      zoo("broken", "broken", [], { gas: 90_000n }),
      {
        name: "precompile",
        to: "0x0000000000000000000000000000000000000004",
        data: "0xc0ffee",
        gas: 50_000n,
      },
      { name: "code too early", data: "0x60ef60005360016000f3", gas: 100_000n },
    ],
  ];
}

async function minedIn(node: NodeProcess, hash: Hex): Promise<number> {
  const mined = async () => {
    const receipt = await node.rpc<{ blockNumber: Hex } | null>("eth_getTransactionReceipt", [hash]);
    return receipt === null ? undefined : Number(receipt.blockNumber);
  };
  return until(mined, "the block with the transactions");
}

export function word(value: bigint): string {
  return value.toString(16).padStart(64, "0");
}
